//! One Chrome session, several client sessions.

mod dialogs;
mod domains;
mod refusals;
mod two_clients;
