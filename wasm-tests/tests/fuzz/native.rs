//! The code itself, without a proxy: the same steps as the filter's module.

use crate::case::{Case, Lines};
use crate::generate::NOW;
use assignment::request::Headers;
use assignment::{DecisionContext, FilterConfig, Policy, Reason, Request, decide};
use canary_filter::edit::HeaderEdits;
use canary_filter::response::RequestState;
use canary_filter::{forward, labels, response};

/// What became of one request.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) reason: Option<Reason>,
    /// The routing header, under the name that the configuration gives it.
    pub(crate) routing: Option<(String, Vec<u8>)>,
}

/// The outcome of each request; `None` if the configuration is refused.
pub(crate) fn run(case: &Case) -> Option<Vec<Outcome>> {
    // Strict reading must not panic either.
    drop(FilterConfig::from_json_strict(&case.config));
    let policy = match Policy::from_json(&case.config) {
        Ok(policy) => policy,
        Err(error) => {
            assert_ne!(error.to_line(), "", "{error:?}");
            return None;
        }
    };
    Some(case.exchanges.iter().map(|(request, response)| exchange(&policy, request, response)).collect())
}

fn exchange(policy: &Policy, request: &Lines, response: &Lines) -> Outcome {
    let pairs = borrowed(request);
    let read = Request::read(Headers::List(&pairs), &policy.headers);
    let mut edits = Edited(request.clone());
    let found = policy.find(read.authority, read.path);
    let decision = found.and_then(|release| decide(policy, release, &read, &FixedContext));
    let reason = decision.as_ref().map(|decision| decision.reason);
    match decision {
        None => forward::edit_unmatched(policy, &read, &mut edits),
        Some(decision) => {
            forward::edit_matched(policy, &decision, &read, || NOW, &mut edits);
            let release = &policy.releases()[decision.release];
            assert_ne!(labels::filter_state(release, &decision), "");
            let state = RequestState::new(decision, &read);
            response::edit_response(
                policy,
                &state,
                Headers::List(&borrowed(response)),
                || NOW,
                &mut Edited(response.clone()),
            );
        }
    }
    let name = policy.headers.routing.clone();
    let value = edits.0.into_iter().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value);
    Outcome { reason, routing: value.map(|value| (name, value)) }
}

fn borrowed(lines: &Lines) -> Vec<(&[u8], &[u8])> {
    lines.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect()
}

/// As the host of these tests stands: a fixed clock, no metadata, no address.
struct FixedContext;

impl DecisionContext for FixedContext {
    fn now_seconds(&self) -> u64 {
        NOW
    }
    fn random(&self) -> Option<u64> {
        Some(7)
    }
    fn jwt_claim(&self, _: &str, _: &[String]) -> Option<Vec<u8>> {
        None
    }
    fn client_address(&self) -> Option<Vec<u8>> {
        None
    }
    fn is_unavailable(&self, _: usize, _: usize) -> bool {
        false
    }
}

struct Edited(Lines);

impl HeaderEdits for Edited {
    fn set(&mut self, name: &str, value: &[u8]) {
        self.remove(name.as_bytes());
        self.add(name, value);
    }
    fn add(&mut self, name: &str, value: &[u8]) {
        self.0.push((name.as_bytes().to_vec(), value.to_vec()));
    }
    fn remove(&mut self, name: &[u8]) {
        self.0.retain(|(found, _)| found != name);
    }
    fn set_all(&mut self, pairs: &[(&[u8], &[u8])]) {
        self.0 = pairs.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
    }
}
