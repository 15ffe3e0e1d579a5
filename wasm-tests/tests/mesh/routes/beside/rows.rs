//! The table *object of others × what happens to callers*, as `docs/reference/routes.md` has it.
#![expect(clippy::too_many_lines, reason = "tables")]

use super::Call::{Far, Gateway, Near};
use super::{CALLERS, Call, SHOP};
use wasm_tests::scenario::HOST;

/// Objects beside the release, and their effect at weight 0 with ready pods of both versions.
pub(super) struct Row {
    /// What they are.
    pub(super) object: &'static str,
    yaml: &'static str,
    pub(super) call: Call,
    /// The versions that answer, or the status.
    pub(super) answer: &'static str,
    /// A part of what `doctor` says; nothing: the same as without the object.
    said: &'static str,
    /// Whether the object is the release's own Service.
    pub(super) changes_service: bool,
}

impl Row {
    pub(super) fn objects(&self) -> String {
        named(self.yaml)
    }

    pub(super) fn said(&self) -> String {
        named(self.said)
    }

    /// Its line in the table of the page.
    pub(super) fn line(&self) -> String {
        let caller = match self.call {
            Gateway(_) => "users at the gateway",
            Near(..) => "pods of the Service's namespace",
            Far(..) => "pods of another namespace",
        };
        let answer = match self.answer {
            "v1" => "stable",
            ANY => "**any version**",
            status => status,
        };
        let doctor = if self.said.is_empty() { "–" } else { "names it" };
        format!("| {} | {caller} | {answer} | {doctor} |", self.object)
    }
}

/// A text with the names of namespaces.
fn named(text: &str) -> String {
    let text = text.replace("$SHOP", SHOP).replace("$CALLERS", CALLERS);
    text.replace("$INGRESS", &format!("{SHOP}-ingress"))
}

const fn row(
    object: &'static str,
    yaml: &'static str,
    (call, answer): (Call, &'static str),
    said: &'static str,
) -> Row {
    Row { object, yaml, call, answer, said, changes_service: false }
}

const fn own(
    object: &'static str,
    yaml: &'static str,
    (call, answer): (Call, &'static str),
    said: &'static str,
) -> Row {
    Row { object, yaml, call, answer, said, changes_service: true }
}

pub(super) fn rows() -> Vec<Row> {
    [services(), own_services(), rules(), routes(), sidecars(), http_routes(), policies()]
        .into_iter()
        .flatten()
        .collect()
}

const ANY: &str = "v1 and v2";
const SAME_PODS: &str = "selects the same pods";
const NO_SUBSETS: &str = "their calls would get 503";
const WHOLE: &str = "leads to the Service without a subset";

fn services() -> Vec<Row> {
    vec![
        row(
            "Service of the same pods",
            r"{apiVersion: v1, kind: Service, metadata: {name: inner, namespace: $SHOP}, spec: {selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
            (Near("inner", 80), ANY),
            SAME_PODS,
        ),
        row(
            "Service of the pods of one version",
            r"{apiVersion: v1, kind: Service, metadata: {name: inner, namespace: $SHOP}, spec: {selector: {app: shop, version: v1}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
            (Near("inner", 80), "v1"),
            "",
        ),
        row(
            "Service of the same pods, `type: LoadBalancer`",
            r"{apiVersion: v1, kind: Service, metadata: {name: inner, namespace: $SHOP}, spec: {type: LoadBalancer, selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
            (Near("inner", 80), ANY),
            "load balancer",
        ),
        row(
            "Service of the same pods, `type: NodePort`",
            r"{apiVersion: v1, kind: Service, metadata: {name: inner, namespace: $SHOP}, spec: {type: NodePort, selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
            (Near("inner", 80), ANY),
            "is open on each node",
        ),
        row(
            "Service of the same pods, and a VirtualService to it at the gateway",
            r"
apiVersion: v1
kind: Service
metadata: {name: inner, namespace: $SHOP}
spec: {selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: inner, namespace: $SHOP}
spec: {hosts: [inner.example.com], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: inner}}]}]}
",
            (Gateway("inner.example.com"), ANY),
            "to Service `inner`, which selects the same pods",
        ),
        row(
            "ServiceEntry with a `workloadSelector` of the same pods",
            r"{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: inner, namespace: $SHOP}, spec: {hosts: [inner.example.com], addresses: [240.240.1.1], location: MESH_INTERNAL, resolution: STATIC, ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}], workloadSelector: {labels: {app: shop}}}}",
            (Near("inner.example.com", 80), ANY),
            SAME_PODS,
        ),
        row(
            "Ingress that leads to the Service",
            r"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: old, namespace: $SHOP}, spec: {rules: [{host: old.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}}]}}",
            (Gateway(HOST), "v1"),
            "leads to the Service past Istio's gateways",
        ),
    ]
}

