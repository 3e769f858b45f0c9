//! Everything that goes into the machine and comes out of it, as plain data.
//!
//! Inputs, effects, and the ids and small types that they hold. Nothing in this folder makes a
//! decision that depends on the machine's state, and nothing in it imports another folder.

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
