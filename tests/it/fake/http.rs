//! The parts of HTTP/1.1 that a GraphQL client needs: one request in, one response out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

/// A request; header names are in lower case.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Incoming {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub fn wants_close(&self) -> bool {
        self.header("connection").eq_ignore_ascii_case("close")
    }
}

/// The next request of this connection; `None` once the client has closed it.
pub(crate) fn read_request(stream: &mut BufReader<TcpStream>) -> Result<Option<Incoming>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let mut incoming = Incoming {
        method: words.next().unwrap_or_default().into(),
        path: words.next().unwrap_or_default().into(),
        ..Incoming::default()
    };
    loop {
        let line = next_line(stream)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        incoming.headers.insert(name.trim().to_lowercase(), value.trim().into());
    }
    if incoming.header("expect").eq_ignore_ascii_case("100-continue") {
        stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if incoming.header("transfer-encoding").eq_ignore_ascii_case("chunked") {
        read_chunks(stream)?
    } else {
        read_exactly(stream, incoming.header("content-length").parse().unwrap_or(0))?
    };
    incoming.body = String::from_utf8(body).map_err(|e| Error::new(ErrorKind::InvalidData, e))?;
    Ok(Some(incoming))
}

fn next_line(stream: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().into())
}

fn read_exactly(stream: &mut BufReader<TcpStream>, length: usize) -> Result<Vec<u8>> {
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn read_chunks(stream: &mut BufReader<TcpStream>) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size =
            usize::from_str_radix(next_line(stream)?.trim(), 16).map_err(|e| Error::new(ErrorKind::InvalidData, e))?;
        body.extend(read_exactly(stream, size)?);
        next_line(stream)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// A response; the length is that of the whole body, even if only a part is sent.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Outgoing {
    pub fn send(&self, stream: &mut TcpStream, bytes: usize) -> Result<()> {
        let mut head =
            format!("HTTP/1.1 {} {}\r\ncontent-length: {}\r\n", self.status, reason(self.status), self.body.len());
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        let mut whole = head.into_bytes();
        whole.extend(&self.body.as_bytes()[..bytes.min(self.body.len())]);
        stream.write_all(&whole)?;
        stream.flush()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        502 => "Bad Gateway",
        _ => "Internal Server Error",
    }
}

pub(crate) fn date(now: Timestamp) -> String {
    DateTimePrinter::new().timestamp_to_rfc9110_string(&now).unwrap_or_default()
}
