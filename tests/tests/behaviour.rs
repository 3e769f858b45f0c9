//! What a user can see, one file per behaviour.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod behaviour {
    mod api_walk;
    mod chrome_requests;
    mod clients;
    mod conformance;
    mod conformance_table;
    mod connection;
    mod consent;
    mod driving;
    mod figures;
    mod groups;
    mod guards;
    mod hidden_tabs;
    mod http_endpoints;
    mod interference;
    mod logs;
    mod many_tabs;
    mod older_relays;
    mod popups;
    mod separate_window;
    mod silent_tabs;
    mod slow_clients;
    mod tokens;
    mod visible;
    mod wire_rules;
    mod worker_death;
}
