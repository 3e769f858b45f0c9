//! Agents' code that has the browser or the relay do what it may not do itself, and made-up extensions
//! that have the relay copy files.

mod downloads;

use std::fs;
use std::path::Path;

use end_to_end::{Agent, Sdk, Stage};
use relay::log::Logs;
use relay::server::RelayOptions;
use serde_json::Value;

use super::attack::{Attack, attack};
use crate::behaviour::agents::answers::{failed, ok};
use downloads::{
    a_download_of_another_extension_s_making_takes_no_file_along,
    a_made_up_download_takes_the_place_of_no_file, an_extension_with_a_key_replaces_no_file,
    an_extension_with_a_key_takes_no_file_along_that_is_no_download,
};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        Agent,
        "drops a file on a page, so that Chrome opens it",
        "refused: agents drop no files, and a popup that shows a file is not taken over",
        no_way_leads_an_agent_to_a_file
    ),
    attack!(
        Agent,
        "looks at the `file:` page that the user opens in a controlled tab, or hands over",
        "the tab is gone for agents before they hear of it, and is there again when it is back on the web",
        no_way_leads_an_agent_to_a_file
    ),
    attack!(
        Agent,
        "goes back in the history of a tab to a file, with a script for new documents that reads it",
        "the tab is gone for agents, and the script ends at once where a page is not on the web",
        no_way_leads_an_agent_to_a_file
    ),
    attack!(
        Agent,
        "opens a file by a popup, a redirect or `view-source:`",
        "refused, by Chrome or by the relay: agents open addresses of the web",
        no_way_leads_an_agent_to_a_file
    ),
    attack!(
        Agent,
        "grants camera, microphone, clipboard or location, everywhere or to a bank",
        "refused: agents name a site that is open in a controlled tab, and devices need `--agents-may`",
        agents_reach_no_further_than_the_open_sites
    ),
    attack!(
        Agent,
        "sets a cookie of a bank that no controlled tab shows",
        "refused: agents set cookies of open sites",
        agents_reach_no_further_than_the_open_sites
    ),
    attack!(
        Agent,
        "asks how much a bank has stored, which tells that the user is its customer",
        "refused: `Storage` answers about open sites",
        agents_reach_no_further_than_the_open_sites
    ),
    attack!(
        Agent,
        "traces what all tabs of the browser do",
        "such categories are left out, for every client",
        agents_reach_no_further_than_the_open_sites
    ),
    attack!(
        Agent,
        "accepts in the user's place that a site handles links or payments",
        "refused: only the user may",
        agents_reach_no_further_than_the_open_sites
    ),
    attack!(
        OtherUser,
        "poses as an extension and has the relay copy a secret of its user as a download",
        "refused: only a file of the relay's user that was made since the download began, and of its size, is copied",
        a_download_of_another_extension_s_making_takes_no_file_along
    ),
    attack!(
        SameUser,
        "poses as an extension and has the relay copy its own keys, a link, or a file with two names",
        "refused: nothing of the relay's own, no link, no file with other names",
        a_download_of_another_extension_s_making_takes_no_file_along
    ),
    attack!(
        SameUser,
        "names a download `.bashrc`, or like a file that is there, so that it is overwritten",
        "refused: an id of a download has to be one, and no file is ever replaced",
        a_made_up_download_takes_the_place_of_no_file
    ),
    attack!(
        SameUser,
        "has the key of the user's extension, and tells of a download that is an old file, the relay's own, a link, a file with two names, of another user or of another size",
        "refused: only a regular file that was made since, by this user, is copied; such a one is",
        an_extension_with_a_key_takes_no_file_along_that_is_no_download
    ),
    attack!(
        SameUser,
        "has the key of the user's extension, and names a download like a file that is there",
        "refused: no file is ever replaced",
        an_extension_with_a_key_replaces_no_file
    ),
    attack!(
        StolenLog,
        "looks for passwords that programs typed",
        "what is typed, filled in or sent by a form is left out of the log",
        what_is_typed_is_in_no_log
    ),
];

#[tokio::test]
async fn no_way_leads_an_agent_to_a_file() {
    let stage = Stage::with_controlled_tab().await;
    let secret = stage.home().join("secret.html");
    fs::write(&secret, "<title>s3cret</title>s3cret").unwrap();
    let file = format!("file://{}", secret.display());
    let site = stage.site.url();
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute(&format!("await page.goto('{site}/index.html')")).await);

    no_drop_and_no_address(&mut agent, &secret, &site).await;
    ok(agent.execute(&format!("await page.goto('{site}/index.html')")).await);
    let popup = format!(
        "await page.evaluate((file) => {{ window.open(file) }}, {file:?});
         await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 200)));"
    );
    ok(agent.execute(&popup).await);
    sees_no_file(&mut agent).await;
    let close = "for (const other of context.pages()) if (other !== page) await other.close()";
    ok(agent.execute(close).await);

    let tab = "chrome.tabs.query({ active: true }).then(([tab]) => tab.id)";
    let tab = stage.in_worker(tab).await;
    no_tab_of_the_users(&stage, &mut agent, &tab, &file).await;
    no_way_back(&stage, &mut agent, &tab, &file).await;
    agent.end().await;
    stage.end().await;
}

