//! The options of the commands that show the whole board.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct BoardArgs {
    /// Only what matches: the terms of `task ls`, such as label:bug state:backlog ready, or words to search for
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:7431, with --allow-remote 0.0.0.0:7431, or a free port where that is taken]
    #[arg(long, value_name = "ADDR")]
    pub addr: Option<SocketAddr>,
    /// Read-only
    #[arg(long)]
    pub read_only: bool,
    /// Listen on all interfaces, so that other machines can connect; reading needs the token, too
    #[arg(long)]
    pub allow_remote: bool,
    /// A name under which other machines reach this one; its addresses are known
    #[arg(long = "host", value_name = "NAME", requires = "allow_remote")]
    pub hosts: Vec<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Write the board, its tasks and its charts as one page that needs no server; `-` for standard output
    #[arg(long, value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub html: PathBuf,
}
