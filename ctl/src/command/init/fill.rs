//! Fills in an example, so that its comments explain what is in the file.

use super::Init;
use super::init_options::{Gateways, InitOptions, Known};
use placed_yaml::{EditError, Template};
use serde_json::{Map, Value, json};

const BY_SESSION: &str = include_str!("../../../../examples/session-cookie/canary.yaml");

const BY_CLAIM: &str = include_str!("../../../../examples/jwt-user/canary.yaml");

/// The default version label of a release.
const DEFAULT_LABEL: &str = "version";

/// The gateway of Istio's own charts.
const DEFAULT_GATEWAY: &str = "istio-ingress/gateway";

/// The text of a release: the example of its kind with what is wanted in it.
pub(super) fn example(wanted: &InitOptions, arguments: &Init, uid: &str) -> Result<String, EditError> {
    let mut template = Template::new(match &wanted.key {
        Known::BySession(_) => BY_SESSION,
        Known::ByClaim(_) => BY_CLAIM,
    })?;
    template
        .set("metadata/name", wanted.name.as_str())?
        .set("metadata/namespace", arguments.namespace())?
        .set("spec/uid", uid)?
        .set("spec/service/name", wanted.name.as_str())?
        .set("spec/versions/stable", &wanted.stable)?
        .set("spec/versions/canary", &wanted.canary)?
        .set("spec/hosts", &wanted.hosts)?
        .set("spec/weight", 0)?;
    match &wanted.gateways {
        Gateways::Named(gateway) => {
            let name = gateway.as_ref().map_or_else(|| DEFAULT_GATEWAY.to_owned(), ToString::to_string);
            let namespace = name.split('/').next().unwrap_or_default().to_owned();
            template.set("spec/gateways/0/name", name)?.set("spec/gateways/0/namespace", namespace)?;
        }
        Gateways::Found(gateways) => {
            template.set("spec/gateways", gateways)?;
        }
    }
    found_service(&mut template, wanted)?;
    match &wanted.key {
        Known::BySession(cookie) => {
            template.set("spec/session/cookie", cookie)?.set("spec/identifyBy/0/cookie", cookie)?;
        }
        Known::ByClaim(claim) => {
            template.set("spec/identifyBy/0/jwt/claim", claim)?.set("spec/paths", ["/"])?;
        }
    }
    if arguments.local {
        template.remove("spec/gateways")?.set("spec/delivery", local(arguments))?;
    } else if let Some(module) = &arguments.module {
        template.set("spec/delivery/module", module)?;
    } else if let Known::ByClaim(_) = &wanted.key {
        // Its example is of the mode that others fetch modules for.
        template.set("spec/delivery/mode", "envoyfilter")?.remove("spec/delivery/module")?;
    }
    // The local Envoy listens without TLS: clients other than browsers would drop a `Secure` cookie.
    if let Some(tls) = arguments.tls.or(arguments.local.then_some(false)) {
        template.set("spec/cookies", json!({"tls": tls}))?;
    }
    let text = template.finish()?;
    // The comment says the default of a field that is there now.
    let has_label = wanted.service.as_ref().is_some_and(|found| found.label != DEFAULT_LABEL);
    Ok(if has_label { text.replace("    # label: version\n", "") } else { text })
}

/// The properties of an existing Service.
fn found_service(template: &mut Template, wanted: &InitOptions) -> Result<(), EditError> {
    let Some(found) = &wanted.service else { return Ok(()) };
    template.set("spec/service/port", found.port)?;
    if found.label != DEFAULT_LABEL {
        template.set("spec/versions/label", &found.label)?;
    }
    if !found.route_objects.is_empty() {
        template.set("spec/routes", "external")?;
    }
    Ok(())
}

fn local(arguments: &Init) -> Value {
    let mut endpoints = Map::new();
    for (version, address) in &arguments.endpoints {
        if let Some(addresses) = endpoints.entry(version.as_str()).or_insert_with(|| json!([])).as_array_mut()
        {
            addresses.push(address.to_string().into());
        }
    }
    let mut delivery = json!({
        "mode": "local",
        "local": {
            "directory": ".canary",
            "listen": "127.0.0.1:8080",
            "admin": "127.0.0.1:9901",
            "endpoints": endpoints,
        },
    });
    if let (Some(module), Some(fields)) = (&arguments.module, delivery.as_object_mut()) {
        fields.insert("module".to_owned(), module.as_str().into());
    }
    delivery
}
