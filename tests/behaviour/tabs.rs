//! The user's tabs under control: how they come under it, what pages and users do to them, how they
//! look.
//!
//! Tests here drive a real browser and look at tabs, groups and windows. What a client may rely on
//! whatever the tab does is in [`super::clients`].

mod groups;
mod hidden_tabs;
mod many_tabs;
pub(super) mod page_disruptions;
mod popups;
mod restricted_pages;
mod separate_window;
mod tab_control;
mod toolbar_clicks;
mod unresponsive_tabs;
