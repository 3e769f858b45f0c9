//! The body of `/json/protocol`: the whole protocol as Chrome describes it.
//!
//! chrome-remote-interface builds its API from it and, without it, needs to be told to use a copy of
//! its own. `relay/protocol/update` makes the file.

use std::io::{self, Read};

use flate2::read::GzDecoder;

const COMPRESSED: &[u8] = include_bytes!("../../../protocol/protocol.json.gz");

/// The protocol's JSON text. It is asked for once per client at most, so it is not kept unpacked.
pub(crate) fn text() -> io::Result<String> {
    let mut text = String::new();
    GzDecoder::new(COMPRESSED).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn it_has_the_domains_of_the_browser_and_of_v8() {
        let protocol: Value = serde_json::from_str(&text().unwrap()).unwrap();
        let domains = protocol["domains"].as_array().unwrap();
        for name in ["Target", "Page", "Network", "Runtime", "Debugger"] {
            assert_eq!(domains.iter().filter(|d| d["domain"] == name).count(), 1, "{name}");
        }
        assert_eq!(protocol["version"]["major"], "1");
    }
}
