//! Figures that a passing test shows.

use std::io::Write;

/// Prints a figure that the test run shows, though the test passes.
pub fn show_figure(name: &str, value: &str) {
    // The test runner captures only what the print macros write.
    drop(writeln!(std::io::stderr(), "figure: {name}: {value}"));
}
