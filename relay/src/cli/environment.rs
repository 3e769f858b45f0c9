//! Options of a command that are given in the environment.

use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};

use super::Cli;

impl Cli {
    /// Reads what was typed. A variable that is empty counts as unset, and one that the command does
    /// not look at may be anything.
    pub(crate) fn from_environment() -> Self {
        let matches = matches(without_empty(Self::command()));
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The options of code that is run without a subcommand are those of no other command.
fn matches(command: Command) -> ArgMatches {
    let subcommand = command.clone().mut_args(without_variable);
    match subcommand.try_get_matches() {
        Ok(matches) if matches.subcommand_name().is_some() => matches,
        Ok(_) | Err(_) => command.get_matches(),
    }
}

fn without_empty(command: Command) -> Command {
    let is_empty = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    let unset = |arg: Arg| if is_empty(&arg) { without_variable(arg) } else { arg };
    command.mut_args(unset).mut_subcommands(without_empty)
}

fn without_variable(arg: Arg) -> Arg {
    arg.env(None::<&str>)
}
