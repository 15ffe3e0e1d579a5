//! The contenders: the filter chain, the request, and the expected result.

use crate::config::{HOST, Releases, SESSION_COOKIE, canary_session};
use crate::error::{BenchError, file};
use crate::request::{Headers, browser};
use assignment::contract::Stickiness;
use assignment::{FilterConfig, Reason};
use programs::artifact;
use std::path::{Path, PathBuf};

/// Nothing in the chain but the router.
pub(crate) const NONE: &str = "no filter";
/// The same once more: what differs between the two is noise.
pub(crate) const NONE_AGAIN: &str = "no filter, again (A/A)";
/// A filter by the book, on the SDK, that does nothing.
pub(crate) const EMPTY_SDK: &str = "empty SDK filter";
/// `baselines/canary.lua`.
pub(crate) const LUA: &str = "Lua: cookie, hash, header";
/// Envoy's own `weighted_clusters.use_hash_policy`.
pub(crate) const NATIVE_HASH: &str = "native use_hash_policy";
/// Ours, on a host without a release.
pub(crate) const NO_RELEASE: &str = "ours: no release matches";
/// Ours, valid pin and session cookie.
pub(crate) const PINNED: &str = "ours: pinned user";
/// Ours, pinned, while a rollout runs: counted by user group, and the end of the response is looked at.
pub(crate) const PINNED_IN_ROLLOUT: &str = "ours: pinned user, in a rollout";
/// Ours, `stickiness: user`, session cookie.
pub(crate) const HASHED: &str = "ours: hashed user";
/// Ours, a user with a genuine minted id.
pub(crate) const BY_ID: &str = "ours: hashed by minted id";
/// Our filter, a user without its cookies: an id is drawn, signed and set.
pub(crate) const MINTED: &str = "ours: minted user";
/// Ours, pinned, among others.
pub(crate) const PINNED_100: &str = "ours: pinned user, 100 releases";
/// Ours, pinned, among others.
pub(crate) const PINNED_10000: &str = "ours: pinned user, 10,000 releases";

/// The largest number of releases that is measured.
pub(crate) const MANY: usize = 10_000;

/// One row of the comparison.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// Its name in the tables.
    pub(crate) name: String,
    /// What stands before the router.
    pub(crate) chain: Chain,
    /// How requests find their cluster.
    pub(crate) routes: Routes,
    pub(crate) headers: Headers,
    /// What our filter must count each request as; `None` for the others.
    pub(crate) reason: Option<Reason>,
}

/// What stands before the router.
#[derive(Clone, Debug)]
pub(crate) enum Chain {
    Empty,
    /// The Lua yardstick.
    Lua,
    /// A module with a configuration, delivered by file as `canary-ctl` does.
    Wasm {
        module: PathBuf,
        /// What it reads.
        config: Box<FilterConfig>,
    },
}

/// How requests find their version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routes {
    /// A route for the routing header, and one for everything else.
    ByHeader,
    /// One route to weighted clusters, chosen by the hash of the session cookie.
    NativeHash,
}

/// Those that are compared where Envoy answers by itself.
pub(crate) fn direct(module: &Path) -> Result<Vec<Contender>, BenchError> {
    let session = Releases::new(Stickiness::Session, HOST, 1)?;
    let elsewhere = Releases::new(Stickiness::Session, "elsewhere.example.com", 1)?;
    let user = Releases::new(Stickiness::User, HOST, 1)?;
    let hundred = Releases::new(Stickiness::Session, HOST, 100)?;
    let in_rollout = session.in_rollout();
    let many = Releases::new(Stickiness::Session, HOST, MANY)?;
    let visitor = browser(&[session_cookie()]);
    let ours = |name: &str, releases: &Releases, headers, reason| Contender {
        reason,
        ..with_module(name, module, &releases.config, headers)
    };
    let mut contenders = yardsticks(pinned_browser(&session)?)?;
    contenders.extend([
        ours(NO_RELEASE, &elsewhere, pinned_browser(&elsewhere)?, None),
        pinned(PINNED, module, &session)?,
        pinned(PINNED_IN_ROLLOUT, module, &in_rollout)?,
        pinned(PINNED_100, module, &hundred)?,
        pinned(PINNED_10000, module, &many)?,
        ours(HASHED, &user, visitor, Some(Reason::Hash)),
        ours(BY_ID, &session, browser(&[session.minted_id()?]), Some(Reason::Hash)),
        ours(MINTED, &session, browser(&[]), Some(Reason::Minted)),
    ]);
    Ok(contenders)
}

