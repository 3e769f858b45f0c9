//! Pages that Chrome shows but lets no extension act on: nobody waits for them, and nobody but who
//! works with them feels them.

use end_to_end::{Stage, tls_proxy};
use serde_json::{Value, json};
use tokio::net::TcpSocket;

/// Calls of clients to a page, to its context and beside both: how each ended, and in what time.
const ATTEMPTS: &str = "
    const outcome = async (call) => {
      const late = new Promise((resolve) => setTimeout(resolve, 8000, 'hangs'));
      const done = Promise.resolve().then(call).then(() => 'works', (error) => error.message);
      return await Promise.race([done, late]);
    };
    const attempts = async (page, number) => ({
      evaluate: await outcome(() => page.evaluate('1')),
      screenshot: await outcome(() => page.screenshot()),
      expose: await outcome(() => context.exposeFunction('exposed' + number, () => 'exposed')),
      route: await outcome(() => context.route('**/routed' + number, (route) => route.fulfill({ body: 'routed' }))),
      script: await outcome(() => context.addInitScript('globalThis.script = ' + number)),
      headers: await outcome(() => context.setExtraHTTPHeaders({ 'x-number': String(number) })),
      offline: await outcome(async () => {
        await context.setOffline(true);
        await context.setOffline(false);
      }),
      geolocation: await outcome(async () => {
        await context.setGeolocation({ latitude: number, longitude: number });
        await context.setGeolocation(null);
      }),
      credentials: await outcome(async () => {
        await context.setHTTPCredentials({ username: 'user', password: 'secret' });
        await context.setHTTPCredentials(null);
      }),
      cookies: await outcome(() => context.cookies()),
      later: await outcome(async () => {
        const another = await chromium.connectOverCDP(cdp);
        await another.contexts()[0].exposeFunction('later', () => 1);
        await another.contexts()[0].route('**/later', (route) => route.continue());
        await another.close();
      }),
    });";

#[tokio::test]
async fn a_certificate_warning_is_no_trap() {
    let stage = Stage::with_controlled_tab().await;
    let (port, _) = tls_proxy(stage.site.port()).await;
    let seen = stage
        .playwright(&format!(
            "{ATTEMPTS}
             const bad = 'https://127.0.0.1:{port}/';
             const page = context.pages()[0];
             await context.newPage();
             const warned = async () => {{
               const shown = page.waitForEvent('framenavigated');
               const words = await outcome(() => page.goto(bad));
               await shown;
               return words;
             }};
             const first = await warned();
             const on = await attempts(page, 1);
             const second = await warned();
             const away = await outcome(() => page.goto(site + '/index.html'));
             const works = await page.evaluate(async () =>
               [script, await exposed1(), await (await fetch('/routed1')).text()]);
             await warned();
             const closed = await outcome(() => page.close());
             return {{ first, second, on, away, works, closed }};"
        ))
        .await;
    for goto in ["first", "second"] {
        let words = seen[goto].as_str().unwrap();
        assert!(words.contains("net::ERR_CERT_AUTHORITY_INVALID"), "{words}");
    }
    for refused in ["evaluate", "screenshot"] {
        let words = seen["on"][refused].as_str().unwrap();
        assert!(words.contains("a warning of a bad certificate"), "{refused}: {words}");
    }
    only_the_page_is_concerned(&seen["on"]);
    assert_eq!([&seen["away"], &seen["closed"]], ["works", "works"]);
    assert_eq!(seen["works"], json!([1, "exposed", "routed"]), "what was set up meanwhile");
    stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 1)").await;
    stage.end().await;
}

