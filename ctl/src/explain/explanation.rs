//! One request against a policy: the decision, and what it rests on.

use super::context::ExplainContext;
use super::credentials::{self, Credential};
use super::explain_request::ExplainRequest;
use super::why;
use assignment::contract::{Position, Role, Stickiness};
use assignment::decide::PinAction;
use assignment::policy::Release;
use assignment::request::Headers;
use assignment::{Decision, Policy, Reason, Request, decide};
use serde::Serialize;
use std::fmt;

/// Which version a request would get, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The request: method, host and path.
    pub request: String,
    /// The release that it concerns; `None` is row 1: no routing header.
    pub release: Option<String>,
    /// The version, where it is certain.
    pub version: Option<String>,
    /// The version's role.
    pub role: Option<&'static str>,
    /// The versions that a random assignment can give; empty if the version is certain.
    pub chances: Vec<Chance>,
    /// The row of the decision table.
    pub row: Option<u8>,
    /// The reason's name, as in metrics.
    pub reason: Option<&'static str>,
    /// The reason as a sentence.
    pub why: String,
    /// The source of the key.
    pub key: Option<String>,
    pub identity: Option<String>,
    /// The user's bucket, `0..10_000`.
    pub bucket: Option<u16>,
    /// The weight that holds, in percent.
    pub weight_percent: Option<f64>,
    /// The least weight, in percent, at which this request is the canary's; `None` if no weight changes the version.
    pub canary_from_percent: Option<f64>,
    /// The cookies that the response would set.
    pub remembers: Vec<String>,
    /// The filter's cookies in the request.
    pub carries: Vec<Credential>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// A version and its probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Chance {
    pub version: String,
    /// Its probability, in percent.
    pub percent: f64,
}

impl fmt::Display for Chance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {:.2}%", self.version, self.percent)
    }
}

/// Explains. Never fails: a request that no release matches is row 1.
pub fn explain(policy: &Policy, asked: &ExplainRequest, context: &ExplainContext) -> Explanation {
    let pairs = asked.pairs();
    let request = Request::read(Headers::List(&pairs), &policy.headers);
    let explanation = Explanation {
        request: format!("{} {}{}", asked.method, asked.authority, asked.path),
        notes: removed_headers(policy, asked),
        ..Explanation::default()
    };
    let found = policy.find(request.authority, request.path);
    let decided = found.and_then(|index| decide(policy, index, &request, context));
    let release = found.and_then(|index| policy.release(index));
    let (Some(decision), Some(release)) = (decided, release) else {
        let why = "no release matches host and path: no routing header, the default route".to_owned();
        return Explanation { row: Some(1), why, ..explanation };
    };
    Explained { policy, release, request: &request, context, decision: &decision }.describe(explanation)
}

/// A decision and everything that it was made from.
struct Explained<'a> {
    policy: &'a Policy,
    release: &'a Release,
    request: &'a Request<'a>,
    context: &'a ExplainContext,
    decision: &'a Decision,
}

