//! A command that runs until it is interrupted.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use crate::place::Place;

pub(crate) struct Running<'a> {
    place: &'a Place,
    arguments: String,
    child: Child,
    stdout: Heard<ChildStdout>,
    stderr: Heard<ChildStderr>,
}

impl<'a> Running<'a> {
    pub(crate) fn start(place: &'a Place, arguments: &[&str]) -> Self {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self {
            place,
            arguments: arguments.join(" "),
            stdout: Heard::from(child.stdout.take().unwrap()),
            stderr: Heard::from(child.stderr.take().unwrap()),
            child,
        }
    }

    /// The next line of its standard output.
    pub(crate) fn line(&mut self) -> String {
        self.stdout.line()
    }

    /// Waits for a line on standard error that begins so.
    pub(crate) fn says(&mut self, beginning: &str) {
        while !self.stderr.line().starts_with(beginning) {}
    }

    /// Interrupts it, and compares all that it said with what it should say.
    pub(crate) fn ends_as(mut self, snapshot: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let (stdout, stderr) = (self.stdout.all(), self.stderr.all());
        let output = Output { status: self.child.wait().unwrap(), stdout, stderr };
        self.place.compare(snapshot, &self.arguments, &output);
    }
}

/// The output so far, and the source of more.
struct Heard<R> {
    text: String,
    more: BufReader<R>,
}

impl<R: Read> Heard<R> {
    fn from(stream: R) -> Self {
        Self { text: String::new(), more: BufReader::new(stream) }
    }

    fn line(&mut self) -> String {
        let start = self.text.len();
        assert_ne!(self.more.read_line(&mut self.text).unwrap(), 0, "it ended: {}", self.text);
        self.text[start..].trim_end().to_owned()
    }

    fn all(&mut self) -> Vec<u8> {
        self.more.read_to_string(&mut self.text).unwrap();
        std::mem::take(&mut self.text).into_bytes()
    }
}
