//! Budgets of the extension, in bytes and milliseconds. Every test run prints what is used of them.

use end_to_end::{Stage, built_extension, show_figure};

/// The limit of the built wasm, in kB.
const SIZE: u64 = 400;

/// The limit of the median of [`STARTS`] starts of the worker, in milliseconds.
const FIRST_ANSWER: f64 = 500.0;
const STARTS: usize = 15;

#[test]
fn the_worker_is_small() {
    let wasm = built_extension().join("pkg/extension_wasm_bg.wasm");
    let kilobytes = std::fs::metadata(wasm).unwrap().len() / 1000;
    show_figure("worker size", &format!("{kilobytes} kB of {SIZE} kB"));
    assert!(kilobytes < SIZE);
}

#[tokio::test]
async fn a_worker_that_was_killed_answers_soon_after_it_starts_again() {
    let stage = Stage::new().await;
    let mut starts = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        stage.end_worker().await;
        // The worker's clock starts with the worker.
        let answered = "getExtensionState().then(() => performance.now())";
        starts.push(stage.in_worker(answered).await.as_f64().unwrap());
    }
    starts.sort_by(f64::total_cmp);
    let (quickest, median, slowest) = (starts[0], starts[STARTS / 2], starts[STARTS - 1]);
    show_figure(
        "first answer of a started worker",
        &format!(
            "median of {STARTS} {median:.0} ms ({quickest:.0} to {slowest:.0}) of {FIRST_ANSWER} ms"
        ),
    );
    assert!(median < FIRST_ANSWER, "{starts:.0?}");
    stage.end().await;
}
