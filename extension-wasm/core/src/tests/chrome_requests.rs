//! Windows, permissions, downloads and cookies.

use shared_protocol::{
    BrowserWindow, CookieFunction, FoundDownload, MAX_COOKIE_CALLS, PermissionName, PermissionRule,
    WindowState,
};

use super::*;
use crate::{Bounds, WindowRef};

#[test]
fn a_window_is_found_by_page_or_by_id() {
    let mut worker = Machine::with_tab();
    for (params, window) in [
        (json!({ "targetId": "T1" }), WindowRef::OfTab(TAB)),
        (json!({ "windowId": 3 }), WindowRef::Id(WindowId(3))),
    ] {
        assert_eq!(
            worker.request(5, "getWindow", params),
            [Effect::ReadWindow { request: request(5), window }]
        );
    }
    let window = json!({
        "windowId": 3, "left": 1, "top": 2, "width": 800, "height": 600, "state": "normal",
    });
    let seen: BrowserWindow<Json> = serde_json::from_value(window.clone()).unwrap();
    assert_eq!(
        worker.handle(Input::WindowRead { request: request(5), outcome: Ok(seen) }),
        [reply(5, Ok(Some(window)))]
    );
}

#[test]
fn an_unknown_window_is_an_error() {
    let mut worker = Machine::with_tab();
    for (params, why) in [
        (json!({ "targetId": "T9" }), "No tab found for targetId: T9"),
        (json!({}), "getWindow needs a targetId or a windowId"),
        (json!({ "windowId": 1_i64 << 40 }), "No window with id: 1099511627776."),
    ] {
        assert_eq!(worker.request(5, "getWindow", params), [reply(5, Err(why))]);
    }
}

#[test]
fn a_window_is_changed_and_that_is_answered() {
    let mut worker = Machine::with_tab();
    let change = json!({ "windowId": 3, "left": 10, "state": "normal" });
    let bounds = Bounds { left: Some(10), ..Bounds::default() };
    let (window, state) = (WindowId(3), Some(WindowState::Normal));
    assert_eq!(
        worker.request(5, "setWindow", change),
        [Effect::ChangeWindow { request: request(5), window, bounds, state }]
    );
    assert_eq!(
        worker.handle(Input::Done { request: request(5), outcome: Ok(()) }),
        [reply(5, Ok(Some(json!({}))))]
    );
    assert_eq!(
        worker.request(6, "activateTab", json!({ "targetId": "T1" })),
        [Effect::ActivateTab { request: request(6), tab: TAB }]
    );
    for (id, method, close) in [(7, "blankTab", false), (8, "closeTab", true)] {
        assert_eq!(
            worker.request(id, method, json!({ "targetId": "T1" })),
            [Effect::LeavePage { request: request(id), tab: TAB, close }]
        );
    }
    let outcome = Err("No tab with id: 11.".to_owned());
    assert_eq!(
        worker.handle(Input::Done { request: request(6), outcome }),
        [reply(6, Err("No tab with id: 11."))]
    );
}

#[test]
fn a_client_gets_the_window_it_asks_for_whatever_the_mode() {
    let mut worker = Machine::with_tab();
    let mode = json!({ "method": "setWindowMode", "params": { "separateWindow": true } });
    worker.relay_sent(mode);
    let blank = "about:blank";
    let create = "Target.createTarget";
    let own = worker.command(1, None, create, json!({}));
    assert_eq!(own, [create_tab(1, blank, Place::NewSeparateWindow)]);
    let params = json!({ "newWindow": true, "width": 500, "height": 400 });
    let bounds = Bounds { width: Some(500), height: Some(400), ..Bounds::default() };
    assert_eq!(
        worker.command(2, None, create, params),
        [create_tab(2, blank, Place::ClientWindow(bounds))]
    );
    worker.handle(Input::TabCreated { request: request(2), outcome: Ok((OTHER, None)) });
    assert_eq!(worker.command(3, None, create, json!({})), [], "the other window still opens");
}

#[test]
fn a_tab_opens_where_its_client_wants_it_whatever_the_mode() {
    let mut worker = Machine::with_tab();
    let (blank, create) = ("about:blank", "Target.createTarget");
    let beside = worker.command(1, None, create, json!({ "separateWindow": false }));
    assert_eq!(beside, [create_tab(1, blank, Place::Beside(TAB))]);
    let own = worker.command(2, None, create, json!({ "separateWindow": true }));
    assert_eq!(own, [create_tab(2, blank, Place::NewSeparateWindow)]);
    let outcome = Ok((OTHER, Some(WindowId(3))));
    worker.handle(Input::TabCreated { request: request(2), outcome });
    worker.attached(OTHER, "T2");
    assert_eq!(
        worker.command(3, None, create, json!({})),
        [create_tab(3, blank, Place::Beside(TAB))],
        "never beside one in the separate window"
    );
    let params = json!({ "separateWindow": true });
    let initial = json!({ "id": 4, "method": "createInitialTab", "params": params });
    assert_eq!(
        worker.relay_sent(initial),
        [create_tab(4, blank, Place::SeparateWindow(WindowId(3)))]
    );
}

