//! `config`: shows settings with their sources, and sets them.

use serde::Serialize;

use crate::app::workspace::layers::{board_config, user_config};
use crate::app::{Code, Failure, Hint, Workspace};
use crate::config::{Setting, Spec, check_assignment};
use crate::fs;
use crate::store::codec::{Doc, EditError};
use crate::task::{Key, Problem};

#[derive(Debug, Serialize)]
pub struct SettingView {
    pub key: &'static str,
    pub value: String,
    pub origin: String,
    pub about: &'static str,
}

fn view(spec: &'static Spec, setting: &Setting) -> SettingView {
    SettingView { key: spec.key, value: setting.value.clone(), origin: setting.source.to_string(), about: spec.about }
}

pub fn list_settings(ws: &Workspace) -> Vec<SettingView> {
    ws.settings.all().map(|(spec, setting)| view(spec, setting)).collect()
}

pub fn get_setting(ws: &Workspace, key: &str) -> Result<SettingView, Failure> {
    let setting = ws.settings.get(key)?;
    let found = ws.settings.all().find(|(spec, _)| spec.key == key);
    Ok(found.map(|(spec, _)| view(spec, setting)).expect("a setting that was found is among all"))
}

/// Tables of settings that restrict agents.
const RULES: [&str; 7] = ["review", "roles", "claims", "merge", "agent", "budget", "worktree"];

/// Agents cannot change settings that restrict them.
fn refuse_held(ws: &Workspace, key: &str) -> Result<(), Failure> {
    match key.split('.').next().is_some_and(|table| RULES.contains(&table)) {
        true => ws.refuse_programs("change this setting"),
        false => Ok(()),
    }
}

/// Sets a value in the board's file, or with `user` in the person's own. Comments are kept, and an empty value removes
/// the key.
pub fn set_setting(ws: &Workspace, key: &str, value: &str, user: bool) -> Result<SettingView, Failure> {
    let spec = check_assignment(key, value)?;
    refuse_held(ws, key)?;
    let path = if user {
        user_config().ok_or_else(|| {
            Failure::broken(Code::NoHome, "no home directory for your settings")
                .hint(Hint::variable("HOME", "to your home directory"))
        })?
    } else {
        board_config(ws.store.root())
    };
    let _lock = ws.lock_to_repair()?;
    let text = fs::read_text(&path)?.unwrap_or_default();
    let shown = ws.store.shown(&path);
    let wanted = (!value.is_empty()).then(|| spec.value(value));
    let edited = Doc::new(text.clone()).and_then(|doc| doc.with(&Key::new(key), wanted.as_ref()));
    let edited = edited.map_err(|error| match error {
        EditError::Syntax { message, offset } => Failure::from(Problem::at(&shown, &text, offset, message.trim())),
        other => Failure::from(Problem::whole(&shown, other.to_string())),
    })?;
    if let Some(folder) = path.parent() {
        fs::make_dir(folder)?;
    }
    fs::replace(&path, edited.as_bytes(), true)?;
    let value = if value.is_empty() { spec.default } else { value };
    Ok(SettingView { key: spec.key, value: value.to_owned(), origin: shown, about: spec.about })
}
