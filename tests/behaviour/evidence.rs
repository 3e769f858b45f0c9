//! A test that fails leaves evidence of the reason.

use std::fs;
use std::path::Path;
use std::thread;

use end_to_end::Stage;

#[test]
fn a_test_that_fails_keeps_logs_traffic_console_and_screenshot() {
    let failing = thread::Builder::new().name("behaviour::evidence::on_purpose".to_owned());
    let failed = failing.spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::with_controlled_tab().await;
            let body = "await context.pages()[0].goto(site); await context.pages()[0].title()";
            stage.playwright(body).await;
            stage.in_worker("console.warn('seen in the worker')").await;
            panic!("on purpose");
        });
    });
    assert!(failed.unwrap().join().is_err());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/failures/evidence.on_purpose");
    let read = |name: &str| {
        let file = kept.join(name);
        fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    let text = |name: &str| String::from_utf8(read(name)).unwrap();
    assert!(text("logs/cdp.jsonl").contains("Page.navigate"));
    assert!(text("logs/relay-server.log").contains("extension"));
    assert!(text("worker.txt").contains("seen in the worker"));
    let targets: serde_json::Value = serde_json::from_slice(&read("targets.json")).unwrap();
    let page = targets.as_array().unwrap().iter().position(|it| it["type"] == "page").unwrap();
    assert!(read(&format!("page-{page}.png")).starts_with(b"\x89PNG"));
    fs::remove_dir_all(kept).unwrap();
}
