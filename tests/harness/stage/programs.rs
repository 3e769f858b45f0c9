//! Programs that a user runs on a stage: `playwriter`, and scripts that find it on their `PATH`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use super::Stage;
use crate::machine::{LONG_TIMEOUT, playwright_core};
use crate::relay_program;
use crate::scripts::{self, Language};

/// The version of Playwright that the program installs.
const INSTALLED: &str = "1.65.0";

impl Stage {
    /// Returns a `playwriter` command with arguments that talks to the extension of this stage.
    #[must_use]
    pub fn playwriter(&self, arguments: &[&str]) -> Command {
        let mut command = relay_program::command(arguments, self.home.path());
        command.env("PLAYWRITER_PORT", self.port.to_string());
        command
    }

    /// Runs a script of Node or Python that finds `playwriter` on its `PATH`, and returns the
    /// JSON that it prints.
    pub async fn script(&self, language: Language, text: &str) -> Value {
        self.script_with(language, text, &[]).await
    }

    /// Works like [`Stage::script`], in an environment of the test's own.
    pub async fn script_with(
        &self,
        language: Language,
        text: &str,
        more: &[(&'static str, OsString)],
    ) -> Value {
        let port = self.port.to_string();
        let path = relay_program::path();
        let own: [(&str, OsString); 2] = [("PATH", path), ("PLAYWRITER_PORT", port.into())];
        let environment = [&own, more].concat();
        scripts::run(language, text, self.home.path(), &environment).await
    }

    /// Runs the body of an async function in Node, with a Playwright `browser` connected to the
    /// relay, its `context` and the `site`'s address in scope, and gives what it returns.
    pub async fn playwright(&self, body: &str) -> Value {
        self.playwright_at(&self.url(), body).await
    }

    /// As [`Stage::playwright`], connected to the browser itself, as its user could be.
    pub async fn playwright_in_browser(&self, body: &str) -> Value {
        let file = std::fs::read_to_string(self.home.path().join("profile/DevToolsActivePort"));
        let file = file.expect("the browser says where it listens");
        let port = file.lines().next().unwrap_or_default();
        self.playwright_at(&format!("http://127.0.0.1:{port}"), body).await
    }

    /// As [`Stage::playwright`], connected to an address of the test's own.
    pub async fn playwright_at(&self, url: &str, body: &str) -> Value {
        scripts::run_playwright(body, url, &self.site.url(), self.home.path()).await
    }

    /// Runs `playwriter` as a user would, and gives its exit code, standard output and error.
    pub async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let playwright = playwright_core();
        self.run_with(arguments, &[("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str())]).await
    }

    /// Works like [`Stage::run`], in an environment of the test's own, and in no project's folder.
    pub async fn run_with(
        &self,
        arguments: &[&str],
        environment: &[(&str, &OsStr)],
    ) -> (Option<i32>, String, String) {
        let mut command = self.playwriter(arguments);
        command.envs(environment.iter().copied()).current_dir(self.home());
        let ended =
            timeout(LONG_TIMEOUT, command.output()).await.expect("it ends").expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    }

    /// Returns the folder of agent sessions and logs.
    #[must_use]
    pub fn files(&self) -> PathBuf {
        self.home.path().join(".playwriter")
    }

    /// Puts the Playwright of the tests where a relay that is a program of its own looks for one.
    pub fn install_playwright(&self) {
        let place = self.files().join("runtime").join(INSTALLED).join("node_modules");
        std::fs::create_dir_all(&place).expect("the home folder can be written to");
        let package = place.join("playwright-core");
        std::os::unix::fs::symlink(playwright_core(), package).expect("links can be made");
    }
}
