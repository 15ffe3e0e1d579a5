//! The fields of Argo Rollouts' kinds.

use super::super::difference::{BEHAVIOUR, COSMETIC, GUARD};
use super::super::fields::{FieldRule, carried, differs, irrelevant, lost};

const OTHER_ROUTER: &str = "it belongs to another mesh or ingress: the filter runs in proxies of Istio";
const NEEDS_ISTIO: &str = "move the host to a gateway of Istio first";
const SCALE: &str = "scale the Deployments of both versions yourself";
const NOT_SCALED: &str = "no pods are scaled: a Deployment of each version is yours";
const METADATA: &str = "labels and annotations that follow the role of a pod";
const SET_METADATA: &str = "set them in the pod template of each version";
const OTHER_PROVIDER: &str = "measurements of this provider are not made: Prometheus alone is asked";
const ASK_PROMETHEUS: &str =
    "ask the same of Prometheus, or by a `rollout` hook that responds with 2xx or an error";
const NO_CREDENTIALS: &str = "Prometheus is asked without it: one that needs it has no values";
const BEARER: &str = "give a bearer token by `prometheus.bearerTokenFrom`";

/// `Rollout`, `argoproj.io/v1alpha1`.
pub(in crate::import) const ROLLOUT: &[FieldRule] = &[
    carried(
        "spec spec.minReadySeconds spec.replicas spec.selector.** spec.strategy spec.strategy.blueGreen
        spec.strategy.blueGreen.activeService spec.strategy.blueGreen.autoPromotionEnabled
        spec.strategy.blueGreen.postPromotionAnalysis.** spec.strategy.blueGreen.prePromotionAnalysis
        spec.strategy.blueGreen.prePromotionAnalysis.args.**
        spec.strategy.blueGreen.prePromotionAnalysis.dryRun.**
        spec.strategy.blueGreen.prePromotionAnalysis.templates.** spec.strategy.canary
        spec.strategy.canary.analysis spec.strategy.canary.analysis.args.**
        spec.strategy.canary.analysis.dryRun.** spec.strategy.canary.analysis.templates.**
        spec.strategy.canary.canaryService spec.strategy.canary.stableService spec.strategy.canary.steps
        spec.strategy.canary.steps[].analysis spec.strategy.canary.steps[].analysis.args.**
        spec.strategy.canary.steps[].analysis.dryRun.**
        spec.strategy.canary.steps[].analysis.templates.** spec.strategy.canary.steps[].pause
        spec.strategy.canary.steps[].pause.duration spec.strategy.canary.steps[].setHeaderRoute
        spec.strategy.canary.steps[].setMirrorRoute spec.strategy.canary.steps[].setWeight
        spec.strategy.canary.trafficRouting spec.strategy.canary.trafficRouting.istio
        spec.strategy.canary.trafficRouting.istio.destinationRule.**
        spec.strategy.canary.trafficRouting.istio.virtualService
        spec.strategy.canary.trafficRouting.istio.virtualService.name
        spec.strategy.canary.trafficRouting.istio.virtualService.routes
        spec.strategy.canary.trafficRouting.istio.virtualServices.**
        spec.strategy.canary.trafficRouting.maxTrafficWeight spec.template.** spec.workloadRef.**",
    ),
    irrelevant(
        "spec.analysis.** spec.restartAt spec.revisionHistoryLimit spec.strategy.blueGreen.maxUnavailable
        spec.strategy.blueGreen.prePromotionAnalysis.analysisRunMetadata.**
        spec.strategy.blueGreen.prePromotionAnalysis.measurementRetention.**
        spec.strategy.canary.analysis.analysisRunMetadata.**
        spec.strategy.canary.analysis.measurementRetention.** spec.strategy.canary.maxSurge
        spec.strategy.canary.maxUnavailable spec.strategy.canary.steps[].analysis.analysisRunMetadata.**
        spec.strategy.canary.steps[].analysis.measurementRetention.**
        spec.strategy.canary.steps[].setHeaderRoute.name
        spec.strategy.canary.steps[].setMirrorRoute.name
        spec.strategy.canary.steps[].setMirrorRoute.percentage
        spec.strategy.canary.trafficRouting.managedRoutes.**",
    ),
    lost(
        "spec.paused",
        BEHAVIOUR,
        "a release is paused on the cluster and not in the file",
        "pause the release after it is applied",
    ),
    lost(
        "spec.progressDeadlineAbort",
        BEHAVIOUR,
        "a canary whose pods make no progress is not rolled back; an alert `stalled` is sent",
        "give `rollout.alerts` a receiver",
    ),
    differs(
        "spec.progressDeadlineSeconds",
        BEHAVIOUR,
        "past it an alert `stalled` is sent, and no user is sent to a version without ready pods",
        "give `rollout.alerts` a receiver",
    ),
    differs(
        "spec.rollbackWindow.**",
        COSMETIC,
        "a rollback to a version with sessions is one change of roles, without steps",
        "nothing",
    ),
    lost(
        "spec.strategy.blueGreen.abortScaleDownDelaySeconds
        spec.strategy.blueGreen.scaleDownDelayRevisionLimit
        spec.strategy.blueGreen.scaleDownDelaySeconds spec.strategy.canary.abortScaleDownDelaySeconds
        spec.strategy.canary.minPodsPerReplicaSet spec.strategy.canary.scaleDownDelayRevisionLimit
        spec.strategy.canary.scaleDownDelaySeconds",
        COSMETIC,
        NOT_SCALED,
        SCALE,
    ),
    lost(
        "spec.strategy.blueGreen.activeMetadata.** spec.strategy.blueGreen.previewMetadata.**
        spec.strategy.canary.canaryMetadata.** spec.strategy.canary.stableMetadata.**",
        COSMETIC,
        METADATA,
        SET_METADATA,
    ),
    lost(
        "spec.strategy.blueGreen.antiAffinity.** spec.strategy.canary.antiAffinity.**",
        BEHAVIOUR,
        "pods of both versions may share a node",
        "set it in the pod templates",
    ),
    lost(
        "spec.strategy.blueGreen.autoPromotionSeconds",
        BEHAVIOUR,
        "a person opens the step, however long it has lasted",
        "nothing, or write steps with weights",
    ),
    lost(
        "spec.strategy.blueGreen.previewReplicaCount spec.strategy.canary.dynamicStableScale
        spec.strategy.canary.steps[].setCanaryScale.**",
        BEHAVIOUR,
        NOT_SCALED,
        SCALE,
    ),
    differs(
        "spec.strategy.blueGreen.previewService",
        BEHAVIOUR,
        "testers reach the canary on the host of the release, with a signed token",
        "keep the Service with the label of the version if a test needs it",
    ),
    differs(
        "spec.strategy.canary.analysis.startingStep",
        BEHAVIOUR,
        "metrics count from the first step with users on",
        "nothing",
    ),
    differs(
        "spec.strategy.canary.pingPong.**",
        BEHAVIOUR,
        "both Services become one, whose pods are told by the version label",
        "apply the Service of the steps",
    ),
    lost(
        "spec.strategy.canary.replicaProgressThreshold.**",
        BEHAVIOUR,
        "a version needs one ready pod, and as many as its users for whom it was scaled",
        "scale before the weight rises",
    ),
    lost(
        "spec.strategy.canary.steps[].experiment.**",
        GUARD,
        "no pods are started for an experiment, and its analyses are not made",
        "test the canary at 0% with a token, or by a `pre-rollout` hook",
    ),
    lost("spec.strategy.canary.steps[].plugin.**", GUARD, "plugins are not run", "do the same in a hook"),
    // A step without a match takes the route away again.
    lost(
        "spec.strategy.canary.steps[].setHeaderRoute.match.**",
        GUARD,
        "no header of a request leads to the canary: testers have a signed token",
        "give testers tokens (`override: token`)",
    ),
    lost(
        "spec.strategy.canary.steps[].setMirrorRoute.match.**",
        GUARD,
        "the canary gets no copies of requests",
        "add `mirror` to your VirtualService, or test at 0% with a token",
    ),
    lost(
        "spec.strategy.canary.trafficRouting.alb.** spec.strategy.canary.trafficRouting.ambassador.**
        spec.strategy.canary.trafficRouting.apisix.** spec.strategy.canary.trafficRouting.appMesh.**
        spec.strategy.canary.trafficRouting.nginx.** spec.strategy.canary.trafficRouting.plugins.**
        spec.strategy.canary.trafficRouting.smi.** spec.strategy.canary.trafficRouting.traefik.**",
        BEHAVIOUR,
        OTHER_ROUTER,
        NEEDS_ISTIO,
    ),
    lost(
        "spec.strategy.canary.trafficRouting.istio.virtualService.tcpRoutes.**",
        BEHAVIOUR,
        "connections without HTTP are not divided: they reach the pods of every version",
        "keep such ports out of the Service",
    ),
    lost(
        "spec.strategy.canary.trafficRouting.istio.virtualService.tlsRoutes.**",
        BEHAVIOUR,
        "TLS that the gateway passes on is not divided",
        "end TLS at the gateway",
    ),
];

