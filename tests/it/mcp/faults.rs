//! Broken clients get a clear error or a clean end, never a hang or a panic.

use std::io::BufReader;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mcp_client::{Client, ends, hello, hold_board, read, server};
use crate::sandbox::Sandbox;

const MEGABYTE: usize = 1024 * 1024;

/// The error for a line that is not a request.
#[track_caller]
fn complaint(client: &mut Client, line: &[u8]) -> Value {
    client.write(&[line, b"\n"].concat());
    let error = client.hear(|message| message.get("error").is_some());
    client.ok("status", json!({}));
    error["error"].clone()
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_works() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    for line in ["{bad", "", "{\"a\":", "\u{0}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}", "\"", "nul"] {
        if line.is_empty() {
            continue;
        }
        let error = complaint(&mut client, line.as_bytes());
        assert_eq!(error["code"], -32700, "{line}: {error}");
    }
    assert_eq!(complaint(&mut client, b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}")["code"], -32700);
    for line in
        ["5", "null", "true", "\"ping\"", "[]", "[1]", "[1,2]", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"]
    {
        let error = complaint(&mut client, line.as_bytes());
        assert_eq!(error["code"], -32600, "{line}: {error}");
        assert!(error["message"].as_str().unwrap().contains("expected one JSON object per line"), "{line}: {error}");
    }
    assert_eq!(client.end(), "");
}

#[test]
fn a_request_that_makes_no_sense_is_answered_by_its_id() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &[]);
    for (method, params, code, word) in [
        ("nope", json!({}), -32601, "nope"),
        ("tools/call", json!({}), -32602, "name"),
        ("tools/call", json!({ "name": 5 }), -32602, "name"),
        ("tools/call", json!({ "name": "get", "arguments": [1] }), -32602, "arguments"),
        ("tools/call", json!({ "name": "get", "arguments": "x" }), -32602, "arguments"),
        ("resources/read", json!({}), -32602, "uri"),
        ("resources/read", json!({ "uri": "file:///etc/passwd" }), -32002, "ralph://task/ID"),
        ("resources/read", json!({ "uri": "ralph://task/t-none" }), -32002, "t-none"),
        ("resources/read", json!({ "uri": "ralph://artifact/../../etc/passwd" }), -32002, "passwd"),
        ("resources/read", json!({ "uri": "ralph://artifact/.git/config" }), -32002, "config"),
        ("resources/subscribe", json!({ "uri": "ralph://nonsense" }), -32002, "nonsense"),
        ("resources/list", json!({ "cursor": "x" }), -32602, "cursor"),
        ("prompts/get", json!({ "name": "plan" }), -32602, "task"),
        ("prompts/get", json!({ "name": "nope", "arguments": { "task": id } }), -32602, "nope"),
    ] {
        let error = client.request(method, params.clone()).expect_err(method);
        assert!(error["message"].as_str().unwrap().contains(word), "{method} {params}: {error}");
        assert_eq!(error["code"], code, "{method} {params}: {error}");
    }
    client.ok("status", json!({}));
    assert_eq!(client.end(), "");
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol_that_lists_the_tools() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let error = client.request("tools/call", json!({ "name": "nope", "arguments": {} })).unwrap_err();
    assert_eq!(error["code"], -32602);
    for tool in super::lists::TOOLS {
        assert!(error["message"].as_str().unwrap().contains(tool), "{error}");
    }
    client.end();
}

#[test]
fn wrong_arguments_are_refused_by_the_tool_and_named() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let before = sandbox.read_task(&id);
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    for (tool, arguments, named) in [
        ("get", json!({}), "task"),
        ("get", json!({ "task": [id] }), "task"),
        ("get", json!({ "task": id, "colour": "red" }), "colour"),
        ("get", json!({ "task": id, "max_bytes": "many" }), "max_bytes"),
        ("get", json!({ "task": id, "max_bytes": -1 }), "max_bytes"),
        ("list", json!({ "limit": "x" }), "limit"),
        ("list", json!({ "state": { "a": 1 } }), "state"),
        ("list", json!({ "state": ["Nowhere"] }), "Nowhere"),
        ("next", json!({ "claim": "maybe" }), "claim"),
        ("next", json!({ "wait": -1 }), "wait"),
        ("next", json!({ "role": "king" }), "king"),
        ("save", json!({ "task": id, "title": ["a"] }), "title"),
        ("save", json!({ "task": id, "priority": "P9" }), "P9"),
        ("save", json!({ "task": id }), "nothing to save"),
        ("save", json!({ "task": id, "other": { "a": { "b": 1 } } }), "a is"),
        ("create", json!({ "tasks": { "title": "x" } }), "tasks"),
        ("create", json!({ "tasks": [{ "title": "x" }, { "titel": "y" }] }), "tasks[1]"),
        ("create", json!({ "tasks": [{ "title": "x" }, { "title": "y", "estimate": "XXL" }] }), "tasks[1]"),
        ("note", json!({ "task": id, "text": 5 }), "text"),
        ("relate", json!({ "task": id, "parent": id }), &id),
        ("split", json!({ "task": id, "into": [{ "title": "x" }] }), "estimate"),
        ("artifact", json!({ "task": id, "kind": "plan", "action": "burn" }), "burn"),
        ("status", json!({ "x": 1 }), "x"),
        ("claim", json!({ "task": id, "as": 5 }), "as"),
        ("note", json!({ "task": id, "text": "x", "as": { "name": "ada" } }), "as"),
    ] {
        let refused = client.refused(tool, arguments.clone());
        let told = refused.to_string();
        assert!(told.contains(named), "{tool} {arguments}: {told}");
        assert!(refused["code"].is_string() && refused["message"].is_string(), "{told}");
    }
    assert_eq!((sandbox.read_task(&id), sandbox.ids()), (before, vec![id]), "nothing was written");
    client.end();
}

