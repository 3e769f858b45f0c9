//! `playwriter`: the relay and the commands around it.

mod cli;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::run(cli::Cli::from_environment()).await {
        Ok(outcome) => outcome.into(),
        Err(error) => cli::failed(&error),
    }
}
