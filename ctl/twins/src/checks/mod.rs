//! What is refused, each with the name of its check.
//!
//! ```text
//! service      the Service and the workload behind it
//! workload     what the twin's pods share with stable's: volumes, ports, budgets, other selectors
//! change       what would change of what is deployed: selectors, and the pods that run
//! content      names, Secrets, hooks and texts
//! tokens       the names in a text
//! ```

mod change;
mod content;
mod service;
mod tokens;
mod workload;

use crate::deployed::Deployed;
use crate::names::Names;
use crate::{Object, Rules};
use serde::Serialize;
use std::fmt;

/// The name of a check that a chart failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// The released Service is in both versions of the chart.
    ServiceExists,
    /// Its ports and its selector are the same in both.
    ServiceUnchanged,
    /// Exactly one Deployment is behind it, and nothing else.
    OneDeployment,
    /// The Deployment is in both versions.
    StableExists,
    /// There is something to compare: the Deployment or what it names differs.
    SomethingDiffers,
    /// Besides stable and the candidate no version is deployed.
    TwoVersions,
    /// The chart's own selector does not name the version label.
    VersionLabel,
    /// The Deployment can run beside itself.
    Strategy,
    /// Claims can be mounted by several pods.
    SharedClaim,
    /// The pods occupy no port of their node.
    HostPort,
    /// No pod is in two disruption budgets.
    OneDisruptionBudget,
    /// No other workload's selector matches the twin's pods, nor an autoscaler's target.
    SelectorOverlap,
    /// It is decided what becomes of hooks and of new Jobs.
    HooksAnswered,
    /// It is decided whether a Secret that differs is random.
    RandomSecret,
    /// No text of the twin names an object that is renamed.
    NameInText,
    /// A SealedSecret that the pods need is the same in both.
    SealedSecret,
    /// The name of a twin is free and not too long.
    TwinName,
    /// No object of the new render is a twin already.
    RenderedOnce,
    /// The end of a promotion restarts no pod.
    FinishKeepsPods,
    /// The selector of no workload changes, which Kubernetes refuses: Helm has written other objects by then.
    SelectorUnchanged,
    /// The canary comes without a change of the template of stable's pods.
    StablePodsKept,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 21] = [
        Self::ServiceExists,
        Self::ServiceUnchanged,
        Self::OneDeployment,
        Self::StableExists,
        Self::SomethingDiffers,
        Self::TwoVersions,
        Self::VersionLabel,
        Self::Strategy,
        Self::SharedClaim,
        Self::HostPort,
        Self::OneDisruptionBudget,
        Self::SelectorOverlap,
        Self::HooksAnswered,
        Self::RandomSecret,
        Self::NameInText,
        Self::SealedSecret,
        Self::TwinName,
        Self::RenderedOnce,
        Self::FinishKeepsPods,
        Self::SelectorUnchanged,
        Self::StablePodsKept,
    ];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::ServiceExists => "service-exists",
            Self::ServiceUnchanged => "service-unchanged",
            Self::OneDeployment => "one-deployment",
            Self::StableExists => "stable-exists",
            Self::SomethingDiffers => "something-differs",
            Self::TwoVersions => "two-versions",
            Self::VersionLabel => "version-label",
            Self::Strategy => "strategy",
            Self::SharedClaim => "shared-claim",
            Self::HostPort => "host-port",
            Self::OneDisruptionBudget => "one-disruption-budget",
            Self::SelectorOverlap => "selector-overlap",
            Self::HooksAnswered => "hooks-answered",
            Self::RandomSecret => "random-secret",
            Self::NameInText => "name-in-text",
            Self::SealedSecret => "sealed-secret",
            Self::TwinName => "twin-name",
            Self::RenderedOnce => "rendered-once",
            Self::FinishKeepsPods => "finish-keeps-pods",
            Self::SelectorUnchanged => "selector-unchanged",
            Self::StablePodsKept => "stable-pods-kept",
        }
    }

    /// The check of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Whether the operator can know better.
    pub fn can_be_skipped(self) -> bool {
        matches!(
            self,
            Self::ServiceUnchanged
                | Self::Strategy
                | Self::SharedClaim
                | Self::HostPort
                | Self::SelectorOverlap
                | Self::NameInText
                | Self::SealedSecret
                | Self::FinishKeepsPods
                | Self::SelectorUnchanged
                | Self::StablePodsKept
        )
    }
}

/// A refusal of a chart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The check that failed.
    pub check: Check,
    /// The object that it is about.
    pub object: String,
    /// The expected and the found text.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.check.name(), self.object, self.message)
    }
}

/// The input of a check.
pub(crate) struct CheckContext<'c> {
    pub(crate) deployed: &'c Deployed<'c>,
    pub(crate) candidate: &'c [Object],
    pub(crate) deployment: &'c Object,
    pub(crate) names: &'c Names,
    pub(crate) rules: &'c Rules,
}

/// The refusals of a list, without those whose check is skipped.
pub(crate) struct Refusals<'r> {
    rules: &'r Rules,
    pub(crate) list: Vec<Refusal>,
}

impl<'r> Refusals<'r> {
    pub(crate) fn new(rules: &'r Rules) -> Self {
        Self { rules, list: Vec::new() }
    }

    pub(crate) fn add(&mut self, check: Check, object: &dyn fmt::Display, message: impl Into<String>) {
        if !(check.can_be_skipped() && self.rules.skip.contains(&check)) {
            self.list.push(Refusal { check, object: object.to_string(), message: message.into() });
        }
    }
}

pub(crate) use change::pod_change;
pub(crate) use service::released_deployment;

/// Refusals of two versions beside each other.
pub(crate) fn check_beside(context: &CheckContext<'_>, output: &[Object], refusals: &mut Refusals<'_>) {
    content::check_rendered_once(context, refusals);
    service::check(context, refusals);
    workload::check(context, refusals);
    content::check(context, refusals);
    change::check_selectors(context, output, refusals);
    change::check_later_selectors(context, refusals);
    change::check_stable_pods(context, output, refusals);
}

/// Refusals of the end of a promotion.
pub(crate) fn check_alone(context: &CheckContext<'_>, output: &[Object], refusals: &mut Refusals<'_>) {
    content::check_rendered_once(context, refusals);
    content::check_hooks(context, refusals);
    change::check_selectors(context, output, refusals);
    change::check_finish(context, output, refusals);
}
