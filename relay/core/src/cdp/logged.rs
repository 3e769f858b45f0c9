//! What the log may not show of a command or an event.

use super::event::Event;
use super::method::Method;

/// What the log leaves out of the parameters of a command or an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logged {
    /// Fields in which somebody's typing stands; `outer.inner` is a field of a field. Programs fill in
    /// forms by evaluating a function with arguments, and forms are sent as data of a request. An
    /// expression is the program's own.
    Without(&'static [&'static str]),
    /// All of it, and all of the answer, because it is a password for a site.
    NothingOfPassword,
    /// All of it, and all of the answer, because the answer is what somebody typed.
    NothingOfTyped,
}

impl Logged {
    /// Returns what the log may not show of the command or the event of this name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let of_method = Method::row(name).and_then(|row| row.logged);
        of_method.or_else(|| Event::row(name)?.logged).unwrap_or(Self::Without(&[]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_events_have_fields_that_are_not_shown() {
        assert_eq!(Logged::of("Input.insertText"), Logged::Without(&["text"]));
        assert_eq!(Logged::of("Page.javascriptDialogClosed"), Logged::Without(&["userInput"]));
        assert_eq!(Logged::of("Fetch.continueWithAuth"), Logged::NothingOfPassword);
        assert_eq!(Logged::of("Network.getRequestPostData"), Logged::NothingOfTyped);
        assert_eq!(Logged::of("Runtime.evaluate"), Logged::Without(&[]));
    }
}
