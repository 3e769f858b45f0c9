//! Agents are interrupted: tabs go, the extension goes and comes back, the relay dies.

use end_to_end::{Agent, Sdk, Stage, TIMEOUT};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use super::answers::{failed, ok};
use super::confinement::PROCESS;

const CLOSE_TABS: &str =
    "chrome.tabs.create({}).then(() => chrome.tabs.query({ url: '*://*/form.html' }))
        .then((tabs) => chrome.tabs.remove(tabs.map((tab) => tab.id)))";

const SDKS: [Sdk; 2] = [Sdk::TypeScript, Sdk::Python];

/// An agent of each kind, with an agent session of its own.
fn agents_of(stage: &Stage) -> Vec<Agent> {
    let over_http = |sdk| {
        let session = format!("{sdk:?}").to_lowercase();
        Agent::http(sdk, &stage.mcp_url(&format!("session={session}")))
    };
    let over_stdio = |sdk| stage.agent_over_stdio(sdk);
    SDKS.map(over_http).into_iter().chain(SDKS.map(over_stdio)).collect()
}

#[tokio::test]
async fn a_tab_that_is_closed_under_an_agent_is_replaced_with_a_warning() {
    let stage = Stage::with_controlled_tab().await;
    let mut agents = agents_of(&stage);
    let site = stage.site.url();
    for agent in &mut agents {
        ok(agent.execute(&format!("state.kept = 1; await page.goto('{site}/index.html')")).await);
        let own = format!(
            "page = state.own = await context.newPage(); await page.goto('{site}/form.html')"
        );
        ok(agent.execute(&own).await);
        assert_eq!(ok(agent.execute("page.url()").await), format!("{site}/form.html"));
    }
    stage.in_worker(CLOSE_TABS).await;
    stage.status_when("the tabs to be gone", |status| status.page_count == 1).await;
    for agent in &mut agents {
        // The relay may know before the agent's own client does.
        let closed = "state.own.isClosed() || await state.own.waitForEvent('close'); 0";
        let seen = ok(agent.execute(closed).await);
        let text = ok(agent.execute("[page.url(), state.kept].join()").await);
        let warning = format!("[note] the page was closed; `page` is now {site}/index.html");
        assert_eq!(format!("{seen}\n{text}").matches(&warning).count(), 1, "{seen}\n{text}");
        assert!(text.ends_with(&format!("{site}/index.html,1")), "{text}");
    }
    ok(agents[0].execute("await page.close()").await);
    // An agent always has a page.
    let text = ok(agents[0].execute("page.url()").await);
    assert!(text.ends_with("\nabout:blank"), "{text}");
    let popup = format!(
        "const popup = context.waitForEvent('page');
         await page.evaluate((url) => void window.open(url), '{site}/form.html');
         await (await popup).waitForURL('**/form.html');"
    );
    let text = ok(agents[1].execute(&popup).await);
    let words = format!("[note] a new page was opened: {site}/form.html is context.pages()[");
    assert!(text.contains(&words) && text.contains("assign `page = context.pages()["), "{text}");
    ok(agents[1].execute("page = context.pages().at(-1)").await);
    let text = ok(agents[1].execute("await page.close()").await);
    assert!(text.contains("[note] the page was closed; `page` is now "), "{text}");
    assert!(text.contains("or assign `page = await context.newPage()`"), "{text}");
    let text = ok(agents[1].call("reset", json!({})).await);
    assert!(text.contains("the connection to the browser was reset"), "{text}");
    end(agents).await;
    stage.end().await;
}

#[tokio::test]
async fn messages_of_an_agents_program_are_in_the_log_for_people() {
    let stage = Stage::without_relay().await;
    // Another program has the port, so there is no relay to say anything.
    let _squatter = tokio::net::TcpListener::bind(("127.0.0.1", stage.port())).await.unwrap();
    let mut agent = stage.agent_over_stdio(Sdk::TypeScript);
    let text = failed(agent.execute("1").await);
    assert!(text.contains("[Playwriter] "), "{text}");
    agent.end().await;
    let log = stage.home().join(".playwriter/relay-server.log");
    let said = std::fs::read_to_string(log).unwrap();
    let line = said.lines().find(|line| line.contains("a call of an agent failed")).unwrap();
    assert!(line.contains("relay::mcp") && line.contains("[Playwriter] "), "{line}");
    stage.end().await;
}

