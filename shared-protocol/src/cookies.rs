//! The user's cookies, as `chrome.cookies` has them: for when there is no tab to ask.

use serde::{Deserialize, Serialize};

/// The largest number of calls for which one `callCookies` may ask.
pub const MAX_COOKIE_CALLS: usize = 200;

wire_object! {
    /// Parameters of `callCookies`: the same function, once with each of the arguments.
    pub struct CookieCalls {
        /// The function to call.
        required "function" function: CookieFunction,
        /// The arguments of the calls, [`MAX_COOKIE_CALLS`] at most.
        required "details" details: Vec<P>,
    }
}

wire_object! {
    /// The answer to `callCookies`.
    pub struct CookieAnswers {
        /// Chrome's results for the arguments, in order, up to the first that it refused.
        required "cookies" cookies: Vec<P>,
        /// Chrome's error for the argument that it refused.
        optional "error" error: Option<String>,
    }
}

/// A function of `chrome.cookies`. An extension that cannot read a further name says that it does not
/// know the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CookieFunction {
    /// Gives the cookies that match.
    GetAll,
    /// Sets one; one that has expired goes.
    Set,
}
