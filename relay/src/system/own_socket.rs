//! The relay's socket in the folder of its user, by which our own programs ask.
//!
//! Nobody else can get at the folder, and each end looks whose process is at the other. A path may be
//! too long for a socket, and some file systems have none: then programs come by the port.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream, unix};

use super::users::own_user;

/// The socket of a running relay. Its file goes when this is dropped.
#[derive(Debug)]
pub(crate) struct OwnSocket {
    listener: UnixListener,
    port: u16,
    path: PathBuf,
}

/// Connects to the relay of this user that has a port, if it has a socket.
pub(crate) async fn connect(folder: &Path, port: u16) -> Option<UnixStream> {
    let path = path(folder, port);
    let found = fs::symlink_metadata(&path).ok()?;
    if !found.file_type().is_socket() || found.uid() != own_user() {
        return None;
    }
    let stream = UnixStream::connect(&path).await.ok()?;
    is_own(&stream).then_some(stream)
}

/// Returns whether the process at the other end is of this user.
pub(crate) fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own_user())
}

impl OwnSocket {
    /// Listens in the place of a socket that an earlier relay left. Only who has the port may do this.
    pub(crate) fn listen(folder: &Path, port: u16) -> io::Result<Self> {
        let path = path(folder, port);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let socket = Self { listener: UnixListener::bind(&path)?, port, path };
        fs::set_permissions(&socket.path, fs::Permissions::from_mode(0o600))?;
        Ok(socket)
    }

    /// The port of the relay whose socket this is.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) async fn accept(&self) -> io::Result<(UnixStream, unix::SocketAddr)> {
        self.listener.accept().await
    }
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        // Somebody may have removed it, which is all that was wanted.
        drop(fs::remove_file(&self.path));
    }
}

fn path(folder: &Path, port: u16) -> PathBuf {
    folder.join(format!("relay-{port}.sock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_takes_the_place_of_a_stale_one_and_goes_with_its_relay() {
        let folder = tempfile::tempdir().unwrap();
        assert!(connect(folder.path(), 7).await.is_none());
        drop(UnixListener::bind(path(folder.path(), 7)).unwrap());
        assert!(path(folder.path(), 7).exists());
        assert!(connect(folder.path(), 7).await.is_none(), "nobody listens");
        let socket = OwnSocket::listen(folder.path(), 7).unwrap();
        let (connected, accepted) = tokio::join!(connect(folder.path(), 7), socket.accept());
        assert!(connected.is_some() && is_own(&accepted.unwrap().0));
        drop(socket);
        assert!(!path(folder.path(), 7).exists());
    }

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(path(folder.path(), 7), "").unwrap();
        assert!(connect(folder.path(), 7).await.is_none());
        let long = folder.path().join("x".repeat(120));
        fs::create_dir(&long).unwrap();
        assert!(OwnSocket::listen(&long, 7).is_err(), "a path may be too long for a socket");
    }
}
