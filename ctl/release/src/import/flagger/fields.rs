//! The fields of Flagger's kinds.

use super::super::difference::{BEHAVIOUR, COSMETIC, GUARD};
use super::super::fields::{FieldRule, carried, deprecated, differs, irrelevant, lost};

const IN_ROUTES: &str = "it belongs to the VirtualService, which is yours from now on";
const KEEP_ROUTES: &str = "it is in the VirtualService of the steps";
const OTHER_PROVIDER: &str = "it belongs to another mesh or ingress: the filter runs in proxies of Istio";
const NEEDS_ISTIO: &str = "move the host to a gateway of Istio first";
const SCALE: &str = "scale the Deployments of both versions yourself";

/// `Canary`, `flagger.app/v1beta1`.
pub(in crate::import) const CANARY: &[FieldRule] = &[
    carried(
        "spec spec.provider spec.metricsServer spec.targetRef spec.targetRef.apiVersion
        spec.targetRef.kind spec.targetRef.name spec.service spec.service.name spec.service.port
        spec.service.portName spec.service.appProtocol spec.service.targetPort spec.service.hosts
        spec.service.match.** spec.service.gateways spec.analysis spec.analysis.interval
        spec.analysis.iterations spec.analysis.maxWeight spec.analysis.stepWeight
        spec.analysis.stepWeights spec.analysis.metrics spec.analysis.metrics[].name
        spec.analysis.metrics[].interval spec.analysis.metrics[].threshold
        spec.analysis.metrics[].thresholdRange spec.analysis.metrics[].thresholdRange.min
        spec.analysis.metrics[].thresholdRange.max spec.analysis.metrics[].query
        spec.analysis.metrics[].templateRef spec.analysis.metrics[].templateRef.name
        spec.analysis.metrics[].templateRef.namespace spec.analysis.metrics[].templateVariables.**
        spec.analysis.alerts spec.analysis.alerts[].name spec.analysis.alerts[].severity
        spec.analysis.alerts[].providerRef spec.analysis.alerts[].providerRef.name
        spec.analysis.alerts[].providerRef.namespace spec.analysis.webhooks
        spec.analysis.webhooks[].name spec.analysis.webhooks[].type spec.analysis.webhooks[].url
        spec.analysis.webhooks[].timeout spec.analysis.webhooks[].retries
        spec.analysis.webhooks[].metadata.** spec.analysis.sessionAffinity
        spec.analysis.sessionAffinity.domain spec.analysis.sessionAffinity.maxAge
        spec.analysis.sessionAffinity.sameSite spec.analysis.sessionAffinity.secure",
    ),
    irrelevant(
        "spec.service.meshName spec.service.backends spec.service.unmanagedMetadata.**
        spec.analysis.mirrorWeight spec.analysis.sessionAffinity.httpOnly",
    ),
    differs(
        "spec.progressDeadlineSeconds",
        BEHAVIOUR,
        "past it Flagger rolls back a canary whose pods make no progress; here an alert `stalled` is sent, and no user is sent to a version without ready pods",
        "give `rollout.alerts` a receiver",
    ),
    lost(
        "spec.autoscalerRef.**",
        BEHAVIOUR,
        "Flagger copies and stops the autoscaler of the canary; here no pods are scaled",
        SCALE,
    ),
    lost("spec.ingressRef.** spec.routeRef.** spec.upstreamRef.**", BEHAVIOUR, OTHER_PROVIDER, NEEDS_ISTIO),
    lost(
        "spec.service.trafficDistribution",
        COSMETIC,
        "it is a field of the Services that Flagger makes",
        "set it in your Service",
    ),
    lost(
        "spec.service.portDiscovery",
        COSMETIC,
        "Flagger adds the other ports of the containers to its Services",
        "add the ports to your Service",
    ),
    lost(
        "spec.service.headless",
        BEHAVIOUR,
        "routes of Istio lead to a Service with an address",
        "check that callers do not resolve the pods",
    ),
    differs(
        "spec.service.timeout spec.service.retries.** spec.service.rewrite.** spec.service.headers.**
        spec.service.corsPolicy.**",
        COSMETIC,
        IN_ROUTES,
        KEEP_ROUTES,
    ),
    lost(
        "spec.service.backendTimeout",
        BEHAVIOUR,
        "it is a field of the HTTPRoutes that Flagger makes",
        "set it in your HTTPRoute",
    ),
    lost(
        "spec.service.delegation",
        BEHAVIOUR,
        "Flagger makes a VirtualService without hosts and gateways, to which yours delegates",
        "remove hosts and gateways from the VirtualService of the steps, and keep the one that delegates",
    ),
    lost(
        "spec.service.mirror.**",
        GUARD,
        "requests are not mirrored",
        "add `mirror` to the VirtualService of the steps",
    ),
    differs(
        "spec.service.gatewayRefs.**",
        BEHAVIOUR,
        "HTTPRoutes of the Gateway API are not written, but printed",
        "set `routes: external`, and print them",
    ),
    differs(
        "spec.service.trafficPolicy.**",
        COSMETIC,
        "it belongs to a DestinationRule, which is yours from now on; ours takes it over for both versions",
        "it is in the DestinationRule of the steps",
    ),
    lost(
        "spec.service.apex.**",
        COSMETIC,
        "labels and annotations of a Service that Flagger makes",
        "set them on your Service",
    ),
    lost(
        "spec.service.primary.** spec.service.canary.**",
        COSMETIC,
        "labels and annotations of a Service that is not needed any more",
        "nothing, unless something selects by them",
    ),
    differs(
        "spec.skipAnalysis",
        BEHAVIOUR,
        "Flagger promotes without checks; the release has a plan with checks",
        "promote by hand where no check is wanted",
    ),
    differs(
        "spec.revertOnDeletion",
        BEHAVIOUR,
        "with it Flagger changes Deployments and routes when the Canary is deleted",
        "set it to false before the first step",
    ),
    lost(
        "spec.suspend",
        BEHAVIOUR,
        "a release is paused on the cluster and not in the file",
        "pause the release after it is applied",
    ),
    differs(
        "spec.analysis.threshold",
        GUARD,
        "Flagger counts failed checks of the whole analysis; here so many measurements of one metric fail in a row",
        "take a lower `failureThreshold` to be as strict",
    ),
    lost(
        "spec.analysis.stepWeightPromotion",
        BEHAVIOUR,
        "a promotion is one change of roles: new users get the new version, and sessions finish where they are",
        "nothing",
    ),
    lost(
        "spec.analysis.mirror",
        GUARD,
        "the canary gets no copies of requests before it has users",
        "test it at 0% with a token, or call a load tester by a `pre-rollout` hook",
    ),
    lost(
        "spec.analysis.primaryReadyThreshold spec.analysis.canaryReadyThreshold",
        BEHAVIOUR,
        "a version needs one ready pod, and as many as its users for whom it was scaled",
        "scale before the weight rises",
    ),
    lost(
        "spec.analysis.match.**",
        GUARD,
        "users are not chosen by what their requests contain: nobody gets the canary at 0% by a header or a cookie",
        "give testers signed tokens (`override: token`), or begin with a small weight",
    ),
    lost("spec.analysis.webhooks[].muteAlert", COSMETIC, "hooks send no alerts of their own", "nothing"),
    lost(
        "spec.analysis.webhooks[].disableTLS",
        GUARD,
        "certificates are always verified: a call to an endpoint without a valid one fails",
        "give the endpoint a certificate that the driver trusts",
    ),
    differs(
        "spec.analysis.sessionAffinity.cookieName",
        COSMETIC,
        "the pin of a session has a name of its own; users are assigned again once, when the release begins",
        "remove the old cookie from code that reads it",
    ),
    differs(
        "spec.analysis.sessionAffinity.primaryCookieName",
        COSMETIC,
        "sessions of both versions are kept by one pin",
        "nothing",
    ),
    lost(
        "spec.analysis.sessionAffinity.partitioned spec.analysis.sessionAffinity.path",
        COSMETIC,
        "the pin takes this attribute from the session cookie of the application",
        "name it in `session.cookie`",
    ),
    // Not in the schema of the resource any more.
    deprecated("spec.canaryAnalysis", "spec.analysis"),
];