fn own_services() -> Vec<Row> {
    vec![
        own(
            "the Service's port is named `tcp-web`",
            r"{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: $SHOP}, spec: {selector: {app: shop}, ports: [{name: tcp-web, port: 80, targetPort: 8080}]}}",
            (Near("shop", 80), ANY),
            "which is TCP for Istio",
        ),
        own(
            "the same, at the gateway",
            r"{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: $SHOP}, spec: {selector: {app: shop}, ports: [{name: tcp-web, port: 80, targetPort: 8080}]}}",
            (Gateway(HOST), "v1"),
            "which is TCP for Istio",
        ),
        own(
            "another port of the Service, HTTP for Istio",
            r"{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: $SHOP}, spec: {selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}, {name: http-admin, port: 9090, targetPort: 8080}]}}",
            (Near("shop", 9090), "v1"),
            "",
        ),
        own(
            "another port of the Service, TCP for Istio",
            r"{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: $SHOP}, spec: {selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}, {name: tcp-admin, port: 9090, targetPort: 8080}]}}",
            (Near("shop", 9090), ANY),
            "which is TCP for Istio",
        ),
        own(
            "the Service's `sessionAffinity: ClientIP`",
            r"{apiVersion: v1, kind: Service, metadata: {name: shop, namespace: $SHOP}, spec: {sessionAffinity: ClientIP, selector: {app: shop}, ports: [{name: http, port: 80, targetPort: 8080}]}}",
            (Near("shop", 80), "v1"),
            "",
        ),
    ]
}

fn rules() -> Vec<Row> {
    vec![
        row(
            "DestinationRule with `workloadSelector`, for its pods",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $SHOP}, spec: {host: shop, workloadSelector: {matchLabels: {app: client}}, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Near("shop", 80), "503"),
            NO_SUBSETS,
        ),
        row(
            "the same, for other pods",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $SHOP}, spec: {host: shop, workloadSelector: {matchLabels: {app: other}}, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Near("shop", 80), "v1"),
            NO_SUBSETS,
        ),
        row(
            "DestinationRule in the callers' namespace",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $CALLERS}, spec: {host: shop.$SHOP.svc.cluster.local, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Far("shop", 80), "503"),
            NO_SUBSETS,
        ),
        row(
            "the same with `exportTo: [.]`",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $CALLERS}, spec: {host: shop.$SHOP.svc.cluster.local, exportTo: ['.'], trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Far("shop", 80), "503"),
            NO_SUBSETS,
        ),
        row(
            "the same, exported to another namespace alone",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $CALLERS}, spec: {host: shop.$SHOP.svc.cluster.local, exportTo: [nowhere], trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Far("shop", 80), "v1"),
            "",
        ),
        row(
            "the same for `*.local`",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $CALLERS}, spec: {host: '*.local', trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Far("shop", 80), "503"),
            NO_SUBSETS,
        ),
        row(
            "the same with the subsets of both versions",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $CALLERS}, spec: {host: shop.$SHOP.svc.cluster.local, subsets: [{name: v1, labels: {version: v1}}, {name: v2, labels: {version: v2}}]}}",
            (Far("shop", 80), "v1"),
            "",
        ),
        row(
            "DestinationRule in the Service's namespace",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $SHOP}, spec: {host: shop, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Near("shop", 80), "v1"),
            "",
        ),
        row(
            "DestinationRule in the gateway's namespace",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs, namespace: $INGRESS}, spec: {host: shop.$SHOP.svc.cluster.local, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Gateway(HOST), "503"),
            "DestinationRule $INGRESS/theirs",
        ),
        row(
            "DestinationRule in the root namespace",
            r"{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: theirs-beside, namespace: istio-system}, spec: {host: shop.$SHOP.svc.cluster.local, trafficPolicy: {loadBalancer: {simple: LEAST_REQUEST}}}}",
            (Far("shop", 80), "v1"),
            "",
        ),
    ]
}

