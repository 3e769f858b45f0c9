//! `playwriter worker-exec`

use std::ffi::OsString;

use crate::cli::Outcome;

/// Enter the boundary for agents' code and become another program; the relay runs this.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct WorkerExec {
    /// The resources that the program may reach, as JSON
    policy: String,
    /// The program and its arguments; without them, what was enforced is printed
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

impl WorkerExec {
    #[cfg(target_os = "linux")]
    pub(crate) fn run(&self) -> anyhow::Result<Outcome> {
        relay::boundary::enter(&self.policy, &self.program, &mut std::io::stdout())?;
        Ok(Outcome::Yes)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn run(&self) -> anyhow::Result<Outcome> {
        anyhow::bail!("there is no such boundary for {} on this system", self.policy)
    }
}
