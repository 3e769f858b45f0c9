//! The users of this machine.

use nix::unistd;

/// Returns the user of this process, in whose name its sockets are opened.
pub(crate) fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the user's name with the number, or the number alone.
#[must_use]
pub fn user_name(uid: u32) -> String {
    match unistd::User::from_uid(uid.into()) {
        Ok(Some(user)) => format!("{} ({uid})", user.name),
        Ok(None) | Err(_) => uid.to_string(),
    }
}
