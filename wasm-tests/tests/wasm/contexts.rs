//! Browsers walk through an application with several session cookies while the weight changes: no session changes its version, in
//! whatever order sessions are opened, rotated, split, ended and found again (promise 4).

use crate::fixture::{release, worker};
use browser::{Initiator, Jar, Origin};
use fastrand::Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wasm_host::{RequestHead, ResponseHead, Vm};

const HOST: &str = "shop.example";
/// Of other sites, as far as the attributes of the session cookie let its session be found.
const INITIATORS: [Initiator; 4] = [Initiator::SameSite, Initiator::Link, Initiator::Form, Initiator::Frame];

/// A part of the application with a session cookie of its own.
struct Context {
    path: &'static str,
    attributes: &'static str,
    /// Whether its sessions are split into parts when they are rotated.
    is_split: bool,
}

const fn context(path: &'static str, attributes: &'static str) -> Context {
    Context { path, attributes, is_split: false }
}

/// The live sessions, by context and value, and the version that has each.
type Sessions = BTreeMap<(usize, String), String>;

struct Application<'a> {
    contexts: &'a [Context],
    sessions: Sessions,
    opened: u32,
}

impl Application<'_> {
    /// The session of a request, if it has one of this context.
    fn session(&self, context: usize, cookies: &[(&str, &str)]) -> Option<String> {
        let parts =
            cookies.iter().filter(|(name, _)| *name == "S" || *name == "S.0").map(|(_, value)| *value);
        parts.map(str::to_owned).find(|value| self.sessions.contains_key(&(context, value.clone())))
    }

    /// Opens a session on a version.
    fn open(&mut self, context: usize, version: &str) -> String {
        self.opened += 1;
        let value = format!("{context}-{}", self.opened);
        self.sessions.insert((context, value.clone()), version.to_owned());
        value
    }

    /// The lines that set the session cookie to a value.
    fn set(&self, context: usize, value: &str, rng: &mut Rng) -> Vec<String> {
        let Context { attributes, is_split, .. } = &self.contexts[context];
        if *is_split && rng.bool() {
            let ended = format!("S=; Max-Age=0{attributes}");
            return vec![ended, format!("S.0={value}{attributes}"), format!("S.1=more{attributes}")];
        }
        let parts = (0..2).map(|part| format!("S.{part}=; Max-Age=0{attributes}"));
        let whole = format!("S={value}{attributes}");
        if *is_split { std::iter::once(whole).chain(parts).collect() } else { vec![whole] }
    }

    fn end(&mut self, context: usize, value: &str) -> Vec<String> {
        self.sessions.remove(&(context, value.to_owned()));
        let Context { attributes, is_split, .. } = &self.contexts[context];
        let names: &[&str] = if *is_split { &["S", "S.0", "S.1"] } else { &["S"] };
        names.iter().map(|name| format!("{name}=; Max-Age=0{attributes}")).collect()
    }
}

fn config(weight: u32) -> Value {
    let mut release = release();
    release["weight"] = json!(weight);
    release["adopt"] = json!("v1");
    crate::fixture::config(&json!({ "shop/web": release }))
}

/// A visit of one page. Returns what is wrong.
fn visit(vm: &Vm, jar: &mut Jar, application: &mut Application<'_>, rng: &mut Rng) -> Result<(), String> {
    let context = rng.usize(..application.contexts.len());
    let initiator = if rng.u8(..3) == 0 { rng.choice(INITIATORS).unwrap() } else { Initiator::SameSite };
    let path = format!("{}page", application.contexts[context].path);
    let origin = Origin { host: HOST, path: &path, secure: true };
    let pairs = jar.pairs_from(origin, initiator);
    let cookies: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let session = application.session(context, &pairs);
    let mut head = RequestHead::get(&path).authority(HOST).navigation();
    if !cookies.is_empty() {
        head = head.header("cookie", cookies.join("; "));
    }
    let mut exchange = vm.request(head).map_err(|error| error.to_string())?;
    let routed = exchange.headers().text("x-canary-version").unwrap_or_default();
    let version = routed.rsplit('/').next().unwrap_or_default().to_owned();
    let lines = match session {
        None => {
            let value = application.open(context, &version);
            application.set(context, &value, rng)
        }
        Some(value) => {
            let own = application.sessions[&(context, value.clone())].clone();
            if own != version {
                return Err(format!(
                    "{path} of {value} is on {own}, and got {version} with {cookies:?} ({initiator:?})"
                ));
            }
            match rng.u8(..8) {
                0 => application.end(context, &value),
                1 => {
                    application.sessions.remove(&(context, value));
                    let value = application.open(context, &own);
                    application.set(context, &value, rng)
                }
                _ => Vec::new(),
            }
        }
    };
    let response = ResponseHead::status(200).header("cache-control", "no-store");
    let response = lines.iter().fold(response, |response, line| response.header("set-cookie", line));
    for line in exchange.respond(response).map_err(|error| error.to_string())?.texts("set-cookie") {
        jar.store_from(line.as_bytes(), origin, initiator);
    }
    Ok(())
}

/// Walks with 40 browsers, of which half have a session in each context when the filter comes.
fn walk(contexts: &[Context]) {
    let vm = worker(&config(5_000));
    for seed in 0..40 {
        let mut rng = Rng::with_seed(seed);
        let mut application = Application { contexts, sessions: Sessions::new(), opened: 0 };
        let mut jar = Jar::new();
        if seed.is_multiple_of(2) {
            for (index, context) in contexts.iter().enumerate() {
                let value = application.open(index, "v1");
                let origin = Origin { host: HOST, path: context.path, secure: true };
                for line in application.set(index, &value, &mut rng) {
                    jar.store(line.as_bytes(), origin);
                }
            }
        }
        let mut said = Vec::new();
        for step in 0..60 {
            if step % 10 == 9 {
                let weight = rng.choice([0, 2_000, 5_000, 10_000]).unwrap();
                assert!(vm.configure(config(weight).to_string()).unwrap());
                said.push(format!("weight {weight}"));
            }
            if let Err(wrong) = visit(&vm, &mut jar, &mut application, &mut rng) {
                panic!("seed {seed}, step {step} after {said:?}: {wrong}");
            }
        }
    }
}

#[test]
fn one_context() {
    for attributes in [
        "; Path=/",
        "",
        "; Path=/; SameSite=None; Secure",
        "; Path=/; SameSite=Strict",
        "; Path=/; Domain=shop.example",
    ] {
        walk(&[context("/", attributes)]);
    }
}

#[test]
fn a_context_below_another() {
    walk(&[context("/", "; Path=/"), context("/shop/", "; Path=/shop")]);
    walk(&[
        context("/", "; Path=/; SameSite=None; Secure"),
        context("/shop/", "; Path=/shop; SameSite=None; Secure"),
    ]);
}

#[test]
fn contexts_beside_each_other() {
    walk(&[context("/a/", "; Path=/a"), context("/b/", "; Path=/b")]);
    walk(&[
        context("/a/", ""),
        context("/b/", "; SameSite=None; Secure"),
        context("/c/", "; Path=/c; SameSite=Strict"),
    ]);
}

#[test]
fn a_session_in_parts() {
    walk(&[Context { is_split: true, ..context("/", "; Path=/") }]);
    walk(&[Context { is_split: true, ..context("/", "; Path=/; SameSite=None; Secure") }]);
}
