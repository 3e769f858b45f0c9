//! The report of the boundary that was enforced around agents' code.

use serde::{Deserialize, Serialize};
use shared_protocol::http::SandboxStatus;

use super::{AgentsNetwork, SandboxMode};

/// The boundary that was enforced on a process before agents' code ran in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Boundary {
    /// The version of Landlock's rules, 0 without any.
    pub(crate) landlock: u8,
    /// True if system calls are filtered.
    pub(crate) seccomp: bool,
    /// True if a Seatbelt profile is in force, as macOS has them.
    pub(crate) seatbelt: bool,
    /// The attempts that failed, in words.
    pub(crate) problems: Vec<String>,
}

impl Boundary {
    /// Returns the boundary of a process that was started without one.
    pub(crate) fn none(problem: &str) -> Self {
        Self { problems: vec![problem.to_owned()], ..Self::default() }
    }

    /// Returns whether other files than those that the code needs are closed to it.
    fn has_files(&self) -> bool {
        self.landlock >= 1 || self.seatbelt
    }

    /// Returns whether other ports than those that are open to the code are closed to it.
    pub(crate) fn has_ports(&self) -> bool {
        self.landlock >= 4
    }

    /// Returns whether code may be run in it where the user wants a boundary.
    pub(crate) fn is_whole(&self, network: &AgentsNetwork) -> bool {
        let has_calls = self.seccomp || self.seatbelt;
        // A profile of macOS closes all other ports, or none.
        let has_ports = self.has_ports()
            || *network == AgentsNetwork::All
            || (self.seatbelt && *network == AgentsNetwork::None);
        self.has_files() && has_calls && has_ports
    }

    fn enforced(&self) -> Vec<String> {
        let parts = [
            (self.has_files(), "files"),
            (self.has_ports(), "TCP ports"),
            (self.seccomp, "system calls"),
            (self.seatbelt, "processes"),
            (self.landlock >= 6, "signals"),
        ];
        parts.into_iter().filter(|(is, _)| *is).map(|(_, name)| name.to_owned()).collect()
    }

    /// Returns what only the JavaScript guards keep code from, each with its reason.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if !self.has_files() {
            missing.push("files: needs Landlock (Linux 5.13 or newer, and switched on)".to_owned());
        }
        if !self.has_ports() && !self.seatbelt {
            missing.push("TCP ports: needs Linux 6.7 or newer".to_owned());
        }
        if self.seatbelt {
            missing
                .push("TCP ports other than the relay's: macOS has no rule for ranges".to_owned());
        }
        if !self.seccomp && !self.seatbelt {
            missing.push("processes and system calls: needs seccomp".to_owned());
        }
        missing.extend(self.problems.iter().cloned());
        missing
    }

    /// Returns what `status` and `doctor` show.
    pub(crate) fn status(&self, mode: SandboxMode, network: &AgentsNetwork) -> SandboxStatus {
        SandboxStatus {
            mode: mode.to_string(),
            agents_network: network.to_string(),
            is_whole: self.is_whole(network),
            enforced: self.enforced(),
            missing: self.missing(),
        }
    }

    /// Returns what an agent is told whose code is not run.
    pub(crate) fn refusal(&self) -> String {
        format!(
            "code is not run: this relay wants a boundary around it that the system keeps, and this is missing: {}\n\n\
             hint: `playwriter doctor` tells more; the user allows code without it with --sandbox=auto",
            self.missing().join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_depends_on_the_kernel_and_the_network() {
        let boundary = |landlock, seccomp| Boundary { landlock, seccomp, ..Boundary::default() };
        let web = AgentsNetwork::default();
        for (landlock, seccomp, network, is_whole, missing) in [
            (0, false, &web, false, 3),
            (0, true, &web, false, 2),
            (1, true, &web, false, 1),
            (3, true, &web, false, 1),
            (3, true, &AgentsNetwork::All, true, 1),
            (3, true, &AgentsNetwork::None, false, 1),
            (4, false, &web, false, 1),
            (4, true, &web, true, 0),
            (7, true, &AgentsNetwork::None, true, 0),
        ] {
            let status = boundary(landlock, seccomp).status(SandboxMode::Auto, network);
            assert_eq!(status.is_whole, is_whole, "{landlock} {seccomp} {network}");
            assert_eq!(status.missing.len(), missing, "{status:?}");
        }
        let seatbelt = Boundary { seatbelt: true, ..Boundary::default() };
        assert!(!seatbelt.is_whole(&web), "it opens all ports");
        assert!(seatbelt.is_whole(&AgentsNetwork::None) && seatbelt.is_whole(&AgentsNetwork::All));
        let refusal = boundary(3, true).refusal();
        assert!(refusal.contains("TCP ports: needs Linux 6.7"), "{refusal}");
    }
}
