//! Programs that have the relay's port for a while: before the relay, after it, or between two steps of
//! its handshake with the extension.

use end_to_end::{HeldSocket, RawClient, RawKey, Squat, Squatter, Stage, http};
use relay::server::{RelayOptions, RelayServer};
use serde_json::{Value, json};
use shared_protocol::http::Version;
use shared_protocol::pairing::{Nonce, Proof};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::attack::{Attack, attack};
use super::extensions::{ORDERS, TITLE};

pub(super) const ATTACKS: &[Attack] = &[
    attack!(
        OtherUser,
        "waits until the relay ends after its first answer to the extension, and takes its port before the extension opens its socket",
        "It learns the name of a key and a nonce: both proofs are given on the socket that is used, so an earlier answer is worth nothing.",
        a_relay_that_ends_before_its_proof_leaves_nothing_to_a_squatter
    ),
    attack!(
        OtherUser,
        "takes the port after the relay's proof and before the extension's, and repeats the relay's proof",
        "It learns the name of a key and a nonce: a proof is for one nonce, and the extension's own proof goes to the socket that ended.",
        a_relay_that_ends_after_its_proof_leaves_nothing_to_a_squatter
    ),
    attack!(
        OtherUser,
        "has the port first, keeps the extension's socket, lets the relay start at the same port, and passes the relay's proof on",
        "The relay signs for how long it has listened, and the extension takes no proof on a socket that is older.",
        a_socket_that_is_older_than_the_relay_is_not_the_relays
    ),
    attack!(
        OtherUser,
        "has the relay sign the extension's nonce as it does for the command line, and shows that to the extension as the relay's proof",
        "Proofs for programs and for extensions have other keys and other labels.",
        a_proof_for_programs_proves_nothing_to_an_extension
    ),
    attack!(
        SameUser,
        "has the port first, keeps the command line's connection, lets the relay start at the same port, and passes its proof on",
        "The proof says for how long the relay has listened: a connection that is older is shown no token.",
        a_connection_that_is_older_than_the_relay_is_shown_no_token
    ),
];

/// Makes the extension wait after an answer, until it is told to go on.
const PAUSE_AFTER_HELLO: &str = "(() => {
    const { fetch } = self;
    const resumed = new Promise((resolve) => { self.resume = resolve; });
    self.isPaused = false;
    self.fetch = async (...request) => {
        const answer = await fetch(...request);
        if (answer.url.endsWith('/extension/hello')) { self.isPaused = true; await resumed; }
        return answer;
    };
    self.restore = () => { self.fetch = fetch; };
})()";
const PAUSE_AFTER_PROOF: &str = "(() => {
    const { WebSocket } = self, verify = crypto.subtle.verify.bind(crypto.subtle);
    const resumed = new Promise((resolve) => { self.resume = resolve; });
    self.isPaused = false;
    self.said = [];
    self.WebSocket = class extends WebSocket {
        constructor(url) { super(url); this.addEventListener('message', ({ data }) => said.push(data)); }
    };
    crypto.subtle.verify = async (...proof) => {
        const verified = await verify(...proof);
        self.isPaused = verified;
        await resumed;
        return verified;
    };
    self.restore = () => { self.WebSocket = WebSocket; crypto.subtle.verify = verify; };
})()";

#[tokio::test]
async fn a_relay_that_ends_before_its_proof_leaves_nothing_to_a_squatter() {
    let mut stage = Stage::without_relay().await;
    stage.in_worker(PAUSE_AFTER_HELLO).await;
    stage.start_relay().await;
    stage.until_in_worker("isPaused").await;
    stage.stop_relay().await;
    let orders = ORDERS.iter().map(|&order| order.to_owned()).collect();
    let squatter = Squatter::start_at(stage.port(), Squat::Relay(orders)).await;
    goes_on_and_comes_back(stage, squatter).await;
}

#[tokio::test]
async fn a_relay_that_ends_after_its_proof_leaves_nothing_to_a_squatter() {
    let stage = Stage::without_relay().await;
    stage.in_worker(PAUSE_AFTER_PROOF).await;
    let mut relay = stage.spawn_relay();
    stage.until_in_worker("isPaused").await;
    relay.kill().await.unwrap();
    let said = stage.in_worker("said").await;
    let proof = said[0].as_str().unwrap().to_owned();
    assert!(proof.contains("\"proof\""), "{proof}");
    let orders = [proof].into_iter().chain(ORDERS.iter().map(|&order| order.to_owned()));
    let squatter = Squatter::start_at(stage.port(), Squat::Relay(orders.collect())).await;
    goes_on_and_comes_back(stage, squatter).await;
}

/// Lets a paused extension go on into the hands of a squatter, and then finds its relay again.
async fn goes_on_and_comes_back(mut stage: Stage, squatter: Squatter) {
    stage.in_worker("restore(), resume()").await;
    told_a_key_and_nonces(&stage, &squatter).await;
    squatter.leave().await;
    stage.start_relay().await;
    stage.status_when("the extension to connect", |status| status.connected).await;
    stage.end().await;
}

