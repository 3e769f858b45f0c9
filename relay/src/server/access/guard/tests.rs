use super::*;
use crate::server::access::caller::{EXTENSIONS, FORM_TYPES};
use crate::server::access::peer::{Identity, Standing};
use crate::server::access::users::AllowedUser;

const HOST: (&str, &str) = ("host", "127.0.0.1:19988");

#[test]
fn programs_on_this_machine_come_in() {
    for host in ["127.0.0.1:19988", "localhost:19988", "LOCALHOST", "[::1]:19988"] {
        assert_eq!(status(Access::Read, &[("host", host)]), 200, "{host}");
    }
}

#[test]
fn a_foreign_name_for_this_machine_is_refused() {
    for host in ["evil.example:19988", "0.0.0.0:19988", "127.0.0.1.evil.example", "10.0.0.7", ""] {
        assert_eq!(status(Access::Read, &[("host", host)]), 403, "{host}");
    }
    assert_eq!(status(Access::Read, &[]), 403);
}

#[test]
fn the_name_that_was_bound_is_one_of_ours() {
    for (bound, host, expected) in [
        ("10.0.0.7", "10.0.0.7:19988", true),
        ("10.0.0.7", "10.0.0.8:19988", false),
        ("2001:db8::7", "[2001:db8::7]:19988", true),
        ("[2001:db8::7]", "[2001:db8::7]", true),
        ("workshop.local", "Workshop.local:19988", true),
        ("workshop.local", "evil.workshop.local", false),
        ("0.0.0.0", "10.0.0.7:19988", true),
        ("0.0.0.0", "[2001:db8::7]:19988", true),
        ("0.0.0.0", "0.0.0.0:19988", false),
        ("::", "10.0.0.7", true),
        ("::", "[::]:19988", false),
        ("0.0.0.0", "evil.example", false),
    ] {
        let policy = Policy::new(bound, &[], unpaired());
        assert_eq!(policy.knows(host_name(host)), expected, "{host} for {bound}");
    }
}

#[test]
fn a_web_page_is_refused_every_access() {
    for header in [
        ("origin", "https://evil.example"),
        ("origin", "http://127.0.0.1:19988"),
        ("origin", "null"),
        ("origin", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "same-origin"),
    ] {
        for access in [Access::Read, Access::Extension, Access::Probe, Access::Mutate] {
            assert_eq!(status(access, &[HOST, header]), 403, "{header:?}");
        }
    }
}

#[test]
fn only_our_extensions_come_in_as_extensions() {
    assert_eq!(status(Access::Extension, &[HOST]), 403);
    for id in EXTENSIONS {
        let origin = format!("chrome-extension://{id}");
        assert_eq!(status(Access::Extension, &[HOST, ("origin", &origin)]), 200, "{id}");
    }
}

#[test]
fn an_extension_comes_from_this_machine_or_not_at_all() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    for (peer, expected) in [
        ("127.0.0.1:5000", 200),
        ("[::1]:5000", 200),
        ("[::ffff:127.0.0.1]:5000", 200),
        ("10.0.0.8:5000", 403),
        ("[::ffff:10.0.0.8]:5000", 403),
    ] {
        let mut caller = caller(&[HOST, ("origin", &origin)]);
        caller.remote = remote(peer, User::Own);
        assert_eq!(status_of(&guarded(None), Access::Extension, &caller), expected, "{peer}");
        caller.remote = Remote::nowhere();
        assert_eq!(status_of(&guarded(None), Access::Extension, &caller), 403);
    }
}

#[test]
fn what_a_proxy_passes_on_is_not_of_this_machine() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    let guarded = guarded(Some("s3cret")).with_owner(Some(Token::new("k3y")));
    let key = ("authorization", "Bearer k3y");
    for passed_on in [
        [("host", "relay.example"), ("accept", "*/*")],
        [HOST, ("x-forwarded-for", "10.0.0.8")],
        [HOST, ("forwarded", "for=10.0.0.8")],
        [HOST, ("x-forwarded-port", "443")],
        [HOST, ("x-real-ip", "10.0.0.8")],
        [HOST, ("cf-connecting-ip", "10.0.0.8")],
        [HOST, ("true-client-ip", "10.0.0.8")],
    ] {
        let from = |access, shown| {
            let headers: Vec<_> = passed_on.into_iter().chain([shown]).collect();
            status_of(&guarded, access, &caller(&headers))
        };
        assert_eq!(from(Access::Extension, ("origin", &*origin)), 403, "{passed_on:?}");
        assert_eq!(from(Access::Owner, key), 403, "{passed_on:?}");
        assert_eq!(from(Access::Probe, ("accept-language", "en")), 401, "{passed_on:?}");
        assert_eq!(from(Access::Read, ("authorization", "Bearer s3cret")), 200, "{passed_on:?}");
    }
}

