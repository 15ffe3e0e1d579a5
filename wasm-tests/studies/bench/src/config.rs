//! The releases that are measured: one that requests meet and others beside it, made as `canary-ctl` makes them.

use crate::error::BenchError;
use assignment::contract::{Position, ReleaseConfig, Stickiness};
use assignment::request::{session_pin, session_pin_name};
use assignment::seal::{self, Seal};
use assignment::{FilterConfig, Identity, Salt, Weight};
use canary_release::config::{ProxySettings, SigningKeys, filter_config, release_config};
use canary_release::file;
use canary_release::spec::{Release, ReleaseName};
use canary_release::state::ReleaseState;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::SystemTime;

/// The host of the requests.
pub(crate) const HOST: &str = "shop.example.com";

/// The application's session cookie.
pub(crate) const SESSION_COOKIE: &str = "SESSIONID";

/// The release that is measured.
pub(crate) const RELEASE: &str = "shop/shop";

/// Part of every MAC; of the length that `canary-ctl` draws.
const UID: &str = "bench0000000";

/// Releases in a proxy, and the keys that sign for them.
#[derive(Clone, Debug)]
pub(crate) struct Releases {
    /// What the filter reads.
    pub(crate) config: FilterConfig,
    keys: SigningKeys,
}

/// Where a local Envoy is and what it asks: `delivery.local` of a `canary.yaml`.
pub(crate) fn local(directory: &Path, listen: SocketAddr, admin: SocketAddr, server: SocketAddr) -> Value {
    let endpoints = json!({"v1": [server], "v2": [server]});
    json!({"directory": directory, "listen": listen, "admin": admin, "endpoints": endpoints})
}

/// The `canary.yaml` that is measured: a session-cookie application at 20 %, testers by token.
pub(crate) fn document(stickiness: &str, host: &str, local: &Value, module: &Path) -> Value {
    json!({
        "apiVersion": "canary-ctl.io/v1alpha1",
        "kind": "Release",
        "metadata": {"name": "shop", "namespace": "shop", "uid": UID},
        "spec": {
            "versions": {"stable": "v1", "canary": "v2"},
            "hosts": [host],
            "stickiness": stickiness,
            "session": {"cookie": SESSION_COOKIE},
            "identifyBy": [{"cookie": SESSION_COOKIE}],
            "weight": 20,
            "override": "token",
            "delivery": {"mode": "local", "module": module, "local": local},
        },
    })
}

impl Releases {
    /// The measured release on this host, and `count - 1` others like it on hosts that get no requests.
    pub(crate) fn new(stickiness: Stickiness, host: &str, count: usize) -> Result<Self, BenchError> {
        let word = match stickiness {
            Stickiness::User => "user",
            Stickiness::Session => "session",
        };
        // Only the release's part is read from it: the files of a bed have addresses of their own.
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
        let local = local(Path::new("."), nowhere, nowhere, nowhere);
        let text = document(word, host, &local, Path::new("filter.wasm")).to_string();
        let release = file::parse(Path::new("canary.yaml"), &text)?.release;
        let state = ReleaseState::first(&release, UID.to_owned());
        let measured = release_config(&release, &state, Position::Edge);
        let mut releases: BTreeMap<ReleaseName, ReleaseConfig> =
            (1..count).map(|number| another(&release, &measured, number)).collect();
        releases.insert(release.name.clone(), measured);
        let keys = SigningKeys::draw().map_err(canary_release::config::Error::from)?;
        let config = filter_config(&ProxySettings::of(&release, Position::Edge), &keys, releases)?;
        Ok(Self { config, keys })
    }

    /// The same while a rollout runs, which began an hour ago.
    pub(crate) fn in_rollout(&self) -> Self {
        let mut releases = self.clone();
        for release in releases.config.releases.values_mut() {
            release.rollout_since_seconds = now_seconds() - 3_600;
        }
        releases
    }

    /// The cookie of a user who was pinned to the canary a moment ago.
    pub(crate) fn pin(&self) -> Result<(String, String), BenchError> {
        let unsigned = || BenchError::Unsigned("a pin");
        let pin = self.config.releases.get(RELEASE).and_then(|release| release.pin.as_ref());
        let name = session_pin_name(&pin.ok_or_else(unsigned)?.cookie.name);
        let seal = Seal::pin(b"v2", 1, canary_identity(), odd(now_seconds() - 1));
        let text = self.ring().and_then(|ring| ring.sign(UID, &seal)).ok_or_else(unsigned)?;
        Ok((name, session_pin(canary_session().as_bytes(), &text)))
    }

    /// The cookie of a user who was given an id a moment ago.
    pub(crate) fn minted_id(&self) -> Result<(String, String), BenchError> {
        let seal = Seal::id(canary_identity(), now_seconds());
        let text = self.ring().and_then(|ring| ring.sign("", &seal));
        Ok((self.config.id_cookie.name.clone(), text.ok_or(BenchError::Unsigned("a minted id"))?))
    }

    /// The same with another weight, as the next generation.
    pub(crate) fn next(&mut self) {
        for release in self.config.releases.values_mut() {
            release.generation += 1;
            let other = if release.generation % 2 == 0 { 3_000 } else { 2_000 };
            release.weight = Weight::new(other).unwrap_or_default();
        }
    }

    /// The generation of the measured release.
    pub(crate) fn generation(&self) -> u64 {
        self.config.releases.get(RELEASE).map_or(0, |release| release.generation)
    }

    fn ring(&self) -> Option<seal::KeyRing> {
        seal::KeyRing::new(&self.keys.keys).ok()
    }
}

fn another(release: &Release, measured: &ReleaseConfig, number: usize) -> (ReleaseName, ReleaseConfig) {
    let label = format!("shop-{number:05}");
    let config = ReleaseConfig {
        uid: format!("uid{number:09}"),
        hosts: vec![format!("{label}.example.com")],
        salt: format!("shop/{label}/v2"),
        ..measured.clone()
    };
    let mut name = release.name.clone();
    if let Ok(other) = format!("shop/{label}").parse() {
        name = other;
    }
    (name, config)
}

/// A session id of 32 digits whose user is on the canary: all contenders then take the same route.
pub(crate) fn canary_session() -> String {
    let is_canary = |session: &String| is_canary(Identity::of_key(session.as_bytes()));
    (0..u128::from(u16::MAX)).map(|number| format!("{number:032x}")).find(is_canary).unwrap_or_default()
}

fn canary_identity() -> Identity {
    Identity::of_key(canary_session().as_bytes())
}

fn is_canary(identity: Identity) -> bool {
    let weight = Weight::new(2_000).unwrap_or_default();
    Salt::new("shop/shop/v2").bucket(identity).is_canary_at(weight)
}

/// A pin of an odd second is one of a session that began in the rollout.
const fn odd(seconds: u64) -> u64 {
    seconds | 1
}

fn now_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
