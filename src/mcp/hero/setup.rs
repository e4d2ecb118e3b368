//! `health_check`, `configure_routing` and `create_status_update`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Nothing, tool};
use crate::app::{self, Code, Failure, Hint};
use crate::mcp::caller::Call;
use crate::mcp::tool::{Nature, Tool};

pub fn health_check() -> Tool {
    tool(
        "ralph_hero__health_check",
        Nature::Reads,
        "Check whether the board is usable, and which GitHub project mirrors it.",
        &[("status", "string"), ("checks", "object"), ("config", "object")],
        |call: &Call<'_>, _: Nothing| {
            let problems = app::status(call.ws)?.problems;
            let set =
                |key: &'static str| Some(call.ws.settings.text(key)).filter(|text| !text.is_empty() && *text != "0");
            let shown = |key: &'static str| set(key).unwrap_or("(not set)").to_owned();
            let mirror = |key: &'static str| match set(key) {
                Some(value) => json!({ "status": "ok", "detail": format!("mirrored to {value}") }),
                None => {
                    json!({ "status": "skip", "detail": "no GitHub mirror is set up; the board works without one" })
                }
            };
            let fields = match problems {
                0 => json!({ "status": "ok", "detail": "all task files can be read" }),
                some => {
                    json!({ "status": "fail", "detail": format!("{some} problems in task files: run `ralph doctor`") })
                }
            };
            Ok(json!({
                "status": if problems == 0 { "ok" } else { "issues_found" },
                "checks": {
                    "auth": { "status": "ok", "detail": format!("acting as {}", call.ws.me()?) },
                    "repoAccess": mirror("github.repo"),
                    "projectAccess": mirror("github.project"),
                    "requiredFields": fields,
                },
                "config": {
                    "repoOwner": shown("github.owner"),
                    "repo": shown("github.repo"),
                    "projectOwner": shown("github.owner"),
                    "projectNumber": shown("github.project"),
                    "tokenMode": "single-token",
                },
            }))
        },
    )
}

#[derive(Deserialize, JsonSchema)]
struct RoutingCall {
    operation: RoutingOperation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RoutingOperation {
    ListRules,
    AddRule,
    UpdateRule,
    RemoveRule,
    ValidateRules,
    DryRun,
}

pub fn configure_routing() -> Tool {
    tool(
        "ralph_hero__configure_routing",
        Nature::Reads,
        "There is one board, so there are no routing rules; they cannot be added.",
        &[("rules", "array"), ("valid", "boolean"), ("configPath", "string")],
        |_: &Call<'_>, args: RoutingCall| {
            let path = ".ralph-routing.yml";
            let note = "this board has no routing rules; a file of that name is only for ralph-hero's GitHub Actions";
            match args.operation {
                RoutingOperation::ListRules => Ok(json!({ "rules": [], "configPath": path, "note": note })),
                RoutingOperation::ValidateRules => {
                    Ok(json!({ "valid": true, "ruleCount": 0, "errors": [], "configPath": path, "note": note }))
                }
                RoutingOperation::DryRun => Ok(json!({ "matchedRules": [], "configPath": path, "note": note })),
                RoutingOperation::AddRule | RoutingOperation::UpdateRule | RoutingOperation::RemoveRule => {
                    Err(Failure::refused(Code::NoRouting, "this board has no routing rules: every issue is on it")
                        .hint(Hint::step("skip the routing config; pass workflowState to ralph_hero__create_issue")))
                }
            }
        },
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StatusCall {
    status: ProjectStatus,
    /// Markdown
    body: Option<String>,
    start_date: Option<String>,
    target_date: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ProjectStatus {
    OnTrack,
    AtRisk,
    OffTrack,
    Inactive,
    Complete,
}

impl ProjectStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::OnTrack => "ON_TRACK",
            Self::AtRisk => "AT_RISK",
            Self::OffTrack => "OFF_TRACK",
            Self::Inactive => "INACTIVE",
            Self::Complete => "COMPLETE",
        }
    }
}

pub fn create_status_update() -> Tool {
    tool(
        "ralph_hero__create_status_update",
        Nature::Writes,
        "Write a status report into thoughts/shared/reports.",
        &[("id", "string"), ("status", "string"), ("body", "string"), ("createdAt", "string")],
        |call: &Call<'_>, args: StatusCall| {
            let body = args.body.unwrap_or_default();
            let posted = app::post_status(call.ws, args.status.as_str(), &body, (args.start_date, args.target_date))?;
            let created: Value = json!(crate::mcp::reply::stamp(posted.at));
            Ok(json!({
                "id": posted.path,
                "status": posted.status,
                "body": posted.body,
                "startDate": posted.start_date,
                "targetDate": posted.target_date,
                "createdAt": created,
            }))
        },
    )
}