#[test]
fn a_browser_gets_only_the_access_that_the_extension_needs() {
    let typed = ("sec-fetch-site", "none");
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    assert_eq!(status(Access::Probe, &[HOST, typed]), 200);
    assert_eq!(status(Access::Probe, &[HOST, ("origin", &origin)]), 200);
    for access in [Access::Read, Access::Mutate, Access::Agents, Access::Owner] {
        assert_eq!(status(access, &[HOST, typed]), 403, "{access:?}");
        assert_eq!(status(access, &[HOST, ("origin", &origin)]), 403, "{access:?}");
    }
}

#[test]
fn agents_code_always_needs_a_token() {
    let secret = Secret::of_process().unwrap();
    for is_paired in [false, true] {
        let tokens = Tokens::of_relay(secret.clone(), is_paired);
        let guarded = Policy::new("127.0.0.1", &[], tokens);
        let from = |access, token: Option<Token>| {
            let shown = token.map(|token| token.as_header()).unwrap_or_default();
            status_of(&guarded, access, &caller(&[HOST, ("authorization", &shown)]))
        };
        assert_eq!(from(Access::Agents, None), 401);
        assert_eq!(from(Access::Agents, Some(Token::new("x"))), 401);
        assert_eq!(from(Access::Agents, Some(secret.agents_token())), 200);
        assert_eq!(from(Access::Agents, Some(secret.cdp_token())), 200);
        let plain = if is_paired { 401 } else { 200 };
        for access in [Access::Read, Access::Mutate] {
            assert_eq!(from(access, None), plain);
            assert_eq!(from(access, Some(secret.agents_token())), plain);
            assert_eq!(from(access, Some(secret.cdp_token())), 200);
        }
        assert_eq!(from(Access::Probe, None), 200);
    }
}

#[test]
fn a_token_that_the_user_chose_is_the_only_one() {
    let guarded = guarded(Some("s3cret"));
    let from = |shown| status_of(&guarded, Access::Agents, &caller(&[HOST, shown]));
    assert_eq!(from(("authorization", "Bearer s3cret")), 200);
    assert_eq!(from(("authorization", "Bearer other")), 401);
}

#[test]
fn what_changes_something_is_never_a_form() {
    for kind in ["text/plain", "Text/Plain;charset=UTF-8", FORM_TYPES[0], FORM_TYPES[1]] {
        assert_eq!(status(Access::Mutate, &[HOST, ("content-type", kind)]), 415, "{kind}");
    }
    assert_eq!(status(Access::Mutate, &[HOST, ("content-type", "application/json")]), 200);
    assert_eq!(status(Access::Mutate, &[HOST]), 200);
    assert_eq!(status(Access::Read, &[HOST, ("content-type", "text/plain")]), 200);
}

#[test]
fn a_token_is_wanted_of_all_but_the_extension() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    let guarded = guarded(Some("s3cret"));
    let from = |access, headers: &[_]| status_of(&guarded, access, &caller(headers));
    for access in [Access::Read, Access::Mutate] {
        assert_eq!(from(access, &[HOST]), 401);
        assert_eq!(from(access, &[HOST, ("origin", &origin)]), 403);
        assert_eq!(from(access, &[HOST, ("authorization", "Bearer wrong")]), 401);
        assert_eq!(from(access, &[HOST, ("authorization", "Bearer s3cret")]), 200);
    }
    assert_eq!(from(Access::Extension, &[HOST, ("origin", &origin)]), 200);
    assert_eq!(from(Access::Probe, &[HOST]), 200);
}

#[test]
fn other_machines_show_the_token_even_to_ring() {
    let mut caller = caller(&[HOST]);
    caller.remote = remote("10.0.0.8:5000", User::Unknown);
    assert_eq!(status_of(&guarded(Some("s3cret")), Access::Probe, &caller), 401);
    caller.query = "token=s3cret".to_owned();
    assert_eq!(status_of(&guarded(Some("s3cret")), Access::Probe, &caller), 200);
}

#[test]
fn a_name_that_the_user_allowed_is_as_good_as_our_own_and_no_other() {
    let guarded = guarded(Some("s3cret"));
    for access in [Access::Read, Access::Mutate] {
        let called = |name| {
            let shown = [("host", name), ("authorization", "Bearer s3cret")];
            status_of(&guarded, access, &caller(&shown))
        };
        assert_eq!(called("relay.example"), 200);
        assert_eq!(called("evil.example"), 403);
    }
}

#[test]
fn only_who_started_the_relay_may_stop_it() {
    let guarded = guarded(Some("s3cret")).with_owner(Some(Token::new("k3y")));
    let key = ("authorization", "Bearer k3y");
    let from = |headers: &[_]| status_of(&guarded, Access::Owner, &caller(headers));
    assert_eq!(from(&[HOST, key]), 200);
    assert_eq!(from(&[HOST]), 403);
    assert_eq!(from(&[HOST, ("authorization", "Bearer s3cret")]), 403);
    assert_eq!(from(&[HOST, key, ("origin", "https://evil.example")]), 403);
    assert_eq!(from(&[HOST, key, ("content-type", "text/plain")]), 415);
    let mut elsewhere = caller(&[HOST, key]);
    elsewhere.remote = remote("10.0.0.8:5000", User::Unknown);
    assert_eq!(status_of(&guarded, Access::Owner, &elsewhere), 403);
    let unowned = Policy::new("127.0.0.1", &[], unpaired());
    assert_eq!(status_of(&unowned, Access::Owner, &caller(&[HOST, key])), 403);
}