#[tokio::test]
async fn a_tab_that_its_user_takes_off_a_warning_works_again() {
    let stage = Stage::with_controlled_tab().await;
    let (port, _) = tls_proxy(stage.site.port()).await;
    let body = format!(
        "{ATTEMPTS}
         const page = context.pages()[0];
         await page.goto(site + '/index.html');
         await page.goto('https://127.0.0.1:{port}/').catch(() => {{}});
         await page.waitForURL('chrome-error://chromewebdata/');
         const back = page.waitForURL(site + '/index.html');
         await context.addInitScript('globalThis.script = 1');
         await page.evaluate('1').catch(() => {{}});
         const later = await chromium.connectOverCDP(cdp);
         const hidden = later.contexts()[0].pages().length;
         const isBack = (page) => page.url() === site + '/index.html';
         const shown = later.contexts()[0].waitForEvent('page', isBack);
         await context.newPage();
         await back;
         const seen = await shown;
         await later.close();
         await page.reload();
         return [hidden, seen.url() === page.url(), await page.evaluate('script')];"
    );
    let user = async {
        let warned = "chrome.tabs.query({}).then((tabs) => tabs[0].title === 'Privacy error')";
        stage.until_in_worker(warned).await;
        // A second client has come.
        stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 2)").await;
        let leave = format!(
            "chrome.tabs.query({{}}).then((tabs) =>
                chrome.tabs.update(tabs[0].id, {{ url: '{}/index.html' }}))",
            stage.site.url()
        );
        stage.in_worker(&leave).await;
    };
    let (seen, ()) = tokio::join!(stage.playwright(&body), user);
    assert_eq!(seen, json!([0, true, 1]));
    stage.end().await;
}

#[tokio::test]
async fn no_other_page_that_chrome_keeps_to_itself_holds_anybody_up() {
    let stage = Stage::with_controlled_tab().await;
    let site = stage.site.url();
    // A socket that is only bound does not listen.
    let bound = TcpSocket::new_v4().unwrap();
    bound.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let closed = bound.local_addr().unwrap().port();
    let visits = [
        // A page that could not be loaded is one like any other.
        ("unreachable", "", "works"),
        ("source", "chrome.tabs.update(TAB, { url: 'view-source:SITE/index.html' })", "works"),
        ("pdf", "chrome.tabs.update(TAB, { url: 'SITE/page.pdf' })", "has been closed"),
        ("version", "chrome.tabs.update(TAB, { url: 'chrome://version' })", "has been closed"),
        ("asleep", "chrome.tabs.discard(TAB)", "has been closed"),
        (
            "store",
            "chrome.tabs.update(TAB, { url: 'https://chromewebstore.google.com/' })",
            "has been closed",
        ),
    ];
    for (number, (name, act, away)) in visits.into_iter().enumerate() {
        let body = format!(
            "{ATTEMPTS}
             const page = await context.newPage();
             await page.goto(site + '/form.html?{name}');
             const gone = Promise.race([
               page.waitForEvent('framenavigated'),
               page.waitForEvent('close'),
             ]);
             if (!{has_user}) await page.goto('http://127.0.0.1:{closed}/').catch(() => {{}});
             await gone;
             const on = await attempts(page, {number});
             const away = await outcome(() => page.goto(site + '/index.html'));
             return {{ on, away, closed: await outcome(() => page.close()) }};",
            has_user = !act.is_empty(),
        );
        let user = async {
            if act.is_empty() {
                return;
            }
            let tab = format!(
                "chrome.tabs.query({{}}).then((tabs) =>
                    tabs.find((tab) => tab.url?.endsWith('?{name}') && tab.status === 'complete'))"
            );
            stage.until_in_worker(&tab).await;
            let act = act.replace("SITE", &site).replace("TAB", &format!("(await {tab}).id"));
            stage.in_worker(&format!("(async () => void await {act})()")).await;
        };
        let (seen, ()) = tokio::join!(stage.playwright(&body), user);
        only_the_page_is_concerned(&seen["on"]);
        for settled in [&seen["on"]["evaluate"], &seen["on"]["screenshot"]] {
            assert_ne!(settled, "hangs", "{name}: {seen}");
        }
        let went = seen["away"].as_str().unwrap();
        assert!(went.contains(away), "{name}: {seen}");
        assert_eq!(seen["closed"], "works", "{name}: {seen}");
    }
    stage.end().await;
}

