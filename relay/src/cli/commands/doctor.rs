//! `playwriter doctor`

mod checks;

use relay::client::Client;
use serde::Serialize;

use crate::cli::args::address::Address;
use crate::cli::progress::Progress;
use crate::cli::{Outcome, one_line, print, print_json};

const EXAMPLES: &str = "\
Examples:
  playwriter doctor
  playwriter doctor --json | jq '.[] | select(.verdict == \"wrong\")'

Exit code: 0 when nothing is wrong, 1 when something is, 2 when it cannot be told.";

/// Find out what is missing, and how to fix it.
///
/// Checks Node.js, the browser, the folder with the logs, the installed extension, the relay and its
/// connections. Changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    #[command(flatten)]
    address: Address,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    check: &'static str,
    verdict: Verdict,
    detail: String,
    /// The command or click that fixes the problem.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Ok,
    /// The program works without it, but some functions do not.
    Note,
    Wrong,
}

impl Finding {
    fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, detail: detail.into(), fix: None }
    }

    fn note(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        let (detail, fix) = (detail.into(), Some(fix.into()));
        Self { check, verdict: Verdict::Note, detail, fix }
    }

    fn wrong(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { verdict: Verdict::Wrong, ..Self::note(check, detail, fix) }
    }
}

impl Doctor {
    pub(crate) async fn run(self) -> anyhow::Result<Outcome> {
        let client: Client = self.address.client()?;
        let progress = Progress::show("checking the installation");
        let mut findings = vec![checks::node().await, checks::browser(), checks::folder()];
        findings.push(checks::carried_extension());
        findings.extend(checks::relay(&client).await);
        drop(progress);
        let is_well = findings.iter().all(|finding| finding.verdict != Verdict::Wrong);
        match self.json {
            true => print_json(&findings)?,
            false => print(&findings.iter().map(line).collect::<Vec<_>>().join("\n"))?,
        }
        Ok(if is_well { Outcome::Yes } else { Outcome::No })
    }
}

fn line(finding: &Finding) -> String {
    let mark = match finding.verdict {
        Verdict::Ok => "ok",
        Verdict::Note => "note",
        Verdict::Wrong => "WRONG",
    };
    let fix = finding.fix.as_ref().map(|fix| format!("\n                 hint: {fix}"));
    let (check, detail) = (finding.check, one_line(&finding.detail));
    format!("{mark:<6}{check:<11}{detail}{}", fix.unwrap_or_default())
}
