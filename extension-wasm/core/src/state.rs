//! The knowledge of the machine: one small machine for each concern.
//!
//! Each of them changes only by its own methods, which may push effects. None of them knows the
//! worker or another one; they share only [`SmallMap`] and [`SmallSet`].

mod connection;
mod downloads;
mod event_buffer;
mod groups;
mod hidden_tabs;
mod in_flight;
mod permissions;
mod problem;
mod small_map;
mod tabs;
mod toolbar;
mod windows;

pub(crate) use connection::Connection;
pub(crate) use downloads::Downloads;
pub(crate) use event_buffer::EventBuffer;
pub(crate) use groups::{GroupChange, Groups};
pub(crate) use hidden_tabs::HiddenTabs;
pub(crate) use in_flight::InFlight;
pub(crate) use permissions::Permissions;
pub(crate) use small_map::{SmallMap, SmallSet};
pub(crate) use tabs::{Attaching, Child, RequestedTab, TabState, Tabs};
pub(crate) use toolbar::Toolbar;
pub(crate) use windows::Windows;
