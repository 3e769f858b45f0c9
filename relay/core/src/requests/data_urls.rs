//! `data:` addresses, to which Chrome takes a tab for its user but for no extension.

use serde::Deserialize;
use shared_protocol::{Payload as _, TargetId};

use crate::cdp::method::{Method, OnTarget};
use crate::cdp::payload::Payload;
use crate::cdp::{Command, Error};

const REFUSED: &str = "Chrome lets no extension take a tab to a data: address; \
                       give the page its content instead, with page.setContent() for example";

/// Returns whether a command takes a page to such an address.
pub(crate) fn is_wanted_by(command: &Command) -> bool {
    #[derive(Deserialize)]
    struct Navigate {
        url: String,
    }

    if !matches!(Method::of(&command.method).on_target(), OnTarget::Navigate) {
        return false;
    }
    let Some(params) = &command.params else { return false };
    let wanted = params.read::<Navigate>().map(|Navigate { url }| url).unwrap_or_default();
    wanted.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Chrome's answer, in words that help. A frame within a page may go there.
pub(crate) fn explained(
    page: &TargetId,
    outcome: Result<Payload, Error>,
) -> Result<Payload, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Navigated {
        frame_id: TargetId,
        error_text: Option<String>,
        #[serde(default)]
        is_download: bool,
    }

    let answer = outcome?;
    match answer.read() {
        Ok(Navigated { frame_id, error_text: Some(error), is_download: false })
            if frame_id == *page && error == "net::ERR_ABORTED" =>
        {
            Err(Error::server(REFUSED))
        }
        Ok(_) | Err(_) => Ok(answer),
    }
}
