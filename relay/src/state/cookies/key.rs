//! What tells one cookie from another.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) domain: String,
    pub(super) path: String,
    #[serde(default, deserialize_with = "as_text")]
    partition_key: Option<String>,
}

/// The cookies that a `Network.deleteCookies` names.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Doomed {
    name: String,
    url: Option<String>,
    domain: Option<String>,
    path: Option<String>,
}

impl Doomed {
    pub(super) fn names(&self, key: &Key) -> bool {
        let domain = key.domain.trim_start_matches('.');
        let is_domain = |wanted: &String| wanted.trim_start_matches('.') == domain;
        let is_under = |host: &str| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        self.name == key.name
            && self.domain.as_ref().is_none_or(is_domain)
            && self.path.as_ref().is_none_or(|path| *path == key.path)
            && self.url.as_ref().is_none_or(|url| host(url).is_some_and(is_under))
    }
}

/// `scheme://host[:port]`
pub(crate) fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |length| host + length);
    url.get(..end)
}

fn host(url: &str) -> Option<&str> {
    let (_, host) = origin(url)?.split_once("://")?;
    Some(host.rsplit_once(':').map_or(host, |(host, _)| host))
}

/// A partition key is text in some versions and an object in others; here only its identity counts.
fn as_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Value>::deserialize(deserializer)?.map(|key| key.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn an_origin_ends_where_the_path_begins() {
        assert_eq!(origin("https://a.example:1/x/y"), Some("https://a.example:1"));
        assert_eq!(origin("https://a.example?x"), Some("https://a.example"));
        assert_eq!(origin("https://a.example"), Some("https://a.example"));
        assert_eq!(origin("about:blank"), None);
    }

    #[test]
    fn a_cookie_is_named_by_address_or_domain() {
        let key: Key =
            from_value(json!({ "name": "n", "domain": ".a.example", "path": "/" })).unwrap();
        let names = |doomed| from_value::<Doomed>(doomed).unwrap().names(&key);
        assert!(names(json!({ "name": "n", "url": "https://www.a.example:8/x" })));
        assert!(names(json!({ "name": "n", "domain": "a.example", "path": "/" })));
        assert!(!names(json!({ "name": "n", "url": "https://bada.example/" })));
        assert!(!names(json!({ "name": "m", "domain": "a.example" })));
        assert!(!names(json!({ "name": "n", "domain": "a.example", "path": "/x" })));
    }
}
