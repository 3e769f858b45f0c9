//! Cookies as CDP describes them, and as `chrome.cookies` does.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::key::{is_related, plain_host, web_host};
use crate::cdp::Error;
use crate::cdp::payload::Payload;

/// A cookie to be set, as CDP describes it. A cookie that CDP returns can be read as this, too.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewCookie {
    pub(super) name: String,
    pub(super) value: String,
    url: Option<String>,
    domain: Option<String>,
    path: Option<String>,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    http_only: bool,
    same_site: Option<SameSite>,
    expires: Option<f64>,
    partition_key: Option<Value>,
}

impl NewCookie {
    /// Returns whether every host that the cookie names is one of these, or above or below one.
    pub(super) fn is_of_any(&self, hosts: &[String]) -> bool {
        let url = self.url.as_deref().filter(|url| !url.is_empty()).map(web_host);
        let domain = self.domain.as_deref().filter(|domain| !domain.is_empty()).map(plain_host);
        let named: Option<Vec<String>> = url.into_iter().chain(domain).collect();
        named.is_some_and(|named| {
            let is_known = |host: &String| hosts.iter().any(|known| is_related(known, host));
            !named.is_empty() && named.iter().all(is_known)
        })
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum SameSite {
    Strict,
    Lax,
    None,
}

/// The parameters of `chrome.cookies.set`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    url: String,
    name: &'a str,
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    secure: bool,
    http_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_site: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_date: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_key: Option<Value>,
}

/// A cookie as `chrome.cookies` returns it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChromeCookie {
    name: String,
    value: String,
    /// The domain as in CDP: it starts with a dot if subdomains get the cookie, too.
    domain: String,
    path: String,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    same_site: String,
    expiration_date: Option<f64>,
    partition_key: Option<Value>,
}

/// A cookie as CDP describes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CdpCookie {
    size: usize,
    name: String,
    value: String,
    domain: String,
    path: String,
    expires: f64,
    http_only: bool,
    secure: bool,
    session: bool,
    priority: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_site: Option<SameSite>,
    source_scheme: &'static str,
    source_port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_key: Option<Value>,
}

impl NewCookie {
    /// Returns an address at which the cookie is visible.
    pub(super) fn address(&self) -> Option<String> {
        let at_domain = || {
            let path = filled(self.path.as_ref()).unwrap_or("/");
            Some(format!("https://{}{path}", self.host()?))
        };
        filled(self.url.as_ref()).map(str::to_owned).or_else(at_domain)
    }

    /// Returns the details that set it.
    pub(super) fn setting(&self) -> Result<Payload, Error> {
        self.details().map(|details| Payload::of(&details))
    }

    /// Returns the details that clear it. `chrome.cookies.remove` would take those of the domains above
    /// along, and those of the paths above: an expired cookie takes the place of exactly this one.
    pub(super) fn removal(&self) -> Result<Payload, Error> {
        let details = self.details()?;
        // A secure address may replace any cookie.
        let url = self.host().map_or(details.url, |host| format!("https://{host}/"));
        Ok(Payload::of(&Details { url, value: "", expiration_date: Some(0.0), ..details }))
    }

    fn details(&self) -> Result<Details<'_>, Error> {
        let url = filled(self.url.as_ref());
        let secure = self.secure || url.is_some_and(|url| url.starts_with("https:"));
        let scheme = if secure { "https" } else { "http" };
        let at_host = self.host().map(|host| format!("{scheme}://{host}/"));
        let url = at_host.or_else(|| Some(format!("{scheme}://{}", without_scheme(url?)?)));
        let url = url.ok_or_else(|| {
            let why = format!("the cookie {:?} needs a domain, or an http address", self.name);
            Error::new(-32602, why)
        })?;
        Ok(Details {
            url,
            name: &self.name,
            value: &self.value,
            domain: self.domain.as_deref().filter(|domain| domain.starts_with('.')),
            path: filled(self.path.as_ref()),
            secure,
            http_only: self.http_only,
            same_site: self.same_site.map(SameSite::in_chrome),
            expiration_date: self.expires.filter(|expires| *expires >= 0.0),
            // Earlier versions of CDP had only the site.
            partition_key: self.partition_key.as_ref().map(|key| match key.as_str() {
                Some(site) => json!({ "topLevelSite": site }),
                None => key.clone(),
            }),
        })
    }

    fn host(&self) -> Option<&str> {
        filled(self.domain.as_ref()).map(|domain| domain.trim_start_matches('.'))
    }
}

/// Returns the query for all cookies, or for those at one address.
pub(super) fn query(url: Option<&str>) -> Payload {
    // Without it, Chrome would leave out cookies that belong to a site within another.
    let mut details = json!({ "partitionKey": {} });
    if let Some(url) = url {
        details["url"] = url.into();
    }
    Payload::of(&details)
}

/// Converts a cookie of `chrome.cookies` to CDP's form.
pub(super) fn to_cdp(kept: &Value) -> Option<Value> {
    let kept = ChromeCookie::deserialize(kept).ok()?;
    let partition_key = kept.partition_key.map(|mut key| {
        if let Some(key) = key.as_object_mut() {
            key.entry("hasCrossSiteAncestor").or_insert(Value::Bool(false));
        }
        key
    });
    let told = CdpCookie {
        size: kept.name.len() + kept.value.len(),
        name: kept.name,
        value: kept.value,
        domain: kept.domain,
        path: kept.path,
        expires: kept.expiration_date.unwrap_or(-1.0),
        http_only: kept.http_only,
        secure: kept.secure,
        session: kept.expiration_date.is_none(),
        priority: "Medium",
        same_site: SameSite::from_chrome(&kept.same_site),
        // Chrome tells the scheme that set a cookie only through CDP. `Unset` means any scheme.
        source_scheme: if kept.secure { "Secure" } else { "Unset" },
        source_port: -1,
        partition_key,
    };
    serde_json::to_value(told).ok()
}

