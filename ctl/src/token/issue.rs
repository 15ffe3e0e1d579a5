//! Signs a token.

use assignment::contract::{OverrideMode, Role};
use assignment::decide::MAX_TOKEN_LIFE_SECONDS;
use assignment::policy::Release;
use assignment::seal::{KeyRing, Seal};
use assignment::{Identity, Policy};
use canary_release::format::counted;
use serde::Serialize;

/// A token that was signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Issued {
    pub token: String,
    /// The release that accepts it.
    pub release: String,
    /// The version it gives.
    pub version: String,
    /// The version's epoch: the token ends with it.
    pub epoch: u32,
    /// Its last second, since 1970-01-01 UTC.
    pub expires_seconds: u64,
    /// The header for the token.
    pub header: String,
    /// The cookie for the token.
    pub cookie: String,
    /// A link that sets the cookie, where a URL was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// The reason for which there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IssueError {
    /// The release accepts no tokens.
    #[error("expected a release with `override: token`, found `override: {0}`")]
    NotByToken(&'static str),
    /// The version is none of the release's.
    #[error("expected a live version ({live}), found `{asked}`")]
    NotLive {
        /// The requested version.
        asked: String,
        /// The live versions.
        live: String,
    },
    #[error("a token lives at most 7 days, found {}", life(*.0))]
    TooLong(u64),
    #[error("expected a key with `use: sign`, found none")]
    NoSigner,
}

/// A life in the largest unit that has no rest.
fn life(seconds: u64) -> String {
    match seconds {
        days if days % 86_400 == 0 => counted(days / 86_400, "day", "days"),
        hours if hours % 3_600 == 0 => counted(hours / 3_600, "hour", "hours"),
        seconds => counted(seconds, "second", "seconds"),
    }
}

impl IssueError {
    /// A hint: what the user can change.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotByToken("open") => Some("send the header `x-canary-override: canary` instead"),
            Self::NotByToken(_) => Some("set `override: token` in the release, and generate it anew"),
            Self::TooLong(_) => Some("ask for `--ttl 7d`, and issue another one then"),
            Self::NoSigner => Some("name the file of the proxy's keys with `--signing-keys FILE`"),
            Self::NotLive { .. } => None,
        }
    }
}

/// Signs a token for a live version, given by its name or as `stable` or `canary`.
///
/// `life` in seconds, `now` in seconds since 1970-01-01 UTC; `nonce` distinguishes tokens in logs.
///
/// # Errors
///
/// If the release takes no tokens, the version is not live, the life is longer than 7 days, or no key signs.
pub fn issue(
    policy: &Policy,
    release: &Release,
    version: &str,
    life: u64,
    (now, nonce): (u64, u64),
) -> Result<Issued, IssueError> {
    let token = match (release.override_mode, &release.token) {
        (OverrideMode::Token, Some(token)) => token,
        (OverrideMode::Open, _) => return Err(IssueError::NotByToken("open")),
        (OverrideMode::Token | OverrideMode::Off, _) => return Err(IssueError::NotByToken("off")),
    };
    if life > MAX_TOKEN_LIFE_SECONDS {
        return Err(IssueError::TooLong(life));
    }
    let index = match Role::from_name(version.as_bytes()) {
        Some(role @ (Role::Stable | Role::Canary)) => release.live_role(role, || now),
        Some(Role::Draining) | None => release.live(version.as_bytes(), || now),
    };
    let chosen = index.and_then(|index| release.versions.get(index)).ok_or_else(|| IssueError::NotLive {
        asked: version.to_owned(),
        live: live_versions(release, now),
    })?;
    // Right after a revocation the next second counts already: a new token is not born revoked.
    let issued = now.max(token.not_before_seconds);
    let expires = issued.saturating_add(life);
    let seal =
        Seal::token(chosen.name.as_bytes(), chosen.epoch, Identity::from_random(nonce), issued, expires);
    Ok(Issued {
        token: sign(&policy.ring, &release.uid, &seal)?,
        release: release.name.clone(),
        version: chosen.name.clone(),
        epoch: chosen.epoch,
        expires_seconds: expires,
        header: policy.headers.token.clone(),
        cookie: token.cookie.name.clone(),
        link: None,
    })
}

