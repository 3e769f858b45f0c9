//! Agents on a stage.

use std::ffi::OsStr;

use relay::agents::ExecutorOptions;
use relay::boundary::AgentsNetwork;

use super::Stage;
use crate::machine::playwright_core;
use crate::relay_program;
use crate::scripts::{Agent, Sdk};

impl Stage {
    /// Starts an agent that talks to the stage's relay.
    #[must_use]
    pub fn agent_over_http(&self, sdk: Sdk) -> Agent {
        Agent::http(sdk, &self.mcp_url(""))
    }

    /// Returns the address for agents over HTTP, with more of the test's own in its query.
    #[must_use]
    pub fn mcp_url(&self, query: &str) -> String {
        format!("{}/mcp?{}&{query}", self.url(), self.agents_token())
    }

    /// Returns `token=…`, as agents show it.
    #[must_use]
    pub fn agents_token(&self) -> String {
        let (_, agents) = relay::tokens_of_user(&self.files()).expect("there is a secret");
        agents.as_query()
    }

    /// Starts an agent whose MCP server is the `playwriter` program, which starts a relay itself.
    #[must_use]
    pub fn agent_over_stdio(&self, sdk: Sdk) -> Agent {
        self.agent_over_stdio_with(sdk, &[], &[])
    }

    /// Works like [`Stage::agent_over_stdio`], with arguments and an environment of the test's own.
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

    /// Returns the options with which agents' code is run: inside of the boundary, with the site within
    /// reach.
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
