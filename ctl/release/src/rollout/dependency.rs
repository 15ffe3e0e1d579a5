//! Until the releases that it depends on are at their versions, a rollout sends no more users to the canary.

use super::decision::Decision;
use super::{Ending, Rollout, RolloutAction, RolloutObservation, RolloutPhase};
use crate::spec::ReleaseDependency;
use jiff::Timestamp;

/// The state of a release that a rollout depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyState {
    /// The version that it has as stable.
    Stable(String),
    /// It does not exist.
    Missing,
    /// Its record may not be read, or could not be.
    Unread(String),
}

impl Rollout {
    /// A wait in the place of a step or a promotion while a dependency has not its version. What is observed is in the order
    /// of the dependencies; one that is not observed does not hold.
    pub(crate) fn lacks_dependency(
        &self,
        step: &Decision,
        seen: &RolloutObservation,
        _: Timestamp,
    ) -> Option<Decision> {
        let is_limited =
            matches!(step.action, RolloutAction::EnterStep(_) | RolloutAction::Decide(Ending::Promote));
        let states = seen.dependencies.iter().map(Some).chain(std::iter::repeat(None));
        let unmet =
            self.depends_on.iter().zip(states).find_map(|(dependency, state)| unmet(dependency, state));
        let unmet = unmet.filter(|_| is_limited)?;
        let reason = format!("{unmet}; {}", step.reason);
        Some(Decision::new(RolloutPhase::Waiting, RolloutAction::Wait, reason))
    }
}

/// The reason for which a dependency does not hold.
fn unmet(dependency: &ReleaseDependency, state: Option<&DependencyState>) -> Option<String> {
    let ReleaseDependency { release, stable } = dependency;
    let found = match state {
        Some(DependencyState::Stable(found)) if found == stable => return None,
        Some(DependencyState::Stable(found)) => format!("found `{found}`"),
        Some(DependencyState::Missing) => "found no such release".to_owned(),
        Some(DependencyState::Unread(error)) => error.clone(),
        None => "not observed yet".to_owned(),
    };
    Some(format!("expected release {release} with `{stable}` as stable, {found}"))
}
