//! Scripts that a Playwright user would write, run by Node.

use std::path::Path;

use serde_json::Value;

use crate::language::{self, Language};

pub(crate) async fn run(body: &str, cdp: &str, site: &str, home: &Path) -> Value {
    let script = format!(
        "import {{ chromium }} from 'playwright-core';\n\
         const [cdp, site] = [{cdp:?}, {site:?}];\n\
         const browser = await chromium.connectOverCDP(cdp);\n\
         const context = browser.contexts()[0];\n\
         const result = await (async () => {{ {body} }})();\n\
         await browser.close();\n\
         console.log(JSON.stringify(result ?? null));\n"
    );
    language::run(Language::Node, &script, home, &[]).await
}
