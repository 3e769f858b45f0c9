//! The handshake on the wire, byte for byte, and what is signed in it.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shared_protocol::pairing::{
    ExtensionProof, GivenKey, InvalidBytes, InvalidCode, Key, KeyId, Knock, Nonce, PairingCode,
    PairingFile, PairingFrame, Proof, RelayHello, RelayProof, UNKNOWN_KEY, signed_by_extension,
    signed_by_relay, signed_for_code_id, signed_for_code_key,
};

const KID: KeyId = KeyId([0, 1, 2, 3, 4, 5, 6, 7]);

#[test]
fn every_frame_and_file_is_as_it_was_released() {
    let (nonce, proof, key) = (Nonce([1; 32]), Proof([7; 32]), Key([255; 32]));
    let proven =
        RelayProof { nonce: Some(nonce), listening: Some(1500), proof: Some(proof), error: None };
    check("relay-proof", &PairingFrame::new(proven));
    let error = Some(UNKNOWN_KEY.to_owned());
    check("unknown-key", &PairingFrame::new(RelayProof { error, ..RelayProof::default() }));
    let hello = r#"{"v":"1.0.0"}"#.to_owned();
    check("extension-proof", &PairingFrame::new(ExtensionProof { hello, proof }));
    check("given-key", &PairingFrame::new(GivenKey { kid: KID, key }));
    check("file", &PairingFile::with_key(KID, key, 19988));
    check("file-unpaired", &PairingFile::unpaired());
    let hello = RelayHello {
        name: "playwriter-rs".to_owned(),
        pairing: vec!["v1".to_owned()],
        required: false,
    };
    check("hello", &hello);
    check("hello-required", &RelayHello { required: true, ..hello });
    let files = fs::read_dir(fixtures()).unwrap().count();
    assert_eq!(files, 8, "every fixture is checked");
}

#[test]
fn a_knock_tells_the_name_of_a_key_and_a_nonce_and_nothing_else() {
    let nonce = Nonce([1; 32]);
    let knock = Knock { pairing: "v1".to_owned(), kid: KID, nonce };
    let query = serde_urlencoded::to_string(&knock).unwrap();
    assert_eq!(query, format!("pairing=v1&kid=AAECAwQFBgc&nonce={nonce}"));
    assert_eq!(serde_urlencoded::from_str::<Knock>(&query).unwrap(), knock);
    for wrong in ["pairing=v1", "pairing=v1&kid=AAECAwQFBgc", "pairing=v1&kid=AAECAwQFBgc&nonce=AA"]
    {
        assert!(serde_urlencoded::from_str::<Knock>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn only_whole_bytes_in_their_one_form_are_read() {
    for length in [7, 9] {
        let text = "A".repeat((length * 8_usize).div_ceil(6));
        assert_eq!(text.parse::<KeyId>(), Err(InvalidBytes));
    }
    assert_eq!("AAECAwQFBgc".parse(), Ok(KID));
    for wrong in ["AAECAwQFBgd", "AAECAwQFBg=", "AAECAwQFB c", "AAECAwQFBg+", ""] {
        assert_eq!(wrong.parse::<KeyId>(), Err(InvalidBytes), "{wrong}");
    }
    let all: Vec<u8> = (0..=255).collect();
    for chunk in all.chunks_exact(32) {
        let key = Key(chunk.try_into().unwrap());
        let text = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<Key>(&text).unwrap(), key);
    }
    assert_eq!(format!("{:?} {:?}", Key([1; 32]), Proof([1; 32])), "Key(hidden) Proof(hidden)");
}

#[test]
fn a_file_without_a_whole_key_has_none() {
    assert_eq!(PairingFile::with_key(KID, Key([1; 32]), 7).key(), Some((KID, &Key([1; 32]))));
    assert_eq!(PairingFile::unpaired().key(), None);
    let other = PairingFile { v: 2, ..PairingFile::with_key(KID, Key([1; 32]), 7) };
    assert_eq!(other.key(), None);
    let short = format!(r#"{{"v":1,"kid":"AAECAwQFBgc","key":"{}","port":7}}"#, "A".repeat(42));
    assert!(serde_json::from_str::<PairingFile>(&short).is_err(), "31 bytes");
    let empty = r#"{"v":1,"kid":"AAECAwQFBgc","key":"","port":7}"#;
    assert!(serde_json::from_str::<PairingFile>(empty).is_err(), "an empty key");
}

#[test]
fn nothing_that_is_signed_can_be_taken_for_anything_else() {
    let (first, second) = (Nonce([1; 32]), Nonce([2; 32]));
    let relay = signed_by_relay(KID, &first, &second, 19988, 7);
    let mut expected = b"playwriter pairing v1 relay\0".to_vec();
    expected.extend(KID.0.iter().chain(&[1; 32]).chain(&[2; 32]).chain(&[0x4e, 0x14]));
    expected.extend([0, 0, 0, 7]);
    assert_eq!(relay, expected);
    let extension = signed_by_extension(KID, &first, &second, 19988, &[3; 32]);
    let mut expected = b"playwriter pairing v1 extension\0".to_vec();
    expected.extend(KID.0.iter().chain(&[1; 32]).chain(&[2; 32]).chain(&[0x4e, 0x14]));
    expected.extend([3; 32]);
    assert_eq!(extension, expected);
    let others = [
        signed_by_relay(KeyId([0; 8]), &first, &second, 19988, 7),
        signed_by_relay(KID, &second, &first, 19988, 7),
        signed_by_relay(KID, &first, &second, 19989, 7),
        signed_by_relay(KID, &first, &second, 19988, 8),
        signed_by_extension(KID, &first, &second, 19988, &[4; 32]),
        signed_for_code_key().to_vec(),
        signed_for_code_id().to_vec(),
        relay,
        extension,
    ];
    assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), others.len());
}

#[test]
fn a_code_is_read_as_people_paste_it() {
    let code = PairingCode([0x1f; 16]);
    let text = code.to_string();
    assert_eq!(text.len(), 26);
    assert_eq!(text.parse(), Ok(code));
    let (start, end) = text.split_at(13);
    assert_eq!(format!(" {start}-{} \n", end.to_lowercase()).parse(), Ok(code));
    assert_eq!(PairingCode([255; 16]).to_string().parse(), Ok(PairingCode([255; 16])));
    assert_eq!(PairingCode([0; 16]).to_string(), "A".repeat(26));
    let last_bits = format!("{}B", "A".repeat(25));
    for wrong in [&text[1..], &format!("{text}A"), &text.replace('D', "1"), &last_bits, ""] {
        assert_eq!(wrong.parse::<PairingCode>(), Err(InvalidCode), "{wrong}");
    }
    assert_eq!(format!("{code:?}"), "PairingCode(hidden)");
}

fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, value: &T) {
    let text = fs::read_to_string(fixtures().join(format!("{name}.json"))).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{name}: reading");
    assert_eq!(serde_json::to_string(value).unwrap(), text, "{name}: writing");
}

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pairing"))
}
