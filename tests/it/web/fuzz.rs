//! Random requests: the server answers each with success or a client error, and keeps running.

use fastrand::Rng;

use super::Served;
use crate::sandbox::Sandbox;

/// The paths that answer at once and start nothing.
const PATHS: [&str; 30] = [
    "/",
    "/api/board",
    "/api/counts",
    "/api/document?path=thoughts/x.md",
    "/api/facets",
    "/api/graph",
    "/api/graph/{id}",
    "/api/inbox",
    "/api/run/x",
    "/api/search?q=task",
    "/api/session",
    "/api/status",
    "/api/task",
    "/api/task/{id}",
    "/api/task/{id}/answer",
    "/api/task/{id}/approve",
    "/api/task/{id}/block",
    "/api/task/{id}/claim",
    "/api/task/{id}/note",
    "/api/task/{id}/reject",
    "/api/task/{id}/release",
    "/api/task/{id}/review",
    "/api/task/{id}/save",
    "/api/task/{id}/targets",
    "/api/task/{id}/unblock",
    "/api/trends",
    "/api/workers",
    "/api/workflow",
    "/assets/app.js",
    "/task/{id}",
];
const METHODS: [&str; 8] = ["GET", "GET", "GET", "POST", "POST", "POST", "DELETE", "G\u{0}T"];
const BODIES: [&str; 12] = [
    "",
    "{\"text\": \"A note.\"}",
    "{\"by\": [\"{id}\"]}",
    "{\"force\": true, \"title\": \"New\", \"priority\": \"P1\"}",
    "{\"set\": {\"title\": \"Other\"}, \"text\": \"x\", \"expected\": \"y\"}",
    "{}",
    "[]",
    "{\"task\": \"{id}\", \"to\": \"Done\"}",
    "{\"title\": \"x\", \"labels\": [1, null, {}]}",
    "{\"task\": {\"task\": [[[[[]]]]]}}",
    "{\"text\": \"\\ud800\"}",
    "nul\u{0}l",
];

/// A text with some of its bytes changed, doubled, removed or moved.
fn mutated(dice: &mut Rng, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..dice.usize(..4) {
        let at = dice.usize(..=bytes.len());
        match dice.u8(..4) {
            0 => bytes.insert(at, dice.u8(1..)),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] = *dice.choice(b"%/?&=\"{}[]\\.0 \xff").unwrap(),
            _ => bytes
                .splice(at..at, std::iter::repeat_n(*dice.choice(b"a%./[").unwrap(), dice.usize(..3_000)))
                .for_each(drop),
        }
    }
    // A line break would start another header.
    String::from_utf8_lossy(&bytes).replace(['\r', '\n'], " ")
}

/// `RALPH_FUZZ_REQUESTS` sets the number of requests.
#[test]
fn requests_that_no_page_sends_are_answered_and_the_server_goes_on() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["A task"]);
    let served = Served::new(&sandbox, &[]);
    let count = std::env::var("RALPH_FUZZ_REQUESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    for seed in 0..count {
        let dice = &mut Rng::with_seed(seed);
        let fill = |text: &str| text.replace("{id}", &id);
        let (path, body) = (fill(dice.choice(PATHS).unwrap()), fill(dice.choice(BODIES).unwrap()));
        let (path, body) = (mutated(dice, &path).replace(' ', "+"), mutated(dice, &body));
        let mut rarely = |text: &str| if dice.u8(..8) == 0 { mutated(dice, text) } else { text.to_owned() };
        let (token, kind) = (rarely(&served.token), rarely("application/json"));
        let method = dice.choice(METHODS).unwrap();
        let headers = [("content-type", kind.as_str()), ("ralph-token", token.as_str())];
        let answer = served.ask(method, &path, &headers, &body);
        let told = format!("seed {seed}: {method} {path:?} {body:?} → {} {}", answer.status, answer.body);
        *statuses.entry(answer.status).or_default() += 1;
        // Status 0: the server hung up on data that is not HTTP.
        assert!(answer.status == 0 || (200..500).contains(&answer.status), "{told}");
    }
    // Many requests pass authentication, so that the rest is tested as well.
    let inside: usize = [200, 400, 404, 409, 422].iter().filter_map(|status| statuses.get(status)).sum();
    assert!(inside * 2 > statuses.values().sum(), "{statuses:?}");
    assert_eq!(served.get("/api/board").status, 200, "the server still answers");
    assert_eq!(sandbox.ralph(&["doctor"]).code, 0, "the board has no problems");
}
