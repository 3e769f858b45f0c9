//! Behaviours that a user can see, in a folder per part of the product.
//!
//! Each file is one behaviour, each test one claim about it, played with every part real.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod behaviour {
    mod agents;
    mod clients;
    mod compatibility;
    mod evidence;
    mod extension;
    mod intruders;
    mod relay;
    mod smoke;
    mod tabs;
}