fn routes() -> Vec<Row> {
    vec![
        row(
            "VirtualService of another host at the gateway, without a subset",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $SHOP}, spec: {hosts: [admin.example.com], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: shop}}]}]}}",
            (Gateway("admin.example.com"), ANY),
            WHOLE,
        ),
        row(
            "the same with stable's subset",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $SHOP}, spec: {hosts: [admin.example.com], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: shop, subset: v1}}]}]}}",
            (Gateway("admin.example.com"), "v1"),
            "",
        ),
        row(
            "VirtualService of another host, in the gateway's namespace",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $INGRESS}, spec: {hosts: [admin.example.com], gateways: [shop], http: [{route: [{destination: {host: shop.$SHOP.svc.cluster.local}}]}]}}",
            (Gateway("admin.example.com"), ANY),
            WHOLE,
        ),
        row(
            "VirtualService of `*.example.com` that leads to the Service, at our host",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $SHOP}, spec: {hosts: ['*.example.com'], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: shop}}]}]}}",
            (Gateway(HOST), "v1"),
            WHOLE,
        ),
        row(
            "the same, at another host of the domain",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $SHOP}, spec: {hosts: ['*.example.com'], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: shop}}]}]}}",
            (Gateway("other.example.com"), ANY),
            WHOLE,
        ),
        row(
            "younger VirtualService of our host",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $SHOP}, spec: {hosts: [shop.example.com], gateways: [$INGRESS/shop], http: [{route: [{destination: {host: shop}}]}]}}",
            (Gateway(HOST), "v1"),
            WHOLE,
        ),
        row(
            "delegating VirtualService of another host",
            r"
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: root, namespace: $INGRESS}
spec: {hosts: [admin.example.com], gateways: [shop], http: [{match: [{uri: {prefix: /}}], delegate: {name: theirs, namespace: $SHOP}}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: theirs, namespace: $SHOP}
spec: {http: [{route: [{destination: {host: shop}}]}]}
",
            (Gateway("admin.example.com"), ANY),
            WHOLE,
        ),
        row(
            "VirtualService of the Service in the callers' namespace, `exportTo: [.]`",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $CALLERS}, spec: {hosts: [shop.$SHOP.svc.cluster.local], exportTo: ['.'], http: [{route: [{destination: {host: shop.$SHOP.svc.cluster.local}}]}]}}",
            (Far("shop", 80), ANY),
            WHOLE,
        ),
        row(
            "VirtualService of `*.svc.cluster.local` in the callers' namespace",
            r"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: theirs, namespace: $CALLERS}, spec: {hosts: ['*.svc.cluster.local'], exportTo: ['.'], http: [{fault: {abort: {httpStatus: 418, percentage: {value: 100}}}, route: [{destination: {host: shop.$SHOP.svc.cluster.local}}]}]}}",
            (Far("shop", 80), "v1"),
            WHOLE,
        ),
        row(
            "another Gateway with our host on the same pods and port",
            r"{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: theirs, namespace: $SHOP}, spec: {selector: {istio: beside-gateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: [shop.example.com]}]}}",
            (Gateway(HOST), "v1"),
            "",
        ),
    ]
}

