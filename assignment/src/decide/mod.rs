//! The decision: which version, why, and what the response must carry. The first row that fits decides.
//!
//! | # | when | version | reason |
//! | --- | --- | --- | --- |
//! | 1 | no release matches host and path, or inert | no routing header | – ([`crate::Policy::find`] returns `None`) |
//! | 2 | valid override naming a live version | the override's; never pinned | [`Reason::Override`] |
//! | 3 | valid pin naming a live version | as pinned | [`Reason::Pin`] |
//! | 4 | inside the mesh: the edge's cohort for this train names a role with a live version | that version | [`Reason::Cohort`] |
//! | 5 | session cookie, no pin, no minted id, adoption on | the version that was stable at installation | [`Reason::Adopted`] |
//! | 6 | key found | by bucket | [`Reason::Hash`] |
//! | 7 | no key, cookies possible | mint an id, decide by its bucket now | [`Reason::Minted`] |
//! | 8 | otherwise | stable, or by the client's address | [`Reason::Fallback`] |
//!
//! Three things send a request to stable whatever row it came from, and are reasons of their own: a genuine pin of a
//! version that this proxy does not know ([`Reason::Unknown`]), several genuine pins that contradict each other
//! ([`Reason::Conflict`]), a version that has no healthy pod ([`Reason::Unavailable`]),
//! and a canary whose fuse is open ([`Reason::Fused`]).
//!
//! One file a row: `overrides`, `pinned`, `cohort`, `hashed` (rows 5 and 6), `fallback` (rows 7 and 8).

mod baggage;
mod clock_skew;
mod cohort;
mod facts;
mod fallback;
mod hashed;
mod overrides;
mod pinned;

pub use baggage::MAX_BAGGAGE_AGE_SECONDS;
pub use clock_skew::{MAX_CLOCK_SKEW_SECONDS, is_ahead};
pub use facts::Facts;
pub use overrides::MAX_TOKEN_LIFE_SECONDS;

use crate::contract::Position;
use crate::policy::{Release, SessionAge};
use crate::seal::{KeyRing, Kind, Seal};
use crate::{Bucket, Identity, Policy, Request};
use pinned::Pinned;

/// The input of a decision that is not in the headers. Each value is read only by the rows that need it.
pub trait DecisionContext {
    /// Seconds since 1970-01-01 UTC.
    fn now_seconds(&self) -> u64;
    /// 64 random bits that no client can foresee; `None` if the host has no randomness.
    fn random(&self) -> Option<u64>;
    /// A claim that `jwt_authn` has verified, from the metadata key `payload`.
    fn jwt_claim(&self, payload: &str, claim: &[String]) -> Option<Vec<u8>>;
    /// The client's address without its port.
    fn client_address(&self) -> Option<Vec<u8>>;
    /// The seal of a pin or a minted id, if a key of this ring signed it: [`KeyRing::verify`], or the same from a cache
    /// ([`crate::seal::VerifiedCache`]).
    fn verify<'t>(&self, ring: &KeyRing, kind: Kind, release_uid: &str, text: &'t [u8]) -> Option<Seal<'t>> {
        ring.verify(kind, release_uid, text)
    }
    /// Whether this version of the release had no healthy pod a moment ago.
    fn is_unavailable(&self, release: usize, version: usize) -> bool;
    /// Whether the release's fuse is open: this proxy has seen that the canary fails, and stable does not.
    fn is_fused(&self, _release: usize) -> bool {
        false
    }
}

/// Which version a request gets, and what its response must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Index of the release in [`Policy::releases`].
    pub release: usize,
    /// Index of the version in [`Release::versions`].
    pub version: usize,
    /// The row that fitted.
    pub reason: Reason,
    /// The user's identity, if it is known or was minted for this request.
    pub identity: Option<Identity>,
    /// The user's bucket, if the row used it.
    pub bucket: Option<Bucket>,
    /// The source of the key, if the row uses one.
    pub key: Option<KeyOrigin>,
    /// The change of the pin in the response.
    pub pin: PinAction,
    /// Whose the host's pin is that the request has.
    pub host_pin: HostPin,
    /// Whether the session is older than the rollout that runs; by cohort, than the edge's.
    pub session_age: SessionAge,
    /// Whether the response sets the minted id's cookie to `identity`.
    pub mints: bool,
    /// A token that came by query parameter, which the response turns into a cookie, and its last second.
    pub token: Option<(String, u64)>,
    /// Whether the request has the release's token cookie, genuine or not: the application must not see it.
    pub has_token_cookie: bool,
    /// Whether the path has the release's token parameter, genuine or not: the application must not see it, and no `Referer`
    /// may pass it on.
    pub has_token_parameter: bool,
}

/// The reason for a request's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Row 2.
    Override,
    /// Row 3.
    Pin,
    /// Row 4.
    Cohort,
    /// Row 5.
    Adopted,
    /// Row 6.
    Hash,
    /// Row 7.
    Minted,
    /// Row 8.
    Fallback,
    /// A genuine pin of a version that this proxy does not know.
    Unknown,
    /// Genuine pins that contradict each other.
    Conflict,
    /// The version has no healthy pod.
    Unavailable,
    /// The fuse is open: a user who would be new on the canary gets stable.
    Fused,
}

impl Reason {
    /// All reasons, in the order of the table.
    pub const ALL: [Self; 11] = [
        Self::Override,
        Self::Pin,
        Self::Cohort,
        Self::Adopted,
        Self::Hash,
        Self::Minted,
        Self::Fallback,
        Self::Unknown,
        Self::Conflict,
        Self::Unavailable,
        Self::Fused,
    ];

