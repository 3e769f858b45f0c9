//! The kinds of targets of which a client wants to hear: CDP's `TargetFilter`.

use serde::Deserialize;

/// Entries are tried in order; the first that names the kind, or no kind, decides.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Filter(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Entry {
    #[serde(default)]
    exclude: bool,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl Filter {
    pub(crate) fn admits(&self, kind: &str) -> bool {
        self.0
            .iter()
            .find(|entry| entry.kind.as_deref().is_none_or(|named| named == kind))
            .is_some_and(|entry| !entry.exclude)
    }
}

impl Default for Filter {
    /// Returns what Chrome takes when a client gives none: everything but browsers and tabs.
    fn default() -> Self {
        let exclude = |kind: &str| Entry { exclude: true, kind: Some(kind.to_owned()) };
        Self(vec![exclude("browser"), exclude("tab"), Entry { exclude: false, kind: None }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_a_client_hears_of_all_but_browsers_and_tabs() {
        let filter = Filter::default();
        assert!(filter.admits("page") && filter.admits("service_worker"));
        assert!(!filter.admits("tab") && !filter.admits("browser"));
    }

    #[test]
    fn the_first_entry_that_fits_decides_and_none_means_no() {
        let filter: Filter =
            serde_json::from_str(r#"[{"type":"page","exclude":true},{"type":"tab"}]"#).unwrap();
        assert!(filter.admits("tab"));
        assert!(!filter.admits("page") && !filter.admits("worker"));
        let all: Filter = serde_json::from_str("[{}]").unwrap();
        assert!(all.admits("browser"));
    }
}