#[test]
fn another_user_is_refused_every_access_and_told_the_option() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    let guarded = guarded(Some("s3cret")).with_owner(Some(Token::new("s3cret")));
    for access in [Access::Extension, Access::Probe, Access::Read, Access::Mutate, Access::Owner] {
        let mut caller = caller(&[HOST, ("origin", &origin), ("authorization", "Bearer s3cret")]);
        caller.remote = remote("127.0.0.1:5000", User::Other(1001));
        let refusal = guarded.check(access, &caller).unwrap_err();
        assert_eq!(refusal.status, StatusCode::FORBIDDEN, "{access:?}");
        let own = format!("user {} ", guarded.users.own());
        for part in [&*own, "user 1001", "--allow-user 1001"] {
            assert!(refusal.reason.contains(part), "{}", refusal.reason);
        }
    }
}

#[test]
fn an_allowed_user_comes_in_like_the_relays_own() {
    let users = Arc::new(Users::new(&[AllowedUser::Uid(1001)]));
    let guarded = Policy::new("127.0.0.1", &[], unpaired()).with_users(users, Arc::default());
    for (uid, expected) in [(1001, 200), (1002, 403)] {
        let mut caller = caller(&[HOST]);
        caller.remote = remote("127.0.0.1:5000", User::Other(uid));
        assert_eq!(status_of(&guarded, Access::Read, &caller), expected, "{uid}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn somebody_unknown_shows_a_token_or_is_refused() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    for (token, shown, expected) in [
        (None, "accept", 401),
        (Some("s3cret"), "accept", 401),
        (Some("s3cret"), "authorization", 200),
    ] {
        for access in [Access::Probe, Access::Read, Access::Mutate] {
            let mut caller = caller(&[HOST, (shown, "Bearer s3cret")]);
            caller.remote = remote("127.0.0.1:5000", User::Unknown);
            assert_eq!(status_of(&guarded(token), access, &caller), expected, "{access:?}");
        }
        let mut caller = caller(&[HOST, (shown, "Bearer s3cret"), ("origin", &origin)]);
        caller.remote = remote("127.0.0.1:5000", User::Unknown);
        assert_eq!(status_of(&guarded(token), Access::Extension, &caller), 403);
    }
}

#[test]
fn windows_is_taken_as_before_until_an_extension_there_has_proven_itself() {
    let origin = format!("chrome-extension://{}", crate::EXTENSION_ID);
    let guarded = guarded(None);
    let windows = remote("127.0.0.1:5000", User::Windows);
    let extension = Caller { remote: windows.clone(), ..caller(&[HOST, ("origin", &origin)]) };
    let client = Caller { remote: windows.clone(), ..caller(&[HOST]) };
    assert_eq!(status_of(&guarded, Access::Extension, &extension), 200);
    assert_eq!(status_of(&guarded, Access::Read, &client), 200);
    guarded.extension_proved_itself(&windows);
    assert_eq!(status_of(&guarded, Access::Extension, &extension), 403);
    assert_eq!(status_of(&guarded, Access::Read, &client), 200);
}

#[test]
fn a_page_with_the_token_is_refused() {
    let headers = [HOST, ("origin", "https://evil.example"), ("authorization", "Bearer s3cret")];
    assert_eq!(status_of(&guarded(Some("s3cret")), Access::Read, &caller(&headers)), 403);
}

fn status(access: Access, headers: &[(&'static str, &str)]) -> u16 {
    status_of(&guarded(None), access, &caller(headers))
}

fn status_of(policy: &Policy, access: Access, caller: &Caller) -> u16 {
    policy.check(access, caller).map_or_else(|refusal| refusal.status.as_u16(), |()| 200)
}

fn guarded(token: Option<&str>) -> Policy {
    let tokens = token.map_or_else(unpaired, |token| Tokens::chosen(Token::new(token)));
    Policy::new("127.0.0.1", &["relay.example".to_owned()], tokens)
}

fn unpaired() -> Tokens {
    Tokens::of_relay(Secret::of_process().unwrap(), false)
}

fn caller(headers: &[(&'static str, &str)]) -> Caller {
    Caller {
        headers: headers.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect(),
        query: String::new(),
        path: "/".to_owned(),
        remote: remote("127.0.0.1:5000", User::Own),
    }
}

fn remote(address: &str, user: User) -> Remote {
    let identity = Identity { user, inode: None, is_agents: false };
    let local = ([127, 0, 0, 1], 19988).into();
    Remote::tcp(address.parse().unwrap(), local, identity, Standing::default())
}