#[test]
fn new_permissions_replace_earlier_ones() {
    let mut worker = Machine::connected();
    let rule = |name: &str| json!({ "name": name, "setting": "allow" });
    let set = |worker: &mut Machine, id, names: &[&str]| {
        let rules: Vec<Value> = names.iter().map(|name| rule(name)).collect();
        worker.request(id, "setPermissions", json!({ "rules": rules }))
    };
    let effect = |id, clear: &[PermissionName], names: &[&str]| {
        let rule =
            |name: &&str| -> PermissionRule<Json> { serde_json::from_value(rule(name)).unwrap() };
        let rules = names.iter().map(rule).collect();
        Effect::SetPermissions { request: Some(request(id)), clear: clear.to_vec(), rules }
    };
    let (camera, place) = (PermissionName::Camera, PermissionName::Geolocation);
    let both = ["geolocation", "camera"];
    assert_eq!(set(&mut worker, 1, &both), [effect(1, &[], &both)]);
    assert_eq!(set(&mut worker, 2, &["camera"]), [effect(2, &[place, camera], &["camera"])]);
    assert_eq!(set(&mut worker, 3, &[]), [effect(3, &[camera], &[])]);
}

#[test]
fn permissions_end_with_the_relay_even_if_the_worker_ended_first() {
    let mut worker = Machine::connected();
    let rules = json!({ "rules": [{ "name": "camera", "setting": "allow" }] });
    let message = json!({ "id": 1, "method": "setPermissions", "params": rules });
    let message = serde_json::from_value(message).unwrap();
    let written = worker.worker.handle(Input::RelaySent { attempt: FIRST, message });
    let Some(Effect::Persist(snapshot)) = written.into_iter().next() else { panic!() };
    let clear = |clear: &[PermissionName]| Effect::SetPermissions {
        request: None,
        clear: clear.to_vec(),
        rules: Vec::new(),
    };

    let mut next = Machine::default();
    let (hello, snapshot) = (Box::default(), Box::new(snapshot));
    let effects = next.handle(Input::Started { settings: settings(19988), hello, snapshot });
    let (gone, probe) = (Attempt(0), Effect::Probe { attempt: FIRST, port: 19988 });
    assert_eq!(effects, [Effect::GiveRelayUpLater { attempt: gone }, probe]);
    next.handle(Input::Probed { attempt: FIRST, found: false });
    assert_eq!(
        next.handle(Input::RelayGivenUp { attempt: gone }),
        [clear(&[PermissionName::Camera])]
    );
    assert_eq!(next.handle(Input::RelayGivenUp { attempt: gone }), [], "once is enough");
}

#[test]
fn a_download_is_answered_when_it_has_ended() {
    let mut worker = Machine::connected();
    let search = Effect::SearchDownload {
        request: request(5),
        url: "http://site/a.pdf".to_owned(),
        exclude: vec![1],
        max_age: Some(9000),
    };
    let query = json!({ "url": "http://site/a.pdf", "exclude": [1], "maxAge": 9000 });
    assert_eq!(
        worker.request(5, "findDownload", query),
        [search.clone(), Effect::DownloadOverdueLater { request: request(5) }]
    );
    let found = json!({ "id": 2, "path": "/a.pdf.crdownload", "state": "in_progress" });
    assert_eq!(worker.handle(searched(5, found)), []);
    assert_eq!(worker.handle(Input::DownloadChanged), [search]);
    let found = json!({ "id": 2, "path": "/a.pdf", "state": "complete" });
    assert_eq!(worker.handle(searched(5, found.clone())), [reply(5, Ok(Some(found)))]);
    assert_eq!(worker.handle(Input::DownloadChanged), []);
    assert_eq!(worker.handle(Input::DownloadOverdue { request: request(5) }), []);
}

#[test]
fn a_download_that_is_running_or_missing_is_reported_as_such() {
    let mut worker = Machine::connected();
    let query = json!({ "url": "http://site/a.pdf", "exclude": [] });
    worker.request(5, "findDownload", query.clone());
    assert_eq!(worker.handle(searched(5, json!({}))), [reply(5, Ok(Some(json!({}))))]);
    worker.request(6, "findDownload", query);
    let found = json!({ "id": 2, "state": "in_progress" });
    worker.handle(searched(6, found.clone()));
    assert_eq!(
        worker.handle(Input::DownloadOverdue { request: request(6) }),
        [reply(6, Ok(Some(found)))]
    );
    assert_eq!(
        worker.request(7, "cancelDownload", json!({ "id": 2 })),
        [Effect::CancelDownload { request: request(7), download: 2, remove: false }]
    );
    let foreign = json!({ "id": 1, "remove": true });
    assert_eq!(
        worker.request(8, "cancelDownload", foreign),
        [reply(8, Ok(Some(json!({}))))],
        "one that the relay was never told of stays"
    );
}

#[test]
fn cookies_are_forwarded_unchanged_up_to_a_limit() {
    let mut worker = Machine::connected();
    let details = json!({ "url": "https://a.example/", "future": [1] });
    let (function, details) = (CookieFunction::GetAll, vec![Json(details)]);
    let params = json!({ "function": "getAll", "details": [details[0].0] });
    assert_eq!(
        worker.request(5, "callCookies", params),
        [Effect::CallCookies { request: request(5), function, details }]
    );
    let answers = json!({ "cookies": [[{ "name": "a" }]], "error": "why the next one failed" });
    let told = serde_json::from_value(answers.clone()).unwrap();
    assert_eq!(
        worker.handle(Input::CookiesAnswered { request: request(5), answers: told }),
        [reply(5, Ok(Some(answers)))]
    );
    let many = vec![json!({}); MAX_COOKIE_CALLS + 1];
    assert_eq!(
        worker.request(6, "callCookies", json!({ "function": "set", "details": many })),
        [reply(6, Err("No more than 200 cookies at once"))]
    );
}

fn searched(id: i64, found: Value) -> Input<Json> {
    let found: FoundDownload<Json> = serde_json::from_value(found).unwrap();
    Input::DownloadSearched { request: request(id), outcome: Ok(found) }
}