impl Explained<'_> {
    fn describe(&self, explanation: Explanation) -> Explanation {
        let (release, decision) = (self.release, self.decision);
        let chances = self.chances();
        let certain = chances.is_empty().then(|| release.versions.get(self.certain_version())).flatten();
        let drawn = self.context.has_drawn();
        let bucket = decision.bucket.filter(|_| !drawn);
        let has_canary = release.canary(|| self.context.now_seconds).is_some();
        let remembered = certain.map_or("the version that is drawn", |version| version.name.as_str());
        let mut notes = explanation.notes;
        notes.extend(self.notes(has_canary));
        Explanation {
            release: Some(release.name.clone()),
            version: certain.map(|version| version.name.clone()),
            role: certain.map(|version| version.role.as_str()),
            row: decision.reason.row(),
            reason: Some(decision.reason.as_str()),
            why: why::sentence(decision.reason, release),
            key: decision.key.map(|origin| why::key(origin, release, self.policy)),
            identity: decision.identity.filter(|_| !drawn).map(|identity| identity.to_string()),
            bucket: bucket.map(assignment::Bucket::number),
            weight_percent: Some(f64::from(self.weight().basis_points()) / 100.0),
            canary_from_percent: bucket
                .filter(|_| has_canary)
                .map(|bucket| f64::from(bucket.canary_from()) / 100.0),
            remembers: remembered_by(self.policy, release, decision, remembered),
            carries: credentials::find(self.policy, release, self.request, self.context.now_seconds),
            chances,
            notes,
            ..explanation
        }
    }

    fn weight(&self) -> assignment::Weight {
        self.release.weight(|| self.context.now_seconds)
    }

    /// The canary's index, where a draw at the weight that holds can give it.
    fn canary_by_chance(&self) -> Option<usize> {
        self.release.canary(|| self.context.now_seconds).filter(|_| self.weight() > assignment::Weight::ZERO)
    }

    /// The version of a decision that no draw can change.
    fn certain_version(&self) -> usize {
        match self.decision.reason {
            Reason::Minted => self.canary_by_chance().unwrap_or(self.release.stable()),
            _ => self.decision.version,
        }
    }

    /// The versions that a random assignment can give, canary first. Empty if nothing is random, or if it makes no
    /// difference.
    fn chances(&self) -> Vec<Chance> {
        if self.decision.reason == Reason::Minted { self.chances_of_a_draw() } else { Vec::new() }
    }

    fn chances_of_a_draw(&self) -> Vec<Chance> {
        let is_open = self.weight() < assignment::Weight::FULL;
        let Some(canary) = self.canary_by_chance().filter(|_| is_open) else { return Vec::new() };
        let share = f64::from(self.weight().basis_points()) / 100.0;
        let chance = |(index, percent): (usize, f64)| {
            self.release.versions.get(index).map(|version| Chance { version: version.name.clone(), percent })
        };
        [(canary, share), (self.release.stable(), 100.0 - share)].into_iter().filter_map(chance).collect()
    }

    fn notes(&self, has_canary: bool) -> Vec<String> {
        let (release, decision) = (self.release, self.decision);
        let configured = release.configured_weight();
        let ended = (configured != self.weight()).then(|| {
            format!("the release has ended by its `until`: its weight of {configured} counts as 0%")
        });
        let without_canary =
            (!has_canary).then(|| "no version is the canary: no weight changes this".to_owned());
        let fallback = (decision.reason == Reason::Fallback && decision.bucket.is_none())
            .then(|| why::nothing_was_minted(self.policy, release, self.request))
            .flatten()
            .map(str::to_owned);
        let is_kept = matches!(decision.reason, Reason::Pin | Reason::Adopted);
        let stays = (is_kept && release.stickiness == Stickiness::Session)
            .then(|| "no weight changes this: a session stays where it began".to_owned());
        let draining = release
            .versions
            .get(decision.version)
            .filter(|version| version.role == Role::Draining)
            .map(|version| format!("{} is draining: it gets no new users", version.name));
        let adopted = (decision.reason == Reason::Adopted).then(|| self.newer_sessions());
        let notes = ended.into_iter().chain(without_canary).chain(fallback).chain(stays);
        notes.chain(adopted.into_iter().flatten()).chain(draining).collect()
    }

    /// The version of a session that is not older than the filter: a cookie copied from a browser often comes without its pin.
    fn newer_sessions(&self) -> [String; 2] {
        let chances = self.chances_of_a_draw();
        let certain = self.canary_by_chance().unwrap_or(self.release.stable());
        let versions = if chances.is_empty() {
            self.release.versions.get(certain).map_or_else(String::new, |version| version.name.clone())
        } else {
            chances.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        [
            format!("a session that begins now gets {versions}, and stays there"),
            format!(
                "a session that began after the installation has the cookie {}, too: with it this says its version",
                self.release.session_pin_name
            ),
        ]
    }
}

/// The client's routing, identity and cohort headers that are removed before any filter runs (at the edge), in every
/// spelling.
fn removed_headers(policy: &Policy, asked: &ExplainRequest) -> Vec<String> {
    let trusted = policy.headers.trusted();
    let is_trusted = |name: &str| trusted.contains(&name.replace('_', "-").as_str());
    let removed = |name: &String| match policy.position {
        Position::Edge => {
            is_trusted(name).then(|| format!("{name} from a client is removed before any route"))
        }
        Position::Mesh => None,
    };
    asked.headers.iter().filter_map(|(name, _)| removed(name)).collect()
}

/// One sentence for each cookie that the response would set. `version` is the version's name, or what stands for it.
fn remembered_by(policy: &Policy, release: &Release, decision: &Decision, version: &str) -> Vec<String> {
    if policy.position == Position::Mesh {
        return Vec::new();
    }
    let name = release.pin.as_ref().map_or("the pin", |pin| pin.cookie.name.as_str());
    let pin = match (&decision.pin, &release.session_cookie) {
        (PinAction::WithSession, Some(session)) => {
            let name = &release.session_pin_name;
            Some(format!("{name}: pins {version}, if the response sets {session}, with its attributes"))
        }
        (PinAction::Never, _) | (PinAction::WithSession, None) => None,
        (PinAction::Now { .. }, _) => {
            Some(format!("{name}: pins {version} now, unless a shared cache may keep the response"))
        }
    };
    let id = decision.mints.then(|| {
        let days = policy.id_max_age_seconds / (24 * 3600);
        format!(
            "{}: the id that was drawn, for {days} days, unless a shared cache may keep the response",
            policy.id_cookie.name
        )
    });
    let token = decision.token.as_ref().and(release.token.as_ref()).map(|token| {
        format!("{}: the token of the query, which is removed from the path", token.cookie.name)
    });
    pin.into_iter().chain(id).chain(token).collect()
}
