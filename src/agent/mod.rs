//! Prompts, documents and hosts' hooks: what agents are told and what they hand in.

pub mod document;
pub mod prompt;
