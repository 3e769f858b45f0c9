//! A second user of this machine, as far as the owners of sockets go.

use nix::unistd::{Uid, geteuid, setfsuid};

/// Returns true if sockets can be opened for other users, which only root may do.
#[must_use]
pub fn may_be_another_user() -> bool {
    as_user(65534, || setfsuid(Uid::from_raw(u32::MAX)) == Uid::from_raw(65534))
}

/// Returns the user of the tests.
#[must_use]
pub fn own_user() -> u32 {
    geteuid().as_raw()
}

/// Runs something in a thread of which the system takes the files and sockets for another user's.
pub fn as_user<T: Send>(user: u32, act: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let acting = scope.spawn(|| {
            setfsuid(Uid::from_raw(user));
            act()
        });
        acting.join().expect("what it does succeeds")
    })
}
