//! One case through the module and through the code.

use crate::case::{Case, Lines};
use crate::native::{self, Outcome};
use assignment::Reason;
use programs::artifact;
use std::collections::BTreeSet;
use wasm_host::{HostError, Module, Proxy, RequestHead, ResponseHead, Vm, VmOptions};

/// What a run has met.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) cases: u64,
    pub(crate) accepted: u64,
    pub(crate) requests: u64,
    pub(crate) decided: u64,
    pub(crate) undecided: u64,
    pub(crate) reasons: BTreeSet<&'static str>,
}

/// A case that panics, here or anywhere below, is printed as it can be replayed.
struct Witness<'c>(&'c Case);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to replay it save this as wasm-tests/corpus/<name>.case:\n{}", self.0.to_text());
        }
    }
}

/// Fails on a trap, on a panic, and if module and native code differ.
pub(crate) fn check(case: &Case, seen: &mut Observed) {
    let witness = Witness(case);
    let natively = native::run(case);
    seen.cases += 1;
    seen.accepted += u64::from(natively.is_some());
    first_configuration(case);
    match module(case, natively.as_deref(), seen) {
        Ok(()) => {}
        Err(error) => panic!("{error}"),
    }
    drop(witness);
}

fn start() -> Vm {
    let module = Module::load(artifact::filter().unwrap()).unwrap();
    Vm::start_in(&module, &Proxy::new(), VmOptions::default()).unwrap()
}

/// The first configuration is never refused, whatever it is.
fn first_configuration(case: &Case) {
    assert!(start().configure(&case.config).unwrap(), "a first configuration was refused");
}

fn module(case: &Case, natively: Option<&[Outcome]>, seen: &mut Observed) -> Result<(), HostError> {
    let vm = start();
    assert!(vm.configure(r#"{"format":1}"#)?, "{:?}", vm.logs());
    let accepted = vm.configure(&case.config)?;
    assert_eq!(accepted, natively.is_some(), "module and code differ on the configuration: {:?}", vm.logs());
    vm.tick()?;
    for (index, (request, response)) in case.exchanges.iter().enumerate() {
        let mut exchange = vm.request(request_head(request))?;
        if let Some(outcome) = natively.and_then(|outcomes| outcomes.get(index)) {
            note(seen, outcome);
            compare(outcome, &exchange.headers());
        }
        exchange.respond(response_head(response))?;
        exchange.end()?;
    }
    Ok(())
}

fn note(seen: &mut Observed, outcome: &Outcome) {
    seen.requests += 1;
    match outcome.reason {
        Some(reason) => {
            seen.decided += 1;
            seen.reasons.insert(reason.as_str());
        }
        None => seen.undecided += 1,
    }
}

/// Randomly minted users differ between module and native code.
fn compare(outcome: &Outcome, headers: &wasm_host::Headers) {
    if outcome.reason == Some(Reason::Minted) {
        return;
    }
    if let Some((name, value)) = &outcome.routing {
        assert_eq!(headers.get(name), Some(value.as_slice()), "module and code differ: {outcome:?}");
    }
}

fn value(lines: &Lines, name: &[u8]) -> String {
    let found = lines.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_slice());
    String::from_utf8_lossy(found.unwrap_or_default()).into_owned()
}

fn others(lines: &Lines) -> impl Iterator<Item = &(Vec<u8>, Vec<u8>)> {
    lines.iter().filter(|(name, _)| !name.starts_with(b":"))
}

fn request_head(lines: &Lines) -> RequestHead {
    let head = RequestHead::new(&value(lines, b":method"), &value(lines, b":path"));
    let authority = lines.iter().find(|(name, _)| name == b":authority").map_or(&b""[..], |(_, value)| value);
    others(lines).fold(head.authority(authority), |head, (name, value)| head.header(name, value))
}

fn response_head(lines: &Lines) -> ResponseHead {
    let head = ResponseHead::status(value(lines, b":status").parse().unwrap_or_default());
    others(lines).fold(head, |head, (name, value)| head.header(name, value))
}
