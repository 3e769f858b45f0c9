//! The extension by itself: how it finds a relay, what it asks of Chrome, how its worker ends and
//! starts.
//!
//! Tests here look into the worker, or speak to it as a relay. What a user sees of a controlled tab
//! is in [`super::tabs`].

mod budgets;
mod chrome_requests;
mod connection;
mod worker_death;
