//! The options of the commands that show the whole board.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct BoardArgs {
    /// Show only matching tasks: terms such as label:bug state:backlog ready, or words to search for
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen on this address [default: 127.0.0.1:7431, with --allow-remote 0.0.0.0:7431; a free port if that is taken]
    #[arg(long, value_name = "ADDR")]
    pub addr: Option<SocketAddr>,
    /// Serve the board read-only
    #[arg(long)]
    pub read_only: bool,
    /// Listen on all interfaces, so that other machines can connect; reading requires the token, too
    #[arg(long)]
    pub allow_remote: bool,
    /// Also accept requests for this host name; requests for this machine's IP addresses are always accepted
    #[arg(long = "host", value_name = "NAME", requires = "allow_remote")]
    pub hosts: Vec<String>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Write the board, its tasks and its charts into this file; `-` for standard output
    #[arg(long, value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    pub html: PathBuf,
}
