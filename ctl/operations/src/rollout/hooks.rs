//! Calls the hooks of a rollout beside it, so that a test of minutes delays neither an observation nor a rollback. Which are called, and what
//! their responses say, is pure.

use canary_release::hook::{HookError, HookPayload, HookRequest, HookResult};
use canary_release::record::Record;
use canary_release::spec::RolloutHook;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Calls hooks. This library has no HTTP client for them; a driver without a caller calls none, and a rollout that needs one waits.
pub trait HookCaller: Send + Sync {
    /// Posts a payload, with the metadata of the hook added to it. A notification has an id, the same however often it is sent.
    ///
    /// The future ends in a bounded time, with an error if no response with 2xx has come. Its text has no URL.
    fn call<'a>(
        &'a self,
        hook: &'a RolloutHook,
        payload: HookPayload,
        id: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), HookError>>;
}

/// The calls in flight, and what became of earlier ones.
#[derive(Default)]
pub(super) struct HookDispatcher {
    caller: Option<Arc<dyn HookCaller>>,
    tasks: JoinSet<EndedCall>,
    /// The names of the hooks.
    in_flight: BTreeSet<String>,
    /// Results that the record does not have yet.
    unrecorded: Vec<HookResult>,
}

/// A call that has ended, of a hook of that name in the step that began then.
type EndedCall = (String, Timestamp, Result<(), HookError>);

impl HookDispatcher {
    pub(super) fn set_caller(&mut self, caller: Arc<dyn HookCaller>) {
        self.caller = Some(caller);
    }

    /// Adds what became of calls to a record that was just read. Whether it changed. A result is kept until a record that was read has it, or it
    /// is about a step that is over: a write may fail.
    pub(super) fn record_results(&mut self, record: &mut Record, now: Timestamp) -> bool {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok((hook, step_since, result)) = ended {
                self.in_flight.remove(&hook);
                self.unrecorded.push(HookResult { hook, step_since, at: now, result });
            }
        }
        if self.tasks.is_empty() {
            // Those of a task that has panicked.
            self.in_flight.clear();
        }
        self.unrecorded.retain(|result| record.lacks_hook_result(result));
        record.add_hook_results(&self.unrecorded)
    }

    /// Makes calls, but none that is still being made. Whether they can be made.
    pub(super) fn start(&mut self, requests: Vec<HookRequest>) -> bool {
        let Some(caller) = &self.caller else { return requests.is_empty() };
        for HookRequest { hook, payload, step_since } in requests {
            if self.in_flight.insert(hook.name.clone()) {
                let caller = Arc::clone(caller);
                self.tasks.spawn(async move {
                    let result = caller.call(&hook, payload, None).await;
                    (hook.name, step_since, result)
                });
            }
        }
        true
    }
}