impl SameSite {
    const fn in_chrome(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Lax => "lax",
            Self::None => "no_restriction",
        }
    }

    fn from_chrome(word: &str) -> Option<Self> {
        [Self::Strict, Self::Lax, Self::None].into_iter().find(|it| it.in_chrome() == word)
    }
}

fn without_scheme(url: &str) -> Option<&str> {
    url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))
}

/// CDP takes empty text for none.
fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;

    #[test]
    fn a_cookie_is_set_where_cdp_would_set_it() {
        let setting = |cookie: Value| {
            let mut all = json!({ "name": "n", "value": "v" });
            all.as_object_mut().unwrap().extend(cookie.as_object().unwrap().clone());
            let details = from_value::<NewCookie>(all).unwrap().setting().unwrap();
            let mut details: Value = serde_json::from_str(details.as_str()).unwrap();
            let details = details.as_object_mut().unwrap();
            assert_eq!(
                (details.remove("name"), details.remove("value")),
                (Some("n".into()), Some("v".into()))
            );
            json!(details)
        };
        assert_eq!(
            setting(json!({ "url": "https://a.example/x/y", "domain": "", "path": "" })),
            json!({ "url": "https://a.example/x/y", "secure": true, "httpOnly": false })
        );
        assert_eq!(
            setting(json!({ "url": "http://a.example:8/", "secure": true, "expires": -1 })),
            json!({ "url": "https://a.example:8/", "secure": true, "httpOnly": false })
        );
        assert_eq!(
            setting(
                json!({ "domain": "a.example", "path": "/x", "httpOnly": true, "sameSite": "None" })
            ),
            json!({
                "url": "http://a.example/", "path": "/x", "secure": false, "httpOnly": true,
                "sameSite": "no_restriction",
            }),
            "for this host only"
        );
        let key = json!({ "topLevelSite": "https://b.example", "hasCrossSiteAncestor": true });
        assert_eq!(
            setting(json!({
                "url": "https://www.a.example/", "domain": ".a.example", "expires": 5.5,
                "partitionKey": key, "sameSite": "Lax", "priority": "High",
            })),
            json!({
                "url": "https://a.example/", "domain": ".a.example", "secure": true,
                "httpOnly": false, "sameSite": "lax", "expirationDate": 5.5, "partitionKey": key,
            })
        );
        assert_eq!(
            setting(json!({ "domain": "a.example", "partitionKey": "https://b.example" }))["partitionKey"],
            json!({ "topLevelSite": "https://b.example" })
        );
        for nowhere in [json!({}), json!({ "url": "about:blank" })] {
            let mut cookie = json!({ "name": "lost", "value": "v" });
            cookie.as_object_mut().unwrap().extend(nowhere.as_object().unwrap().clone());
            let error = from_value::<NewCookie>(cookie).unwrap().setting().unwrap_err();
            assert!(error.message.contains("\"lost\""), "{error:?}");
        }
    }

    #[test]
    fn a_cookie_is_told_with_all_that_clients_read() {
        let kept = json!({
            "name": "n", "value": "vä", "domain": ".a.example", "hostOnly": false, "path": "/",
            "secure": true, "httpOnly": true, "sameSite": "strict", "session": false,
            "expirationDate": 12.5, "storeId": "0", "partitionKey": { "topLevelSite": "https://b.example" },
        });
        assert_eq!(
            to_cdp(&kept),
            Some(json!({
                "name": "n", "value": "vä", "domain": ".a.example", "path": "/", "size": 4,
                "expires": 12.5, "session": false, "secure": true, "httpOnly": true,
                "sameSite": "Strict", "priority": "Medium", "sourceScheme": "Secure",
                "sourcePort": -1,
                "partitionKey": { "topLevelSite": "https://b.example", "hasCrossSiteAncestor": false },
            }))
        );
        let kept = json!({
            "name": "n", "value": "", "domain": "a.example", "hostOnly": true, "path": "/",
            "secure": false, "httpOnly": false, "sameSite": "unspecified", "session": true,
        });
        assert_eq!(
            to_cdp(&kept),
            Some(json!({
                "name": "n", "value": "", "domain": "a.example", "path": "/", "size": 1,
                "expires": -1.0, "session": true, "secure": false, "httpOnly": false,
                "priority": "Medium", "sourceScheme": "Unset", "sourcePort": -1,
            }))
        );
        assert_eq!(to_cdp(&json!({ "name": "n" })), None);
    }

    #[test]
    fn a_cookie_that_was_told_goes_as_exactly_this_one() {
        let kept = json!({
            "name": "__Host-n", "value": "v", "domain": "a.example", "path": "/", "secure": true,
            "sameSite": "unspecified", "expirationDate": 12.5,
        });
        let removal = from_value::<NewCookie>(to_cdp(&kept).unwrap()).unwrap().removal().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(removal.as_str()).unwrap(),
            json!({
                "url": "https://a.example/", "name": "__Host-n", "value": "", "path": "/",
                "secure": true, "httpOnly": false, "expirationDate": 0.0,
            })
        );
    }
}
