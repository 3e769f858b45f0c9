//! Agents' code reaches the relay at a port of its own, and at no other.

use end_to_end::{Agent, Sdk, Stage, playwright_core, program};
use serde_json::{Value, json};
use tokio::process::Command;

use super::answers::{failed, ok};
use super::confinement::PROCESS;

#[tokio::test]
async fn code_cannot_reach_the_relay_that_others_use() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    reaches_only_its_own_port(&mut agent, stage.port()).await;
    agent.end().await;
    stage.end().await;
}

#[tokio::test]
async fn code_cannot_reach_the_relay_by_posing_as_a_program_without_a_token() {
    let stage = Stage::with_token("s3cret").await;
    let mut agent = Agent::http(Sdk::TypeScript, &format!("{}/mcp?token=s3cret", stage.url()));
    reaches_only_its_own_port(&mut agent, stage.port()).await;
    agent.end().await;
    stage.end().await;
}

async fn reaches_only_its_own_port(agent: &mut Agent, port: u16) {
    let net = format!("{PROCESS}.getBuiltinModule('net')");
    let handshake = |host: &str| {
        format!(
            "await new Promise((open, refuse) => {{
                 const socket = {net}.connect({port}, '{host}', () => socket.write(
                     'GET /extension?browser=Fake&installId=evil HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n'
                     + 'Origin: chrome-extension://jfeammnjpkecdekppnclgkkffahnhfhe\\r\\nUpgrade: websocket\\r\\n'
                     + 'Connection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n'
                     + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n'));
                 socket.on('data', open);
                 socket.on('error', refuse);
             }})"
        )
    };
    let handle = format!(
        "const socket = new ({net}.Socket)();
         socket.connect({{ host: 'nowhere', port: 1, lookup() {{}} }});
         const handle = new socket._handle.constructor(0);
         socket.destroy();
         Function.prototype.apply = function () {{ throw new Error('taken: ' + this.name) }};
         const refused = handle.connect({{}}, '127.0.0.1', {port} + 65536);
         throw new Error(refused < 0 ? 'EACCES' : 'open')"
    );
    for code in [
        handshake("127.0.0.1"),
        handshake("localhost"),
        handshake("0.0.0.0"),
        format!("await browser.browserType().connectOverCDP('http://127.0.0.1:{port}')"),
        format!("await browser.browserType().connectOverCDP('ws://127.0.0.1:{port}/cdp/mine')"),
        format!("await fetch('http://127.0.0.1:{port}/sessions')"),
        format!("await fetch('http://localhost:{port}/mcp', {{ method: 'POST' }})"),
        // Somebody may look for the relay there.
        format!(
            "await new Promise((open, refuse) =>
                 {net}.createServer().on('error', refuse).listen({port}, '::1', open))"
        ),
        format!(
            "await new Promise((open, refuse) =>
                 {net}.connect('/var/run/docker.sock', open).on('error', refuse))"
        ),
        format!(
            "await new Promise((open, refuse) =>
                 {net}.createServer().on('error', refuse).listen('mine.sock', open))"
        ),
        handle,
    ] {
        let text = failed(agent.execute(&code).await);
        assert!(text.contains("EACCES"), "{code}: {text}");
    }
    ok(agent.execute(&remember_port()).await);
    let ask = "const paths = ['/sessions', '/json/list', '/extension', '/mcp', '/cdp', '/cdp/mine'];
        const ask = (path) => fetch(`http://127.0.0.1:${state.port}${path}`).then(({ status }) => status);
        (await Promise.all(paths.map(ask))).join()";
    let text = ok(agent.execute(ask).await);
    assert!(text.ends_with("\n403,403,403,403,403,403"), "{text}");
}

/// Remembers the port of sandboxes and its key, when the browser is connected again.
fn remember_port() -> String {
    format!(
        "const {{ Socket }} = {PROCESS}.getBuiltinModule('net');
         const {{ connect }} = Socket.prototype;
         Socket.prototype.connect = function (...given) {{
             state.port = [given].flat(2)[0].port;
             return Reflect.apply(connect, this, given);
         }};
         const type = browser.browserType();
         const {{ connectOverCDP }} = type;
         type.connectOverCDP = (endpoint, options) => {{
             state.key = options.headers.Authorization;
             return connectOverCDP.call(type, endpoint, options);
         }};
         await browser.close()"
    )
}

