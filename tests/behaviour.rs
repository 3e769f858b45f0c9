//! What a user can see, one file per behaviour.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod behaviour {
    mod api_walk;
    mod chrome_requests;
    mod clear_words;
    mod clients;
    mod compatibility_page;
    mod conformance;
    mod conformance_table;
    mod connection;
    mod consent;
    mod driving;
    mod evidence;
    mod figures;
    mod future_peers;
    mod generations;
    mod groups;
    mod guards;
    mod hidden_tabs;
    mod http_endpoints;
    mod interference;
    mod intruders;
    mod logs;
    mod many_tabs;
    mod mcp;
    mod mcp_calls;
    mod mcp_confined;
    mod mcp_door;
    mod mcp_outside;
    mod mcp_sessions;
    mod mcp_values;
    mod older_relays;
    mod page_ends;
    mod persistent_relay;
    mod policy;
    mod popups;
    mod relay_gone;
    mod remote;
    mod restricted_pages;
    mod separate_window;
    mod silent_tabs;
    mod slow_clients;
    mod smoke;
    mod tokens;
    mod transcripts;
    mod visible;
    mod wire_rules;
    mod worker_death;
}
