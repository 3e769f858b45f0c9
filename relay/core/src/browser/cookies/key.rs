//! The key of a cookie: its name, domain, path and partition.

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
pub(super) struct DeletedCookies {
    name: String,
    url: Option<String>,
    domain: Option<String>,
    path: Option<String>,
}

impl DeletedCookies {
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

/// Returns the host of a web address, if it is written so that nobody reads another in it.
pub(super) fn web_host(url: &str) -> Option<String> {
    let url = url.to_ascii_lowercase();
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let (host, _) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = host.rsplit_once(':').unwrap_or((host, ""));
    plain_host(host).filter(|_| port.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A host as cookies name it, with or without a dot before it.
pub(super) fn plain_host(host: &str) -> Option<String> {
    let host = host.strip_prefix('.').unwrap_or(host).to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (!host.is_empty() && host.chars().all(is_plain)).then_some(host)
}

/// Returns whether a cookie of one host concerns another: they are the same, or one is below the other.
pub(super) fn is_related(one: &str, other: &str) -> bool {
    let is_below = |low: &str, high: &str| {
        low.strip_suffix(high).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    is_below(one, other) || is_below(other, one)
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
    fn a_host_is_read_in_plain_addresses_alone() {
        assert_eq!(web_host("https://A.example:8/x"), Some("a.example".to_owned()));
        assert_eq!(web_host("http://a.example?x"), Some("a.example".to_owned()));
        for url in [
            "https:evil.example/://a.example",
            "https://evil.example\\@.a.example/",
            "https://a.example@evil.example/",
            "https://ev\til.example/",
            "https://a.example:x/",
            "//a.example/",
            "file://a.example/",
            "https:///",
        ] {
            assert_eq!(web_host(url), None, "{url}");
        }
    }

    #[test]
    fn a_cookie_concerns_hosts_below_and_above_its_own() {
        assert!(is_related("a.example", "a.example"));
        assert!(is_related("a.example", "www.a.example"));
        assert!(is_related("www.a.example", "a.example"));
        assert!(!is_related("b.example", "a.example"));
        assert!(!is_related("bada.example", "a.example"));
    }

    #[test]
    fn a_cookie_is_named_by_address_or_domain() {
        let key: Key =
            from_value(json!({ "name": "n", "domain": ".a.example", "path": "/" })).unwrap();
        let names = |deleted| from_value::<DeletedCookies>(deleted).unwrap().names(&key);
        assert!(names(json!({ "name": "n", "url": "https://www.a.example:8/x" })));
        assert!(names(json!({ "name": "n", "domain": "a.example", "path": "/" })));
        assert!(!names(json!({ "name": "n", "url": "https://bada.example/" })));
        assert!(!names(json!({ "name": "m", "domain": "a.example" })));
        assert!(!names(json!({ "name": "n", "domain": "a.example", "path": "/x" })));
    }
}