    /// The reason's name in metrics, logs and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Pin => "pin",
            Self::Cohort => "cohort",
            Self::Adopted => "adopted",
            Self::Hash => "hash",
            Self::Minted => "minted",
            Self::Fallback => "fallback",
            Self::Unknown => "unknown",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Fused => "fused",
        }
    }

    /// The row of the table, for messages; `None` for the four reasons that overrule a row.
    pub const fn row(self) -> Option<u8> {
        match self {
            Self::Override => Some(2),
            Self::Pin => Some(3),
            Self::Cohort => Some(4),
            Self::Adopted => Some(5),
            Self::Hash => Some(6),
            Self::Minted => Some(7),
            Self::Fallback => Some(8),
            Self::Unknown | Self::Conflict | Self::Unavailable | Self::Fused => None,
        }
    }
}

/// The source of a user's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrigin {
    /// In the minted id's cookie.
    MintedId,
    /// At this index of [`Release::identify_by`].
    Key(usize),
}

/// The change of the pin by a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinAction {
    /// Nothing, whatever the response sets.
    Never,
    /// Written if the response sets the session cookie, so that session and pin cannot come from different responses.
    WithSession,
    /// Written now (adoption, refresh, replacement of a pin that is no longer valid), unless a shared cache may store
    /// the response.
    Now {
        /// The pin's issue time, seconds since 1970-01-01 UTC.
        issued: u64,
    },
}

/// Whose the pin of the host is. A pin that belongs to a session decides requests of this session, and those without a session; one
/// that belongs to none decides those of sessions, too, that were not seen to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPin {
    /// The request has no genuine one, or one of a version that is gone: a new session writes it.
    Absent,
    /// That of the request's session: a new session replaces it, and a logout deletes it.
    OfSession,
    /// That of another session, which has a pin beside its cookie, too: a new session replaces it, and a logout leaves it.
    OfAnotherSession,
    /// That of no session, and it says what the request's pin says: a logout ends it, and a new session leaves it.
    Unclaimed,
    /// That of no session, and it says something else, or has ended: sessions on other paths may depend on it.
    OfOthers,
}

/// Decides a request. `release` is the index that [`Policy::find`] returned.
///
/// Pure except for the values that it reads from the context. Never fails: if a request cannot be decided, the version
/// is stable, with a reason. `None` only for an index that is none of the policy's.
pub fn decide(
    policy: &Policy,
    release: usize,
    request: &Request<'_>,
    context: &dyn DecisionContext,
) -> Option<Decision> {
    let facts = Facts::new(policy, release, request, context)?;
    Some(facts.available(first_row_that_fits(&facts)))
}

fn first_row_that_fits(facts: &Facts<'_>) -> Decision {
    if let Some(decision) = overrides::by_override(facts) {
        return decision;
    }
    let pins = pinned::read(facts);
    let decision = pinned::by_pin(facts, &pins).unwrap_or_else(|| without_pin(facts, &pins));
    Decision { host_pin: pins.host_pin, ..decision }
}

fn without_pin(facts: &Facts<'_>, pins: &pinned::Pins<'_>) -> Decision {
    if let Some(decision) = cohort::by_cohort(facts) {
        return decision;
    }
    let minted = hashed::minted_id(facts);
    if pins.pinned == Pinned::Absent
        && let Some(decision) = hashed::by_adoption(facts, minted, pins.host_pin)
    {
        return decision;
    }
    if let Some(decision) = hashed::by_key(facts, minted) {
        return decision;
    }
    fallback::by_minting(facts).unwrap_or_else(|| fallback::by_fallback(facts))
}

impl Facts<'_> {
    /// A decision of this request's release; rows change what differs.
    fn decision(&self, version: usize, reason: Reason) -> Decision {
        Decision {
            release: self.index,
            version,
            reason,
            identity: None,
            bucket: None,
            key: None,
            pin: self.session_pin_action(),
            host_pin: HostPin::Absent,
            session_age: SessionAge::New,
            mints: false,
            token: None,
            has_token_cookie: !self.tokens.is_empty(),
            has_token_parameter: self.has_token_parameter,
        }
    }

    /// By bucket: the canary where there is one and the bucket lies below the weight, else stable. Stable too while the fuse is
    /// open.
    fn by_bucket(&self, identity: Identity, reason: Reason) -> Decision {
        let bucket = self.release.salt.bucket(identity);
        let chosen = bucket.is_canary_at(self.release.weight(|| self.now()));
        let canary = if chosen { self.release.canary(|| self.now()) } else { None };
        let (version, reason) = match canary {
            Some(_) if self.release.fuse && self.context.is_fused(self.index) => {
                (self.release.stable(), Reason::Fused)
            }
            canary => (canary.unwrap_or(self.release.stable()), reason),
        };
        let decision = self.decision(version, reason);
        Decision { identity: Some(identity), bucket: Some(bucket), ..decision }
    }

    /// Pins are written with the session cookie, and inside the mesh never.
    fn session_pin_action(&self) -> PinAction {
        match self.policy.position {
            Position::Edge if self.is_session() => PinAction::WithSession,
            _ => PinAction::Never,
        }
    }

    /// Sends the request to stable if its version has no healthy pod. The pin is kept: it may be well again.
    fn available(&self, decision: Decision) -> Decision {
        let stable = self.release.stable();
        if decision.version == stable || !self.context.is_unavailable(self.index, decision.version) {
            return decision;
        }
        Decision { version: stable, reason: Reason::Unavailable, pin: self.session_pin_action(), ..decision }
    }
}

/// The version's name of a decision, for reports.
pub fn version_name<'p>(release: &'p Release, decision: &Decision) -> &'p str {
    release.versions.get(decision.version).map_or("", |version| version.name.as_str())
}
