//! The commands that need a cargo feature, and their error in a build without it.

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
    let message = format!("this build of ralph lacks the feature {feature}");
    let install = format!("`cargo install ralph-board --features {feature}` installs a build with it");
    Err(Failure::refused(Code::NotBuilt, message).hint(Hint::step(install)))
}