fn sidecars() -> Vec<Row> {
    const SCOPE: &str = "leaves it out";
    vec![
        row(
            "Sidecar of the callers that leaves the Service out",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {egress: [{hosts: ['./*', 'istio-system/*']}]}}",
            (Far("shop", 80), ANY),
            SCOPE,
        ),
        row(
            "the same with `outboundTrafficPolicy: REGISTRY_ONLY`",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {outboundTrafficPolicy: {mode: REGISTRY_ONLY}, egress: [{hosts: ['./*', 'istio-system/*']}]}}",
            (Far("shop", 80), "no response"),
            SCOPE,
        ),
        row(
            "Sidecar of the callers' pods alone that leaves it out",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: pods, namespace: $CALLERS}, spec: {workloadSelector: {labels: {app: client}}, egress: [{hosts: ['./*']}]}}",
            (Far("shop", 80), ANY),
            SCOPE,
        ),
        row(
            "Sidecar with the Service's namespace",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {egress: [{hosts: ['$SHOP/*']}]}}",
            (Far("shop", 80), "v1"),
            "",
        ),
        row(
            "Sidecar with the Service by its name",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {egress: [{hosts: ['*/shop.$SHOP.svc.cluster.local']}]}}",
            (Far("shop", 80), "v1"),
            "",
        ),
        row(
            "Sidecar with another Service of the namespace by its name",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {egress: [{hosts: ['$SHOP/blog.$SHOP.svc.cluster.local']}]}}",
            (Far("shop", 80), ANY),
            SCOPE,
        ),
        row(
            "Sidecar with `~/*`, which is no host",
            r"{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: default, namespace: $CALLERS}, spec: {egress: [{hosts: ['~/*']}]}}",
            (Far("shop", 80), ANY),
            SCOPE,
        ),
    ]
}

fn http_routes() -> Vec<Row> {
    vec![
        row(
            "HTTPRoute of the Service, younger than our routes",
            r"{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: theirs, namespace: $SHOP}, spec: {parentRefs: [{group: '', kind: Service, name: shop}], rules: [{backendRefs: [{name: shop, port: 80}]}]}}",
            (Near("shop", 80), ANY),
            "leads to the Service, and not to that of a version",
        ),
        row(
            "HTTPRoute of the callers for the Service",
            r"
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: theirs, namespace: $CALLERS}
spec: {parentRefs: [{group: '', kind: Service, name: shop, namespace: $SHOP}], rules: [{backendRefs: [{name: shop, namespace: $SHOP, port: 80}]}]}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: theirs, namespace: $SHOP}
spec: {from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: $CALLERS}], to: [{group: '', kind: Service}]}
",
            (Far("shop", 80), ANY),
            "leads to the Service, and not to that of a version",
        ),
    ]
}

fn policies() -> Vec<Row> {
    vec![
        row(
            "PeerAuthentication `STRICT`",
            r"{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: theirs, namespace: $SHOP}, spec: {mtls: {mode: STRICT}}}",
            (Far("shop", 80), "v1"),
            "",
        ),
        row(
            "AuthorizationPolicy that denies the callers",
            r"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: theirs, namespace: $SHOP}, spec: {action: DENY, rules: [{from: [{source: {namespaces: [$CALLERS]}}]}]}}",
            (Far("shop", 80), "403"),
            "",
        ),
        row(
            "RequestAuthentication",
            r"{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: theirs, namespace: $SHOP}, spec: {selector: {matchLabels: {app: shop}}, jwtRules: [{issuer: x, jwksUri: 'http://127.0.0.1/none'}]}}",
            (Near("shop", 80), "v1"),
            "",
        ),
        row(
            "EnvoyFilter of the gateway",
            r"{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: theirs, namespace: $INGRESS}, spec: {configPatches: [{applyTo: VIRTUAL_HOST, match: {context: GATEWAY}, patch: {operation: MERGE, value: {response_headers_to_add: [{header: {key: x-theirs, value: a}}]}}}]}}",
            (Gateway(HOST), "v1"),
            "",
        ),
    ]
}
