//! `init`: fill in one of the examples, check it by reading it, write it, draw keys.

use crate::cli::Init;
use crate::config::{KeyRing, new_uid};
use crate::local::{Environment, Readers, replace_for};
use crate::report::Printer;
use crate::spec::Mode;
use crate::yaml::{EditError, Template};
use crate::{Error, Outcome, config, manifest, spec};
use serde_json::{Map, Value, json};
use std::path::Path;

const BY_SESSION: &str = include_str!("../../../examples/session-cookie/canary.yaml");
const BY_CLAIM: &str = include_str!("../../../examples/jwt-user/canary.yaml");

pub(super) fn run(arguments: &Init, printer: &mut Printer) -> Result<Outcome, Error> {
    let uid = new_uid().map_err(config::Error::from)?;
    let text = fill_in(arguments, &uid).map_err(manifest::Error::from)?;
    // What comes from flags can be wrong too, and is told in the same words.
    let document = spec::parse(&arguments.file, &text)?;
    if arguments.dry_run {
        printer.data(&text)?;
        return Ok(Outcome::Done);
    }
    if arguments.file.exists() && !arguments.force {
        let message = format!("{} is there already", arguments.file.display());
        return Err(Error::usage(message, "give `--force` to overwrite it, or `-f FILE` for another"));
    }
    replace_for(Readers::Everyone, &arguments.file, &text)?;
    printer.message(&format!("{} written", arguments.file.display()));
    if document.release.delivery.mode == Mode::Local {
        let environment = Environment::of(&document.release)?;
        environment.keys()?;
        printer.message(&format!("keys are in {}", environment.layout().keys().display()));
        printer.hint("`canary-ctl generate` writes Envoy's files");
    } else {
        draw_keys(&arguments.keys)?;
        printer
            .message(&format!("keys are in {}: keep them secret, and keep them", arguments.keys.display()));
        printer.hint(&format!(
            "`canary-ctl generate --keys {} | kubectl apply --server-side -f -`",
            arguments.keys.display()
        ));
    }
    Ok(Outcome::Done)
}

/// Keys that are there already have signed cookies that have to go on counting.
fn draw_keys(path: &Path) -> Result<(), Error> {
    if path.exists() {
        KeyRing::read(path).map_err(config::Error::from)?;
        return Ok(());
    }
    let keys = KeyRing::draw().map_err(config::Error::from)?;
    keys.write(path)?;
    Ok(())
}

fn fill_in(arguments: &Init, uid: &str) -> Result<String, EditError> {
    let mut template = Template::new(match &arguments.key.session_cookie {
        Some(_) => BY_SESSION,
        None => BY_CLAIM,
    })?;
    let gateway = &arguments.gateway;
    template
        .set("metadata/name", arguments.name.as_str())?
        .set("metadata/namespace", arguments.namespace.as_str())?
        .set("metadata/uid", uid)?
        .set("spec/service/name", arguments.name.as_str())?
        .set("spec/versions/stable", &arguments.stable)?
        .set("spec/versions/canary", &arguments.canary)?
        .set("spec/hosts", &arguments.hosts)?
        .set("spec/gateways/0/name", gateway.to_string())?
        .set("spec/gateways/0/namespace", gateway.namespace.as_str())?
        .set("spec/weight", 0)?;
    if let Some(cookie) = &arguments.key.session_cookie {
        template.set("spec/session/cookie", cookie)?.set("spec/keys/0/cookie", cookie)?;
    }
    if let Some(claim) = &arguments.key.jwt_claim {
        template.set("spec/keys/0/jwt/claim", claim)?.set("spec/paths", ["/"])?;
    }
    if arguments.local {
        template.remove("spec/gateways")?.set("spec/delivery", local(arguments))?;
    } else if let Some(module) = &arguments.module {
        template.set("spec/delivery/module", module)?;
    }
    template.finish()
}

fn local(arguments: &Init) -> Value {
    let mut endpoints = Map::new();
    for (version, address) in &arguments.endpoints {
        if let Some(addresses) = endpoints.entry(version.as_str()).or_insert_with(|| json!([])).as_array_mut()
        {
            addresses.push(address.to_string().into());
        }
    }
    json!({
        "mode": "local",
        "module": arguments.module.as_deref().unwrap_or("target/wasm/canary_filter.wasm"),
        "local": {
            "directory": ".canary",
            "listen": "127.0.0.1:8080",
            "admin": "127.0.0.1:9901",
            "endpoints": endpoints,
        },
    })
}