#[tokio::test]
async fn a_socket_that_is_older_than_the_relay_is_not_the_relays() {
    for lies in [false, true] {
        let stage = Stage::without_relay().await;
        let (held, relay) = relay_after_a_knock(&stage).await;
        // The relay takes the knock for the extension's, whoever brings it.
        let mut posing = RawClient::knock(stage.port(), held.query()).await.unwrap();
        let mut proof = posing.next().await;
        let key = RawKey::of(&stage.paired_folder());
        assert!(key.is_shown(&proof, &held.knock().nonce, stage.port()), "{proof}");
        if lies {
            proof["params"]["listening"] = json!(60_000);
        }
        assert_eq!(held.answer_to(&proof.to_string()).await, None);
        relay.status_when(|status| status.connected).await;
        relay.close().await;
        stage.end().await;
    }
}

#[tokio::test]
async fn a_proof_for_programs_proves_nothing_to_an_extension() {
    let stage = Stage::without_relay().await;
    let (held, relay) = relay_after_a_knock(&stage).await;
    let nonce: String = held.knock().nonce.0.iter().map(|byte| format!("{byte:02x}")).collect();
    let signed = http(stage.port(), &format!("GET /version?nonce={nonce}"), &[]).await;
    let signed: Version = serde_json::from_str(&signed.body).unwrap();
    let proof = proof_in(&signed.proof.unwrap());
    let params = json!({ "nonce": Nonce([0; 32]), "listening": u32::MAX, "proof": proof });
    let frame = json!({ "method": "pairing", "params": params });
    assert_eq!(held.answer_to(&frame.to_string()).await, None);
    relay.status_when(|status| status.connected).await;
    relay.close().await;
    stage.end().await;
}

#[tokio::test]
async fn a_connection_that_is_older_than_the_relay_is_shown_no_token() {
    let stage = Stage::without_relay().await;
    let squatter = TcpListener::bind(("127.0.0.1", stage.port())).await.unwrap();
    // The client of the command line and of the MCP server.
    let client = stage.client();
    let asking = client.get::<Value>("/sessions");
    let squatting = async {
        let (mut asked, _) = squatter.accept().await.unwrap();
        drop(squatter);
        let relay = relay_at(&stage).await;
        let mut real = TcpStream::connect(relay.address()).await.unwrap();
        let mut heard = String::new();
        let mut buffers = ([0; 4096], [0; 4096]);
        loop {
            tokio::select! {
                length = asked.read(&mut buffers.0) => {
                    let Ok(length @ 1..) = length else { break };
                    heard.push_str(&String::from_utf8_lossy(&buffers.0[..length]));
                    real.write_all(&buffers.0[..length]).await.unwrap();
                }
                length = real.read(&mut buffers.1) => {
                    let Ok(length @ 1..) = length else { break };
                    // It may have hung up.
                    drop(asked.write_all(&buffers.1[..length]).await);
                }
            }
        }
        (relay, heard)
    };
    let (asked, (relay, heard)) = tokio::join!(asking, squatting);
    assert!(heard.contains("nonce="), "{heard}");
    assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
    assert!(!heard.contains("/sessions"), "{heard}");
    assert_eq!(asked.unwrap()["sessions"], json!([]));
    relay.close().await;
    stage.end().await;
}

/// Waits until the extension has left the squatter, and checks what that was told.
async fn told_a_key_and_nonces(stage: &Stage, squatter: &Squatter) {
    let heard = squatter.heard_a_visit().await;
    let says = format!("{TITLE}.then((t) => t.includes('port {} cannot prove'))", stage.port());
    stage.until_in_worker(&says).await;
    let kid = RawKey::of(&stage.paired_folder()).kid;
    let mut nonces = Vec::new();
    for line in heard.iter().filter(|line| !matches!(line.as_str(), "hello" | "end")) {
        let start = format!("socket pairing=v1&kid={kid}&nonce=");
        let nonce = line.strip_prefix(&start).and_then(|nonce| nonce.parse::<Nonce>().ok());
        assert!(nonce.is_some(), "{line}");
        nonces.extend(nonce);
    }
    assert!(!nonces.is_empty(), "{heard:?}");
}

/// A socket of the extension at a program that had the port before, and the relay that has it now.
async fn relay_after_a_knock(stage: &Stage) -> (HeldSocket, RelayServer) {
    let mut squatter = Squatter::start_at(stage.port(), Squat::Held).await;
    let held = squatter.knocked().await;
    squatter.leave().await;
    (held, relay_at(stage).await)
}

async fn relay_at(stage: &Stage) -> RelayServer {
    let (port, secret) = (stage.port(), Some(stage.files()));
    let options = RelayOptions { port, secret, ..RelayOptions::default() };
    RelayServer::start(&options).await.unwrap()
}

/// A proof as programs write it, in hexadecimal digits.
fn proof_in(text: &str) -> Proof {
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    Proof(std::array::from_fn(|index| byte(2 * index)))
}
