//! `playwriter`: the relay and the commands around it.

mod cli;

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()).await {
        Ok(outcome) => outcome.into(),
        Err(error) => cli::failed(&error),
    }
}