#[tokio::test]
async fn an_agent_without_a_browser_learns_what_the_user_has_to_click() {
    let mut stage = Stage::with_controlled_tab().await;
    let mut agents = agents_of(&stage);
    for agent in &mut agents {
        ok(agent.execute("state.kept = 'still there'").await);
    }
    // The browser may be gone before it could answer.
    drop(stage.browser.devtools("Browser.close", json!({})).await);
    stage.status_when("the extension to be gone", |status| !status.connected).await;
    for agent in &mut agents {
        let text = failed(agent.execute("page.url()").await);
        assert!(text.starts_with("no browser is connected"), "{text}");
        assert!(text.contains("click its icon on a tab"), "{text}");
    }
    stage = stage.restart_browser().await;
    stage.status_when("the extension to be back", |status| status.connected).await;
    for agent in &mut agents {
        let text = ok(agent.execute("state.kept").await);
        assert!(text.starts_with("[note] the browser was away and is back"), "{text}");
        assert!(text.ends_with("\nstill there"), "{text}");
    }
    end(agents).await;
    stage.end().await;
}

#[tokio::test]
async fn a_worker_of_the_extension_that_dies_is_not_noticed() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let opened = format!("await page.goto('{}/form.html')", stage.site.url());
    ok(agent.execute(&opened).await);
    stage.end_worker().await;
    assert_eq!(ok(agent.execute("await page.title()").await), "a form");
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn a_relay_that_is_killed_between_two_calls_is_started_again() {
    let stage = Stage::without_relay().await;
    let mut agents: Vec<Agent> = SDKS.map(|sdk| stage.agent_over_stdio(sdk)).into();
    let workers = begin(&stage, &mut agents).await;
    stage.kill_background_relay();
    ended(&workers).await;
    go_on_afresh(&mut agents).await;
    end(agents).await;
    stage.end().await;
}

#[tokio::test]
async fn a_relay_that_is_killed_and_comes_back_goes_on_serving_agents_over_http() {
    let stage = Stage::without_relay().await;
    stage.install_playwright();
    let mut relay = stage.relay_program().await;
    let mut agents: Vec<Agent> = agents_of(&stage).into_iter().take(SDKS.len()).collect();
    let workers = begin(&stage, &mut agents).await;
    // Without a word.
    relay.kill().await.unwrap();
    ended(&workers).await;
    let relay = stage.relay_program().await;
    go_on_afresh(&mut agents).await;
    end(agents).await;
    drop(relay);
    stage.end().await;
}

#[tokio::test]
async fn a_relay_that_is_restarted_goes_on_serving_agents_over_http() {
    let mut stage = Stage::with_controlled_tab().await;
    let mut agents: Vec<Agent> = agents_of(&stage).into_iter().take(SDKS.len()).collect();
    let workers = begin(&stage, &mut agents).await;
    stage.stop_relay().await;
    ended(&workers).await;
    stage.start_relay().await;
    go_on_afresh(&mut agents).await;
    end(agents).await;
    stage.end().await;
}

/// Gives every agent something to lose, and gives the processes that run their code.
async fn begin(stage: &Stage, agents: &mut [Agent]) -> Vec<String> {
    let mut workers = Vec::new();
    for agent in agents {
        let opened = format!(
            "state.lost = 1; await page.goto('{}/form.html'); {PROCESS}.pid",
            stage.site.url()
        );
        workers.push(ok(agent.execute(&opened).await));
    }
    workers
}

/// Sandboxes end with their relay, however that ends.
async fn ended(workers: &[String]) {
    for worker in workers {
        let wait = ["--pid", worker.as_str(), "-f", "/dev/null"];
        let mut waiting = Command::new("tail").args(wait).kill_on_drop(true).spawn().unwrap();
        timeout(TIMEOUT, waiting.wait()).await.unwrap().unwrap();
    }
}

async fn go_on_afresh(agents: &mut [Agent]) {
    for agent in agents {
        let text = ok(agent.execute("[await page.title(), typeof state.lost].join()").await);
        let note = "[note] the session has begun afresh since the last call";
        assert!(text.starts_with(note), "{text}");
        assert!(text.ends_with("\na form,undefined"), "{text}");
    }
}

async fn end(agents: Vec<Agent>) {
    for agent in agents {
        agent.end().await;
    }
}
