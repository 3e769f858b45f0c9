//! Which browser a client gets. The relay applies this rule to a client that connects. Programs that
//! wait for a browser apply it to `GET /extensions/status`, before they connect.

use shared_protocol::http::ExtensionEntry;

/// One connection of an extension, as far as the choice depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The connection's id, which a client may name.
    pub extension_id: String,
    /// The installation's name, which a client may name too.
    pub stable_key: &'a str,
    /// Whether it has shown its key.
    pub is_proven: bool,
    /// Whether its worker is connected, and not just away.
    pub is_connected: bool,
    /// Whether it controls a tab.
    pub has_tabs: bool,
}

/// Why no browser was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChoice {
    /// No extension is there.
    Nobody,
    /// The extension that the client names is not there.
    NotThere,
    /// Several are there, and either none or more than one of them has tabs.
    Several {
        /// Whether more than one has tabs, so that waiting does not help.
        with_tabs: bool,
    },
}

impl<'a> Candidate<'a> {
    /// Returns an entry of `GET /extensions/status`, which lists those that are connected.
    #[must_use]
    pub fn of_entry(entry: &'a ExtensionEntry) -> Self {
        Self {
            extension_id: entry.extension_id.clone(),
            stable_key: &entry.stable_key,
            is_proven: entry.paired == Some(true),
            is_connected: true,
            has_tabs: entry.active_targets > 0,
        }
    }
}

/// Returns the index of the extension for a client. It is the one that the client names by connection
/// or stable key, else the only one, else the only one with tabs. One whose worker is just away counts
/// if no other does. One that has not proven itself counts only if no other has.
///
/// The oldest connection comes first. While a worker reconnects, its installation is there twice, and
/// the newest connection counts.
///
/// # Errors
///
/// Says why none is chosen.
pub fn choose(candidates: &[Candidate<'_>], wanted: Option<&str>) -> Result<usize, NoChoice> {
    if candidates.is_empty() {
        return Err(NoChoice::Nobody);
    }
    if let Some(wanted) = wanted {
        let is_wanted = |it: &Candidate<'_>| it.extension_id == wanted || it.stable_key == wanted;
        return candidates
            .iter()
            .rposition(|it| it.is_connected && is_wanted(it))
            .or_else(|| candidates.iter().rposition(is_wanted))
            .ok_or(NoChoice::NotThere);
    }
    let newest = newest(candidates);
    let with_tabs: Vec<usize> =
        newest.iter().copied().filter(|at| candidates[*at].has_tabs).collect();
    match (newest.as_slice(), with_tabs.as_slice()) {
        ([], _) => Err(NoChoice::Nobody),
        ([only], _) | (_, [only]) => Ok(*only),
        (_, with_tabs) => Err(NoChoice::Several { with_tabs: !with_tabs.is_empty() }),
    }
}

/// Returns what a client that names none can choose from: the newest connection of each installation
/// that counts.
#[must_use]
pub fn newest(candidates: &[Candidate<'_>]) -> Vec<usize> {
    // An extension that has not proven itself gets no client while one that has is there, or away.
    let proven = candidates.iter().any(|it| it.is_proven);
    let is_newest = |at: usize| {
        let key = candidates[at].stable_key;
        !candidates[at + 1..].iter().any(|later| later.stable_key == key)
    };
    let (here, away): (Vec<usize>, Vec<usize>) = (0..candidates.len())
        .filter(|at| candidates[*at].is_proven == proven && is_newest(*at))
        .partition(|at| candidates[*at].is_connected);
    if here.is_empty() { away } else { here }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEVERAL: NoChoice = NoChoice::Several { with_tabs: false };
    const AMBIGUOUS: NoChoice = NoChoice::Several { with_tabs: true };

    /// A stable key, with `+` for one that has tabs, `!` for one that is proven, `?` for one that is
    /// away.
    fn candidate((number, text): (usize, &'static str)) -> Candidate<'static> {
        Candidate {
            extension_id: format!("connection-{number}"),
            stable_key: text.trim_end_matches(['+', '!', '?']),
            is_proven: text.contains('!'),
            is_connected: !text.contains('?'),
            has_tabs: text.contains('+'),
        }
    }

    #[test]
    fn a_client_gets_the_browser_that_it_names_or_the_only_one_that_it_can_mean() {
        for (there, wanted, expected) in [
            ("", None, Err(NoChoice::Nobody)),
            ("one", None, Ok(0)),
            ("one+", None, Ok(0)),
            ("one two", None, Err(SEVERAL)),
            ("one two+", None, Ok(1)),
            ("one+ two+", None, Err(AMBIGUOUS)),
            // Two connections of one installation, while its worker is started again.
            ("one+ one", None, Ok(1)),
            ("one+ one two+", None, Ok(2)),
            ("one? two", None, Ok(1)),
            ("one?", None, Ok(0)),
            ("one? two?", None, Err(SEVERAL)),
            ("one! two+", None, Ok(0)),
            ("one!? two+", None, Ok(0)),
            ("one! two!+ three+", None, Ok(1)),
            ("one+ two+", Some("two"), Ok(1)),
            ("one+ two+", Some("connection-0"), Ok(0)),
            ("one one?", Some("one"), Ok(0)),
            ("one?", Some("one"), Ok(0)),
            ("one! two", Some("two"), Ok(1)),
            ("one+", Some("two"), Err(NoChoice::NotThere)),
            ("", Some("two"), Err(NoChoice::Nobody)),
        ] {
            let candidates: Vec<_> = there.split_whitespace().enumerate().map(candidate).collect();
            assert_eq!(choose(&candidates, wanted), expected, "{there:?} {wanted:?}");
        }
    }
}
