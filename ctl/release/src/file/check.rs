//! What fields may say together, and what the filter itself would refuse.

use crate::config;
use crate::spec::{Mode, Release, Routes, version_subset};
use assignment::contract::{ContractError, SessionAffinity};
use placed_yaml::{Faults, Node, Place};

const VERSIONS: [&str; 2] = ["spec", "versions"];

/// Notes what the parts of a release contradict, and what the filter would refuse, each at the field it came from.
pub(super) fn contract(faults: &Faults, release: &Release, root: &Node) {
    let at = |path: &[&str]| place(root, path);
    if let Some(canary) = &release.versions.canary {
        let stable = &release.versions.stable;
        if is_one_version(release) {
            let message = format!("expected two versions, found `{stable}` as stable and as canary");
            faults.note(at(&["spec", "versions", "canary"]), message, None);
        } else if version_subset(canary) == version_subset(stable) {
            let message = format!(
                "versions `{stable}` and `{canary}` would both be the subset `{}`",
                version_subset(canary)
            );
            faults.note(
                at(&["spec", "versions", "canary"]),
                message,
                Some("rename one of the labels".to_owned()),
            );
        }
    }
    match &release.delivery.local {
        Some(local) if release.delivery.mode == Mode::Local => {
            for version in
                release.roles().filter(|version| local.endpoints.get(*version).is_none_or(Vec::is_empty))
            {
                let message = format!("expected an endpoint of version `{version}`, found none");
                faults.note(at(&["spec", "delivery", "local", "endpoints"]), message, None);
            }
        }
        _ if release.gateways.is_empty() && release.sidecars.is_empty() => {
            faults.note(at(&["spec"]), "expected a gateway or a sidecar that decides, found none", None);
        }
        _ => {}
    }
    if release.routes == Some(Routes::GatewayApi) {
        beside_http_routes(faults, release, &at);
    }
    if let Err(error) = config::acceptable(release) {
        let (path, message) = located(&error, root);
        if !(is_one_version(release) && path == VERSIONS) {
            faults.note(at(&path), message, error.hint().map(str::to_owned));
        }
    }
}

/// Routes beside `HTTPRoute`s are those of gateways, and each version has a Service of its own.
fn beside_http_routes(faults: &Faults, release: &Release, at: &impl Fn(&[&str]) -> Place) {
    if !release.sidecars.is_empty() {
        let message = "expected gateways alone with `routes: gateway-api`, found `sidecars`: no such route is used inside the mesh";
        faults.note(at(&["spec", "sidecars"]), message, Some("leave `sidecars` out".to_owned()));
    }
    if release.session_affinity == SessionAffinity::Identity {
        let message = "expected no `sessionAffinity` with `routes: gateway-api`, found `identity`";
        let hint = "write a DestinationRule with `consistentHash` for the Service: each version gets a copy of its settings";
        faults.note(at(&["spec", "sessionAffinity"]), message, Some(hint.to_owned()));
    }
    if release.delivery.mode == Mode::Local {
        let message = "expected a cluster with `routes: gateway-api`, found `delivery.mode: local`";
        faults.note(at(&["spec", "routes"]), message, None);
    }
}

/// Whether stable and canary are the same, which is noted at the canary: the filter would refuse its list of versions for it too.
fn is_one_version(release: &Release) -> bool {
    release.versions.canary.as_ref() == Some(&release.versions.stable)
}

/// The field of `canary.yaml` behind a field of the filter's configuration (`releases.shop/web.hosts`).
fn located<'e>(error: &'e ContractError, root: &Node) -> (Vec<&'e str>, String) {
    let (place, reason) = match error {
        ContractError::Invalid { place, reason } => (place, reason),
        ContractError::HostTaken { host, .. } => {
            let message = format!("expected each host and path once, found `{host}` twice");
            return (vec!["spec", "hosts"], message);
        }
        _ => return (vec!["spec"], error.to_string()),
    };
    let field = place.split(['.', '[']).nth(2).unwrap_or_default();
    let path = match field {
        "hosts" | "paths" | "identifyBy" | "identity" | "override" | "weight" => vec!["spec", field],
        "versions" => VERSIONS.to_vec(),
        "sessionCookie" => vec!["spec", "session", "cookie"],
        "pin" => vec!["spec", "cookies"],
        "uid" if root.get("spec").is_some_and(|spec| spec.get("uid").is_some()) => vec!["spec", "uid"],
        "uid" => vec!["metadata", "uid"],
        _ if place.starts_with("idCookie") => vec!["spec", "cookies"],
        _ if place.starts_with("headers") => vec!["spec", "delivery", "debugHeader"],
        _ => vec!["spec"],
    };
    (path, reason.clone())
}

/// The place of the deepest existing node on a path.
fn place(root: &Node, path: &[&str]) -> Place {
    let mut node = root;
    for name in path {
        match node.get(name) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node.place
}
