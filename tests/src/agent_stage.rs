//! Agents on a stage.

use std::ffi::OsStr;
use std::path::PathBuf;

use relay::client::{Client, Endpoint};
use relay::agents::ExecutorOptions;
use relay::boundary::AgentsNetwork;
use tokio::time::timeout;

use crate::agent::playwright_core;
use crate::{Agent, LONG, Sdk, Stage, relay_program};

/// The version that the program installs.
const INSTALLED: &str = "1.65.0";

impl Stage {
    /// An agent that talks to the stage's relay.
    #[must_use]
    pub fn agent_over_http(&self, sdk: Sdk) -> Agent {
        Agent::http(sdk, &self.mcp_url(""))
    }

    /// The address for agents over HTTP, with what else the test wants in its query.
    #[must_use]
    pub fn mcp_url(&self, query: &str) -> String {
        format!("{}/mcp?{}&{query}", self.url(), self.agents_token())
    }

    /// `token=…`, as agents show it.
    #[must_use]
    pub fn agents_token(&self) -> String {
        let (_, agents) = relay::tokens_of_user(&self.files()).expect("there is a secret");
        agents.as_query()
    }

    /// Asks the stage's relay as our own programs do.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Endpoint::local(self.port), None).in_folder(self.files())
    }

    /// An agent whose MCP server is the `playwriter` program, which sees to a relay itself.
    #[must_use]
    pub fn agent_over_stdio(&self, sdk: Sdk) -> Agent {
        self.agent_over_stdio_with(sdk, &[], &[])
    }

    /// As [`Stage::agent_over_stdio`], with arguments and an environment of the test's own.
    #[must_use]
    pub fn agent_over_stdio_with(
        &self,
        sdk: Sdk,
        arguments: &[&str],
        environment: &[(&str, &OsStr)],
    ) -> Agent {
        let port = self.port.to_string();
        let playwright = playwright_core();
        let mut all = vec![
            ("HOME", self.home.path().as_os_str()),
            ("PLAYWRITER_PORT", OsStr::new(&port)),
            ("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str()),
        ];
        all.extend_from_slice(environment);
        Agent::stdio(sdk, &relay_program::program(), arguments, &all)
    }

    /// Runs `playwriter` as a user would, and gives its exit code, standard output and error.
    pub async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let playwright = playwright_core();
        self.run_with(arguments, &[("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str())]).await
    }

    /// As [`Stage::run`], in an environment of the test's own, and in no project's folder.
    pub async fn run_with(
        &self,
        arguments: &[&str],
        environment: &[(&str, &OsStr)],
    ) -> (Option<i32>, String, String) {
        let mut command = self.playwriter(arguments);
        command.envs(environment.iter().copied()).current_dir(self.home());
        let ended = timeout(LONG, command.output()).await.expect("it ends").expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
    }

    /// The process of the relay that runs in the background.
    #[must_use]
    pub fn background_relay(&self) -> u32 {
        self.home.relay_process(self.port).expect("a relay runs in the background")
    }

    /// Where sessions and logs are kept.
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

    /// How agents' code is run on this stage: inside of the boundary, with the site within reach.
    #[must_use]
    pub fn executor(&self) -> ExecutorOptions {
        ExecutorOptions {
            folder: Some(self.files()),
            playwright: Some(playwright_core()),
            launcher: Some(relay_program::program()),
            network: AgentsNetwork::Web(vec![self.site.port()]),
            ..ExecutorOptions::default()
        }
    }
}