/// `AnalysisTemplate` and `ClusterAnalysisTemplate`, `argoproj.io/v1alpha1`.
pub(in crate::import) const ANALYSIS_TEMPLATE: &[FieldRule] = &[
    carried(
        "spec spec.args spec.args[].name spec.args[].value spec.args[].valueFrom.** spec.dryRun.**
        spec.metrics spec.metrics[].failureCondition spec.metrics[].interval spec.metrics[].name
        spec.metrics[].provider spec.metrics[].provider.prometheus
        spec.metrics[].provider.prometheus.address spec.metrics[].provider.prometheus.query
        spec.metrics[].provider.prometheus.rangeQuery.** spec.metrics[].successCondition spec.templates
        spec.templates[].clusterScope spec.templates[].templateName",
    ),
    irrelevant("spec.measurementRetention.** spec.metrics[].provider.prometheus.timeout"),
    differs(
        "spec.metrics[].consecutiveErrorLimit",
        BEHAVIOUR,
        "a query without a result never decides; the rollout waits",
        "give `rollout.alerts` a receiver",
    ),
    lost(
        "spec.metrics[].consecutiveSuccessLimit",
        BEHAVIOUR,
        "a metric counts to the end of the rollout, however often it was good",
        "nothing",
    ),
    differs(
        "spec.metrics[].count",
        BEHAVIOUR,
        "a metric is measured to the end of the rollout",
        "give the step of a plan the time that the measurements took (`hold`)",
    ),
    differs(
        "spec.metrics[].failureLimit",
        GUARD,
        "Argo counts failures of the whole analysis; here so many measurements fail in a row",
        "take a lower `failureThreshold` to be as strict",
    ),
    differs(
        "spec.metrics[].inconclusiveLimit",
        BEHAVIOUR,
        "a value is as expected or it is not; nothing is inconclusive",
        "check `min` and `max`",
    ),
    differs(
        "spec.metrics[].initialDelay",
        BEHAVIOUR,
        "a metric is measured first after its interval in a step with users",
        "nothing, or a longer `interval`",
    ),
    lost(
        "spec.metrics[].provider.cloudWatch.** spec.metrics[].provider.datadog.**
        spec.metrics[].provider.graphite.** spec.metrics[].provider.influxdb.**
        spec.metrics[].provider.kayenta.** spec.metrics[].provider.newRelic.**
        spec.metrics[].provider.plugin.** spec.metrics[].provider.skywalking.**
        spec.metrics[].provider.wavefront.**",
        GUARD,
        OTHER_PROVIDER,
        ASK_PROMETHEUS,
    ),
    lost(
        "spec.metrics[].provider.job.**",
        GUARD,
        "no Job is run",
        "let a `pre-rollout` or `rollout` hook run it",
    ),
    lost(
        "spec.metrics[].provider.prometheus.authentication.**
        spec.metrics[].provider.prometheus.headers.**",
        GUARD,
        NO_CREDENTIALS,
        BEARER,
    ),
    lost(
        "spec.metrics[].provider.prometheus.insecure",
        GUARD,
        "certificates are always verified: a Prometheus without a valid one has no values",
        "give it a certificate that the driver trusts",
    ),
    lost(
        "spec.metrics[].provider.web.**",
        GUARD,
        "no value is read from a URL",
        "let a `rollout` hook call it: 2xx is good, another status is not",
    ),
];