#[test]
fn ten_megabytes_are_refused_by_the_tool_and_twenty_by_the_pipe() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    let mut client = Client::start(&sandbox, &["--as", "ada"]);
    let text = "x".repeat(10 * MEGABYTE);
    let refused = client.refused("save", json!({ "task": id, "description": text }));
    assert_eq!(refused["code"], "too-large", "{refused}");
    assert!(refused.to_string().len() < 1_000);
    let long = client.send_call("note", json!({ "task": id, "text": "x".repeat(20 * MEGABYTE) }));
    let error = client.answer(long).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("longer than"), "{error}");
    // When the id comes last, it has not been read before the limit, so the error has no id.
    let text = "x".repeat(20 * MEGABYTE);
    client.write(format!("{{\"params\":{{\"x\":\"{text}\"}},\"method\":\"ping\",\"id\":99}}\n").as_bytes());
    client.hear(|message| message["error"]["message"].as_str().is_some_and(|text| text.contains("longer than")));
    let shown = client.ok("get", json!({ "task": id }));
    assert!(shown["description"].is_null() && shown["notes"].is_null(), "{shown}");
    assert_eq!(client.end(), "");
}

#[test]
fn deeply_nested_arguments_are_an_error_and_not_a_stack_overflow() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{{\"name\":\"get\",\"arguments\":{{\"task\":{deep}}}}}}}\n"
    );
    client.write(line.as_bytes());
    client.hear(|message| message.get("error").is_some());
    client.ok("status", json!({}));
    client.end();
}

#[test]
fn a_pipe_that_closes_in_the_middle_of_a_call_ends_the_server() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    // One request that blocks and one that writes; the response to the ping shows that the first has been received.
    client.send_call("next", json!({ "wait": 600 }));
    client.request("ping", json!({})).unwrap();
    client.send_call("create", json!({ "tasks": [{ "title": "Last words" }] }));
    assert_eq!(client.end(), "");
    assert!(sandbox.ids().len() <= 1, "{:?}", sandbox.ids());
    sandbox.ralph(&["doctor"]).ok();
}

#[test]
fn a_client_that_listens_no_more_ends_the_server() {
    let sandbox = Sandbox::new();
    let mut command = server(&sandbox, &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut input, format!("{}\n", hello("deaf")).as_bytes());
    // The input stays open, so the server must notice that its output is closed.
    let code = ends(&mut child);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn a_client_that_stops_to_listen_later_ends_the_server_too() {
    let sandbox = Sandbox::new();
    let mut command = server(&sandbox, &[]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut say = |value: Value| std::io::Write::write_all(&mut input, format!("{value}\n").as_bytes());
    say(hello("deaf")).unwrap();
    std::io::BufRead::read_line(&mut out, &mut String::new()).unwrap();
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).unwrap();
    drop(out);
    for id in 2..6 {
        let _ = say(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "status" } }));
    }
    let code = ends(&mut child);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn half_a_line_and_then_nothing_is_a_clean_end() {
    let sandbox = Sandbox::new();
    for half in ["", "\n", "{", "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/c", "[", "x"] {
        for greeted in [true, false] {
            let mut client = Client::open(&mut server(&sandbox, &[]));
            if greeted {
                client.greet("probe");
            }
            client.write(half.as_bytes());
            assert_eq!(client.end(), "", "{half:?}");
        }
    }
}

