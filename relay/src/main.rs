//! `playwriter`: the relay and the commands around it.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::main(cli::Cli::from_environment()) {
        Ok(outcome) => outcome.into(),
        Err(error) => cli::failed(&error),
    }
}