/// `MetricTemplate`, `flagger.app/v1beta1`.
pub(in crate::import) const METRIC_TEMPLATE: &[FieldRule] = &[
    carried(
        "spec spec.provider spec.provider.type spec.provider.address spec.provider.secretRef.**
        spec.query",
    ),
    irrelevant("spec.provider.region"),
    lost(
        "spec.provider.headers.**",
        GUARD,
        "Prometheus is asked without headers of yours: one that needs them has no values",
        "use an address that needs none",
    ),
    lost(
        "spec.provider.insecureSkipVerify",
        GUARD,
        "certificates are always verified: a Prometheus without a valid one has no values",
        "give it a certificate that the driver trusts",
    ),
];

/// `AlertProvider`, `flagger.app/v1beta1`.
pub(in crate::import) const ALERT_PROVIDER: &[FieldRule] = &[
    carried("spec spec.type spec.address spec.secretRef.**"),
    lost(
        "spec.channel",
        COSMETIC,
        "the channel is that of the webhook's URL",
        "nothing, unless the webhook posts to another channel",
    ),
    lost("spec.username", COSMETIC, "the name is that of the webhook", "nothing"),
    lost("spec.proxy", BEHAVIOUR, "alerts are sent without a proxy", "let the driver reach the receiver"),
];