#[test]
fn a_client_that_cancels_a_wait_can_go_on_at_once_and_holds_nothing() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    let waiting = client.send_call("next", json!({ "wait": 600 }));
    client.request("ping", json!({})).unwrap();
    let cancelled = json!({ "requestId": waiting, "reason": "enough" });
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    let start = std::time::Instant::now();
    client.ok("status", json!({}));
    assert!(start.elapsed().as_secs() < 5);
    let id = client.ok("create", json!({ "tasks": [{ "title": "Too late" }] }))["tasks"][0]["id"].clone();
    // If the request were still waiting, it would take this task; now the next caller gets it.
    let mut other = Client::start(&sandbox, &["--as", "analyst-2"]);
    assert_eq!(other.ok("next", json!({}))["task"]["id"], id);
    assert_eq!(client.ok("status", json!({}))["claims"].as_array().unwrap().len(), 1);
    client.has_not_heard(|message| message["id"] == waiting);
    client.end();
    other.end();
}

#[test]
fn those_who_wait_for_work_keep_nobody_from_an_answer() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &["--as", "analyst"]);
    let waiting: Vec<i64> = (0..64).map(|_| client.send_call("next", json!({ "wait": 600 }))).collect();
    assert_eq!(client.ok("status", json!({}))["claims"], json!([]));
    let id = client.ok("create", json!({ "tasks": [{ "title": "At last" }] }))["tasks"][0]["id"].clone();
    // All of the requests are from one worker, so they get the same task.
    for waiting in waiting {
        let (refused, chosen) = read(client.answer(waiting).unwrap());
        assert!(!refused && chosen["task"]["id"] == id, "{chosen}");
    }
    client.end();
}

#[test]
#[cfg(unix)]
fn a_bad_line_is_answered_even_while_another_answer_is_being_written() {
    use std::io::{BufRead as _, Write as _};
    use std::process::ChildStdout;
    let sandbox = Sandbox::new();
    let body = "x".repeat(400_000);
    sandbox.write_task("t-a", format!("title = 'A'\ndescription = '{body}'\n"));
    let mut child = server(&sandbox, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut say = |message: &Value| input.write_all(format!("{message}\n").as_bytes()).unwrap();
    let hear = |output: &mut BufReader<ChildStdout>| {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    say(&hello("probe"));
    hear(&mut output);
    say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let arguments = json!({ "task": "t-a", "max_bytes": 500_000 });
    let params = json!({ "name": "get", "arguments": arguments });
    say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
    // The pipe is full and not read: the server is blocked in the middle of a response.
    while rustix::io::ioctl_fionread(output.get_ref()).unwrap() < 60_000 {
        std::thread::yield_now();
    }
    say(&json!({ "id": 77 }));
    say(&json!({ "jsonrpc": "2.0", "id": 78, "method": "ping" }));
    let heard: Vec<Value> = (0..3).map(|_| hear(&mut output)["id"].clone()).collect();
    drop(input);
    assert!(heard.contains(&json!(77)), "{heard:?}");
    assert_eq!(ends(&mut child), Some(0));
}

#[test]
fn a_change_that_is_called_off_before_its_turn_is_not_made() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &["--as", "ada"]);
    let lock = hold_board(&sandbox);
    let make = |title: &str| json!({ "tasks": [{ "title": title }] });
    let first = client.send_call("create", make("First"));
    let second = client.send_call("create", make("Second"));
    let enough = json!({ "requestId": second });
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": enough }));
    client.ok("status", json!({}));
    drop(lock);
    client.answer(first).unwrap();
    let third = client.send_call("create", make("Third"));
    client.answer(third).unwrap();
    client.end();
    let titles = sandbox.ralph(&["task", "ls", "--sort", "title", "--json"]).json();
    let titles: Vec<&str> = titles.as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["First", "Third"]);
}

#[test]
fn what_is_linked_but_hidden_or_no_document_is_not_shown() {
    let sandbox = Sandbox::new();
    let id = sandbox.add(&["One"]);
    std::fs::write(sandbox.root().join(".env.md"), "secret").unwrap();
    std::fs::write(sandbox.root().join("Cargo.toml"), "x").unwrap();
    let mut client = Client::start(&sandbox, &["--as", "ada"]);
    for path in [".git/config", ".env.md", "Cargo.toml"] {
        client.call("save", json!({ "task": id, "other": { "artifacts.research": path } }));
        let error = client.request("resources/read", json!({ "uri": format!("ralph://artifact/{path}") })).unwrap_err();
        assert_eq!(error["code"], -32002, "{error}");
    }
    let refused = client.refused("save", json!({ "task": id, "other": { "review.rejections": 0 } }));
    assert_eq!(refused["code"], "fixed-key");
    client.end();
}

#[test]
fn a_cursor_beyond_all_numbers_is_the_end_of_the_list() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let listed = client.request("resources/list", json!({ "cursor": u64::MAX.to_string() })).unwrap();
    assert_eq!((&listed["resources"], &listed["nextCursor"]), (&json!([]), &Value::Null));
    client.end();
}
