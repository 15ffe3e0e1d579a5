//! What a process has learnt of its proxies: which transport reaches each, and which did not respond a moment ago.

use super::Transport;
use canary_release::metrics::PodName;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For so long a proxy that did not respond in time is not asked again, so that an observation of several reads waits once.
const QUIET: Duration = Duration::from_secs(5);

/// Shared by the reads of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The transport that has worked last, for proxies that were not reached yet.
    latest: Transport,
    by_pod: HashMap<PodName, Transport>,
    faults: HashMap<PodName, (Instant, String)>,
}

impl Memory {
    /// The transport to begin with.
    pub(super) fn transport(&self, pod: &PodName) -> Transport {
        let state = self.state();
        state.by_pod.get(pod).copied().unwrap_or(state.latest)
    }

    pub(super) fn add_success(&self, pod: &PodName, transport: Transport) {
        let mut state = self.state();
        state.latest = transport;
        state.by_pod.insert(pod.clone(), transport);
        state.faults.remove(pod);
    }

    /// A proxy that did not respond in time.
    pub(super) fn add_fault(&self, pod: &PodName, fault: &str, now: Instant) {
        self.state().faults.insert(pod.clone(), (now, fault.to_owned()));
    }

    /// The fault of a proxy that did not respond in time a moment ago.
    pub(super) fn recent_fault(&self, pod: &PodName, now: Instant) -> Option<String> {
        let state = self.state();
        let (since, fault) = state.faults.get(pod)?;
        (now.duration_since(*since) < QUIET).then(|| fault.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> PodName {
        ("ingress".to_owned(), name.to_owned())
    }

    #[test]
    fn a_proxy_is_asked_first_by_what_reached_it_and_a_new_one_by_what_worked_last() {
        let memory = Memory::default();
        assert_eq!(memory.transport(&pod("a")), Transport::PodsProxy);
        memory.add_success(&pod("b"), Transport::PodsProxy);
        memory.add_success(&pod("a"), Transport::PortForward);
        let found = ["a", "b", "c"].map(|name| memory.transport(&pod(name)));
        assert_eq!(found, [Transport::PortForward, Transport::PodsProxy, Transport::PortForward]);
    }

    #[test]
    fn a_proxy_that_did_not_respond_in_time_is_left_alone_for_a_moment() {
        let (memory, now) = (Memory::default(), Instant::now());
        memory.add_fault(&pod("a"), "does not answer", now);
        let recent = |name, seconds| memory.recent_fault(&pod(name), now + Duration::from_secs(seconds));
        assert_eq!(recent("a", 4).as_deref(), Some("does not answer"));
        assert_eq!((recent("a", 5), recent("b", 0)), (None, None));
        memory.add_success(&pod("a"), Transport::PodsProxy);
        assert_eq!(recent("a", 0), None, "it responded");
    }
}