/// The warning is in the only tab, so there is none that could stand for the others.
#[tokio::test]
async fn what_a_context_sets_on_a_warning_counts_from_the_next_page_on() {
    let stage = Stage::with_controlled_tab().await;
    let (port, _) = tls_proxy(stage.site.port()).await;
    let seen = stage
        .playwright(&format!(
            "const page = context.pages()[0];
             const shown = page.waitForEvent('framenavigated');
             await page.goto('https://127.0.0.1:{port}/').catch(() => {{}});
             await shown;
             await context.setOffline(true);
             await context.setGeolocation({{ latitude: 12, longitude: 34 }});
             await context.setHTTPCredentials({{ username: 'user', password: 'secret' }});
             const clock = await context.clock.setFixedTime(5000).then(() => 'set', (error) => error.message);
             await context.grantPermissions(['geolocation'], {{ origin: site }});
             await context.addCookies([{{ name: 'flavour', value: 'plain', url: site }}]);
             const cookies = (await context.cookies(site)).map(({{ name }}) => name);
             const away = await page.goto(site + '/index.html').catch((error) => error.message);
             await context.setOffline(false);
             await context.clock.setFixedTime(5000);
             await page.goto(site + '/private');
             const text = await page.textContent('body');
             const rest = await page.evaluate(async () => {{
               const position = await new Promise((resolve, reject) =>
                 navigator.geolocation.getCurrentPosition(resolve, reject));
               return [position.coords.latitude, Date.now(), document.cookie];
             }});
             return {{ cookies, clock, away, text, rest }};",
        ))
        .await;
    assert_eq!(seen["cookies"], json!(["flavour"]));
    let clock = seen["clock"].as_str().unwrap();
    assert!(clock.contains("a warning of a bad certificate"), "not before it is left: {clock}");
    let away = seen["away"].as_str().unwrap();
    assert!(away.contains("net::ERR_INTERNET_DISCONNECTED"), "{away}");
    assert_eq!([&seen["text"]], ["come in"]);
    assert_eq!(seen["rest"], json!([12, 5000, "flavour=plain"]));
    stage.end().await;
}

#[tokio::test]
async fn a_user_goes_back_from_a_warning_and_the_tab_works() {
    let stage = Stage::with_controlled_tab().await;
    let (port, _) = tls_proxy(stage.site.port()).await;
    let body = format!(
        "const page = context.pages()[0];
         await page.goto(site + '/index.html');
         // Chrome's Back passes over pages that nobody has touched.
         await page.getByRole('button').click();
         await page.goto('https://127.0.0.1:{port}/').catch(() => {{}});
         await page.waitForURL('chrome-error://chromewebdata/');
         // Chrome shows it as it was, so it does not load.
         const back = page.waitForURL(site + '/index.html', {{ waitUntil: 'commit' }});
         await context.addInitScript('globalThis.script = 1');
         await context.newPage();
         await back;
         await page.reload();
         return [await page.title(), await page.evaluate('script')];"
    );
    let user = async {
        stage.until_in_worker("chrome.tabs.query({}).then((tabs) => tabs.length === 2)").await;
        let back = "chrome.tabs.query({}).then(([tab]) => chrome.tabs.goBack(tab.id))";
        stage.in_worker(back).await;
    };
    let (seen, ()) = tokio::join!(stage.playwright(&body), user);
    assert_eq!(seen, json!(["a page", 1]));
    stage.end().await;
}

#[tokio::test]
async fn a_user_goes_on_to_a_site_with_a_bad_certificate_and_the_tab_works() {
    let stage = Stage::on_a_screen().await;
    stage.control_tab().await;
    let (port, _) = tls_proxy(stage.site.port()).await;
    let body = format!(
        "const page = context.pages()[0];
         await context.exposeFunction('before', () => 'exposed');
         await page.goto('https://127.0.0.1:{port}/index.html').catch(() => {{}});
         await page.waitForURL('chrome-error://chromewebdata/');
         await context.addInitScript('globalThis.script = 1');
         await page.waitForURL('https://127.0.0.1:{port}/index.html');
         await page.getByRole('button').click();
         return [await page.title(), await page.getByRole('button').textContent(),
           await page.evaluate(() => before()), (await page.reload()).ok(),
           await page.evaluate('script')];"
    );
    let user = async {
        let warned = "chrome.tabs.query({}).then(([tab]) =>
            tab.title === 'Privacy error' && tab.status === 'complete')";
        stage.until_in_worker(warned).await;
        stage.screen().click_at((800, 600));
        // What Chrome's own developers type there.
        for key in "thisisunsafe".chars() {
            stage.screen().press(&key.to_string());
        }
    };
    let (seen, ()) = tokio::join!(stage.playwright(&body), user);
    assert_eq!(seen, json!(["a page", "clicked", "exposed", true, 1]));
    stage.end().await;
}

