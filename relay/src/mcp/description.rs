//! The texts that agents read before they call a tool. Every word costs each of them, each time.

/// The description of `execute`.
pub const EXECUTE: &str = "\
Run JavaScript with Playwright in the user's own Chrome, with the user's logins. Only tabs that the \
user handed over, and those you open, are visible.
In scope: page (current tab), context (context.pages() lists the tabs, `page = other` switches), browser, state (object kept between \
calls; variables are not), console, require (fs, path, crypto, ...; files in the working directory and the \
temporary folder only), fetch, and helpers, whose page is optional:
- snapshot({page, search, diff}): accessibility tree as text; act on its refs with \
page.locator('aria-ref=e5'). search (text or RegExp) gives matching lines, diff: true what changed
- screenshotWithLabels({page}): image with the refs drawn on it; for when layout matters
- getPageMarkdown({page}), getCleanHTML({locator}), getLatestLogs({page, count, search})
- waitForPageLoad({page}), getCDPSession({page})
An expression at the end gives the result, or `return`. An image buffer that is returned is shown. \
Results are cut at 10000 characters.
Work in small steps: act, then look with snapshot(); old refs end with a new snapshot. Work in a tab of \
your own (page = await context.newPage()) unless asked to use the user's. Code that overruns timeout is \
stopped and state is lost.";

/// The description of `reset`.
pub(super) const RESET: &str =
    "Start a session afresh, with an empty state and a new connection. The tabs stay as they are.";

pub(super) const OWN_SESSION: &str =
    "own state per name, tabs are shared; default: this agent's own";

/// The warning for HTTP, where agents cannot be told apart.
pub(super) const SHARED_SESSION: &str =
    "own state per name, tabs are shared; choose a name of your own, the default is everybody's";

pub(super) const BROWSER: &str = "only if several are connected; binds a new session";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_read_no_more_than_they_need() {
        assert!(EXECUTE.len() < 1_800, "{} characters", EXECUTE.len());
    }
}