/// The agent neither drops the file on a page nor goes to its address.
async fn no_drop_and_no_address(agent: &mut Agent, secret: &Path, site: &str) {
    let file = format!("file://{}", secret.display());
    let drop = format!(
        "const cdp = await getCDPSession();
         const data = {{ items: [], files: [{:?}], dragOperationsMask: 1 }};
         for (const type of ['dragEnter', 'dragOver', 'drop'])
           await cdp.send('Input.dispatchDragEvent', {{ type, x: 50, y: 50, data }})",
        secret.to_str().unwrap()
    );
    let text = failed(agent.execute(&drop).await);
    assert!(text.contains("files cannot be dropped here"), "{text}");

    for open in [
        format!("await page.goto({file:?})"),
        format!("await page.goto('view-source:' + {file:?})"),
        format!(
            "await page.route('**/away', (route) =>
                 route.fulfill({{ status: 302, headers: {{ location: {file:?} }} }}));
             const error = await page.goto('{site}/away').catch((error) => error);
             await page.waitForURL('chrome-error:**', {{ timeout: 5000 }}).catch(() => {{}});
             throw error"
        ),
    ] {
        failed(agent.execute(&open).await);
    }
}

/// The user opens the file in the tab that is controlled.
async fn no_tab_of_the_users(stage: &Stage, agent: &mut Agent, tab: &Value, file: &str) {
    go(stage, tab, file).await;
    sees_no_file(agent).await;
    let status = stage.status_when("the file", |status| shows(status, file)).await;
    let page = status.pages.iter().find(|page| page.url == file).unwrap();
    let attach = format!(
        "await (await browser.newBrowserCDPSession())
             .send('Target.attachToTarget', {{ targetId: '{}', flatten: true }})",
        page.target_id
    );
    let text = failed(agent.execute(&attach).await);
    let words = format!("No target with given id found: {}", page.target_id);
    assert!(text.contains(&words), "{text}");
    let seen = "return context.pages().map((page) => page.url())";
    let seen = stage.playwright(seen).await;
    assert!(seen.to_string().contains(file), "a program of the user's sees it: {seen}");
}

/// The tab is back on the web, and the agent in it goes back to the file.
async fn no_way_back(stage: &Stage, agent: &mut Agent, tab: &Value, file: &str) {
    let site = stage.site.url();
    go(stage, tab, &format!("{site}/form.html")).await;
    let back = format!(
        "let found;
         for (let tries = 0; !found && tries < 200; tries += 1) {{
           found = context.pages().find((page) => page.url().endsWith('/form.html'));
           if (!found) await new Promise((resolve) => setTimeout(resolve, 50));
         }}
         await found.addInitScript((site) => {{
           document.addEventListener('DOMContentLoaded', () => {{ document.title = 'taken' }});
         }}, {site:?});
         const closed = found.waitForEvent('close');
         await found.evaluate(() => {{ setTimeout(() => history.back()) }}).catch(() => {{}});
         await closed;
         'gone'"
    );
    assert_eq!(ok(agent.execute(&back).await), "gone");
    let status = stage.status_when("the file again", |status| shows(status, file)).await;
    assert!(shows(&status, file));
    sees_no_file(agent).await;
    stage
        .until_in_worker(&format!(
            "chrome.tabs.get({tab}).then((tab) => tab.status === 'complete')"
        ))
        .await;
    let title = stage.in_worker(&format!("chrome.tabs.get({tab}).then((tab) => tab.title)")).await;
    assert_eq!(title, "s3cret", "no script of the agent's ran there");
}

fn shows(status: &shared_protocol::http::PagesStatus, url: &str) -> bool {
    status.pages.iter().any(|page| page.url == url)
}

/// The user takes a tab to an address.
async fn go(stage: &Stage, tab: &Value, url: &str) {
    stage.in_worker(&format!("chrome.tabs.update({tab}, {{ url: {url:?} }})")).await;
    stage.status_when(url, |status| shows(status, url)).await;
}

/// Neither Playwright nor the protocol shows an agent anything of a file.
async fn sees_no_file(agent: &mut Agent) {
    let look = "const cdp = await browser.newBrowserCDPSession();
        const { targetInfos } = await cdp.send('Target.getTargets');
        const contents = await Promise.all(context.pages().map((page) => page.content()));
        JSON.stringify([targetInfos, context.pages().map((page) => page.url()), contents])";
    let seen = ok(agent.execute(look).await);
    assert!(!seen.contains("file:") && !seen.contains("s3cret"), "{seen}");
}

