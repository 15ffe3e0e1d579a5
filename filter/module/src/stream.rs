//! One request and its answer.

use crate::abi::{self, Map};
use crate::clock::now_seconds;
use crate::health;
use crate::root::Active;
use crate::surroundings::Surroundings;
use assignment::request::Headers;
use assignment::{Policy, Request, decide};
use canary_filter::edit::HeaderEdits;
use canary_filter::reply::{Glance, Outcome, Pending};
use canary_filter::{forward, labels, reply};
use std::rc::Rc;

const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// The state between a request and its answer.
pub(crate) struct Stream {
    active: Rc<Active>,
    /// Until the answer's headers have come. Boxed, because a stream may stay open for long after that and its place in the
    /// table should be small.
    pending: Option<Box<Pending>>,
}

impl Stream {
    pub(crate) const fn new(active: Rc<Active>) -> Self {
        Self { active, pending: None }
    }

    /// Decides, and writes the decision where the route can see it.
    pub(crate) fn request(&mut self) {
        let Active { policy, counters, remembered } = &*self.active;
        let pairs = abi::header_pairs(Map::Request);
        let headers = Headers::from_wire(pairs.as_deref().unwrap_or_default());
        let request = Request::read(headers, &policy.headers);
        let mut edits = HostHeaders(Map::Request);
        let decision = policy
            .find(request.authority, request.path)
            .and_then(|release| decide(policy, release, &request, &Surroundings { policy, remembered }));
        let Some(decision) = decision else {
            forward::undecided(policy, &request, &mut edits);
            return;
        };
        forward::decided(policy, &decision, &request, now_seconds, &mut edits);
        let release = policy.release(decision.release);
        if let Some(release) = release {
            counters.count_request(release, &decision);
        }
        if let Some(release) = release.filter(|_| policy.filter_state) {
            abi::set_filter_state("canary", &labels::filter_state(release, &decision));
        }
        let keeps_latency = release.is_some_and(|release| release.latency_histogram);
        let decided_at = keeps_latency.then(abi::now_nanoseconds);
        let mut pending = Pending::new(decision, &request);
        pending.decided_at = decided_at;
        self.pending = Some(Box::new(pending));
    }

    /// Writes what the decision must be remembered by.
    pub(crate) fn answer(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let Active { policy, counters, .. } = &*self.active;
        let outcome = outcome(policy, &pending);
        if let Some(release) = policy.release(pending.decision.release) {
            counters.count_response(release, &pending.decision, outcome.class);
            if let Some(decided_at) = pending.decided_at {
                let nanoseconds = abi::now_nanoseconds().saturating_sub(decided_at);
                counters.keep_latency(release, &pending.decision, nanoseconds / NANOSECONDS_PER_MILLISECOND);
            }
            note_health(release, &pending, outcome);
        }
    }
}

/// Reads the answer, and writes what must be written. All headers in one call: a call that returns bytes costs the proxy the
/// same for one header and for a dozen, since it is our `malloc` that it calls back for (`docs/benchmarks.md`).
fn outcome(policy: &Policy, pending: &Pending) -> Outcome {
    let pairs = abi::header_pairs(Map::Response);
    let answer = Headers::from_wire(pairs.as_deref().unwrap_or_default());
    let glance = Glance::at(answer);
    if pending.may_write(policy, &glance) {
        reply::answered(policy, pending, answer, now_seconds, &mut HostHeaders(Map::Response));
    }
    Outcome::of(policy, pending, glance.status)
}

/// Remembers a version for which the proxy found no healthy pod. Its name is asked for only after a 503.
fn note_health(release: &assignment::policy::Release, pending: &Pending, outcome: Outcome) {
    if !outcome.may_be_unavailable {
        return;
    }
    let details = abi::property("response\0code_details");
    let is_down = details.is_some_and(|details| *details == *b"no_healthy_upstream");
    let version = release.versions.get(pending.decision.version);
    if let Some(version) = version.filter(|_| is_down) {
        health::note_down(&version.routing_value, now_seconds());
    }
}

/// The proxy's header map.
struct HostHeaders(Map);

impl HeaderEdits for HostHeaders {
    fn set(&mut self, name: &str, value: &[u8]) {
        abi::replace_header(self.0, name, value);
    }

    fn add(&mut self, name: &str, value: &[u8]) {
        abi::add_header(self.0, name, value);
    }

    fn remove(&mut self, name: &[u8]) {
        abi::remove_header(self.0, name);
    }

    fn set_all(&mut self, pairs: &[(&[u8], &[u8])]) {
        abi::set_header_pairs(self.0, &wire_form(pairs));
    }
}

/// The inverse of [`Headers::from_wire`].
fn wire_form(pairs: &[(&[u8], &[u8])]) -> Vec<u8> {
    let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or_default().to_le_bytes();
    let mut wire = u32::try_from(pairs.len()).unwrap_or_default().to_le_bytes().to_vec();
    wire.extend(pairs.iter().flat_map(|(name, value)| [length(name), length(value)]).flatten());
    for part in pairs.iter().flat_map(|(name, value)| [name, value]) {
        wire.extend_from_slice(part);
        wire.push(0);
    }
    wire
}
