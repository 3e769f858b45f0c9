//! The machine that tests run on: homes, users, processes, folders, and how long anything may take.
//!
//! Nothing here knows of Playwriter; everything on a socket is in `network`.

mod compiler;
mod failures;
mod figures;
mod folders;
mod home;
mod limits;
mod processes;
mod users;

pub use compiler::compile;
pub(crate) use failures::{failure_folder, test_name};
pub use figures::show_figure;
pub(crate) use folders::copy_folder;
pub use folders::playwright_core;
pub use home::Home;
pub(crate) use limits::LONG_TIMEOUT;
pub use limits::TIMEOUT;
pub use processes::resident_memory;
pub(crate) use processes::{kill, memory, until_none_is_left};
pub use users::{as_user, may_be_another_user, own_user};
