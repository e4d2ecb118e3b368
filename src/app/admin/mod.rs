//! The board itself: creating, checking and configuring it.

pub(super) mod agent_test;
pub(super) mod change_workflow;
pub(super) mod demo;
pub(super) mod doctor;
pub(super) mod editor_files;
pub(super) mod init;
pub(super) mod revision;
pub(super) mod token;
pub(super) mod uninstall;
