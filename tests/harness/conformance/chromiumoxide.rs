//! The features of chromiumoxide. It is a Rust library, so they are written in Rust.

use std::future::Future;
use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::network::CookieParam;
use chromiumoxide::cdp::browser_protocol::page::PrintToPdfParams;
use chromiumoxide::cdp::browser_protocol::target::CreateBrowserContextParams;
use chromiumoxide::page::ScreenshotParams;
use chromiumoxide::{Browser, Page};
use futures_util::StreamExt;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{sleep, timeout};

use crate::scripts::Results;

const LIMIT: Duration = Duration::from_secs(30);

/// The pause before looking again for what chromiumoxide does not tell.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Runs the features whose names contain one of the words, or all of them.
pub(crate) async fn run(endpoint: &str, site: &str, relay: bool, words: &[String]) -> Results {
    let place = Place { endpoint: endpoint.to_owned(), site: site.to_owned() };
    let mut list = List { words, results: Results::new() };
    list.add("connect over http, use the open tab", open_tab(place.clone())).await;
    list.add("fetch_targets", fetch_targets(place.clone())).await;
    list.add("new_page: goto, type, click, screenshot, close", new_page(place.clone())).await;
    list.add("cookies", cookies(place.clone())).await;
    list.add("pdf", pdf(place.clone())).await;
    list.add("init script", init_script(place.clone())).await;
    if relay {
        list.add("own context is refused, readably", own_context(place.clone())).await;
        list.add("close() ends only the client", close(place)).await;
    }
    list.results
}

struct List<'a> {
    words: &'a [String],
    results: Results,
}

impl List<'_> {
    async fn add(&mut self, name: &str, feature: impl Future<Output = ()> + Send + 'static) {
        if !self.words.is_empty() && !self.words.iter().any(|word| name.contains(word)) {
            return;
        }
        let running = tokio::spawn(feature);
        let stop = running.abort_handle();
        let outcome = match timeout(LIMIT, running).await {
            Ok(Ok(())) => "ok".to_owned(),
            Ok(Err(error)) => what_went_wrong(error),
            Err(_) => {
                stop.abort();
                format!("the feature took longer than {} s", LIMIT.as_secs())
            }
        };
        self.results.insert(name.to_owned(), outcome);
    }
}

