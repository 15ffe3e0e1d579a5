//! What people ask for without the command line: one field of the object's status, which RBAC can grant apart from its spec
//! (`releases/status`). The controller takes it, carries it out once, and answers in the same status.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An action that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Keep everything as it is until `Resume`.
    Pause,
    /// Go on.
    Resume,
    /// Let the present step of the rollout go on.
    Approve,
    /// Promote the canary now.
    Promote,
    /// Roll back the canary, or the last promotion.
    Rollback,
    /// Begin the step again without its evidence, or begin another rollout of a version that was rolled back.
    Retry,
    /// End the rollout.
    Abort,
    /// Set the weight.
    Weight,
}

impl Action {
    /// Its name in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Approve => "approve",
            Self::Promote => "promote",
            Self::Rollback => "rollback",
            Self::Retry => "retry",
            Self::Abort => "abort",
            Self::Weight => "weight",
        }
    }

    /// Whether it takes effect without a driver, and so also where the object cannot be carried out.
    pub(crate) const fn is_immediate(self) -> bool {
        matches!(self, Self::Pause | Self::Rollback | Self::Weight)
    }
}

/// A request: the value of `status.request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The requested action.
    pub action: Action,
    /// The share in percent, with [`Action::Weight`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The user who requests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// By which the one who asks finds the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Progress {
    /// The controller has taken it.
    Accepted,
    /// It is carried out.
    Done,
    /// It was not possible.
    Refused,
}

/// The answer to the last request: `status.lastRequest`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The request; nothing where it was none.
    #[serde(flatten)]
    pub(crate) request: Option<Request>,
    /// When it was taken.
    pub(crate) at: Timestamp,
    /// Its progress.
    pub(crate) result: Progress,
    /// The reason of the refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

impl Answer {
    /// That a request was taken.
    pub(crate) const fn accepted(request: Request, at: Timestamp) -> Self {
        Self { request: Some(request), at, result: Progress::Accepted, message: None }
    }

    /// That what was asked for is no request.
    pub(crate) const fn invalid(message: String, at: Timestamp) -> Self {
        Self { request: None, at, result: Progress::Refused, message: Some(message) }
    }

    /// With what became of it.
    pub(crate) fn answered(self, done: Result<(), String>) -> Self {
        match done {
            Ok(()) => Self { result: Progress::Done, message: None, ..self },
            Err(message) => Self { result: Progress::Refused, message: Some(message), ..self },
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.result == Progress::Accepted
    }
}

/// The request of an object, or why it is none.
pub(crate) fn of(object: &Value) -> Option<Result<Request, String>> {
    let request = object.get("status")?.get("request").filter(|request| !request.is_null())?;
    Some(serde_json::from_value(request.clone()).map_err(|error| error.to_string()))
}

/// The answer to the last request of an object.
pub(crate) fn answer_of(object: &Value) -> Option<Answer> {
    serde_json::from_value(object.get("status")?.get("lastRequest")?.clone()).ok()
}