#[tokio::test]
async fn agents_reach_no_further_than_the_open_sites() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let site = stage.site.url();
    ok(agent.execute(&format!("await page.goto('{site}/index.html')")).await);
    // Playwright asks again for what it was refused before.
    let grant = |name: &str, origin: &str| {
        format!(
            "await context.clearPermissions();
             await context.grantPermissions(['{name}'], {{ origin: '{origin}' }})"
        )
    };
    let cdp = |method: &str, params: &str| {
        format!("await (await getCDPSession()).send('{method}', {params})")
    };
    let cookie = |url: &str| {
        format!("await context.addCookies([{{ name: 'id', value: 'mine', url: '{url}/' }}])")
    };
    for (code, why) in [
        ("await context.grantPermissions(['geolocation'])".to_owned(), "has to name the site"),
        (grant("geolocation", "https://bank.example"), "is not open in a controlled tab"),
        (grant("camera", &site), "--agents-may=camera"),
        (grant("microphone", &site), "--agents-may=microphone"),
        (grant("clipboard-read", &site), "--agents-may=clipboard-read"),
        (cookie("https://bank.example"), "open the site first"),
        (cdp("Storage.getUsageAndQuota", "{ origin: 'https://bank.example' }"), "whole profile"),
        (cdp("Storage.getTrustTokens", "{}"), "whole profile"),
        (cdp("Page.setRPHRegistrationMode", "{ mode: 'autoAccept' }"), "only the user"),
        (cdp("Page.setSPCTransactionMode", "{ mode: 'autoAccept' }"), "only the user"),
        (cdp("Tracing.start", "{ categories: 'netlog,navigation,*' }"), "none of these categories"),
    ] {
        let text = failed(agent.execute(&code).await);
        assert!(text.contains(why), "{code}: {text}");
    }
    for code in [
        grant("geolocation", &site),
        cookie(&site),
        cdp("Storage.getUsageAndQuota", &format!("{{ origin: '{site}' }}")),
    ] {
        ok(agent.execute(&code).await);
    }
    let traced =
        "await browser.startTracing(page, { categories: ['navigation', 'devtools.timeline'] });
        await page.reload();
        const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
        const has = (name) => traceEvents.some(({ cat }) => cat.split(',').includes(name));
        JSON.stringify([has('devtools.timeline'), has('navigation')])";
    assert_eq!(ok(agent.execute(traced).await), "[true,false]");

    programs_reach_their_own_pages(&stage).await;
    agent.end().await;
    stage.end().await;
}

/// Programs of the user's that name no site mean their own pages, wherever those are.
async fn programs_reach_their_own_pages(stage: &Stage) {
    let site = stage.site.url();
    let other = site.replace("127.0.0.1", "localhost");
    let granted = stage
        .playwright(&format!(
            "const page = context.pages()[0];
             await context.grantPermissions(['notifications']);
             const states = [];
             for (const url of ['{site}/form.html', '{other}/form.html']) {{
               await page.goto(url);
               states.push(await page.evaluate(() =>
                 navigator.permissions.query({{ name: 'notifications' }}).then((it) => it.state)));
             }}
             return states;"
        ))
        .await;
    assert_eq!(granted, serde_json::json!(["granted", "granted"]));
}

#[tokio::test]
async fn what_is_typed_is_in_no_log() {
    let mut stage = Stage::without_relay().await;
    let folder = stage.home().join("logs");
    let logs = Some(Logs::in_folder(&folder));
    stage.start_relay_as(RelayOptions { logs, ..RelayOptions::default() }).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.control_tab().await;
    stage
        .playwright(
            "const page = context.pages()[0];
             await page.goto(site + '/form.html');
             await page.getByPlaceholder('name').fill('s3cret-filled');
             await page.getByPlaceholder('name').pressSequentially('~@~@~@');
             await page.keyboard.insertText('s3cret-inserted');
             await page.evaluate((text) => {
               const form = document.createElement('form');
               Object.assign(form, { method: 'post', action: '/echo' });
               const input = form.appendChild(document.createElement('input'));
               Object.assign(input, { name: 'password', value: text.split('').reverse().join('') });
               document.body.append(form);
               form.submit();
             }, 'tnes-terc3s');
             await page.waitForURL('**/echo');",
        )
        .await;
    stage.stop_relay().await;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let leaks: Vec<&str> = text
            .lines()
            .filter(|line| {
                ["s3cret", "tnes-terc3s", "\"~\"", "\"@\""].iter().any(|it| line.contains(it))
            })
            .collect();
        assert!(leaks.is_empty(), "{}: {leaks:#?}", path.display());
    }
    let traffic = fs::read_to_string(folder.join("cdp.jsonl")).unwrap();
    assert!(traffic.contains("may have been typed"), "{traffic}");
    assert!(traffic.contains("Input.insertText"), "what was done is still told");
    stage.end().await;
}
