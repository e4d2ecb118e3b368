//! Commands that start a face which is a cargo feature, and what they say in a build without it.

#[cfg(feature = "mcp")]
pub use super::mcp::run as mcp;
#[cfg(feature = "web")]
pub use super::serve::{report, serve};

#[cfg(not(feature = "mcp"))]
pub fn mcp(_: &crate::cli::Session<'_>, _: &crate::cli::args::McpArgs) -> crate::cli::Answer {
    not_built("mcp")
}

#[cfg(not(feature = "web"))]
pub fn serve(_: &crate::cli::Session<'_>, _: &crate::cli::args::ServeArgs) -> crate::cli::Answer {
    not_built("web")
}

#[cfg(not(feature = "web"))]
pub fn report(_: &crate::cli::Session<'_>, _: &crate::cli::args::ReportArgs) -> crate::cli::Answer {
    not_built("web")
}

#[cfg(not(all(feature = "mcp", feature = "tui", feature = "web")))]
pub fn not_built<T>(feature: &str) -> Result<T, crate::app::Failure> {
    use crate::app::{Code, Failure, Hint};
    let message = format!("this ralph was built without {feature}");
    let install = format!("`cargo install ralph-board --features {feature}` installs one that has it");
    Err(Failure::refused(Code::NotBuilt, message).hint(Hint::step(install)))
}
