//! If one side is too old for a user's request, the user is told which side to update.

use end_to_end::{Maker, Pair, RelayProgram, Scene, Sdk};
use serde_json::json;

const OLDER_EXTENSION: Pair = Pair { extension: Maker::Released("0.7"), relay: Maker::Ours };
const OLDER_RELAY: Pair = Pair { extension: Maker::Ours, relay: Maker::Released("0.7") };

const TOO_OLD: &str = "is too old for permissions: update the extension";

#[tokio::test]
async fn an_extension_that_is_too_old_is_named_wherever_a_user_looks() {
    let scene = Scene::set_up(OLDER_EXTENSION).await;
    scene.until_met().await;
    let asked = "await context.grantPermissions(['geolocation'])";
    let refused = scene.says(&["-e", asked]).await;
    assert!(refused.contains(TOO_OLD), "the answer itself: {refused}");
    let answer = scene.says(&["-s", "another", "-e", "1+1"]).await;
    assert!(answer.contains(TOO_OLD), "an agent's next answer: {answer}");
    for command in ["status", "doctor"] {
        let said = scene.says(&[command]).await;
        assert!(said.contains(TOO_OLD), "{command}: {said}");
    }
    for sdk in [Sdk::TypeScript, Sdk::Python] {
        let mut agent = scene.agent(sdk);
        let refused = agent.execute(asked).await;
        assert!(refused.failed && refused.text.contains(TOO_OLD), "{sdk:?}: {refused:?}");
        agent.end().await;
    }
    scene.end().await;
}

#[tokio::test]
async fn an_extension_that_is_too_old_is_named_in_the_log() {
    let mut relay = RelayProgram::start().await;
    let tab = relay.raw_tab().await;
    let mut client = relay.raw_client("/cdp").await;
    let grant = json!({
        "id": 1, "method": "Browser.grantPermissions", "params": { "permissions": ["geolocation"] },
    });
    let refused = client.answer_to(1, &grant.to_string()).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains(TOO_OLD), "{refused}");
    drop((client, tab));
    relay.stop().await;
    let log = std::fs::read_to_string(relay.log_folder().join("relay-server.log")).unwrap();
    assert!(log.contains(TOO_OLD), "{log}");
}

#[tokio::test]
async fn a_relay_that_is_too_old_is_named_on_the_icon() {
    let scene = Scene::set_up(OLDER_RELAY).await;
    scene.until_met().await;
    scene.click_icon().await;
    // The warning shows with the relay's first message.
    let title = scene.in_worker(
        "new Promise((resolve) => {
           const look = async () => {
             const [tab] = await chrome.tabs.query({ active: true });
             const title = await chrome.action.getTitle({ tabId: tab.id });
             if (title.includes('too old')) resolve(title); else setTimeout(look, 50);
           };
           look();
         })",
    );
    let title = title.await;
    assert!(title.as_str().unwrap().ends_with("update the relay"), "{title}");
    scene.end().await;
}
