//! CDP clients: what Playwright, Puppeteer and others can do through the relay, and what the relay
//! answers them.
//!
//! Tests here look at what a client sends and receives. How a client finds a relay is in
//! [`super::relay`]; clients that are agents' code are in [`super::agents`].

mod api_coverage;
mod browser_policy;
mod cdp_rules;
mod conformance;
mod conformance_table;
mod http_endpoints;
mod page_ends;
mod playwright_basics;
mod several_clients;
mod slow_clients;
