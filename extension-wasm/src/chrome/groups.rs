//! <https://developer.chrome.com/docs/extensions/reference/api/tabGroups>, and the functions of
//! `chrome.tabs` that move tabs between groups.

use serde::{Deserialize, Serialize};
use shared_protocol::TabId;

use super::{answer, argument, promptly, tabs};
use crate::js::error::ChromeError;
use extension_core::{GroupId, WindowId};

const TITLE: &str = "playwriter";
const COLOUR: &str = "green";

/// Puts a tab into the one of `groups` that is in its window, or into a new group. Returns the
/// group. A tab that is in a group of the user's stays there.
pub(crate) async fn join(tab: TabId, groups: &[GroupId]) -> Result<Option<GroupId>, ChromeError> {
    let tabs::Tab { group_id, window_id, .. } = tabs::get(tab).await?;
    if let Some(group) = group_id.filter(|group| *group != tabs::NO_GROUP) {
        return Ok(groups.contains(&group).then_some(group));
    }
    let Some(window) = window_id else { return Ok(None) };
    let there = in_window(window).await?.into_iter().find(|group| groups.contains(group));
    let group = group_tab(tab, there, window).await?;
    if there.is_none() {
        decorate(group).await?;
    }
    Ok(Some(group))
}

/// Takes a tab out of its group if it is one of `groups`.
pub(crate) async fn leave(tab: TabId, groups: &[GroupId]) -> Result<(), ChromeError> {
    if tabs::get(tab).await?.group_id.is_some_and(|group| groups.contains(&group)) {
        promptly("tabs.ungroup", sys::ungroup(tab.0)).await?;
    }
    Ok(())
}

/// Takes a tab out of its group if it is one of `groups`. Returns true if Chrome refuses because
/// the user drags the tab, and `None` if the tab has left the group or does not exist.
pub(crate) async fn try_ungroup(tab: TabId, groups: &[GroupId]) -> Option<bool> {
    const DRAGGING: &str = "user may be dragging";
    let found = tabs::get(tab).await.ok()?;
    found.group_id.filter(|group| groups.contains(group))?;
    match promptly("tabs.ungroup", sys::ungroup(tab.0)).await {
        Ok(_) => Some(false),
        // A tab that is dragged is selected.
        Err(error) => Some(found.highlighted && error.message.contains(DRAGGING)),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InWindow {
    window_id: WindowId,
}

async fn in_window(window_id: WindowId) -> Result<Vec<GroupId>, ChromeError> {
    #[derive(Deserialize)]
    struct Group {
        id: GroupId,
    }
    const API: &str = "tabGroups.query";
    let found = promptly(API, sys::query(&argument(&InWindow { window_id }))).await?;
    let groups: Vec<Group> = answer(API, found)?;
    Ok(groups.into_iter().map(|group| group.id).collect())
}

/// Puts a tab into a group, or into a new one. A new group needs the window's id: otherwise Chrome
/// moves the tab to the window in front.
async fn group_tab(
    tab: TabId,
    group_id: Option<GroupId>,
    window_id: WindowId,
) -> Result<GroupId, ChromeError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Options {
        tab_ids: [TabId; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        group_id: Option<GroupId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        create_properties: Option<InWindow>,
    }
    const API: &str = "tabs.group";
    let create_properties = group_id.is_none().then_some(InWindow { window_id });
    let options = argument(&Options { tab_ids: [tab], group_id, create_properties });
    promptly(API, sys::group(&options)).await.and_then(|group| answer(API, group))
}

async fn decorate(group: GroupId) -> Result<(), ChromeError> {
    #[derive(Serialize)]
    struct Style {
        title: &'static str,
        color: &'static str,
    }
    let style = argument(&Style { title: TITLE, color: COLOUR });
    promptly("tabGroups.update", sys::update(group.0, &style)).await.map(drop)
}

mod sys {
    use js_sys::Promise;
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        #[wasm_bindgen(catch, js_namespace = ["chrome", "tabGroups"])]
        pub(super) fn query(query: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "tabGroups"])]
        pub(super) fn update(group: i32, style: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"])]
        pub(super) fn group(options: &JsValue) -> Result<Promise, JsValue>;
        #[wasm_bindgen(catch, js_namespace = ["chrome", "tabs"])]
        pub(super) fn ungroup(tab: i32) -> Result<Promise, JsValue>;
    }
}
