//! Chromium: with an extension, without one on its own debugging port, and the screen that shows its
//! windows.
//!
//! Nothing here starts a relay. `stage` decides to which relay the extension talks.

mod direct;
mod extension;
mod screen;

pub use direct::DirectBrowser;
pub use extension::built_extension;
pub(crate) use extension::{Extension, PAIRED};
pub use screen::{Colour, Screen};
