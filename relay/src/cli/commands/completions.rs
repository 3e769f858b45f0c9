//! `playwriter completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, Outcome, print};

const EXAMPLES: &str = "\
Examples:
  playwriter completions bash > ~/.local/share/bash-completion/completions/playwriter
  playwriter completions zsh > ~/.zfunc/_playwriter
  playwriter completions fish > ~/.config/fish/completions/playwriter.fish";

/// Print a script that completes commands in a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "playwriter", &mut script);
        print(String::from_utf8(script)?.trim_end())?;
        Ok(Outcome::Yes)
    }
}
