//! Transcripts of an extension, the relay and a client: recorded once per generation of the extension,
//! and replayed against every relay after.
//!
//! `tests/compatibility/transcripts` has a file per generation, with one line per message, in the order
//! in which they were seen.

mod line;
mod recorder;
mod replay;
mod tap;

pub use line::generations;
pub use recorder::{Recorded, record};
pub use replay::replay;
