//! What can be done instead of skipping a preflight check, as data.

use super::{DefaultRoute, NarrowSelector, ProxyRuntime, UnroutedCalls};
use crate::object::Reference;
use crate::routing::{Gap, TakenHost};
use crate::spec::Routes;
use assignment::Weight;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// A way to pass a check instead of skipping it.
#[expect(missing_docs, reason = "the message, or the name of a field, says it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// Start pods of a version.
    StartPods { version: String },
    /// Take the version label out of the selector of a Service.
    WidenSelector(NarrowSelector),
    /// Stop the pods of a version, so that no route reaches them.
    StopPods { version: String },
    /// Promote the releases of a train in their order.
    PromoteTrain {
        /// Its name.
        train: String,
    },
    /// Start a process of a version, on the local target.
    StartProcess { version: String },
    /// Write the routes to the canary: `apply` does, unless they are external.
    AddRoutes {
        /// The writer of the routes.
        routes: Routes,
    },
    /// Write the objects of the filter again: `apply` does.
    RestoreFilter,
    /// Name a port that the Service has.
    NameServicePort { ports: Vec<u16> },
    /// Name the Gateway that serves the hosts.
    NameGateway,
    /// Select the pods of the Gateway.
    SelectProxies {
        /// The labels that the Gateway itself selects; none if it is not there.
        labels: BTreeMap<String, String>,
    },
    /// Let a server of the Gateway serve a host.
    ServeHost { host: String },
    /// Let a server of the Gateway terminate TLS, so that it reads requests.
    TerminateTls { host: String },
    /// Let our routes apply to calls.
    CoverCalls { calls: Box<UnroutedCalls> },
    /// Let routes of others for a host be used beside ours.
    ShareHost {
        /// The host, and the object that has them.
        taken: Box<TakenHost>,
    },
    /// Say in the file whether browsers speak TLS.
    StateTls,
    /// Name the address of the module.
    NameModule,
    /// Change the object that leads to the pods past our routes.
    CloseGap {
        /// The object, and what it does.
        gap: Box<Gap>,
    },
    /// Let the plain Service select the stable version alone.
    SelectStable(Box<DefaultRoute>),
    /// Ask who has paused the release.
    AskPauser {
        /// The user.
        by: String,
    },
    /// Raise the weight in smaller steps, or change `maxStep`.
    SmallerSteps {
        /// The largest step.
        max: Weight,
    },
    /// Give users a key: `identifyBy` or `mint`.
    AddUserKey,
    /// Name the application's session cookie.
    NameSessionCookie,
    /// Set the weight to 0, so that no user is moved.
    ZeroWeight,
    /// End the canary before the edit, or take the edit back.
    EndCanary,
    /// Keep users on their pods by a rule of the Service's owner, or have one pod.
    KeepAffinity,
    /// Wait until nobody would be moved.
    WaitUntil {
        /// From when on.
        time: Timestamp,
    },
    /// Choose a time at which the sessions of these Deployments may end.
    EndSessions {
        /// The Deployments whose pods would be restarted.
        deployments: Vec<Reference>,
    },
    /// Apply the other releases of a train between the two steps of a rotation.
    ApplyTrain { train: String },
    /// Give a pod a sidecar, or leave it out.
    GiveSidecar {
        /// The namespace of the pod.
        namespace: String,
        pod: String,
    },
    /// Let the metrics of a proxy be read.
    ReadMetrics {
        /// The namespace of its pod.
        namespace: String,
        pod: String,
    },
    /// Restart the proxies that may have no V8, so that they start with it.
    RestartProxies {
        /// These proxies.
        proxies: Vec<ProxyRuntime>,
    },
}
