//! `playwriter serve`

use super::{Listen, say};

/// Run the relay until Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    listen: Listen,
}

impl Serve {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let server = self.listen.start().await?;
        say(&format!("relay is running at http://{}", server.address()));
        server.run_until(super::interrupted()).await;
        Ok(())
    }
}
