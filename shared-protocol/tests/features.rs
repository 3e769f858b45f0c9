//! The features that each generation of the extension understands.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use shared_protocol::{ExtensionHello, Feature, Features};

/// The features that no version implies; an extension that has them says so.
const SAID: [Feature; 2] = [Feature::Pairing, Feature::RestrictedTabs];

const RELEASED: [Feature; 1] = [Feature::InitialTab];

#[test]
fn an_extension_that_says_nothing_understands_nothing_optional() {
    assert_eq!(of(""), []);
    assert_eq!(of("browser=Chrome&email=&id=&v=&capabilities="), []);
}

#[test]
fn released_extensions_understand_the_features_of_their_release() {
    assert_eq!(of("browser=Chrome&v=0.0.60"), RELEASED);
    assert_eq!(of("browser=Chrome&installId=i&v=0.4.0"), RELEASED);
    assert_eq!(
        of("browser=Chrome&installId=i&v=0.7.0&capabilities=inventory-ready-v1"),
        [Feature::InitialTab, Feature::InventoryReady]
    );
}

#[test]
fn ours_understands_all_that_a_relay_of_ours_asks_for() {
    assert_eq!(of(&format!("v=1.0.0&capabilities={}", Feature::capabilities())), ours());
}

#[test]
fn a_newer_extension_understands_at_least_all_known_features() {
    let known = ours().into_iter().filter(|feature| !SAID.contains(feature));
    let known: Vec<Feature> = known.collect();
    assert_eq!(of("v=99.0.0&capabilities=teleport,,windows-v2"), known);
    assert_eq!(of("v=1.0.1"), known);
    assert_eq!(of("v=2"), known);
    assert_eq!(of("v=2&capabilities=pairing-v1,restricted-tabs-v1"), ours());
}

#[test]
fn an_older_extension_also_understands_the_features_it_lists() {
    let said = of("v=0.6.2&capabilities=teleport,%20windows-v1,,windows-v2");
    assert_eq!(said, [Feature::InitialTab, Feature::Windows]);
    assert_eq!(of("v=next"), RELEASED, "a version may be anything");
}

#[test]
fn only_an_extension_that_understands_a_feature_gives_its_proof() {
    const WINDOWS: u8 = Feature::Windows as u8;
    const NONE: u8 = 200;
    let features = Features::of(&read("v=0.7.0&capabilities=windows-v1"));
    assert!(features.proof::<WINDOWS>().is_some());
    assert!(features.proof::<{ Feature::Downloads as u8 }>().is_none());
    assert!(features.proof::<NONE>().is_none());
    assert!(Features::of(&read("v=0.7.0")).proof::<WINDOWS>().is_none());
}

fn ours() -> Vec<Feature> {
    Feature::ALL.to_vec()
}

fn of(query: &str) -> Vec<Feature> {
    Features::of(&read(query)).iter().collect()
}

fn read(query: &str) -> ExtensionHello {
    serde_urlencoded::from_str(query).unwrap()
}