fn what_went_wrong(error: JoinError) -> String {
    match error.try_into_panic().map(|panic| panic.downcast::<String>()) {
        Ok(Ok(text)) => *text,
        Ok(Err(_)) => "the feature panicked".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[derive(Clone)]
struct Place {
    endpoint: String,
    site: String,
}

/// A connection that ends with the feature.
struct Connection {
    browser: Browser,
    driving: JoinHandle<()>,
}

impl Place {
    async fn connect(&self) -> Connection {
        let (browser, mut handler) =
            Browser::connect(self.endpoint.as_str()).await.expect("the browser is there");
        // Events that the library does not know come as errors, and do not matter.
        let driving = tokio::spawn(async move { while handler.next().await.is_some() {} });
        Connection { browser, driving }
    }
}

impl Connection {
    /// The tab that was open before; the features leave it as it is.
    async fn open_tab(&self) -> Page {
        loop {
            for page in self.browser.pages().await.expect("pages can be asked for") {
                if page.url().await.ok().flatten().as_deref() == Some("about:blank") {
                    return page;
                }
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

async fn evaluate<T: serde::de::DeserializeOwned>(page: &Page, expression: &str) -> T {
    let value = page.evaluate(expression).await.expect("the page evaluates");
    value.into_value().expect("the value has the right type")
}

async fn open_tab(place: Place) {
    let connection = place.connect().await;
    let page = connection.open_tab().await;
    assert_eq!(evaluate::<i32>(&page, "6 * 7").await, 42);
    let version = connection.browser.version().await.expect("the browser has a version");
    assert!(version.product.contains('/'), "{version:?}");
}

async fn fetch_targets(place: Place) {
    let mut connection = place.connect().await;
    let targets = connection.browser.fetch_targets().await.expect("there are targets");
    let page = targets.iter().find(|target| target.r#type == "page").expect("there is a page");
    // The client is not told when the page can be had.
    let page = loop {
        match connection.browser.get_page(page.target_id.clone()).await {
            Ok(page) => break page,
            Err(_) => sleep(LOOK_AGAIN).await,
        }
    };
    assert_eq!(evaluate::<i32>(&page, "6 * 7").await, 42);
}

async fn new_page(place: Place) {
    let connection = place.connect().await;
    let page = connection.browser.new_page("about:blank").await.expect("a page opens");
    page.goto(format!("{}/form.html", place.site)).await.expect("the page loads");
    assert_eq!(page.get_title().await.expect("it has a title").as_deref(), Some("a form"));
    let input = page.find_element("input").await.expect("there is an input");
    input.click().await.expect("it can be clicked").type_str("world").await.expect("it takes text");
    let button = page.find_element("button").await.expect("there is a button");
    button.click().await.expect("it can be clicked");
    let text = button.inner_text().await.expect("it has a text");
    assert_eq!(text.as_deref(), Some("hello world"));
    let picture = page.screenshot(ScreenshotParams::builder().build()).await;
    assert!(picture.expect("there is a picture").starts_with(b"\x89PNG"));
    page.close().await.expect("the page closes");
}

async fn cookies(place: Place) {
    let connection = place.connect().await;
    let page = connection.browser.new_page(format!("{}/index.html", place.site)).await;
    let page = page.expect("a page opens");
    page.set_cookie(CookieParam::new("of_the_page", "1")).await.expect("a cookie is set");
    let mut second = CookieParam::new("of_the_browser", "2");
    second.url = Some(place.site.clone());
    connection.browser.set_cookies(vec![second]).await.expect("a cookie is set");
    let seen: String = evaluate(&page, "document.cookie").await;
    assert!(seen.contains("of_the_page=1") && seen.contains("of_the_browser=2"), "{seen}");
    let named = |name: &str, cookies: &[chromiumoxide::cdp::browser_protocol::network::Cookie]| {
        cookies.iter().any(|cookie| cookie.name == name)
    };
    let of_page = page.get_cookies().await.expect("there are cookies");
    let of_browser = connection.browser.get_cookies().await.expect("there are cookies");
    assert!(named("of_the_browser", &of_page) && named("of_the_page", &of_browser));
    connection.browser.clear_cookies().await.expect("cookies are cleared");
    assert_eq!(evaluate::<String>(&page, "document.cookie").await, "");
    page.close().await.expect("the page closes");
}

async fn pdf(place: Place) {
    let connection = place.connect().await;
    let page = connection.browser.new_page(format!("{}/index.html", place.site)).await;
    let page = page.expect("a page opens");
    let pdf = page.pdf(PrintToPdfParams::default()).await.expect("the page prints");
    assert!(pdf.starts_with(b"%PDF"));
    page.close().await.expect("the page closes");
}

async fn init_script(place: Place) {
    let connection = place.connect().await;
    let page = connection.browser.new_page("about:blank").await.expect("a page opens");
    page.evaluate_on_new_document("window.added = 'yes'").await.expect("a script is added");
    page.goto(format!("{}/index.html", place.site)).await.expect("the page loads");
    assert_eq!(evaluate::<String>(&page, "window.added").await, "yes");
    page.close().await.expect("the page closes");
}

async fn own_context(place: Place) {
    let connection = place.connect().await;
    let refused =
        connection.browser.create_browser_context(CreateBrowserContextParams::default()).await;
    let text = refused.expect_err("a context was made").to_string();
    assert!(text.to_lowercase().contains("context"), "{text}");
    assert_eq!(evaluate::<i32>(&connection.open_tab().await, "6 * 7").await, 42);
}

async fn close(place: Place) {
    let mut connection = place.connect().await;
    connection.open_tab().await;
    connection.browser.close().await.expect("the client is let go");
    let another = place.connect().await;
    assert_eq!(evaluate::<i32>(&another.open_tab().await, "6 * 7").await, 42);
}
