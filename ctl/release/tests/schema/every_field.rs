//! Files that have every field together, the pointers to their values, and the validator of the JSON Schema.

use boon::{Compiler, SchemaIndex, Schemas};
use canary_release::spec::json_schema;
use serde_json::{Value, json};

/// A validator of files that knows the schema of `canary.yaml` alone.
pub(crate) struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    pub(crate) fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("canary.schema.json", json_schema()).unwrap();
        let index = compiler.compile("canary.schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    pub(crate) fn faults(&self, file: &Value) -> Option<String> {
        self.schemas.validate(file, self.index).err().map(|error| error.to_string())
    }
}

/// The pointers to all values of a file: each after those of its parts.
pub(crate) fn all_pointers(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    pointers(file, String::new(), &mut found);
    found
}

fn pointers(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| pointers(value, format!("{pointer}/{name}"), found));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| pointers(value, format!("{pointer}/{index}"), found));
        }
        _ => {}
    }
    found.push(pointer);
}

/// Receivers with each place of a URL.
fn alerts() -> Value {
    json!([
        {"name": "team", "type": "slack", "severity": "info", "url": "https://hooks.example.com/T0"},
        {"name": "chat", "type": "discord", "urlFrom": {"env": "DISCORD_URL"}},
        {"name": "office", "type": "teams", "urlFrom": {"file": "/run/secrets/teams"}},
        {"name": "ops", "type": "webhook", "urlFrom": {"secret": {"name": "canary-alerts", "key": "ops"}}},
    ])
}

/// Metrics with a preset and with a query.
fn metrics() -> Value {
    json!([
        {"name": "success-rate", "preset": "request-success-rate", "reporter": "source", "minRequests": 30, "min": 99},
        {"name": "latency", "preset": "request-duration", "quantile": 0.9, "max": "5e2", "ratio": {"min": 0, "max": 1.5}},
        {
            "name": "carts", "query": "sum(carts{version=\"{{ version }}\"})", "interval": "5m", "failureThreshold": 2,
            "difference": {"min": -0.5, "max": ".5"},
        },
    ])
}

fn hooks() -> Value {
    let place = |kind| match kind {
        "confirm-rollout" => ("urlFrom", json!({"env": "GATE_URL"})),
        "pre-rollout" => ("urlFrom", json!({"file": "/run/secrets/tester"})),
        _ => ("url", json!("http://tester.test/")),
    };
    let hook = |kind| {
        let (field, value) = place(kind);
        let mut hook = json!({"name": format!("a-{kind}"), "type": kind});
        if field == "urlFrom" {
            hook["signatureKeyFrom"] = value.clone();
        }
        hook[field] = value;
        hook
    };
    let types = [
        "confirm-rollout",
        "pre-rollout",
        "confirm-traffic-increase",
        "confirm-promotion",
        "post-rollout",
        "rollback",
        "event",
    ];
    let load = json!({
        "name": "load", "type": "rollout", "urlFrom": {"secret": {"name": "hooks", "key": "load"}}, "timeout": "1m", "retries": 2,
        "signatureKeyFrom": {"secret": {"name": "hooks", "key": "load-key"}},
        "interval": "90s", "failureThreshold": 5, "metadata": {"type": "cmd", "cmd": "hey http://shop/"},
    });
    types.into_iter().map(hook).chain([load]).collect()
}

/// Every field that a release on a cluster can have.
pub(crate) fn on_a_cluster() -> Value {
    json!({
        "apiVersion": "canary-ctl.io/v1alpha1",
        "kind": "Release",
        "metadata": {
            "name": "shop", "namespace": "shop", "uid": "abcdefghijkl",
            "labels": {"team": "checkout"}, "annotations": {"note": "any text"},
        },
        "spec": {
            "uid": "abcdefghijkl",
            "service": {"name": "shop", "port": 8080},
            "versions": {"label": "version", "stable": "v1", "canary": "v2"},
            "hosts": ["shop.example.com"],
            "paths": ["/shop"],
            "gateways": [{"name": "ingress/shop", "namespace": "ingress", "selector": {"istio": "ingress"}}],
            "sidecars": [{"namespace": "shop", "selector": {"app": "web"}}],
            "stickiness": "session",
            "session": {"cookie": "SID", "adopt": true, "adoptFor": "24h", "maxAge": "1d", "idle": "30m"},
            "identifyBy": [
                {"cookie": "SID"}, {"header": "x-user"}, {"query": "user"},
                {"jwt": {"claim": "sub", "payload": "payload"}}, {"jwt": {"claim": ["realm", "user"]}},
                "identity", "client-address",
            ],
            "mint": "navigation", "fallback": "stable", "identity": "plain", "salt": "s", "train": "autumn",
            "weight": 12.5, "maxStep": "50%", "onExpiry": "stop",
            "rollout": {
                "plans": {"default": [{"weight": 1, "hold": "10m", "gate": "evidence", "minResponses": 50}, {"weight": 50, "gate": "manual"}]},
                "falseAlarm": 5, "maxErrors": "1%", "minResponses": 300,
                "clientErrors": true, "lostSessions": true, "slowerThan": "500ms", "maxPodRestarts": 3, "onFailure": "rollback",
                "onSuccess": "promote", "deadline": "24h", "maxHeld": "45m", "expiresIn": "1h", "stalledAfter": "10m", "observe": false,
                "windows": [{"days": ["mon", "fri"], "from": "09:00", "to": "17:00", "timeZone": "Europe/Berlin"}],
                "dependsOn": [{"name": "api", "namespace": "back", "stable": "v2"}],
                "alerts": alerts(), "metrics": metrics(), "hooks": hooks(),
                "prometheus": {"address": "https://prometheus.test:9090/x", "bearerTokenFrom": {"env": "PROMETHEUS_TOKEN"}},
            },
            "override": {"mode": "token", "tokensNotBefore": "2026-11-21T12:00:00Z"},
            "cookies": {"tls": true, "sameSite": "Lax", "domain": "example.com"},
            "sessionAffinity": "none", "cacheControl": "unchanged", "latencyHistogram": false, "fuse": true, "routes": "managed",
            "delivery": {
                "mode": "envoyfilter", "module": "oci://registry.test/canary/filter", "sha256": "a".repeat(64),
                "debugHeader": "x-canary-debug", "filterState": false,
            },
        },
    })
}

/// The same for a local Envoy.
pub(crate) fn on_this_machine() -> Value {
    let mut file = on_a_cluster();
    let local = json!({
        "directory": ".canary", "listen": "127.0.0.1:8080", "admin": "[::1]:9901",
        "endpoints": {"v1": ["127.0.0.1:9001"], "v2": ["127.0.0.1:9002", "127.0.0.1:9003"]},
    });
    file["spec"]["delivery"] = json!({"mode": "local", "module": "filter.wasm", "local": local});
    file["spec"]["override"] = json!("open");
    file["spec"]["rollout"]["prometheus"]["bearerTokenFrom"] = json!({"file": "/run/secrets/prometheus"});
    file
}

/// The first one with a token in a Secret.
pub(crate) fn with_a_secret() -> Value {
    let mut file = on_a_cluster();
    let secret = json!({"name": "prometheus", "key": "token"});
    file["spec"]["rollout"]["prometheus"]["bearerTokenFrom"] = json!({"secret": secret});
    file
}
