//! The words of one relay, for the program that it runs in.

use std::fmt;
use std::sync::Arc;

use shared_protocol::LogLevel;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Takes the words of a relay, one line at a time, instead of the process's own `tracing`. It is called
/// by the tasks that serve, so it must not wait.
///
/// ```
/// use relay::{Logger, RelayServerOptions};
///
/// let logger = Logger::new(|level, line| eprintln!("{level:?}: {line}"));
/// let options = RelayServerOptions { logger: Some(logger), ..RelayServerOptions::default() };
/// ```
#[derive(Clone)]
pub struct Logger(Arc<Log>);

type Log = dyn Fn(LogLevel, &str) + Send + Sync;

impl Logger {
    /// Passes every line to `log`.
    pub fn new(log: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(log))
    }

    /// Returns what takes the words of the tasks that run under it.
    pub(super) fn subscriber(&self) -> impl Subscriber + Send + Sync + 'static {
        tracing_subscriber::registry().with(self.clone())
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Logger")
    }
}

impl<S: Subscriber> Layer<S> for Logger {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        // Libraries below the relay have nothing to say to its user.
        if !event.metadata().target().starts_with("relay") {
            return;
        }
        let level = match *event.metadata().level() {
            Level::ERROR => LogLevel::Error,
            Level::WARN => LogLevel::Warn,
            Level::INFO => LogLevel::Info,
            _ => LogLevel::Debug,
        };
        let mut line = Line::default();
        event.record(&mut line);
        (self.0)(level, &format!("{}{}", line.message, line.fields));
    }
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.fields += &format!(" {name}={value:?}"),
        }
    }
}
