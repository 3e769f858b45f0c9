//! Tells whether this system runs inside of Windows, whose users it does not know.

/// Returns true inside of WSL.
pub(super) fn is_here() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").is_ok_and(|release| is_wsl(&release))
}

fn is_wsl(release: &str) -> bool {
    release.to_ascii_lowercase().contains("microsoft")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_by_the_name_of_the_kernel() {
        for release in ["4.4.0-19041-Microsoft", "5.15.153.1-microsoft-standard-WSL2\n"] {
            assert!(is_wsl(release), "{release}");
        }
        assert!(!is_wsl("6.18.0-generic"));
    }
}
