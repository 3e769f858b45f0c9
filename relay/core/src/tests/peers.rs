//! Clients and extensions that connect, leave and come back.

mod connecting;
mod features;
mod pairing;
mod reconnect;
