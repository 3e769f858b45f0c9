//! `playwriter`: the relay and the commands around it.

mod cli;

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    match cli::run(cli::Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::say(&format!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
