//! Opens tabs, and reads and focuses the windows around them.

use shared_protocol::{BrowserWindow, Extra, TabId};

use crate::chrome::{tabs, windows};
use crate::js::error::ChromeError;
use crate::js::payload::JsPayload;
use extension_core::{Bounds, Place, WindowId, WindowRef};

/// The size of a new separate window.
const SEPARATE_WINDOW: Bounds =
    Bounds { left: None, top: None, width: Some(1200), height: Some(800) };

pub(super) async fn create_tab(
    url: &str,
    place: Place,
) -> Result<(TabId, Option<WindowId>), ChromeError> {
    let new_separate_window = async || {
        let (tab, window) = windows::create(url, SEPARATE_WINDOW).await?;
        Ok((tab.id, Some(window)))
    };
    match place {
        Place::NewSeparateWindow => new_separate_window().await,
        Place::SeparateWindow(window) => match tabs::create(url, Some(window)).await {
            Ok(tab) => Ok((tab.id, Some(window))),
            // The user has closed that window.
            Err(_) => new_separate_window().await,
        },
        Place::Beside(tab) => {
            let window = tabs::get(tab).await.ok().and_then(|tab| tab.window_id);
            tabs::create(url, window).await.map(|tab| (tab.id, None))
        }
        Place::Anywhere => match tabs::create(url, None).await {
            Ok(tab) => Ok((tab.id, None)),
            // A browser may have no window.
            Err(_) => windows::create(url, SEPARATE_WINDOW).await.map(|(tab, _)| (tab.id, None)),
        },
        Place::ClientWindow(bounds) => {
            windows::create(url, bounds).await.map(|(tab, _)| (tab.id, None))
        }
    }
}

pub(super) async fn read_window(
    window: WindowRef,
) -> Result<BrowserWindow<JsPayload>, ChromeError> {
    let (window, content_width, content_height, hidden) = match window {
        WindowRef::Id(window) => (Some(window), None, None, None),
        WindowRef::OfTab(tab) => {
            let tab = tabs::get(tab).await?;
            (tab.window_id, tab.width, tab.height, Some(!tab.active))
        }
    };
    let window = window.ok_or_else(|| tabs::without_window("tabs.get"))?;
    let windows::Window { id, left, top, width, height, state, .. } = windows::get(window).await?;
    Ok(BrowserWindow {
        window_id: id.0.into(),
        left,
        top,
        width,
        height,
        state,
        content_width,
        content_height,
        hidden,
        extra: Extra::default(),
    })
}

pub(super) async fn bring_to_front(tab: TabId) -> Result<(), ChromeError> {
    let window = tabs::activate(tab).await?.window_id;
    windows::focus(window.ok_or_else(|| tabs::without_window("tabs.update"))?).await
}
