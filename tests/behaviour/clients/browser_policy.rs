//! Clients change little in the user's browser, unless the user allows more.

use end_to_end::Stage;
use relay::server::RelayOptions;
use relay_core::Policy;
use serde_json::{Value, json};

#[tokio::test]
async fn permissions_that_a_client_does_not_grant_stay_as_the_user_set_them() {
    let stage = Stage::with_controlled_tab().await;
    let states = "const page = context.pages()[0];
        const states = () => page.evaluate(async () => Promise.all(
          ['geolocation', 'camera'].map(async (name) => (await navigator.permissions.query({ name })).state)));";
    let seen = stage
        .playwright(&format!(
            "{states}
             await page.goto(site + '/index.html');
             const seen = [await states()];
             await context.grantPermissions(['geolocation'], {{ origin: site }});
             seen.push(await states());
             await (await browser.newBrowserCDPSession()).send('Browser.setPermission', {{
               permission: {{ name: 'camera' }}, setting: 'denied', origin: site,
             }});
             return [...seen, await states()];"
        ))
        .await;
    let [user, granted, denied] = [["prompt"; 2], ["granted", "prompt"], ["granted", "denied"]];
    assert_eq!(seen, json!([user, granted, denied]));
    let after = stage.playwright(&format!("{states} return states();")).await;
    assert_eq!(after, json!(user), "the user's own settings are back");
    stage.end().await;
}

#[tokio::test]
async fn without_a_tab_a_client_has_its_own_cookies_and_the_user_keeps_theirs() {
    let no_tab = Policy { opens_first_tab: false, ..Policy::default() };
    let mut stage = stage_with(no_tab).await;
    let users = json!([
        { "name": "private", "value": "1", "url": "https://bank.example/" },
        { "name": "a", "value": "the user's", "domain": ".shop.example" },
    ]);
    stage.browser.devtools("Storage.setCookies", json!({ "cookies": users })).await.unwrap();
    let answers = stage.playwright(OWN_COOKIES).await;
    assert_eq!((&answers["before"], &answers["after"]), (&json!([]), &json!([])));
    assert_eq!(answers["seen"], own_cookies(&answers["seen"]));
    assert!(answers["seen"][1]["expires"].as_f64() > Some(1.7e9), "a year from now");
    assert_eq!(answers["stored"], 4);
    let refused = answers["refused"].as_str().unwrap();
    assert!(refused.contains(r#"the cookie "__Host-bad" could not be set"#), "{refused}");
    assert_eq!(answers["byUrl"], json!(["e"]), "the others are set");
    for field in ["size", "session", "priority", "sourceScheme", "sourcePort"] {
        assert!(!answers["told"][field].is_null(), "{field}");
    }
    assert_eq!(users_cookies(&stage).await, ["a", "private"], "they are the user's");

    stage.stop_relay().await;
    start_with(&mut stage, Policy { whole_profile: true, ..no_tab }).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    let body = "const names = async () => (await context.cookies()).map(({ name }) => name).sort();
         await context.addCookies([{ name: 'own', value: '1', url: site }]);
         const before = await names();
         await context.clearCookies({ name: 'a' });
         const left = await names();
         await context.clearCookies();
         return [before, left, await names()]";
    let seen = stage.playwright(body).await;
    assert_eq!(seen, json!([["a", "own", "private"], ["own", "private"], []]));
    assert_eq!(users_cookies(&stage).await, [""; 0]);

    stage.control_tab().await;
    let body = "await context.addCookies([{ name: 'a', value: '1', url: site }]);
         return (await context.cookies(site)).map(({ name }) => name)";
    assert_eq!(stage.playwright(body).await, json!(["a"]), "with a tab, too");
    stage.end().await;
}

/// A client that sets cookies without a tab, and tells what it sees of them.
const OWN_COOKIES: &str = "const before = await context.cookies();
         await context.addCookies([
           { name: 'a', value: '1', url: 'https://www.shop.example/' },
           { name: 'b', value: '2', domain: '.other.example', path: '/x', expires: 4e9,
             httpOnly: true, secure: true, sameSite: 'Strict' },
           { name: 'c', value: '3', url: 'https://in.example/', partitionKey: 'https://top.example' },
           { name: 'd', value: '4', url: 'http://plain.example/y/z', sameSite: 'Lax' },
         ]);
         const seen = await context.cookies();
         const { cookies } = await context.storageState();
         const bad = [{ name: 'e', value: '5', url: site }, { name: '__Host-bad', value: '6', url: site }];
         const refused = await context.addCookies(bad).then(() => 'set', (error) => error.message);
         const byUrl = (await context.cookies(site)).map(({ name }) => name);
         const session = await browser.newBrowserCDPSession();
         const told = await session.send('Storage.getCookies');
         await context.clearCookies();
         return { before, seen, stored: cookies.length, refused, byUrl, told: told.cookies[0],
           after: await context.cookies() }";

/// Returns the cookies that [`OWN_COOKIES`] must see. The time that is left to one is as it was seen.
fn own_cookies(seen: &Value) -> Value {
    let cookie = |name: &str, value: &str, domain: &str, path: &str, secure: bool| {
        json!({
            "name": name, "value": value, "domain": domain, "path": path, "expires": -1,
            "httpOnly": false, "secure": secure, "sameSite": "Lax",
        })
    };
    let mut own = [
        cookie("a", "1", "www.shop.example", "/", true),
        cookie("b", "2", ".other.example", "/x", true),
        cookie("c", "3", "in.example", "/", true),
        cookie("d", "4", "plain.example", "/y/", false),
    ];
    own[1]["httpOnly"] = true.into();
    own[1]["sameSite"] = "Strict".into();
    own[1]["expires"] = seen[1]["expires"].clone();
    own[2]["partitionKey"] = "https://top.example".into();
    own[2]["_crHasCrossSiteAncestor"] = seen[2]["_crHasCrossSiteAncestor"].clone();
    json!(own)
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
    let original = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/site/page.pdf");
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
    let mut names: Vec<String> =
        all["cookies"].as_array().unwrap().iter().filter_map(name).collect();
    names.sort();
    names
}
