//! The log for people, as something that `tracing` can write to.

use std::io;

use tracing_subscriber::fmt::MakeWriter;

use super::Lines;

/// Takes lines that `tracing` has formatted.
#[derive(Debug, Clone)]
pub struct TextLog(Lines);

impl TextLog {
    pub(super) fn new(lines: Lines) -> Self {
        Self(lines)
    }
}

impl<'a> MakeWriter<'a> for TextLog {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl io::Write for TextLog {
    /// `tracing` writes each line in one piece.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.text(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
