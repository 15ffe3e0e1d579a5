//! Changes of a release that the page asks for, and which of them it offers.

use crate::ApiError;
use assignment::Weight;
use assignment::contract::Role;
use canary_release::record::{Author, Record, RollbackTarget};
use canary_release::rollout::RolloutVerb;
use hyper::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

/// Bytes of the body of a request. The reason of a pause is the longest part of it.
pub(crate) const MAX_BODY: usize = 4096;

/// A change that the page asks for. It is refused where the release is at another generation than the page has shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangeRequest {
    pub change: ChangeKind,
    /// The weight, of [`ChangeKind::Weight`]. In JSON it is a text in percent, as on the command line: `20`, `12.5`.
    #[serde(default, deserialize_with = "percent")]
    pub weight: Option<Weight>,
    /// Why, of [`ChangeKind::Pause`].
    #[serde(default)]
    pub reason: Option<String>,
    /// The generation that a person has seen.
    pub expected_generation: u64,
    /// Whether to say what would change, and change nothing.
    pub dry_run: bool,
}

/// A change. Each is a verb of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeKind {
    /// The canary's share of users.
    Weight,
    /// Nobody else can change the release.
    Pause,
    /// The pause ends.
    Resume,
    /// The canary, or the last promotion, is taken back; the sessions of a promoted version finish.
    Rollback,
    /// The same of a promotion, and its sessions end at once.
    RollbackNow,
    /// The rollout goes on behind its gate.
    ApproveRollout,
    /// The rollout keeps its weight.
    PauseRollout,
    /// The rollout goes on.
    ResumeRollout,
    /// The rollout begins its step anew.
    RetryRollout,
    /// The rollout ends.
    AbortRollout,
    /// The rollout promotes the canary now.
    PromoteRollout,
}

/// The result of a change, or of its dry run, in the words of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeReport {
    /// A sentence each.
    pub lines: Vec<String>,
    /// Whether anything was written.
    pub written: bool,
}

impl ChangeKind {
    const OF_ROLLOUT: [Self; 6] = [
        Self::ApproveRollout,
        Self::PauseRollout,
        Self::ResumeRollout,
        Self::RetryRollout,
        Self::AbortRollout,
        Self::PromoteRollout,
    ];

    /// The changes that a record allows, in the order of the buttons. Preflight checks may refuse them still.
    pub fn offered(record: &Record, now: Timestamp) -> Vec<Self> {
        let has_canary = record.state.version_of(Role::Canary).is_some();
        let weight = has_canary.then_some(Self::Weight);
        let pause = if record.paused.is_some() { Self::Resume } else { Self::Pause };
        let rollback: &[Self] = match record.to_roll_back() {
            Ok(RollbackTarget::Canary(_)) => &[Self::Rollback],
            Ok(RollbackTarget::Promotion(_)) => &[Self::Rollback, Self::RollbackNow],
            Ok(RollbackTarget::Draining(_)) => &[Self::RollbackNow],
            Ok(RollbackTarget::Done) | Err(_) => &[],
        };
        let is_suspended = record.rollout.as_ref().is_some_and(|rollout| rollout.suspended.is_some());
        let is_allowed = |verb| match verb {
            // What was rolled back or promoted by hand leaves a rollout that its driver ends.
            _ if !has_canary => false,
            // Both are allowed twice, and change nothing then.
            RolloutVerb::Pause if is_suspended => false,
            RolloutVerb::Resume if !is_suspended => false,
            verb => record.clone().change_rollout(verb, Author::of_a_preview(now)).is_ok(),
        };
        let rollout = Self::OF_ROLLOUT.into_iter().filter(|kind| kind.rollout_verb().is_some_and(is_allowed));
        weight.into_iter().chain([pause]).chain(rollback.iter().copied()).chain(rollout).collect()
    }

    /// The verb of a rollout; `None` where it is another change.
    pub const fn rollout_verb(self) -> Option<RolloutVerb> {
        match self {
            Self::ApproveRollout => Some(RolloutVerb::Approve),
            Self::PauseRollout => Some(RolloutVerb::Pause),
            Self::ResumeRollout => Some(RolloutVerb::Resume),
            Self::RetryRollout => Some(RolloutVerb::Retry),
            Self::AbortRollout => Some(RolloutVerb::Abort),
            Self::PromoteRollout => Some(RolloutVerb::Promote),
            Self::Weight | Self::Pause | Self::Resume | Self::Rollback | Self::RollbackNow => None,
        }
    }
}

