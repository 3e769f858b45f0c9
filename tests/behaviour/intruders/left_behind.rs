//! Code that an agent leaves behind in a tab, for the documents that come into it: a file, too.

use std::fs;

use end_to_end::{Sdk, Stage};
use serde_json::Value;

use super::attack::{Attack, attack};
use crate::behaviour::agents::answers::ok;

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        Agent,
        "leaves scripts for new documents that replace what the relay's own statement before them would call, one of them in a world of its own, and goes back to a file",
        "they end at once: the statement calls nothing that a script can declare",
        scripts_that_an_agent_left_behind_run_in_no_file
    ),
    attack!(
        Agent,
        "leaves a script that runs in an empty frame of a file, from which it reaches the file",
        "it ends at once: an empty frame has the base of what is around it",
        scripts_that_an_agent_left_behind_run_in_no_file
    ),
    attack!(
        Agent,
        "leaves breakpoints at every address whose conditions are code, and goes back to a file with a script",
        "a condition fails where a page is not on the web",
        conditions_that_an_agent_left_behind_run_in_no_file
    ),
    attack!(
        Agent,
        "sends code to a tab without a pause while the tab goes to a file, and listens for the name of the file",
        "the tab is gone for agents when it sets out, and code that arrives in a file ends at once",
        what_is_under_way_to_a_tab_arrives_in_no_file
    ),
];

/// A file with a script, an empty frame, and one with a document of its own.
const SECRET: &str = "<title>s3cret</title><iframe></iframe><script>\n'of the file';\nlet own = 1;\n\
                      for (let i = 0; i < 3; i += 1) {\nown += i;\n}\n</script>s3cret";

/// How often each attack is tried. The relay takes away what was left when it hears of the file, which is
/// often soon enough by itself.
const TIMES: usize = 3;

/// Adds a script for new documents that adds to the title of the page around it, wherever it runs.
const LEAVE: &str = "
    const marks = (name) => `{
        const mark = () => { try { top.document.title += ' ${name}' } catch {} };
        document.addEventListener('DOMContentLoaded', mark);
        setTimeout(mark, 300);
    }`;
    for (const [name, hoisted, more] of [
        ['plain', '', {}],
        ['Error', 'function Error() { HERE }', {}],
        ['location', 'var location, document;', {}],
        ['parent', 'function parent() {} function self() {} function frames() {}', {}],
        ['world', 'function Error() { HERE }', { worldName: 'another' }],
        ['line', 'function Error() { HERE }', { includeCommandLineAPI: true }],
    ]) {
        const source = hoisted.replaceAll('HERE', marks(name)) + marks(name);
        await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source, ...more });
    }";

/// Sets breakpoints on each of the first lines of every script. Their conditions add to the title, too.
const STOP: &str = "
    await cdp.send('Debugger.enable');
    const mark = `document.addEventListener('DOMContentLoaded', () => { document.title += ' condition' })`;
    for (let lineNumber = 0; lineNumber < 6; lineNumber += 1) {
        const condition = lineNumber % 2 ? mark : `function globalThis() { ${mark} } ${mark}; false`;
        await cdp.send('Debugger.setBreakpointByUrl', { lineNumber, urlRegex: '.*', condition });
    }";

#[tokio::test]
async fn scripts_that_an_agent_left_behind_run_in_no_file() {
    for _ in 0..TIMES {
        assert_eq!(title_of_file_after(LEAVE).await, "s3cret");
    }
}

#[tokio::test]
async fn conditions_that_an_agent_left_behind_run_in_no_file() {
    for _ in 0..TIMES {
        assert_eq!(title_of_file_after(STOP).await, "s3cret");
    }
}

/// Sends code as fast as it can, until the tab is gone.
const RACE: &str = "
    const seen = [];
    for (const name of ['Network.requestWillBeSent', 'Page.frameStartedNavigating', 'Page.frameNavigated'])
        cdp.on(name, (event) => { if (JSON.stringify(event).includes('file:')) seen.push(name) });
    await cdp.send('Network.enable');
    await cdp.send('Page.enable');
    let open = true;
    closed.then(() => { open = false });
    found.evaluate(() => { setTimeout(() => history.back()) }).catch(() => {});
    const mark = `location.protocol === 'file:' && (document.title += ' raced')`;
    while (open) {
        for (let number = 0; number < 10; number += 1) {
            cdp.send('Runtime.evaluate', { expression: mark }).catch(() => {});
            cdp.send('Runtime.callFunctionOn', {
                functionDeclaration: `() => { ${mark} }`, executionContextId: number + 1,
            }).catch(() => {});
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (seen.length) throw new Error(seen.join());";

#[tokio::test]
async fn what_is_under_way_to_a_tab_arrives_in_no_file() {
    for _ in 0..TIMES {
        assert_eq!(title_of_file_after(RACE).await, "s3cret");
    }
}

/// Returns the title of a file to which an agent goes back, in a tab in which the agent left code. On a page
/// of the web, that code does run.
async fn title_of_file_after(leave: &str) -> Value {
    let stage = Stage::with_controlled_tab().await;
    let secret = stage.home().join("secret.html");
    fs::write(&secret, SECRET).unwrap();
    let (file, site) = (format!("file://{}", secret.display()), stage.site.url());
    let tab = stage.in_worker("chrome.tabs.query({ active: true }).then(([tab]) => tab.id)").await;
    for url in [&file, &format!("{site}/form.html")] {
        stage.in_worker(&format!("chrome.tabs.update({tab}, {{ url: {url:?} }})")).await;
        let shows = |page: &shared_protocol::http::PageEntry| page.url == *url;
        stage.status_when(url, |status| status.pages.iter().any(shows)).await;
    }
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    // What is not kept for later documents has run by now.
    let see_it_run = match leave {
        RACE => "const runs = true;",
        _ => {
            "await found.reload();
             const web = found.waitForFunction(() => document.title.includes(' '), null, { timeout: 5000 });
             const runs = await web.then(() => true, () => false);"
        }
    };
    let go_back = format!(
        "let found;
         for (let tries = 0; !found && tries < 200; tries += 1) {{
             found = context.pages().find((page) => page.url().endsWith('/form.html'));
             if (!found) await new Promise((resolve) => setTimeout(resolve, 50));
         }}
         const cdp = await context.newCDPSession(found);
         const closed = found.waitForEvent('close');
         {leave}
         {see_it_run}
         await found.evaluate(() => {{ setTimeout(() => history.back()) }}).catch(() => {{}});
         await closed;
         runs"
    );
    let runs = ok(agent.execute(&go_back).await);
    let loaded = format!(
        "chrome.tabs.get({tab}).then((tab) => tab.url === {file:?} && tab.status === 'complete')"
    );
    stage.until_in_worker(&loaded).await;
    // As long as the slowest of what was left takes, and longer.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let title = stage.in_worker(&format!("chrome.tabs.get({tab}).then((tab) => tab.title)")).await;
    assert_eq!(runs, "true", "on the web it does run");
    agent.end().await;
    stage.end().await;
    title
}
