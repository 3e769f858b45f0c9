//! `docs/commands.md`: made from what the program says of itself, so that it cannot be out of date.
//!
//! `SNAPSHOTS=overwrite cargo test -p relay --test program commands_page` writes it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::place::command;

const INTRODUCTION: &str = "# Commands

`make test` compares this page with the program's own help and fails when they differ.
`playwriter help COMMAND` prints the same in a terminal. [settings.md](settings.md) explains the settings
that several commands share.

Commands print data on standard output and everything else on standard error, so scripts can use what they
print. Many commands take `--json`. The exit codes are 0 for yes, 1 for no, and 2 for a failure.
";

#[test]
fn the_page_of_commands_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    let page = page();
    if fs::read_to_string(&file).unwrap_or_default() == page {
        return;
    }
    assert!(
        std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite"),
        "docs/commands.md is out of date\n\nhint: SNAPSHOTS=overwrite cargo test -p relay --test program commands_page"
    );
    fs::write(&file, page).unwrap();
}

fn page() -> String {
    let mut commands = vec![(Vec::new(), help(&[]))];
    // A command stands before its subcommands, and those before the next command.
    let mut next = 0;
    while let Some((words, text)) = commands.get(next) {
        let found: Vec<_> = subcommands(text)
            .map(|name| {
                let words: Vec<String> = words.iter().cloned().chain([name.to_owned()]).collect();
                let text = help(&words);
                (words, text)
            })
            .collect();
        next += 1;
        commands.splice(next..next, found);
    }
    let mut page = INTRODUCTION.to_owned();
    write_table(&mut page, &commands);
    for (words, text) in &commands {
        let name = full_name(words);
        write!(page, "\n## {name}\n\n```text\n").unwrap();
        for line in text.trim_end().lines() {
            writeln!(page, "{}", line.trim_end()).unwrap();
        }
        page.push_str("```\n");
    }
    page
}

fn write_table(page: &mut String, commands: &[(Vec<String>, String)]) {
    page.push_str("\n| command | what it does |\n| --- | --- |\n");
    for (words, text) in commands {
        let name = full_name(words);
        let link = name.replace(' ', "-");
        let summary = text.lines().next().unwrap_or_default().trim_end_matches('.');
        writeln!(page, "| [`{name}`](#{link}) | {} |", summary.replace('|', "\\|")).unwrap();
    }
}

fn full_name(words: &[String]) -> String {
    ["playwriter"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

fn help(words: &[String]) -> String {
    let home = tempfile::tempdir().unwrap();
    let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let output = command(&arguments, home.path()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the names below `Commands:` in a help text.
fn subcommands(text: &str) -> impl Iterator<Item = &str> {
    let below = text.split_once("\nCommands:\n").map_or("", |(_, below)| below);
    let list = below.lines().take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help")
}
