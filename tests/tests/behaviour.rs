//! What a user can see, one file per behaviour.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod behaviour {
    mod clients;
    mod connection;
    mod consent;
    mod driving;
    mod figures;
    mod guards;
    mod wire_rules;
}
