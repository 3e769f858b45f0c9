//! Agents are shown the values, the words and the errors of their code.

use std::fmt::Write;

use end_to_end::{Agent, Sdk, Stage};
use serde_json::json;

use super::answers::{failed, ok};

const NOTHING: &str = "done; there is no value";

/// Code, and what is shown of its value.
const VALUES: &[(&str, &str)] = &[
    ("1 + 1 // two", "2"),
    ("''", "''"),
    ("await page.evaluate('1'); // behind", "1"),
    ("const a = 1; a /* it */;", "1"),
    ("const a = 1;\na; // it; or not", "1"),
    ("const p = 'a//b'; p", "a//b"),
    ("await page.locator('//body').count(); await page.evaluate('2')", "2"),
    ("const d = 1; // note; b\nd", "1"),
    ("let s = `a;\nb`; s", "a;\nb"),
    ("for (const x of [1]) {} 'ok'", "ok"),
    ("if (true) { state.x = 1 }\n(2)", "2"),
    ("function f() { return 1 } f()", "1"),
    ("const f = function () { return 1 }\n(2)", NOTHING),
    ("class A {}\nnew A().constructor.name", "A"),
    ("const a = 1;\n// why\n(a)", "1"),
    ("const el = 1;\nel\n  + 1;", "2"),
    ("const a = 1;\n[1, 2].map((x) => x + a)", "[ 2, 3 ]"),
    ("const a = 1;\n/x/.test('x')", "true"),
    ("{ a: 1, b: 2 }", "{ a: 1, b: 2 }"),
    ("state.made = make();\nfunction make() { return 3 }", NOTHING),
    ("state.made", "3"),
    ("if (true) { 5 }", NOTHING),
    ("const a = 1; return a", "1"),
    ("const a = 1;;;", NOTHING),
    ("// nothing", NOTHING),
];

/// Code, and what is shown of what it says.
const SAID: &[(&str, &str)] = &[
    (
        "console.group('g'); console.log('in'); console.groupEnd(); console.log('out')",
        "[log] g\n[log]   in\n[log] out",
    ),
    (
        "console.count(); console.count(); console.countReset()",
        "[log] default: 1\n[log] default: 2",
    ),
    (
        "console.log('gone'); console.clear(); console.assert(false, 'x')",
        "[error] assertion failed: x",
    ),
    ("console.table([{ a: 1 }])", "[log] [ { a: 1 } ]"),
    ("console.timeEnd('never began')", NOTHING),
];

/// Code, and what is shown of what it throws.
const THROWN: &[(&str, &str)] = &[
    (
        "throw new TypeError('a', { cause: new Error('b') })",
        "TypeError: a\n  because: Error: b\n(line 1)",
    ),
    (
        "throw new AggregateError([new Error('a'), 'b'], 'both')",
        "AggregateError: both\n  because: Error: a\n  because: 'b'\n(line 1)",
    ),
    ("throw null", "thrown: null"),
    ("throw { message: 'x', get stack() { throw 1 } }", "thrown: something that cannot be shown"),
    (
        "({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('odd') } })",
        "Error: odd\n(line 1)",
    ),
    ("if (1) {", UNCLOSED),
    ("await page.title(", UNCLOSED),
    ("'a' + `b", UNCLOSED),
];

/// The error of code that does not end: the frame that the relay puts around it is not shown.
const UNCLOSED: &str =
    "SyntaxError: Unexpected end of input (line 1): a bracket, brace or quote has no partner";

#[tokio::test]
async fn values_words_and_errors_are_shown_whole() {
    let stage = Stage::with_controlled_tab().await;
    let mut agent = stage.agent_over_http(Sdk::TypeScript);
    for (code, shown) in VALUES.iter().chain(SAID) {
        assert_eq!(ok(agent.execute(code).await), *shown, "{code}");
    }
    for (code, shown) in THROWN {
        assert_eq!(failed(agent.execute(code).await), *shown, "{code}");
    }
    assert_eq!(ok(agent.execute(&long_expression()).await), "99");
    addresses_cost_no_time(&mut agent).await;
    large_values_are_shown_in_time(&mut agent).await;
    helpers_take_pages_and_stay(&mut agent, &stage.site.url()).await;
    agent.end().await;
    stage.end().await;
}

/// The last statement begins far above the end.
fn long_expression() -> String {
    let mut code = "state.x = 1;\nawait page.evaluate(() => {\n".to_owned();
    for line in 0..100 {
        writeln!(code, "  const v{line} = {line};").unwrap();
    }
    code + "  return v99;\n})"
}

/// Each of them could be where a comment begins.
async fn addresses_cost_no_time(agent: &mut Agent) {
    let addresses: Vec<String> =
        (0..8_000).map(|at| format!("'https://example.com/{at}'")).collect();
    let code = format!("[{}].length;", addresses.join(", "));
    let call = json!({ "code": code, "timeout": 10_000 });
    assert_eq!(ok(agent.call("execute", call).await), "8000");
}

async fn large_values_are_shown_in_time(agent: &mut Agent) {
    let cube = "const row = (of) => Array.from({ length: 300 }, () => of);
        console.log(row(row(row('abcdefghij'))));
        row(row(row('abcdefghij')))";
    let call = json!({ "code": cube, "timeout": 5_000 });
    let text = ok(agent.call("execute", call).await);
    assert!(text.starts_with("[log] [\n") && text.contains("[Array]"), "{text}");
    let deep = "({ a: { b: { c: { d: { e: { f: 1 } } } } } })";
    assert!(ok(agent.execute(deep).await).contains("{ f: 1 }"));
}

async fn helpers_take_pages_and_stay(agent: &mut Agent, site: &str) {
    let clickable = format!(
        "await page.goto('{site}/form.html');
         await page.evaluate(() => document.body.insertAdjacentHTML('beforeend',
             '<div style=\"cursor: pointer\"><div>press</div><div>here</div></div>'));
         await snapshot(page)"
    );
    let tree = ok(agent.execute(&clickable).await);
    assert!(tree.contains("[cursor=pointer]"), "{tree}");
    let html = "await getCleanHTML(page.locator('button'))";
    assert_eq!(ok(agent.execute(html).await), "<button>greet</button>");
    assert!(ok(agent.execute("await getPageMarkdown(page)").await).starts_with("# a form"));
    let long = "await page.evaluate(() => console.log('x'.repeat(5_000))); await getLatestLogs({ count: 1 })";
    assert_eq!(
        ok(agent.execute(long).await),
        format!("[log] {}… [3006 more characters]", "x".repeat(1_994))
    );
    assert_eq!(ok(agent.execute("await getLatestLogs({ count: 0 })").await), "[]");
    let detached = "const first = await getCDPSession();
        await first.detach();
        const second = await getCDPSession();
        const { result } = await second.send('Runtime.evaluate', { expression: '6 * 7' });
        [result.value, second === await getCDPSession()].join()";
    assert_eq!(ok(agent.execute(detached).await), "42,true");
    ok(agent.execute("snapshot = 1; console = null; require = page = undefined; 0").await);
    assert_eq!(
        ok(agent.execute("[typeof snapshot, typeof console.log, typeof require].join()").await),
        "function,function,function"
    );
    let odd = "Object.defineProperty(globalThis, 'page', { get() { throw new Error('odd') } }); 0";
    assert_eq!(ok(agent.execute(odd).await), "0");
    assert_eq!(ok(agent.execute("await page.title()").await), "a form");
}