#[tokio::test]
async fn a_page_that_an_administrator_has_blocked_is_one_like_any_other() {
    let stage = Stage::new().await;
    // Chrome takes policies for a try from this page of its own.
    stage
        .playwright_in_browser(
            "const page = await context.newPage();
             await page.goto('chrome://policy/test');
             await page.evaluate(async () => {
               const { sendWithPromise } = await import('chrome://resources/js/cr.js');
               const policy = { namespace: 'chrome', name: 'URLBlocklist', source: 0, scope: 0,
                 level: 0, value: ['127.0.0.1/form.html'] };
               await sendWithPromise('setLocalTestPolicies', JSON.stringify([policy]), '');
             });
             await page.close();",
        )
        .await;
    stage.control_tab().await;
    let seen = blocked(&stage).await;
    assert!(seen["words"].as_str().unwrap().contains("net::ERR_BLOCKED_BY_ADMINISTRATOR"));
    assert_eq!([&seen["on"]["evaluate"], &seen["on"]["screenshot"]], ["works", "works"]);
    stage.end().await;
}

#[tokio::test]
async fn a_warning_of_a_dangerous_site_is_no_trap() {
    let stage = Stage::new().await;
    // Chrome takes this one address for dangerous.
    let marked = ["--mark_as_malware=http://127.0.0.1/form.html"];
    let stage = stage.restart_browser_with(&marked).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.control_tab().await;
    let seen = blocked(&stage).await;
    assert!(seen["words"].as_str().unwrap().contains("net::ERR_BLOCKED_BY_CLIENT"), "{seen}");
    for refused in ["evaluate", "screenshot"] {
        let words = seen["on"][refused].as_str().unwrap();
        assert!(words.contains("Chrome lets no extension act on the page"), "{refused}: {words}");
    }
    stage.end().await;
}

/// A client goes to a page that the browser does not let it see, and away again.
async fn blocked(stage: &Stage) -> Value {
    let body = format!(
        "{ATTEMPTS}
         const page = context.pages()[0];
         await context.newPage();
         const shown = page.waitForEvent('framenavigated');
         const words = await outcome(() => page.goto(site + '/form.html'));
         await shown;
         const on = await attempts(page, 1);
         const away = await outcome(() => page.goto(site + '/index.html'));
         const title = await page.title();
         return {{ words, on, away, title, closed: await outcome(() => page.close()) }};"
    );
    let seen = stage.playwright(&body).await;
    only_the_page_is_concerned(&seen["on"]);
    assert_eq!([&seen["away"], &seen["title"], &seen["closed"]], ["works", "a page", "works"]);
    seen
}

#[tokio::test]
async fn no_client_goes_to_the_web_store() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             const store = 'https://chromewebstore.google.com/';
             const words = await page.goto(store).then(() => 'went', (error) => error.message);
             await page.goto(site + '/index.html');
             return [words, await page.title()];",
        )
        .await;
    assert!(seen[0].as_str().unwrap().contains("Not allowed"), "{seen}");
    assert_eq!(seen[1], "a page");
    stage.end().await;
}

#[tokio::test]
async fn a_page_that_redirects_itself_wins_over_goto_unless_it_has_been_left() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = context.pages()[0];
             let asked;
             const slow = new Promise((resolve) => { asked = resolve; });
             await page.route('**/redirecting', (route) => route.fulfill({
               contentType: 'text/html',
               body: `<script>fetch('/held').then(() => { location.href = '/form.html'; })</script>`,
             }));
             await page.route('**/held', async (route) => { await slow; await route.fulfill(); });
             const redirected = page.waitForURL('**/form.html');
             await page.route('**/slow', async (route) => {
               asked();
               await redirected;
               await route.fulfill({ body: 'slow' }).catch(() => {});
             });
             await page.goto(site + '/redirecting', { waitUntil: 'commit' });
             const words = await page.goto(site + '/slow').then(() => '', (error) => error.message);
             await redirected;
             await page.goto(site + '/redirecting', { waitUntil: 'commit' });
             await page.goto('about:blank');
             await page.goto(site + '/slow');
             return [words, new URL(page.url()).pathname];",
        )
        .await;
    let words = seen[0].as_str().unwrap();
    assert!(
        words.contains("interrupted by another navigation") || words.contains("ERR_ABORTED"),
        "{words}"
    );
    assert_eq!(seen[1], "/slow");
    stage.end().await;
}

fn only_the_page_is_concerned(on: &Value) {
    for other in [
        "expose",
        "route",
        "script",
        "headers",
        "offline",
        "geolocation",
        "credentials",
        "cookies",
        "later",
    ] {
        assert_eq!(on[other], "works", "{other}: {on}");
    }
}
