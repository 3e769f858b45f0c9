//! A progress line for a waiting person. Nothing is written where nobody reads.

use std::io::{self, IsTerminal, StderrLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::{Instant, interval_at};

/// True while there is such a line.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// A line on the terminal, which goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress(Option<Arc<AtomicBool>>);

impl Progress {
    /// Shows what is waited for, and for how long already.
    pub(crate) fn show(what: &'static str) -> Self {
        let wanted = io::stderr().is_terminal().then(|| Arc::new(AtomicBool::new(true)));
        if let Some(wanted) = &wanted {
            IS_SHOWN.store(true, Ordering::Relaxed);
            // The line is written at once, so that even a short wait is explained.
            write(&mut io::stderr().lock(), &format!("{what} (0 s)"));
            tokio::spawn(count(what, wanted.clone()));
        }
        Self(wanted)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(wanted) = &self.0 {
            let mut terminal = io::stderr().lock();
            wanted.store(false, Ordering::Relaxed);
            IS_SHOWN.store(false, Ordering::Relaxed);
            write(&mut terminal, "");
        }
    }
}

/// Standard error for longer messages. The progress line is removed before them.
pub(crate) fn stderr() -> StderrLock<'static> {
    let mut terminal = io::stderr().lock();
    if IS_SHOWN.load(Ordering::Relaxed) {
        write(&mut terminal, "");
    }
    terminal
}

async fn count(what: &'static str, wanted: Arc<AtomicBool>) {
    let (started, second) = (Instant::now(), Duration::from_secs(1));
    let mut ticks = interval_at(started + second, second);
    loop {
        ticks.tick().await;
        // Asked with the terminal in hand: after the line is gone, it does not come back.
        let mut terminal = io::stderr().lock();
        if !wanted.load(Ordering::Relaxed) {
            return;
        }
        write(&mut terminal, &format!("{what} ({} s)", started.elapsed().as_secs()));
    }
}

/// Replaces the line.
fn write(terminal: &mut StderrLock<'_>, text: &str) {
    // A terminal that has gone misses nothing.
    drop(write!(terminal, "\r\x1b[K{text}").and_then(|()| terminal.flush()));
}
