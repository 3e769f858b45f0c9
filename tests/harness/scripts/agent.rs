//! Agents: the official MCP clients, which call what a test tells them to.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::machine::LONG_TIMEOUT;

/// An official MCP client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    /// `@modelcontextprotocol/sdk`
    TypeScript,
    /// `mcp` from PyPI
    Python,
}

/// A client that is connected to an MCP server. It is killed when it is dropped.
#[derive(Debug)]
pub struct Agent {
    child: Child,
    stdin: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
    last_id: u64,
    is_ready: bool,
}

/// The answer of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct ToolAnswer {
    /// The number of the call.
    id: u64,
    /// True if the tool tells the agent of an error.
    pub failed: bool,
    /// The text of all blocks together.
    pub text: String,
    /// The text of each block.
    pub blocks: Vec<String>,
    /// The images of all blocks.
    pub images: Vec<ToolImage>,
    /// The reason why the server refused the call.
    pub refused: Option<String>,
    /// The tools, if it was asked for them.
    pub tools: Value,
    /// The progress of a call whose answer is still to come.
    pub progress: Option<String>,
}

impl Default for ToolAnswer {
    fn default() -> Self {
        let (text, images) = (String::new(), Vec::new());
        Self {
            id: 0,
            failed: false,
            text,
            blocks: Vec::new(),
            images,
            refused: None,
            tools: Value::Null,
            progress: None,
        }
    }
}

/// An image as an agent gets it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolImage {
    /// `image/png` and the like.
    pub mime_type: String,
    /// The image in base64.
    pub data: String,
}

impl Agent {
    /// Starts a client that starts a program and talks to it over standard input and output.
    #[must_use]
    pub fn stdio(
        sdk: Sdk,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &OsStr)],
    ) -> Self {
        let arguments = arguments.iter().map(OsStr::new);
        let command: Vec<&OsStr> =
            ["stdio".as_ref(), program.as_os_str()].into_iter().chain(arguments).collect();
        Self::start(sdk, &command, environment)
    }

    /// Starts a client that talks to a server over HTTP.
    #[must_use]
    pub fn http(sdk: Sdk, url: &str) -> Self {
        Self::start(sdk, &["http".as_ref(), url.as_ref()], &[])
    }

    /// Starts a client that a server over HTTP does not let in, and returns what it says.
    pub async fn refused(sdk: Sdk, url: &str) -> String {
        let ended =
            client(sdk).args(["http", url]).stdin(Stdio::null()).kill_on_drop(true).output();
        let ended = timeout(LONG_TIMEOUT, ended).await.expect("it ends").expect("it runs");
        assert!(!ended.status.success(), "it was let in");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    fn start(sdk: Sdk, arguments: &[&OsStr], environment: &[(&str, &OsStr)]) -> Self {
        let mut child = client(sdk)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the client is installed; `make test` does that");
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let stdout = child.stdout.take().expect("standard output is a pipe");
        Self { child, stdin, said: BufReader::new(stdout).lines(), last_id: 0, is_ready: false }
    }

    /// The tools that the server offers.
    pub async fn tools(&mut self) -> Value {
        self.send(json!({})).await;
        self.answer().await.tools
    }

    /// Runs code, which may take longer than usual on a machine that is busy with other tests.
    pub async fn execute(&mut self, code: &str) -> ToolAnswer {
        self.call("execute", json!({ "code": code, "timeout": 60_000 })).await
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        self.send(json!({ "tool": tool, "arguments": arguments })).await;
        self.answer().await
    }

    /// Calls a tool without waiting for the answer, and gives the call's number.
    pub async fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send(json!({ "tool": tool, "arguments": arguments })).await;
        self.last_id
    }

    /// Waits for the progress of a call that was begun. Only [`Sdk::TypeScript`] tells it.
    pub async fn progress(&mut self) -> Option<String> {
        self.line().await.progress
    }

    /// Cancels a call, which only [`Sdk::TypeScript`] does, and gives what came of it.
    pub async fn cancel(&mut self, call: u64) -> ToolAnswer {
        let line = format!("{}\n", json!({ "cancel": call }));
        self.stdin.write_all(line.as_bytes()).await.expect("the agent reads");
        self.answer().await
    }

    /// Calls tools at once, and gives the answers in the order of the calls.
    pub async fn call_all(&mut self, calls: &[(&str, Value)]) -> Vec<ToolAnswer> {
        let mut answers = Vec::new();
        for (tool, arguments) in calls {
            self.send(json!({ "tool": tool, "arguments": arguments })).await;
        }
        for _ in calls {
            answers.push(self.answer().await);
        }
        answers.sort_by_key(|answer| answer.id);
        answers
    }

    /// The process of the server that it started.
    #[must_use]
    pub fn server(&self) -> u32 {
        let id = self.child.id().expect("the agent runs");
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.expect("the system tells about processes");
        let server = children.split_whitespace().next().and_then(|id| id.parse().ok());
        server.expect("the agent has started a server")
    }

    /// Hangs up and waits until it has ended.
    pub async fn end(self) {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        timeout(LONG_TIMEOUT, child.wait()).await.expect("it ends").expect("it was there");
    }

    async fn send(&mut self, mut request: Value) {
        if !self.is_ready {
            // A script that could not even start would be waited for in vain.
            self.line().await;
            self.is_ready = true;
        }
        self.last_id += 1;
        request["id"] = self.last_id.into();
        let line = format!("{request}\n");
        self.stdin.write_all(line.as_bytes()).await.expect("the agent reads");
    }

    /// Waits for the answer to a call that was begun. Of several, it is the one that ended first.
    pub async fn answer(&mut self) -> ToolAnswer {
        loop {
            let answer = self.line().await;
            if answer.progress.is_none() {
                return answer;
            }
        }
    }

    async fn line(&mut self) -> ToolAnswer {
        let line = timeout(LONG_TIMEOUT, self.said.next_line()).await.expect("the agent answers");
        let line = line.expect("it writes text");
        let line = line.expect("the agent runs; `make test` installs what it needs");
        match serde_json::from_str(&line) {
            Ok(answer) => answer,
            Err(error) => panic!("{error}: {line}"),
        }
    }
}

/// The program that is an official client.
fn client(sdk: Sdk) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents");
    let (program, script) = match sdk {
        Sdk::TypeScript => ("node", folder.join("agent.mjs")),
        Sdk::Python => ("python3", folder.join("agent.py")),
    };
    let mut command = Command::new(program);
    command.arg(script);
    command
}
