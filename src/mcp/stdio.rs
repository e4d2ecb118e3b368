//! The stdio transport: one message per line; an invalid line gets an error response.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::{Notify, mpsc};

/// The maximum length of a message.
const LONGEST: usize = 16 * 1024 * 1024;
/// The size of the pipe between the two readers.
const BUFFER: usize = 64 * 1024;

type PendingAnswer = TxJsonRpcMessage<RoleServer>;

/// The transport of the library, behind a reader that reports invalid lines.
pub struct Pipes {
    inner: AsyncRwTransport<RoleServer, DuplexStream, StdioWriter>,
    complaints: mpsc::Receiver<PendingAnswer>,
    /// Called when a response cannot be written, because the client is gone.
    deaf: Arc<Notify>,
}

impl Pipes {
    /// `gone` is called at the end of the input.
    pub fn new(gone: Arc<Notify>) -> Self {
        let (read, write) = stdio_pipes();
        let (good, sieved) = tokio::io::duplex(BUFFER);
        let (complain, complaints) = mpsc::channel(16);
        tokio::spawn(async move {
            sieve(read, good, complain).await;
            gone.notify_one();
        });
        Self { inner: AsyncRwTransport::new(sieved, write), complaints, deaf: Arc::default() }
    }
}

impl Transport<RoleServer> for Pipes {
    type Error = std::io::Error;

    fn send(&mut self, item: PendingAnswer) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (sent, deaf) = (self.inner.send(item), Arc::clone(&self.deaf));
        async move { sent.await.inspect_err(|_| deaf.notify_one()) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            tokio::select! {
                biased;
                () = self.deaf.notified() => return None,
                Some(complaint) = self.complaints.recv() => {
                    // Sent by a separate task, because a pending `receive` is dropped whenever something is to be sent.
                    drop(tokio::spawn(self.send(complaint)));
                }
                message = self.inner.receive() => return message,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Passes valid lines on, until the end of the input.
async fn sieve(read: StdioReader, mut good: DuplexStream, complain: mpsc::Sender<PendingAnswer>) {
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    while let Ok(whole) = read_line(&mut read, &mut line).await {
        if line.is_empty() && whole == InputLine::End {
            return;
        }
        let sent = match fault(&line, whole) {
            Some(answer) => complain.send(answer).await.is_ok(),
            None => {
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                good.write_all(&line).await.is_ok()
            }
        };
        if !sent || whole == InputLine::End {
            return;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputLine {
    Whole,
    /// The line was too long; only its beginning was kept.
    TooLong,
    /// The remaining bytes when the pipe was closed.
    End,
}

async fn read_line(read: &mut BufReader<StdioReader>, line: &mut Vec<u8>) -> std::io::Result<InputLine> {
    line.clear();
    let mut too_long = false;
    loop {
        let there = read.fill_buf().await?;
        if there.is_empty() {
            return Ok(InputLine::End);
        }
        let end = there.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let taken = end.unwrap_or(there.len());
        let room = LONGEST.saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&there[..room]);
        too_long |= room < taken;
        read.consume(taken);
        if end.is_some() {
            return Ok(if too_long { InputLine::TooLong } else { InputLine::Whole });
        }
    }
}

/// The error response for an invalid line, if it is invalid.
fn fault(line: &[u8], whole: InputLine) -> Option<PendingAnswer> {
    if whole == InputLine::TooLong {
        let message = format!("the message is longer than {LONGEST} bytes");
        return Some(PendingAnswer::error(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id_in(line)));
    }
    if line.trim_ascii().is_empty() {
        return None;
    }
    let message = match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => message,
        Ok(_) => return Some(invalid("expected one JSON object per line".into(), None)),
        Err(error) => {
            let message = format!("not JSON: {error}");
            return Some(PendingAnswer::error(ErrorData::new(ErrorCode::PARSE_ERROR, message, None), id_in(line)));
        }
    };
    let id = message.get("id");
    if let Some(id) = id.filter(|id| !id.is_string() && !id.is_number()) {
        return Some(invalid(format!("{id} is not a valid request id: use a string or a number"), None));
    }
    let is_answer = message.contains_key("result") || message.contains_key("error");
    let says_what = message.get("method").is_some_and(Value::is_string);
    (!is_answer && !says_what).then(|| {
        let id = id.and_then(|id| serde_json::from_value(id.clone()).ok());
        invalid("the message has no `method`".into(), id)
    })
}

fn invalid(message: String, id: Option<RequestId>) -> PendingAnswer {
    PendingAnswer::error(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id)
}

/// The id of a request of which only the beginning is known. Most clients write the id before the parameters.
fn id_in(beginning: &[u8]) -> Option<RequestId> {
    let text = String::from_utf8_lossy(&beginning[..beginning.len().min(4096)]).into_owned();
    let (_, rest) = text.split_once("\"id\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    serde_json::from_value(values.next()?.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(line: &str) -> Option<String> {
        fault(line.as_bytes(), InputLine::Whole).map(|answer| serde_json::to_string(&answer).unwrap())
    }

    #[test]
    fn only_what_is_no_message_is_answered_here() {
        assert_eq!(complaint("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"), None);
        assert_eq!(complaint("\n"), None);
        assert!(complaint("{\"a\":\n").unwrap().contains("-32700"));
        for line in ["[]", "[1]", "[1,2]", "5", "{\"id\":null,\"method\":\"ping\"}", "{}", "{\"method\":5}"] {
            assert!(complaint(line).unwrap().contains("-32600"), "{line}");
        }
        assert!(complaint("{\"id\":{}}\n").unwrap().contains("not a valid request id"));
    }

    #[test]
    fn a_message_that_is_too_long_is_answered_by_its_id() {
        let answer = fault(b"{\"jsonrpc\":\"2.0\",\"id\": 7,\"params\":{\"x\":\"aaaa", InputLine::TooLong).unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!(answer["id"], 7);
        assert!(answer["error"]["message"].as_str().unwrap().contains("longer than"));
        assert_eq!(id_in(b"{\"method\":\"x\",\"params\":"), None);
        // Nested deeper than the parser allows.
        let deep = format!("{{\"id\":7,\"method\":\"x\",\"params\":{}{}}}", "[".repeat(500), "]".repeat(500));
        assert!(complaint(&deep).unwrap().contains("\"id\":7"));
        assert!(complaint("{\"id\":7}").unwrap().contains("\"id\":7"));
    }
}
