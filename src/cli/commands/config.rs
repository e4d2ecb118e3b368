//! `ralph config`.

use crate::app::{self, SettingView};
use crate::cli::args::ConfigCommand;
use crate::cli::style;
use crate::cli::table::{self, cell};
use crate::cli::{Answer, Outcome, Session};

pub fn run(session: &Session<'_>, command: &ConfigCommand) -> Answer {
    match command {
        ConfigCommand::List { origin } => list(session, *origin),
        ConfigCommand::Get { key } => {
            let setting = session.with(|ws| app::get_setting(ws, key))?;
            tell(session, &setting, &format!("{}\n", setting.value))
        }
        ConfigCommand::Unset { key, user } => {
            let setting = session.with(|ws| app::set_setting(ws, key, "", *user))?;
            tell(session, &setting, &format!("{} is no longer set in {}\n", setting.key, setting.origin))
        }
        ConfigCommand::Set { key, value, user } => {
            let setting = session.with(|ws| app::set_setting(ws, key, value, *user))?;
            tell(session, &setting, &format!("{} = {:?} in {}\n", setting.key, setting.value, setting.origin))
        }
    }
}

fn tell(session: &Session<'_>, setting: &SettingView, text: &str) -> Answer {
    if session.out.json {
        session.out.json(setting);
    } else {
        session.out.text(text);
    }
    Ok(Outcome::Done)
}

fn list(session: &Session<'_>, origin: bool) -> Answer {
    let settings = session.with(|ws| Ok(app::list_settings(ws)))?;
    if session.out.json {
        session.out.json(&settings);
        return Ok(Outcome::Done);
    }
    let rows: Vec<_> = settings
        .iter()
        .map(|setting| {
            let value = if setting.value.is_empty() { "\"\"".to_owned() } else { setting.value.clone() };
            let origin = if origin { setting.origin.as_str() } else { "" };
            vec![
                cell(setting.key, style::ID),
                cell(value, style::HEAD),
                cell(origin, style::LABEL),
                cell(setting.about, style::DIM),
            ]
        })
        .collect();
    session.out.text(&table::render(&["KEY", "VALUE", "FROM", "MEANING"], 3, &[], &rows, session.out.width()));
    Ok(Outcome::Done)
}
