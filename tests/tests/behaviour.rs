//! What a user can see, one file per behaviour.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod behaviour {
    mod api_walk;
    mod clients;
    mod connection;
    mod consent;
    mod driving;
    mod figures;
    mod groups;
    mod guards;
    mod hidden_tabs;
    mod interference;
    mod many_tabs;
    mod older_relays;
    mod popups;
    mod separate_window;
    mod visible;
    mod wire_rules;
    mod worker_death;
}
