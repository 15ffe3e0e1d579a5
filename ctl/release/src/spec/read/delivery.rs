//! `delivery`: how the filter reaches the proxies.

use crate::spec::release::{Delivery, EMBEDDED, Endpoint, Local, Mode, Module};
use placed_yaml::{Entry, Place, Section};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

pub(in crate::spec) const MODES: [(&str, Mode); 4] = [
    (Mode::EnvoyFilter.as_str(), Mode::EnvoyFilter),
    (Mode::WasmPlugin.as_str(), Mode::WasmPlugin),
    (Mode::TrafficExtension.as_str(), Mode::TrafficExtension),
    (Mode::Local.as_str(), Mode::Local),
];

pub(super) fn default_delivery() -> Delivery {
    Delivery {
        mode: Mode::EnvoyFilter,
        module: Module::Embedded(None),
        sha256: None,
        debug_header: None,
        filter_state: false,
        local: None,
    }
}

/// Reads it. Paths are taken relative to `folder`.
pub(super) fn delivery(mut section: Section<'_>, folder: &Path) -> Option<Delivery> {
    let mode = match section.node("mode") {
        Some(node) => section.chosen(node, &MODES),
        None => Some(Mode::EnvoyFilter),
    };
    let module = module(&mut section, mode, folder);
    let sha256 = sha256(&mut section, module.as_ref());
    let debug_header = section.text("debugHeader");
    let filter_state = section.flag("filterState").unwrap_or_default();
    let is_local = mode == Some(Mode::Local);
    let wanted = if is_local { section.required_section("local") } else { section.section("local") };
    let local = wanted.map(|wanted| local(wanted, folder));
    let local = match local {
        Some(Some(local)) => Some(local),
        Some(None) => {
            section.finish();
            return None;
        }
        None => None,
    };
    section.finish();
    Some(Delivery { mode: mode?, module: module?, sha256, debug_header, filter_state, local })
}

/// The module that is embedded where the file names none and the mode has a field for its bytes.
fn module(section: &mut Section<'_>, mode: Option<Mode>, folder: &Path) -> Option<Module> {
    let needs_url = matches!(mode, Some(Mode::WasmPlugin | Mode::TrafficExtension));
    let node = if needs_url { section.required("module") } else { section.node("module") };
    let Some(node) = node else { return (!needs_url).then_some(Module::Embedded(None)) };
    let module = section.scalar(node)?.to_owned();
    if module != EMBEDDED {
        return checked_module(section, node.place, module, mode == Some(Mode::Local), folder);
    }
    if !needs_url {
        return Some(Module::Embedded(None));
    }
    let hint = "use `mode: envoyfilter`, or put the module into a registry: `oci://…`".to_owned();
    let message = "expected a URL, found `embedded`: this mode's kind has no field for the bytes of a module";
    section.fault(node.place, message, Some(hint));
    None
}

/// A file for the local target, a URL for every other.
fn checked_module(
    section: &Section<'_>,
    place: Place,
    module: String,
    is_local: bool,
    folder: &Path,
) -> Option<Module> {
    let is_url = ["oci://", "http://", "https://", "file://"].iter().any(|scheme| module.starts_with(scheme));
    match (is_local, is_url) {
        (true, false) => Some(Module::File(folder.join(module))),
        (false, true) => Some(Module::Url(module)),
        (true, true) => {
            section.fault(place, format!("expected a path with `mode: local`, found `{module}`"), None);
            None
        }
        (false, false) => {
            let hint = Some(format!("write `oci://{module}` for an image"));
            let message = format!(
                "expected `embedded` or a URL (oci://, http://, https:// or file://), found `{module}`"
            );
            section.fault(place, message, hint);
            None
        }
    }
}

fn sha256(section: &mut Section<'_>, module: Option<&Module>) -> Option<String> {
    let node = section.node("sha256")?;
    if let Some(Module::Embedded(_)) = module {
        let message = "expected no `sha256` with an embedded module, found one: nothing is fetched";
        section.fault(node.place, message, None);
        return None;
    }
    let text = section.scalar(node)?.to_owned();
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return Some(text);
    }
    section.fault(node.place, format!("expected 64 lower-case hexadecimal digits, found `{text}`"), None);
    None
}

fn local(mut section: Section<'_>, folder: &Path) -> Option<Local> {
    let directory = section.text("directory").unwrap_or_else(|| ".canary".to_owned());
    let listen = section.required_parsed::<SocketAddr>("listen");
    let admin = section.required_parsed::<SocketAddr>("admin");
    let endpoints = section.required("endpoints").is_some().then(|| endpoints(&mut section));
    section.finish();
    Some(Local { directory: folder.join(directory), listen: listen?, admin: admin?, endpoints: endpoints? })
}

fn endpoints(section: &mut Section<'_>) -> BTreeMap<String, Vec<Endpoint>> {
    let entries = section.entries_of("endpoints").unwrap_or_default();
    let read = |entry: &Entry| {
        let items = section.items(&format!("endpoints.{}", entry.key), &entry.node).unwrap_or_default();
        let addresses = items.into_iter().filter_map(|(_, node)| section.parse::<SocketAddr>(node)).collect();
        (entry.key.clone(), addresses)
    };
    entries.iter().map(read).collect()
}
