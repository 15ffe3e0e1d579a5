//! One request and its response.

use crate::abi::{self, Map};
use crate::clock::{self, NANOSECONDS_PER_MILLISECOND, now_seconds};
use crate::health;
use crate::host_environment::HostEnvironment;
use crate::root::ActiveConfig;
use assignment::policy::Release;
use assignment::request::Headers;
use assignment::{Policy, Reason, Request, decide};
use canary_filter::edit::HeaderEdits;
use canary_filter::fuse::Waiting;
use canary_filter::labels::StatusClass;
use canary_filter::response::{Outcome, RequestState, ResponseSummary};
use canary_filter::{forward, labels, response};
use std::rc::Rc;

/// The state between a request and its response.
pub(crate) struct Stream {
    config: Rc<ActiveConfig>,
    /// Until the response's headers have arrived, or its end where that counts. Boxed, because a stream may stay open for long after that and its
    /// slot in the table should be small.
    state: Option<Box<RequestState>>,
}

impl Stream {
    pub(crate) const fn new(config: Rc<ActiveConfig>) -> Self {
        Self { config, state: None }
    }

    /// Decides, and writes the decision where the route can see it. `is_whole` is whether the request has no body: one that is
    /// still being sent keeps its response waiting.
    pub(crate) fn on_request_headers(&mut self, is_whole: bool) {
        let ActiveConfig { policy, counters, verified } = &*self.config;
        let pairs = abi::header_pairs(Map::Request);
        let headers = Headers::from_wire(pairs.as_deref().unwrap_or_default());
        let request = Request::read(headers, &policy.headers);
        let mut edits = HostHeaders(Map::Request);
        let decision = policy.find(request.authority, request.path).and_then(|release| {
            decide(policy, release, &request, &HostEnvironment { policy, verified, counters })
        });
        let Some(decision) = decision else {
            forward::edit_unmatched(policy, &request, &mut edits);
            return;
        };
        forward::edit_matched(policy, &decision, &request, now_seconds, &mut edits);
        let release = policy.release(decision.release);
        if let Some(release) = release {
            counters.count_request(release, &decision);
        }
        if let Some(release) = release.filter(|_| policy.filter_state) {
            abi::set_filter_state("canary", &labels::filter_state(release, &decision));
        }
        let is_counted = release.filter(|release| labels::is_counted_by_group(release, &decision));
        let has_fuse = release.is_some_and(|release| release.fuse) && decision.reason != Reason::Override;
        let is_timed = release.is_some_and(Release::is_timed);
        let decided_at = is_timed.then(abi::now_nanoseconds);
        let mut state = Box::new(RequestState::new(decision, &request));
        state.decided_at = decided_at;
        if is_whole && (has_fuse || is_counted.is_some()) {
            state.waiting = Waiting::New;
        }
        if let Some(release) = is_counted {
            state.keep_session(release, &request);
        }
        self.state = Some(state);
    }

    /// Counts the request if it has waited for its response for too long.
    pub(crate) fn tick(&mut self, now_milliseconds: u64) {
        if self.state.as_mut().is_some_and(|state| state.waiting.tick(now_milliseconds)) {
            self.count_unanswered();
        }
    }

    /// Counts a response that was broken off, or a request whose client has waited for its response for long enough.
    pub(crate) fn end(&mut self) {
        let Some(state) = &mut self.state else { return };
        if state.awaits_end {
            if abi::property("response\0flags").is_some_and(|flags| response::is_broken_off(&flags)) {
                self.count_failed_end();
            }
        } else if state.waiting.client_gone(clock::read_milliseconds) {
            self.count_unanswered();
        }
    }

    /// Counts a response whose gRPC status is a failure. Its end needs no further look.
    pub(crate) fn on_response_trailers(&mut self) {
        if !self.state.as_ref().is_some_and(|state| state.awaits_end) {
            return;
        }
        let pairs = abi::header_pairs(Map::ResponseTrailers);
        let trailers = Headers::from_wire(pairs.as_deref().unwrap_or_default());
        if response::is_grpc_failure(response::grpc_status(trailers)) {
            self.count_failed_end();
        }
        self.state = None;
    }

    fn count_failed_end(&self) {
        let Some(state) = &self.state else { return };
        let ActiveConfig { policy, counters, .. } = &*self.config;
        if let Some(release) = policy.release(state.decision.release) {
            counters.count_failed(release, &state.decision);
        }
    }

    fn count_unanswered(&self) {
        let Some(state) = &self.state else { return };
        let ActiveConfig { policy, counters, .. } = &*self.config;
        if let Some(release) = policy.release(state.decision.release) {
            counters.count_unanswered(release, &state.decision);
        }
    }

    /// Edits the response, counts it and updates the health of its version. `is_whole` is whether it has no body.
    pub(crate) fn on_response_headers(&mut self, is_whole: bool) {
        let Some(mut state) = self.state.take_if(|state| !state.awaits_end) else {
            return;
        };
        let ActiveConfig { policy, counters, .. } = &*self.config;
        let outcome = outcome(policy, &state);
        if let Some(release) = policy.release(state.decision.release) {
            counters.count_response(release, &state.decision, outcome);
            if state.waiting != Waiting::Unanswered {
                counters.count_for_fuse(release, &state.decision, outcome.has_failed);
            }
            if let Some(lost) = outcome.lost_session {
                counters.count_lost_session(release, &state.decision, lost);
            }
            if let Some(decided_at) = state.decided_at {
                let nanoseconds = abi::now_nanoseconds().saturating_sub(decided_at);
                counters.keep_latency(release, &state.decision, nanoseconds / NANOSECONDS_PER_MILLISECOND);
            }
            note_health(release, &state, outcome);
            // An upgraded connection is the client's and the version's own.
            let may_fail = outcome.class == StatusClass::Success && !outcome.has_failed;
            if may_fail && !is_whole && labels::is_counted_by_group(release, &state.decision) {
                (state.waiting, state.awaits_end) = (Waiting::Uncounted, true);
                self.state = Some(state);
            }
        }
    }
}

/// Reads the response, and writes what must be written. All headers in one call: a call that returns bytes costs the proxy the
/// same for one header and for a dozen, since it is our `malloc` that it calls back for (`docs/benchmarks.md`).
fn outcome(policy: &Policy, state: &RequestState) -> Outcome {
    let pairs = abi::header_pairs(Map::Response);
    let response = Headers::from_wire(pairs.as_deref().unwrap_or_default());
    let summary = ResponseSummary::of(response);
    if state.may_write(policy, &summary) {
        response::edit_response(policy, state, response, now_seconds, &mut HostHeaders(Map::Response));
    }
    let lost_session =
        summary.sets_cookie.then(|| state.lost_session(policy, response, now_seconds)).flatten();
    Outcome { lost_session, ..Outcome::of(policy, state, &summary) }
}

/// Ejects a version for which the proxy found no healthy pod. Its name is read only after a 503.
fn note_health(release: &Release, state: &RequestState, outcome: Outcome) {
    if !outcome.may_be_unavailable {
        return;
    }
    let details = abi::property("response\0code_details");
    let is_unavailable = details.is_some_and(|details| *details == *b"no_healthy_upstream");
    let version = release.versions.get(state.decision.version);
    if let Some(version) = version.filter(|_| is_unavailable) {
        health::eject(&version.routing_value, now_seconds());
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
