//! What clients may do to the user's browser: little, unless the user says so.

use end_to_end::Stage;
use relay::server::RelayOptions;
use relay::state::Policy;
use serde_json::{Value, json};

#[tokio::test]
async fn without_a_tab_there_are_no_cookies_and_none_can_be_set() {
    let stage = stage_with(Policy { opens_first_tab: false, ..Policy::default() }).await;
    let body = "await context.clearCookies();
         const seen = [await context.cookies(), (await context.storageState()).cookies];
         const set = await context.addCookies([{ name: 'a', value: '1', url: site }])
           .then(() => 'it worked', (error) => error.message);
         return { seen, set }";
    let answers = stage.playwright(body).await;
    assert_eq!(answers["seen"], json!([[], []]));
    let text = answers["set"].as_str().unwrap();
    assert!(text.contains("click the Playwriter icon on a Chrome tab"), "{text}");
    stage.control_tab().await;
    let body = "await context.addCookies([{ name: 'a', value: '1', url: site }]);
         return (await context.cookies(site)).map(({ name }) => name)";
    assert_eq!(stage.playwright(body).await, json!(["a"]));
    stage.end().await;
}

#[tokio::test]
async fn a_download_does_not_replace_a_file_of_the_users() {
    let stage = Stage::with_controlled_tab().await;
    let folder = stage.home().join("wanted");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("saved.pdf"), "the user's").unwrap();
    let body = format!(
        "const page = context.pages()[0];
         await page.goto(site + '/index.html');
         const session = await browser.newBrowserCDPSession();
         await session.send('Browser.setDownloadBehavior', {{
           behavior: 'allow', downloadPath: {folder:?}, eventsEnabled: true,
         }});
         const ended = new Promise((resolve) => session.on('Browser.downloadProgress',
           (event) => event.state === 'completed' && resolve(event.filePath)));
         await page.evaluate(() => {{
           const link = document.createElement('a');
           link.href = '/page.pdf'; link.download = 'saved.pdf'; link.click();
         }});
         return ended"
    );
    let free = folder.join("saved (1).pdf");
    assert_eq!(stage.playwright(&body).await, json!(free));
    let original = concat!(env!("CARGO_MANIFEST_DIR"), "/site/page.pdf");
    assert_eq!(std::fs::read(free).unwrap(), std::fs::read(original).unwrap());
    assert_eq!(std::fs::read_to_string(folder.join("saved.pdf")).unwrap(), "the user's");
    stage.end().await;
}

#[tokio::test]
async fn cookies_of_other_sites_are_the_users_until_the_profile_is_opened() {
    let mut stage = stage_with(Policy::default()).await;
    stage.control_tab().await;
    let private = json!({ "name": "private", "value": "1", "url": "https://bank.example/" });
    stage.browser.devtools("Storage.setCookies", json!({ "cookies": [private] })).await.unwrap();
    let body = "const page = context.pages()[0];
         await page.goto(site + '/index.html');
         const session = await context.newCDPSession(page);
         const names = async () => (await context.cookies()).map(({ name }) => name);
         const cookies = { name: 'private', url: 'https://bank.example/' };
         await session.send('Network.deleteCookies', cookies);
         const byUrl = (await context.cookies('https://bank.example/')).length;
         const before = await names();
         await context.clearCookies();
         const cleared = await session.send('Network.clearBrowserCookies').catch((e) => e.message);
         const state = { cookies: [{ ...cookies, value: '2' }], origins: [
           { origin: site, localStorage: [{ name: 'kept', value: 'here' }] },
         ] };
         const set = await context.setStorageState(state).then(() => 'set', (e) => e.message);
         return { byUrl, before, cleared, set, after: await names() }";
    let seen = stage.playwright(body).await;
    assert_eq!(seen["byUrl"], 0);
    assert_eq!(seen["before"], json!([]));
    for refused in [&seen["cleared"], &seen["set"]] {
        let text = refused.as_str().unwrap();
        assert!(text.contains("playwriter serve --cookies=profile"), "{text}");
    }
    assert_eq!(users_cookies(&stage).await, ["private"], "it was never touched");

    stage.stop_relay().await;
    start_with(&mut stage, Policy { whole_profile: true, ..Policy::default() }).await;
    stage.status_when("the tab to come back", |status| status.page_count > 0).await;
    let seen = stage.playwright(body).await;
    assert_eq!(seen["set"], "set");
    assert_eq!(seen["cleared"], json!({}));
    assert_eq!(seen["before"], json!([]), "it was deleted by name");
    assert_eq!(seen["after"], json!(["private"]), "the storage state has it");
    let kept = stage.playwright("return context.pages()[0].evaluate('localStorage.kept')").await;
    assert_eq!(kept, "here");
    stage.end().await;
}

#[tokio::test]
async fn a_tab_comes_to_the_front_only_when_the_user_allows_it() {
    let mut stage = stage_with(Policy::default()).await;
    stage.control_tab().await;
    const FRONT: &str = "chrome.tabs.query({ active: true }).then(([{ id }]) => id)";
    let before = stage.in_worker(FRONT).await;
    let body = "const page = await context.newPage();
         await page.bringToFront();
         const session = await browser.newBrowserCDPSession();
         const { targetInfos } = await session.send('Target.getTargets');
         await session.send('Target.activateTarget', { targetId: targetInfos.at(-1).targetId });
         return 'no error'";
    assert_eq!(stage.playwright(body).await, "no error");
    assert_eq!(stage.in_worker(FRONT).await, before);

    stage.stop_relay().await;
    start_with(&mut stage, Policy { may_focus: true, ..Policy::default() }).await;
    stage.status_when("the tabs to come back", |status| status.page_count == 2).await;
    assert_eq!(stage.playwright(body).await, "no error");
    assert_ne!(stage.in_worker(FRONT).await, before);
    stage.end().await;
}

#[tokio::test]
async fn a_client_hears_the_whole_version_of_the_browser() {
    let stage = Stage::with_controlled_tab().await;
    let told = stage.browser.devtools("Browser.getVersion", json!({})).await.unwrap();
    let product = told["product"].as_str().unwrap();
    let whole = product.rsplit('/').next().unwrap();
    assert_eq!(stage.playwright("return browser.version()").await, whole);
    stage.end().await;
}

async fn stage_with(policy: Policy) -> Stage {
    let mut stage = Stage::without_relay().await;
    start_with(&mut stage, policy).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage
}

async fn start_with(stage: &mut Stage, policy: Policy) {
    stage.start_relay_as(RelayOptions { policy, ..RelayOptions::default() }).await;
}

/// The names of the cookies in the user's profile that no controlled tab sees.
async fn users_cookies(stage: &Stage) -> Vec<String> {
    let all = stage.browser.devtools("Storage.getCookies", json!({})).await.unwrap();
    let name = |cookie: &Value| Some(cookie["name"].as_str()?.to_owned());
    all["cookies"].as_array().unwrap().iter().filter_map(name).collect()
}
