//! `playwriter serve`

use relay::log::Logs;

use super::{Listen, say};

/// Run the relay until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    listen: Listen,
}

impl Serve {
    pub(crate) async fn run(self, logs: Option<Logs>) -> anyhow::Result<()> {
        let server = self.listen.start(logs).await?;
        say(&format!("relay is running at http://{}", server.address()));
        server.run_until(super::interrupted()).await;
        Ok(())
    }
}
