//! The MCP server: one tool that runs code against the user's browser, and one that starts afresh.

mod backend;
mod description;
mod progress;
mod tools;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};

pub(crate) use backend::Backend;
pub use backend::{Remote, RemoteError};
pub use description::EXECUTE as DESCRIPTION;
use tools::Call;

use crate::agents::{Outcome, SessionName};

/// The MCP server to which agents talk, wherever their code is run.
#[derive(Debug, Clone)]
pub(crate) struct Mcp {
    backend: Backend,
    /// The session for calls that name none.
    session: SessionName,
    /// The browser for sessions that are made by a call that names none.
    browser: Option<String>,
}

/// Serves one agent over standard input and output until it hangs up, or `end` completes.
///
/// # Errors
///
/// Says what was wrong with what the agent sent.
pub async fn serve_stdio(
    relay: Remote,
    session: Option<SessionName>,
    browser: Option<String>,
    end: impl Future<Output = ()>,
) -> Result<(), BadGreeting> {
    tracing::debug!(pid = std::process::id(), "serving an agent over standard input and output");
    let own = session.is_none().then(SessionName::unique);
    let server =
        Mcp::new(Backend::There(Box::new(relay.clone())), session.or_else(|| own.clone()), browser);
    // The extension has time to find the relay before the first call.
    let early = relay.clone();
    tokio::spawn(async move { early.prepare().await });
    let serving = async {
        let serving = server.serve(rmcp::transport::stdio()).await;
        let serving = serving.map_err(|error| BadGreeting(error.to_string()))?;
        // However it ended: nobody is there any more.
        drop(serving.waiting().await);
        Ok(())
    };
    let served = tokio::select! {
        served = serving => served,
        () = end => Ok(()),
    };
    if let Some(own) = own {
        relay.forget(&own).await;
    }
    served
}

/// An agent that does not speak MCP.
#[derive(Debug, thiserror::Error)]
#[error("the client does not speak MCP: {0}")]
pub struct BadGreeting(String);

impl Mcp {
    pub(crate) fn new(
        backend: Backend,
        session: Option<SessionName>,
        browser: Option<String>,
    ) -> Self {
        Self { backend, session: session.unwrap_or_default(), browser }
    }

    /// Returns `true` if calls that name no session have one that no other agent uses.
    fn has_session(&self) -> bool {
        self.session != SessionName::default()
    }

    async fn call(&self, call: Call) -> Outcome {
        match call {
            Call::Execute { session, mut execute } => {
                let session = session.unwrap_or_else(|| self.session.clone());
                // A default is for the default session; others may be bound elsewhere already.
                if execute.browser.is_none() && session == self.session {
                    execute.browser.clone_from(&self.browser);
                }
                self.backend.execute(&session, execute).await
            }
            Call::Reset { session } => {
                self.backend.reset(&session.unwrap_or_else(|| self.session.clone())).await
            }
        }
    }
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().build();
        config.server_info = Implementation::new("playwriter", crate::VERSION);
        config
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all(self.has_session())))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all(self.has_session()).into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = Call::read(&request.name, arguments)
            .map_err(|problem| ErrorData::invalid_params(problem, None))?;
        let told = match (&self.backend, &call) {
            (Backend::There(_), Call::Execute { .. }) => Some(&context),
            // Over HTTP nothing is sent but the answer.
            (Backend::Here(_), _) | (_, Call::Reset { .. }) => None,
        };
        tokio::select! {
            outcome = self.call(call) => Ok(shown(outcome).into()),
            // Letting go of the call ends it.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            never = progress::tell(told) => match never {},
        }
    }
}

/// Notes of ours are a block of their own, which no page's text can be part of.
fn shown(outcome: Outcome) -> CallToolResult {
    let notes = outcome.notes_shown().map(ContentBlock::text);
    let images = outcome.images.into_iter();
    let images = images.map(|image| ContentBlock::image(image.data, image.mime_type));
    let is_silent = outcome.text.is_empty() && images.len() == 0;
    let text = if is_silent { "done; there is no value".to_owned() } else { outcome.text };
    let text = (!text.is_empty()).then(|| ContentBlock::text(text));
    let content = notes.into_iter().chain(text).chain(images).collect();
    if outcome.failed { CallToolResult::error(content) } else { CallToolResult::success(content) }
}
