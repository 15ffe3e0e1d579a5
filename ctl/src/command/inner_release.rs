//! What is said of a weight, a rollback and a rollout of a release of a train that no gateway has: its users are those of the release behind the
//! gateways, and so are their versions.

use super::target::ReleaseTarget;
use crate::report::Printer;
use canary_operations::{Cluster, StoredRecord};
use canary_release::spec::ReleaseName;

/// The operation on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InnerChange {
    Weight,
    Rollback,
    Rollout,
}

impl InnerChange {
    /// The effect that it lacks, and the operation that has it.
    const fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Weight => (
                "this weight is for calls that no gateway has decided, and moves none of the gateways' users",
                "the weight of the train is that of its release behind the gateways: `canary-ctl weight` there",
            ),
            Self::Rollback => (
                "users whom a gateway has assigned to the canary are called with it by their front end, and get stable of this release",
                "`canary-ctl rollback` of the release behind the gateways first: it takes them off all canaries of the train",
            ),
            Self::Rollout => (
                "none of the gateways' users is counted here, and no step moves one",
                "`canary-ctl rollout start` of the release behind the gateways: its steps are those of the train",
            ),
        }
    }
}

/// Says it, if the release is such a one. Where that cannot be read nothing is said: it refuses nothing.
pub(super) async fn report(target: &ReleaseTarget, change: InnerChange, printer: &mut Printer) {
    report_of(&target.cluster, &target.name, &target.stored, change, printer).await;
}

/// The same for a release that was read otherwise.
pub(super) async fn report_of(
    cluster: &Cluster,
    name: &ReleaseName,
    stored: &StoredRecord,
    change: InnerChange,
    printer: &mut Printer,
) {
    let Some(train) = cluster.inner_train(name, stored).await.ok().flatten() else { return };
    let (text, hint) = change.text();
    printer.message(&format!("{name} follows the gateways' decisions for train `{train}`: {text}"));
    printer.hint(hint);
}