/// Those of [`direct`] whose instructions are counted: the same row twice would count the same, and reading ten thousand
/// releases in slow motion takes minutes.
pub(crate) fn counted(module: &Path) -> Result<Vec<Contender>, BenchError> {
    let mut contenders = direct(module)?;
    contenders.retain(|contender| ![NONE_AGAIN, PINNED_10000].contains(&contender.name.as_str()));
    Ok(contenders)
}

/// Those that are compared where Envoy asks another server.
pub(crate) fn proxied(module: &Path) -> Result<Vec<Contender>, BenchError> {
    let session = Releases::new(Stickiness::Session, HOST, 1)?;
    let headers = pinned_browser(&session)?;
    let mut contenders = yardsticks(headers.clone())?;
    let native = Contender { routes: Routes::NativeHash, ..empty(NATIVE_HASH, headers.clone()) };
    contenders.extend([native, pinned(PINNED, module, &session)?]);
    Ok(contenders)
}

/// Builds of the module beside each other, for a pinned user.
pub(crate) fn variants(module: &Path, others: &[PathBuf]) -> Result<Vec<Contender>, BenchError> {
    let session = Releases::new(Stickiness::Session, HOST, 1)?;
    let mut contenders = yardsticks(pinned_browser(&session)?)?;
    let in_rollout = session.in_rollout();
    contenders.extend([pinned(PINNED, module, &session)?, pinned(PINNED_IN_ROLLOUT, module, &in_rollout)?]);
    for other in others {
        let other = std::path::absolute(other).map_err(file(other))?;
        let name = format!("variant: {}", other.display());
        contenders.push(pinned(&name, &other, &session)?);
        contenders.push(pinned(&format!("{name}, in a rollout"), &other, &in_rollout)?);
    }
    Ok(contenders)
}

/// Our filter with these releases, for a pinned user.
pub(crate) fn pinned(name: &str, module: &Path, releases: &Releases) -> Result<Contender, BenchError> {
    let contender = with_module(name, module, &releases.config, pinned_browser(releases)?);
    Ok(Contender { reason: Some(Reason::Pin), ..contender })
}

fn yardsticks(headers: Headers) -> Result<Vec<Contender>, BenchError> {
    Ok(vec![
        empty(NONE, headers.clone()),
        empty(NONE_AGAIN, headers.clone()),
        with_module(EMPTY_SDK, &artifact::empty_sdk()?, &FilterConfig::empty(), headers.clone()),
        Contender { chain: Chain::Lua, ..empty(LUA, headers) },
    ])
}

fn with_module(name: &str, module: &Path, config: &FilterConfig, headers: Headers) -> Contender {
    let chain = Chain::Wasm { module: module.to_owned(), config: Box::new(config.clone()) };
    Contender { chain, ..empty(name, headers) }
}

fn empty(name: &str, headers: Headers) -> Contender {
    Contender { name: name.to_owned(), chain: Chain::Empty, routes: Routes::ByHeader, headers, reason: None }
}

fn session_cookie() -> (String, String) {
    (SESSION_COOKIE.to_owned(), canary_session())
}

/// The pin of a release on another host is a cookie like any other here, so every contender reads the same request.
fn pinned_browser(releases: &Releases) -> Result<Headers, BenchError> {
    Ok(browser(&[session_cookie(), releases.pin()?]))
}
