//! Scripts that a Playwright user would write, run by Node.

use std::path::Path;

use serde_json::Value;

use super::language::{Language, run};

/// Runs the body of an async function with a Playwright `browser` in scope, and returns its value.
pub(crate) async fn run_playwright(body: &str, cdp: &str, site: &str, home: &Path) -> Value {
    let script = format!(
        "import {{ chromium }} from 'playwright-core';\n\
         const [cdp, site] = [{cdp:?}, {site:?}];\n\
         const browser = await chromium.connectOverCDP(cdp);\n\
         const context = browser.contexts()[0];\n\
         const result = await (async () => {{ {body} }})();\n\
         await browser.close();\n\
         console.log(JSON.stringify(result ?? null));\n"
    );
    run(Language::Node, &script, home, &[]).await
}
