//! A configuration in which every field is set, for tests that change one.

use assignment::FilterConfig;
use assignment::contract::ContractError;
use serde_json::{Value, json};

/// Every field of the contract, none at its default where another value is possible.
pub(crate) fn full() -> Value {
    let key = "3031323334353637383961626364656630313233343536373839616263646566";
    json!({
        "format": 1, "position": "edge",
        "headers": {"routing": "x-r", "identity": "x-i", "cohort": "x-c", "overrides": "x-o", "token": "x-t"},
        "idCookie": {"name": "who", "secure": true, "sameSite": "Strict", "domain": "example.com"},
        "idMaxAgeSeconds": 60,
        "keys": [{"id": "k1", "key": key, "use": "sign"}, {"id": "k0", "key": key, "use": "verify"}],
        "identityKey": key, "filterState": true, "debugHeader": "x-debug",
        "releases": {"shop/web": {
            "uid": "u1", "generation": 7, "hosts": ["shop.example", "*.shop.example"], "paths": ["/a", "/b"],
            "salt": "s", "train": "autumn", "stickiness": "session", "weight": 2500,
            "until": {"atSeconds": 9, "action": "rollback"},
            "versions": [
                {"name": "v1", "role": "stable", "epoch": 1, "routing": "shop/web/v1/5f"}, {"name": "v2", "role": "canary", "epoch": 2},
                {"name": "v0", "role": "draining", "epoch": 3},
            ],
            "gone": [{"name": "v2", "epoch": 1}],
            "identifyBy": [
                {"cookie": "S"}, {"header": "x-user"}, {"query": "u"}, {"identity": {}}, {"clientAddress": {}},
                {"jwt": {"claim": ["realm", "user"], "payload": "p"}},
            ],
            "sessionCookie": "S", "adopt": "v1", "adoptUntilSeconds": 9, "installedAtSeconds": 3, "identity": "keyed",
            "pin": {
                "cookie": {"name": "pin", "secure": false, "sameSite": "Lax"}, "maxAgeSeconds": 50, "idleSeconds": 5,
            },
            "mint": "always",
            "override": {"mode": "token", "token": {
                "cookie": {"name": "tok", "secure": true, "sameSite": "None"}, "query": "t", "notBeforeSeconds": 4,
            }},
            "fallback": "clientAddress", "sessionAffinity": "identity", "cacheControl": "private",
            "latencyHistogram": true, "rolloutSinceSeconds": 8, "slowerThanMilliseconds": 250, "fuse": true,
        }},
    })
}

/// [`full`], changed at one place: a JSON pointer, and what stands there instead. A field that is not there is added.
pub(crate) fn with(pointer: &str, value: Value) -> Value {
    let mut config = full();
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    match config.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.insert(field.replace("~1", "/"), value)),
        Value::Array(items) => items[field.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other} has no fields"),
    }
    config
}

pub(crate) fn read(config: &Value) -> Result<FilterConfig, ContractError> {
    FilterConfig::from_json(config.to_string().as_bytes())
}

pub(crate) fn read_strictly(config: &Value) -> Result<FilterConfig, ContractError> {
    FilterConfig::from_json_strict(config.to_string().as_bytes())
}
