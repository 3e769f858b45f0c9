//! The output of a command: data on standard output, messages on standard error, a verdict as exit
//! code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use relay::RelayServerError;
use serde::Serialize;

/// The verdict of a command. A failure is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer is yes, or the work was done.
    Yes,
    /// The answer is no.
    No,
}

const FAILURE: u8 = 2;

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Yes => Self::SUCCESS,
            Outcome::No => Self::FAILURE,
        }
    }
}

/// Says what went wrong, unless nobody listens any more.
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    let is_broken_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // The prefix is left out, because it is clear here who talks.
    say(&format!("error: {error:#}").replacen("[Playwriter] ", "", 1));
    match error.downcast_ref::<RelayServerError>() {
        Some(RelayServerError::ExtensionNotConnected { .. } | RelayServerError::NoTab { .. }) => {
            Outcome::No.into()
        }
        Some(_) | None => ExitCode::from(FAILURE),
    }
}

/// Talks to the person at the terminal; standard output is for data.
pub(crate) fn say(text: &str) {
    // A closed standard error is no reason to fail.
    drop(writeln!(io::stderr(), "{}", cleaned(text, "\n\t")));
}

/// Returns a text of a page or a peer as one line for people: it moves no cursor, and looks like no
/// line of ours.
pub(crate) fn one_line(text: &str) -> String {
    cleaned(text, "")
}

fn cleaned(text: &str, kept: &str) -> String {
    let turns = |it: char| matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harms = |it: char| (it.is_control() || turns(it)) && !kept.contains(it);
    text.replace(harms, "\u{fffd}")
}

/// Writes data, to a program as it is.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.is_terminal() {
        true => writeln!(stdout, "{}", cleaned(text, "\n\t"))?,
        false => writeln!(stdout, "{text}")?,
    }
    Ok(stdout.flush()?)
}

/// Writes data for a script.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string_pretty(value)?)
}
