//! Everything that goes into the machine and comes out of it, as plain data.
//!
//! The shell makes inputs and performs effects; the ids and small types that they hold are here, too.
//! Nothing in this folder decides anything, and nothing in it knows the machine.

mod effect;
mod ids;
mod input;
mod pairing;
mod placement;
mod snapshot;
mod toolbar_state;

pub use effect::Effect;
pub use ids::{Attempt, Debuggee, GroupId, RequestRef, WindowId};
pub use input::{Input, Settings, Unresponsive};
pub use pairing::{HelloAnswer, PairingFileRead, PairingKey, ProofFailure, StoredKey};
pub use placement::{Bounds, Place, WindowRef};
pub use snapshot::{Snapshot, StoredTab};
pub(crate) use snapshot::{StoredChild, StoredTabUse, StoredWindows};
pub use toolbar_state::{Icon, ToolbarState};