impl ChangeRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// If it is no JSON, a field is missing, unknown, of another type or of another change, or the weight is none.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let bad = |error: String| ApiError { status: StatusCode::BAD_REQUEST, error, hint: None };
        let request: Self = serde_json::from_slice(body)
            .map_err(|error| bad(format!("expected a change of a release as JSON: {error}")))?;
        if request.weight.is_some() != (request.change == ChangeKind::Weight) {
            return Err(bad("expected `weight` for the change `weight`, and for no other".to_owned()));
        }
        if request.reason.is_some() && request.change != ChangeKind::Pause {
            return Err(bad("expected `reason` for the change `pause` alone".to_owned()));
        }
        Ok(request)
    }
}

fn percent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Weight>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.trim().parse().map(Some).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::file::load;
    use canary_release::state::ReleaseState;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn a_request_names_one_change_with_its_own_fields_and_no_other() {
        let parse = |text: &str| ChangeRequest::parse(text.as_bytes());
        let weight =
            parse(r#"{"change": "weight", "weight": "12.5", "expectedGeneration": 7, "dryRun": true}"#);
        let weight = weight.unwrap();
        assert_eq!(weight.weight.map(|weight| weight.to_string()).as_deref(), Some("12.5%"));
        assert!(weight.dry_run && weight.expected_generation == 7);
        for wrong in [
            "",
            "[]",
            r#"{"change": "weight", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "weight", "weight": "101", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "weight", "weight": "+5", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "weight", "weight": 2000, "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "rollback", "weight": "5", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "rollback", "reason": "x", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "uninstall", "expectedGeneration": 7, "dryRun": true}"#,
            r#"{"change": "rollback", "dryRun": true}"#,
            r#"{"change": "rollback", "expectedGeneration": 7}"#,
            r#"{"change": "rollback", "expectedGeneration": 7, "dryRun": true, "skipped": ["max-step"]}"#,
        ] {
            assert_eq!(parse(wrong).map_err(|error| error.status), Err(StatusCode::BAD_REQUEST), "{wrong}");
        }
    }

    #[test]
    fn a_button_is_offered_where_the_record_allows_its_change() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/session-cookie/canary.yaml");
        let release = load(&path).unwrap().release;
        let now = Timestamp::now();
        let mut record = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        assert_eq!(
            ChangeKind::offered(&record, now),
            [ChangeKind::Weight, ChangeKind::Pause, ChangeKind::Rollback]
        );
        record.pause(Author::new("ann", Timestamp::now()), None);
        assert!(ChangeKind::offered(&record, now).contains(&ChangeKind::Resume));
        record.resume(Author::new("ann", Timestamp::now()));
        record.start_rollout(&release.rollout, "default", Author::new("ann", now)).unwrap();
        let offered = ChangeKind::offered(&record, now);
        assert!(offered.contains(&ChangeKind::PauseRollout) && offered.contains(&ChangeKind::AbortRollout));
        assert!(!offered.contains(&ChangeKind::ResumeRollout), "{offered:?}");
        record.roll_back(
            &RollbackTarget::Canary("v2".to_owned()),
            None,
            Author::new("ann", Timestamp::now()),
        );
        let offered = ChangeKind::offered(&record, now);
        assert_eq!(offered, [ChangeKind::Pause], "what is rolled back has no canary");

        let mut promoted = Record::first(&release, ReleaseState::first(&release, "uid".to_owned()));
        promoted.promote(now + Duration::from_mins(1), Author::new("ann", now));
        let both = [ChangeKind::Pause, ChangeKind::Rollback, ChangeKind::RollbackNow];
        assert_eq!(ChangeKind::offered(&promoted, now), both, "its sessions finish, or end");
        let target = promoted.to_roll_back().unwrap();
        promoted.roll_back(&target, Some(now + Duration::from_mins(1)), Author::new("ann", now));
        assert_eq!(ChangeKind::offered(&promoted, now), [ChangeKind::Pause, ChangeKind::RollbackNow]);
    }
}
