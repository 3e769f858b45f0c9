//! The command line: what can be typed, and what it does.

mod args;
mod commands;
mod environment;
mod follow;
mod output;
mod progress;

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use relay::log::{AppendedLog, Logs};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use commands::{
    browser, completions, connect, doctor, ensure, execute, extension, logfile, mcp, pair,
    sandbox_exec, serve, session, status, stop, tail, token, wait,
};
pub(crate) use output::{Outcome, failed, one_line, print, print_json, say};

/// The filter of the log for people: everything that this program and its extensions say.
const TOLD_IN_FULL: &str = "info,relay=debug,playwriter=debug,rmcp=error";

/// The filter of standard error: it leaves out mistakes of agents, which are told of them anyway.
const TOLD_AT_ONCE: &str = "info,rmcp=error";

const EXAMPLES: &str = "\
Examples:
  playwriter browser start          try it: a browser of its own, with the extension
  playwriter extension install      add the extension to your own Chrome
  playwriter connect                print where Playwright connects, whatever it takes
  playwriter -e 'await page.title()'
                                    run code with Playwright against your browser
  playwriter status                 see what is connected
  playwriter doctor                 find out why something does not work";

/// Drive the Chrome you already have open from Playwright, scripts and agents.
///
/// Without a command, and with an agent instead of a terminal at standard input, it is `mcp`.
#[derive(Debug, Parser)]
#[command(name = "playwriter", version, propagate_version = true, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    eval: execute::Eval,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Connect(connect::Connect),
    Ensure(ensure::Ensure),
    Mcp(mcp::Mcp),
    #[command(subcommand)]
    Session(session::Session),
    Wait(wait::Wait),
    Status(status::Status),
    Stop(stop::Stop),
    Logfile(logfile::Logfile),
    Tail(tail::Tail),
    #[command(subcommand)]
    Browser(browser::Browser),
    #[command(subcommand)]
    Extension(extension::Extension),
    Token(token::PrintToken),
    McpUrl(token::McpUrl),
    Pair(pair::Pair),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    WorkerExec(sandbox_exec::WorkerExec),
}

/// Runs what was typed.
pub(crate) fn main(cli: Cli) -> anyhow::Result<Outcome> {
    // The command works on one thread, before there are others.
    if let Some(Command::WorkerExec(worker_exec)) = cli.command {
        return worker_exec.run();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("cannot start threads")?.block_on(run(cli))
}

async fn run(cli: Cli) -> anyhow::Result<Outcome> {
    let logs = home_folder().ok().map(Logs::in_folder);
    start_tracing(logs.as_ref(), &cli);
    let Some(command) = cli.command else { return without_command(cli.eval).await };
    match command {
        Command::Serve(serve) => serve.run(logs).await,
        Command::Connect(connect) => connect.run().await,
        Command::Ensure(ensure) => ensure.run().await,
        Command::Mcp(mcp) => mcp.run().await,
        Command::Session(session) => session.run().await,
        Command::Wait(wait) => wait.run().await,
        Command::Status(status) => status.run().await,
        Command::Stop(stop) => stop.run().await,
        Command::Logfile(logfile) => logfile.run().await,
        Command::Tail(tail) => tail.run().await,
        Command::Browser(browser) => browser.run(logs).await,
        Command::Extension(extension) => extension.run(),
        Command::Token(token) => token.run(),
        Command::McpUrl(url) => url.run(),
        Command::Pair(pair) => pair.run(),
        Command::Doctor(doctor) => doctor.run().await,
        Command::Completions(completions) => completions.run(),
        Command::WorkerExec(worker_exec) => worker_exec.run(),
    }
}

async fn without_command(mut eval: execute::Eval) -> anyhow::Result<Outcome> {
    match eval.code.take() {
        Some(code) => eval.run(code).await,
        None if std::io::stdin().is_terminal() => {
            say(&Cli::command().render_help().to_string());
            Ok(Outcome::No)
        }
        None => eval.into_mcp().run().await,
    }
}

impl Cli {
    /// Returns `true` if nobody reads the program's output.
    fn is_detached(&self) -> bool {
        matches!(&self.command, Some(Command::Serve(serve)) if serve.is_detached())
    }

    /// Returns `true` if the program serves an agent, whose user may never see the program's output.
    fn is_mcp(&self) -> bool {
        match &self.command {
            Some(command) => matches!(command, Command::Mcp(_)),
            None => self.eval.code.is_none() && !std::io::stdin().is_terminal(),
        }
    }
}

/// Returns the folder in which all our files are kept.
pub(crate) fn home_folder() -> anyhow::Result<PathBuf> {
    let home = std::env::home_dir().context("there is no home folder\n\nhint: set HOME")?;
    Ok(home.join(".playwriter"))
}

/// Standard error tells what the user asked for, the log for people everything. The relay has that
/// log; a program that serves an agent adds to it, and says that it is one.
fn start_tracing(logs: Option<&Logs>, cli: &Cli) {
    let stderr = (!cli.is_detached()).then(|| {
        tracing_subscriber::fmt::layer()
            .with_writer(progress::stderr)
            // A closed standard error is no reason to end.
            .log_internal_errors(false)
            .with_target(false)
            .with_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| TOLD_AT_ONCE.into()))
    });
    let file = logs.filter(|_| !cli.is_mcp()).map(|logs| {
        tracing_subscriber::fmt::layer()
            .with_writer(logs.text())
            .with_ansi(false)
            .with_target(false)
            .with_filter(EnvFilter::new(TOLD_IN_FULL))
    });
    let beside = logs.filter(|_| cli.is_mcp()).map(|logs| {
        tracing_subscriber::fmt::layer()
            .with_writer(AppendedLog::in_folder(logs.folder()))
            .with_ansi(false)
            .log_internal_errors(false)
            .with_filter(EnvFilter::new(TOLD_IN_FULL))
    });
    tracing_subscriber::registry().with(stderr).with(file).with(beside).init();
}

/// Completes when the user or the system asks the program to end. It listens from the call on, so
/// that a caller who learns that the program runs may ask at once.
pub(crate) fn interrupted() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [Ok(mut interrupted), Ok(mut terminated)] = signals else {
            return drop(tokio::signal::ctrl_c().await);
        };
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    }
}
