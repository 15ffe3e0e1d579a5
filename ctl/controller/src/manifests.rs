//! The objects by which the controller itself is installed, as plain JSON: `generate` prints them, and the chart has the same with its own
//! namespace and image.

use crate::{GROUP, VERSION};
use canary_release::routing::{GATEWAY_API_GROUP, RouteKind};
use serde_json::{Value, json};

/// Where, and from which image.
#[derive(Clone, Copy, Debug)]
pub struct Installation<'a> {
    /// The namespace of the controller.
    pub namespace: &'a str,
    /// The image with the tool.
    pub image: &'a str,
    /// The namespace of the objects that it carries out; `None` is all.
    pub only: Option<&'a str>,
}

/// The name of everything that belongs to the controller.
pub const NAME: &str = "canary-controller";
/// The port of its probes and metrics.
const PORT: u16 = 8080;

impl Installation<'_> {
    /// The objects, in the order in which they are to be applied; without the definition of `Release`.
    pub fn objects(&self) -> Vec<Value> {
        let mut objects =
            vec![grant_definition(), self.namespace(), self.account(), self.role(), self.binding()];
        objects.extend([
            Self::cluster_role(),
            self.cluster_binding(),
            self.lease_role(),
            self.lease_binding(),
            self.deployment(),
            self.disruption_budget(),
        ]);
        objects
    }

    fn metadata(&self) -> Value {
        json!({"name": NAME, "namespace": self.namespace, "labels": {"app.kubernetes.io/name": NAME}})
    }

    fn namespace(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace,
            "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    }

    fn account(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": self.metadata()})
    }

    /// In a namespace of its own a controller has the same rights there alone: what a gateway of another namespace needs is given there.
    fn role(&self) -> Value {
        let (kind, metadata) = match self.only {
            Some(only) => ("Role", json!({"name": NAME, "namespace": only})),
            None => ("ClusterRole", json!({"name": NAME})),
        };
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "rules": rules()})
    }

    fn binding(&self) -> Value {
        let (kind, role, metadata) = match self.only {
            Some(only) => ("RoleBinding", "Role", json!({"name": NAME, "namespace": only})),
            None => ("ClusterRoleBinding", "ClusterRole", json!({"name": NAME})),
        };
        self.bound(kind, (role, NAME), &metadata)
    }

    /// The role for reads of the whole cluster, also by a controller of one namespace.
    fn cluster_role() -> Value {
        let mut definition = rule("apiextensions.k8s.io", &["customresourcedefinitions"], &["get"]);
        if let Value::Object(rule) = &mut definition {
            rule.insert("resourceNames".to_owned(), json!([format!("releases.{GROUP}")]));
        }
        let rules = json!([rule(GROUP, &["releasegrants"], &["get", "list", "watch"]), definition]);
        let metadata = json!({"name": format!("{NAME}-cluster")});
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    }

    fn cluster_binding(&self) -> Value {
        let name = format!("{NAME}-cluster");
        self.bound("ClusterRoleBinding", ("ClusterRole", &name), &json!({"name": name}))
    }

    fn lease_role(&self) -> Value {
        let rules = json!([rule("coordination.k8s.io", &["leases"], &["get", "create", "update", "delete"])]);
        let metadata = json!({"name": format!("{NAME}-lease"), "namespace": self.namespace});
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules})
    }

    fn lease_binding(&self) -> Value {
        let metadata = json!({"name": format!("{NAME}-lease"), "namespace": self.namespace});
        self.bound("RoleBinding", ("Role", &format!("{NAME}-lease")), &metadata)
    }

    fn bound(&self, kind: &str, (role, name): (&str, &str), metadata: &Value) -> Value {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": self.namespace}]})
    }

    fn deployment(&self) -> Value {
        let labels = json!({"app.kubernetes.io/name": NAME});
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(),
            "spec": {"replicas": 2, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels, "annotations": {"sidecar.istio.io/inject": "false",
                    "prometheus.io/scrape": "true", "prometheus.io/port": PORT.to_string()}},
                    "spec": self.pod()}}})
    }

    fn pod(&self) -> Value {
        let mut arguments = vec![json!("controller"), json!(format!("--listen=0.0.0.0:{PORT}"))];
        arguments.extend(self.only.map(|only| json!(format!("--namespace={only}"))));
        let field = |path: &str| json!({"fieldRef": {"fieldPath": path}});
        let probe = |path: &str| json!({"httpGet": {"path": path, "port": "http"}});
        let container = json!({"name": "controller", "image": self.image, "args": arguments,
            "env": [{"name": "POD_NAME", "valueFrom": field("metadata.name")},
                {"name": "POD_NAMESPACE", "valueFrom": field("metadata.namespace")}],
            "ports": [{"name": "http", "containerPort": PORT}],
            "livenessProbe": probe("/livez"), "readinessProbe": probe("/readyz"),
            "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]}}});
        json!({"serviceAccountName": NAME, "terminationGracePeriodSeconds": 10, "containers": [container],
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65_532, "seccompProfile": {"type": "RuntimeDefault"}}})
    }

    fn disruption_budget(&self) -> Value {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": self.metadata(),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}}}})
    }
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

/// The rules that the operations need, for any release.
fn rules() -> Value {
    let read = ["get", "list", "watch"];
    let write = ["get", "list", "watch", "create", "update", "patch", "delete"];
    json!([
        rule(GROUP, &["releases"], &read),
        rule(GROUP, &["releases/status"], &["get", "patch"]),
        rule("", &["configmaps"], &["get", "list", "create", "update", "patch", "delete"]),
        rule("", &["secrets"], &["get", "create", "update"]),
        rule("", &["pods", "namespaces"], &["get", "list"]),
        // Of each version, where the routes are of the Gateway API.
        rule("", &["services"], &["get", "list", "create", "patch", "delete"]),
        rule("", &["pods/proxy"], &["get"]),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
        rule("coordination.k8s.io", &["leases"], &["get", "create", "update", "delete"]),
        rule("apps", &["deployments", "replicasets"], &["get", "list"]),
        rule("networking.istio.io", &["envoyfilters", "virtualservices", "destinationrules"], &write),
        rule(
            "networking.istio.io",
            &["gateways", "serviceentries", "sidecars", "workloadentries"],
            &["get", "list"]
        ),
        rule("security.istio.io", &["requestauthentications"], &["list"]),
        rule("extensions.istio.io", &["wasmplugins", "trafficextensions"], &write),
        rule(GATEWAY_API_GROUP, &["gateways"], &["get"]),
        rule(GATEWAY_API_GROUP, &["referencegrants"], &["list"]),
        rule(GATEWAY_API_GROUP, &RouteKind::ALL.map(RouteKind::resource), &write),
        rule("networking.k8s.io", &["ingresses"], &["get", "list"]),
    ])
}

/// The `CustomResourceDefinition` of `ReleaseGrant`.
pub fn grant_definition() -> Value {
    let texts = |description: &str| {
        json!({"type": "array", "maxItems": 256, "x-kubernetes-list-type": "set", "description": description,
        "items": {"type": "string", "minLength": 1, "maxLength": 253}})
    };
    let flag = |description: &str| json!({"type": "boolean", "description": description});
    let properties = json!({
        "from": texts("The namespaces of the releases."),
        "gateways": texts("The Gateways of this namespace that they may use (default: all)."),
        "hosts": texts("The hosts that they may take at these gateways: exact, `*.suffix`, or `*` (default: none)."),
        "modules": texts("The URLs of modules that may run in proxies of this namespace, each with everything that begins with it (default: the module that the tool carries)."),
        "sidecars": flag("Whether sidecars of this namespace may decide for them (default: false)."),
        "trains": flag("Whether releases of this namespace may share a train with them (default: false)."),
        "keys": flag("Whether the signing keys of this namespace may be copied to the other namespaces of such a release (default: false)."),
    });
    let spec = json!({"type": "object", "required": ["from"], "properties": properties,
        "description": "What releases of other namespaces may use of this one."});
    let schema = json!({"type": "object", "required": ["spec"], "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, "spec": spec},
        "description": "A grant for releases of other namespaces: without one a controller writes nothing here for them."});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("releasegrants.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced",
            "names": {"kind": "ReleaseGrant", "listKind": "ReleaseGrantList", "plural": "releasegrants", "singular": "releasegrant"},
            "versions": [{"name": VERSION, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