fn sign(ring: &KeyRing, uid: &str, seal: &Seal<'_>) -> Result<String, IssueError> {
    ring.sign(uid, seal).ok_or(IssueError::NoSigner)
}

fn live_versions(release: &Release, now: u64) -> String {
    let names = release.versions.iter().map(|version| version.name.as_str());
    let live: Vec<&str> = names.filter(|name| release.live(name.as_bytes(), || now).is_some()).collect();
    live.join(", ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use assignment::contract::FilterConfig;
    use serde_json::{Value, json};

    pub(in crate::token) const NOW: u64 = 1_800_000_000;

    pub(in crate::token) fn policy(edit: impl FnOnce(&mut Value)) -> Policy {
        let mut release = json!({
            "uid": "abcdefghijkl", "generation": 1, "hosts": ["shop.example.com"], "salt": "s",
            "stickiness": "user", "mint": "never",
            "versions": [{"name": "v1", "role": "stable", "epoch": 1}, {"name": "v2", "role": "canary", "epoch": 3}],
            "override": {"mode": "token", "token": {
                "cookie": {"name": "__Host-canary-token.shop.shop"}, "query": "canary-token", "notBeforeSeconds": NOW - 100,
            }},
        });
        edit(&mut release);
        let keys = json!([{"id": "k1", "key": "30313233343536373839616263646566", "use": "sign"}]);
        let config = json!({"format": 1, "keys": keys, "releases": {"shop/shop": release}});
        Policy::compile(&FilterConfig::from_json_strict(config.to_string().as_bytes()).unwrap()).unwrap()
    }

    pub(in crate::token) fn issued(policy: &Policy, version: &str, life: u64) -> Result<Issued, IssueError> {
        issue(policy, policy.release(0).unwrap(), version, life, (NOW, 7))
    }

    #[test]
    fn a_token_names_the_version_that_a_role_has_now() {
        let policy = policy(|_| {});
        for (asked, version, epoch) in [("v2", "v2", 3), ("canary", "v2", 3), ("stable", "v1", 1)] {
            let token = issued(&policy, asked, 60).unwrap();
            assert_eq!(
                (token.version.as_str(), token.epoch, token.expires_seconds),
                (version, epoch, NOW + 60)
            );
        }
    }

    #[test]
    fn a_version_that_is_not_live_is_refused_with_those_that_are() {
        let error = issued(&policy(|_| {}), "v3", 60).unwrap_err();
        assert_eq!(error.to_string(), "expected a live version (v1, v2), found `v3`");
        let ended = policy(|release| release["until"] = json!({"atSeconds": NOW, "action": "rollback"}));
        assert_eq!(
            issued(&ended, "canary", 60).unwrap_err().to_string(),
            "expected a live version (v1), found `canary`"
        );
    }

    #[test]
    fn a_token_lives_a_week_at_most() {
        issued(&policy(|_| {}), "v2", MAX_TOKEN_LIFE_SECONDS).unwrap();
        let error = issued(&policy(|_| {}), "v2", MAX_TOKEN_LIFE_SECONDS + 1).unwrap_err();
        assert_eq!(error, IssueError::TooLong(MAX_TOKEN_LIFE_SECONDS + 1));
    }

    #[test]
    fn a_release_that_believes_no_tokens_gets_none() {
        for mode in ["off", "open"] {
            let policy = policy(|release| release["override"] = json!({"mode": mode}));
            let error = issued(&policy, "v2", 60).unwrap_err();
            assert_ne!(error.hint(), None, "{error}");
            assert!(error.to_string().ends_with(&format!("`override: {mode}`")), "{error}");
        }
    }
}
