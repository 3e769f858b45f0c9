//! Tabs that nobody looks at work like the one in front, and nobody is disturbed.

use end_to_end::{Stage, show_figure};
use relay::server::RelayOptions;
use relay_core::Policy;
use serde_json::json;

#[tokio::test]
async fn a_hidden_tab_clicks_and_takes_screenshots_like_the_one_in_front() {
    let stage = Stage::with_controlled_tab().await;
    let active = "chrome.tabs.query({ active: true }).then((tabs) => tabs.map((tab) => tab.id))";
    let before = stage.in_worker(active).await;
    let seen = stage
        .playwright(
            "const measure = async (page) => {
               await page.goto(site + '/animated.html');
               const times = { click: [], screenshot: [] };
               for (let i = 0; i < 10; i++) {
                 let start = performance.now();
                 await page.getByRole('button').click();
                 times.click.push(performance.now() - start);
                 start = performance.now();
                 await page.screenshot();
                 times.screenshot.push(performance.now() - start);
               }
               const median = (all) => all.sort((a, b) => a - b)[all.length >> 1];
               return {
                 click: median(times.click),
                 screenshot: median(times.screenshot),
                 clicks: await page.getByRole('button').getAttribute('data-clicks'),
               };
             };
             return {
               front: await measure(context.pages()[0]),
               hidden: await measure(await context.newPage()),
             };",
        )
        .await;
    for what in ["click", "screenshot"] {
        let (front, hidden) = (seen["front"][what].as_f64(), seen["hidden"][what].as_f64());
        let (front, hidden) = (front.unwrap(), hidden.unwrap());
        show_figure(
            &format!("{what} in a hidden tab"),
            &format!(
                "{:.2} times the one in front ({hidden:.0} ms to {front:.0} ms)",
                hidden / front
            ),
        );
    }
    assert_eq!([&seen["front"]["clicks"], &seen["hidden"]["clicks"]], ["10", "10"]);
    assert_eq!(stage.in_worker(active).await, before, "no tab was activated");
    stage.end().await;
}

/// Chrome forgets the frame for one in dozens of a page with a caret that comes and goes.
#[tokio::test]
async fn no_screenshot_of_a_hidden_tab_waits_for_a_frame_for_ever() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = await context.newPage();
             await page.goto(site + '/form.html');
             let taken = 0;
             while (taken < 80) taken += (await page.screenshot()).length > 0;
             return taken;",
        )
        .await;
    assert_eq!(seen, 80);
    stage.end().await;
}

#[tokio::test]
async fn a_client_that_does_nothing_special_finds_a_hidden_tab_awake() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = await context.newPage();
             const session = await context.newCDPSession(page);
             await session.send('Emulation.setFocusEmulationEnabled', { enabled: false });
             const evaluate = async (expression) => {
               const options = { expression, awaitPromise: true, returnByValue: true };
               return (await session.send('Runtime.evaluate', options)).result.value;
             };
             return evaluate('new Promise((resolve) => requestAnimationFrame(() => resolve(document.visibilityState)))');",
        )
        .await;
    assert_eq!(seen, "visible");
    stage.end().await;
}

#[tokio::test]
async fn a_clients_own_screencast_works() {
    let stage = Stage::with_controlled_tab().await;
    let seen = stage
        .playwright(
            "const page = await context.newPage();
             await page.goto(site + '/animated.html');
             await page.screenshot();
             const session = await context.newCDPSession(page);
             const frame = new Promise((resolve) => session.on('Page.screencastFrame', resolve));
             await session.send('Page.startScreencast', { format: 'jpeg' });
             const { data } = await frame;
             await session.send('Page.stopScreencast');
             await page.screenshot();
             return data.length > 1000;",
        )
        .await;
    assert_eq!(seen, true);
    stage.end().await;
}

#[tokio::test]
async fn a_folder_for_a_tab_behind_another_is_refused_with_words() {
    let stage = Stage::with_controlled_tab().await;
    let folder = stage.home().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("file.txt"), "text").unwrap();
    let seen = stage
        .playwright(&format!(
            "const give = async (page) => {{
               await page.goto(site + '/index.html');
               await page.setContent('<input type=file><input type=file webkitdirectory>');
               const names = () => page.evaluate(() =>
                 [...document.querySelectorAll('input')].map((input) => input.files[0]?.name));
               await page.locator('input').first().setInputFiles('{folder}/file.txt');
               // A locator would try again and again.
               const input = await page.$('input[webkitdirectory]');
               const given = input.setInputFiles('{folder}');
               const outcome = await given.then(() => 'given', (error) => error.message);
               return [outcome, ...await names()];
             }};
             return [await give(context.pages()[0]), await give(await context.newPage())];",
            folder = folder.display()
        ))
        .await;
    assert_eq!(seen[0], json!(["given", "file.txt", "file.txt"]));
    let words = seen[1][0].as_str().unwrap();
    assert!(words.contains("Chrome reads a folder only for a tab that is shown"), "{words}");
    assert_eq!(seen[1][1], "file.txt", "single files work everywhere");
    stage.end().await;
}

#[tokio::test]
async fn a_folder_for_a_locator_ends_with_its_time_and_the_log_says_why() {
    let stage = Stage::without_relay().await;
    let _relay = stage.relay_program().await;
    stage.browser.click_icon().await.unwrap();
    let folder = stage.home().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("file.txt"), "text").unwrap();
    let seen = stage
        .playwright(&format!(
            "const page = await context.newPage();
             await page.goto(site + '/index.html');
             await page.setContent('<input type=file webkitdirectory>');
             const options = {{ timeout: 3000 }};
             const kind = (given) => given.then(() => 'given', (error) => error.name);
             return [
               await kind(page.setInputFiles('input', '{folder}', options)),
               await kind(page.locator('input').setInputFiles('{folder}', options)),
               await page.evaluate(() => document.querySelector('input').files.length),
             ];",
            folder = folder.display()
        ))
        .await;
    assert_eq!(seen, json!(["TimeoutError", "TimeoutError", 0]));
    assert!(stage.playwriter(&["stop"]).status().await.unwrap().success());
    let log = stage.home().join(".playwriter/relay-server.log");
    let text = std::fs::read_to_string(log).unwrap();
    assert!(text.contains("Chrome reads a folder only for a tab that is shown"), "{text}");
    stage.end().await;
}

#[tokio::test]
async fn a_folder_is_read_in_a_tab_that_its_client_may_show() {
    let mut stage = Stage::without_relay().await;
    let policy = Policy { may_focus: true, ..Policy::default() };
    stage.start_relay_as(RelayOptions { policy, ..RelayOptions::default() }).await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.control_tab().await;
    let folder = stage.home().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("file.txt"), "text").unwrap();
    let seen = stage
        .playwright(&format!(
            "const page = await context.newPage();
             await page.goto(site + '/index.html');
             await page.setContent('<input type=file webkitdirectory>');
             await page.bringToFront();
             await page.locator('input').setInputFiles('{folder}');
             return page.evaluate(() => document.querySelector('input').files[0].name);",
            folder = folder.display()
        ))
        .await;
    assert_eq!(seen, "file.txt");
    stage.end().await;
}