#[tokio::test]
async fn code_takes_no_more_sockets_than_leave_room_for_others() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    ok(agent.execute(&remember_port()).await);
    ok(agent.execute("state.key.length").await);
    // Connections that send nothing make room for others, long before their time is over.
    let silent = format!(
        "const {{ connect }} = {PROCESS}.getBuiltinModule('net');
         const sockets = Array.from({{ length: 100 }}, () => connect(state.port, '127.0.0.1').on('error', () => {{}}));
         await Promise.all(sockets.slice(0, 36).map((socket) => new Promise((done) => socket.on('close', done))));
         sockets.forEach((socket) => socket.destroy());
         'let go'"
    );
    let silent = json!({ "code": silent, "timeout": 8_000 });
    assert_eq!(ok(agent.call("execute", silent).await), "let go");
    let entered = format!(
        "const {{ connect }} = {PROCESS}.getBuiltinModule('net');
         const sockets = Array.from({{ length: 20 }}, () => connect(state.port, '127.0.0.1'));
         const enter = (socket, at) => new Promise((done) => {{
             socket.on('data', (answer) => done(String(answer).slice(9, 12)));
             socket.write(`GET /cdp/mine-${{at}} HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: ${{state.key}}\\r\\n`
                 + 'Upgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n'
                 + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n');
         }});
         const answers = await Promise.all(sockets.map(enter));
         sockets.forEach((socket) => socket.destroy());
         [...new Set(answers)].sort().join()"
    );
    assert_eq!(ok(agent.execute(&entered).await), "101,429");
    let files = "const fs = require('fs');
        const open = [];
        try { for (;;) open.push(fs.openSync('many', 'w')) }
        catch ({ code }) { code }
        finally { open.forEach((file) => fs.closeSync(file)); state.opened = open.length }";
    ok(agent.execute(files).await);
    let opened: u32 = ok(agent.execute("state.opened").await).parse().unwrap();
    assert!((100..256).contains(&opened), "{opened}");
    let other = json!({ "session": "other", "code": "await page.evaluate('6 * 7')" });
    assert_eq!(ok(agent.call("execute", other).await), "42");
    agent.end().await;
    stage.end().await;
}

/// Code gets none of the files that programs leave open for their children.
#[tokio::test]
async fn code_inherits_no_open_file() {
    let stage = Stage::without_relay().await;
    let look = "const fs = require('fs');
        const isFile = (fd) => { try { return fs.fstatSync(fd).isFile() } catch { return false } };
        [...Array(64).keys()].filter(isFile).length";
    let ran = Command::new("sh")
        .args(["-c", "exec 7</etc/passwd 9</etc/hostname; exec \"$@\"", "sh"])
        .arg(program())
        .args(["-e", look])
        .env("HOME", stage.home())
        .env("PLAYWRITER_PORT", stage.port().to_string())
        .env("PLAYWRITER_PLAYWRIGHT", playwright_core())
        .output()
        .await
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    assert_eq!((text(ran.stdout), text(ran.stderr)), ("0".to_owned(), String::new()));
    stage.end().await;
}

/// The home folder of the other tests is part of the temporary one, which code may use.
#[tokio::test]
async fn code_cannot_read_files_beside_its_folder() {
    let stage = Stage::without_relay().await;
    let temporary = stage.home().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let playwright = playwright_core();
    let environment =
        [("TMPDIR", temporary.as_os_str()), ("PLAYWRITER_PLAYWRIGHT", playwright.as_os_str())];
    let run = async |session: &str, code: &str| {
        let (_, stdout, stderr) = stage.run_with(&["-s", session, "-e", code], &environment).await;
        (stdout, stderr)
    };
    let write = "require('fs').writeFileSync('note.txt', 'mine'); require('fs').readFileSync('note.txt', 'utf8')";
    assert_eq!(run("one", write).await, ("mine".to_owned(), String::new()));
    let files = stage.files();
    let relay_file = files.join(format!("relay-{}.json", stage.port()));
    assert!(relay_file.exists());
    for code in [
        format!("require('fs').readFileSync('{}/sessions/one/note.txt')", files.display()),
        format!("require('fs').readFileSync('{}')", relay_file.display()),
        format!("require('fs').readdirSync('{}')", files.display()),
        format!("require('fs').writeFileSync('{}/sessions/one/note.txt', '')", files.display()),
        format!("require('fs').writeFileSync('{}/sandbox/x', '')", files.display()),
        "require('fs').readFileSync('../one/note.txt')".to_owned(),
        format!("require('fs').symlinkSync('{}', 'link')", files.display()),
    ] {
        let (stdout, stderr) = run("two", &code).await;
        let is_refused = stderr.contains("restricted") || stderr.contains("not available");
        assert!(stdout.is_empty() && is_refused, "{code}: {stdout} {stderr}");
    }
    stage.end().await;
}

/// Code can have the browser send almost anything, and browsers say that it was them.
#[tokio::test]
async fn the_browser_changes_nothing_at_the_relay_for_code() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    let url = format!("{}/sessions", stage.url());
    for origin in ["", "null", "chrome-extension://jfeammnjpkecdekppnclgkkffahnhfhe"] {
        let post = format!(
            "await page.unrouteAll();
             await page.route('**', (route) => route.continue({{
                 method: 'POST',
                 headers: {{ 'content-type': 'application/json', origin: '{origin}' }},
                 postData: '{{}}',
             }}));
             (await page.goto('{url}')).status()"
        );
        assert_eq!(ok(agent.execute(&post).await), "403", "{origin}");
    }
    // A request that no page made but the browser itself, as when a user types an address.
    let open = format!("{}/json/new?about:blank%23opened", stage.url());
    let put = format!(
        "const root = await browser.newBrowserCDPSession();
         const opened = context.waitForEvent('page');
         await root.send('Target.createTarget', {{ url: '{open}' }});
         const tab = await opened;
         await tab.route('**', (route) => route.continue({{ method: 'PUT' }}));
         const status = (await tab.reload()).status();
         await tab.close();
         [status, context.pages().filter((page) => page.url().endsWith('opened')).length]"
    );
    assert_eq!(ok(agent.execute(&put).await), "[ 403, 0 ]");
    let listed: Value = stage.client().get("/sessions").await.unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    agent.end().await;
    stage.end().await;
}
