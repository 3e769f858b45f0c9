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
    for other in ["expose", "route", "script", "headers", "later"] {
        assert_eq!(on[other], "works", "{other}: {on}");
    }
}
