//! What a token says, and whether a proxy would believe it.

use assignment::decide::MAX_TOKEN_LIFE_SECONDS;
use assignment::policy::{Release, Standing};
use assignment::seal::Kind;
use assignment::{Identity, Policy};
use serde::Serialize;

/// What a token is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// A proxy believes it.
    Valid,
    /// Not signed by a key of this ring for this release, or edited.
    NotGenuine,
    /// Past its last second.
    Expired,
    /// Issued before `tokensNotBefore`.
    Revoked,
    /// Its version left the release, or came back since.
    VersionGone,
    /// Its version is not known to this release.
    VersionUnknown,
    /// It says a longer life than a token may have.
    TooLong,
    /// The release believes no tokens.
    NotByToken,
}

/// What a token says, whoever wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The key that is said to have signed it.
    pub key: String,
    /// The version.
    pub version: String,
    /// The version's epoch.
    pub epoch: u32,
    /// The number that tells tokens apart in logs.
    pub nonce: String,
    /// When it was issued, seconds since 1970-01-01 UTC.
    pub issued_seconds: u64,
    /// Its last second, since 1970-01-01 UTC.
    pub expires_seconds: u64,
}

/// A token, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inspection {
    /// What it is worth.
    pub verdict: Verdict,
    /// The release that was asked.
    pub release: String,
    /// What it says; `None` where it is no token at all.
    pub claims: Option<Claims>,
    /// How long it lives on, in seconds; `None` where it is not valid.
    pub left_seconds: Option<u64>,
}

/// Judges a token as the release's proxies would at this moment (seconds since 1970-01-01 UTC).
pub fn inspect(policy: &Policy, release: &Release, token: &str, now: u64) -> Inspection {
    let verdict = judge(policy, release, token, now);
    let claims = claims(token);
    let left_seconds = claims
        .as_ref()
        .filter(|_| verdict == Verdict::Valid)
        .map(|claims| claims.expires_seconds.saturating_sub(now));
    Inspection { verdict, release: release.name.clone(), claims, left_seconds }
}

fn judge(policy: &Policy, release: &Release, token: &str, now: u64) -> Verdict {
    let Some(config) = release.token.as_ref() else { return Verdict::NotByToken };
    let seal = policy.ring.verify(Kind::Token, &release.uid, token.as_bytes());
    let Some((seal, expires)) = seal.and_then(|seal| Some((seal, seal.expires?))) else {
        return Verdict::NotGenuine;
    };
    if expires.saturating_sub(seal.issued) > MAX_TOKEN_LIFE_SECONDS {
        return Verdict::TooLong;
    }
    if seal.issued < config.not_before_seconds {
        return Verdict::Revoked;
    }
    if now >= expires {
        return Verdict::Expired;
    }
    match release.standing(seal.version, seal.epoch, || now) {
        Standing::Live(_) => Verdict::Valid,
        Standing::Gone => Verdict::VersionGone,
        Standing::Unknown => Verdict::VersionUnknown,
    }
}

/// The fields of the text as `assignment::seal` describes them, believed by nobody: a forged token is worth reading too.
fn claims(token: &str) -> Option<Claims> {
    let fields: Vec<&str> = token.split('~').collect();
    let ["t1", key, version, epoch, nonce, issued, expires, _mac] = fields.as_slice() else { return None };
    let nonce: Identity = nonce.parse().ok()?;
    Some(Claims {
        key: (*key).to_owned(),
        version: (*version).to_owned(),
        epoch: epoch.parse().ok()?,
        nonce: nonce.to_string(),
        issued_seconds: issued.parse().ok()?,
        expires_seconds: expires.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::issue::tests::{NOW, issued, policy};
    use super::*;
    use assignment::seal::Seal;
    use serde_json::json;

    fn judged(policy: &Policy, token: &str, now: u64) -> Verdict {
        inspect(policy, policy.release(0).unwrap(), token, now).verdict
    }

    #[test]
    fn a_token_is_valid_until_its_last_second() {
        let policy = policy(|_| {});
        let token = issued(&policy, "v2", 60).unwrap().token;
        let inspection = inspect(&policy, policy.release(0).unwrap(), &token, NOW + 59);
        assert_eq!((inspection.verdict, inspection.left_seconds), (Verdict::Valid, Some(1)));
        let claims = inspection.claims.unwrap();
        assert_eq!((claims.version.as_str(), claims.epoch, claims.issued_seconds), ("v2", 3, NOW));
        assert_eq!(judged(&policy, &token, NOW + 60), Verdict::Expired);
    }

    #[test]
    fn an_edited_token_is_read_and_not_believed() {
        let policy = policy(|_| {});
        let token = issued(&policy, "v1", 60).unwrap().token.replace("~v1~", "~v2~");
        let inspection = inspect(&policy, policy.release(0).unwrap(), &token, NOW);
        assert_eq!(inspection.verdict, Verdict::NotGenuine);
        assert_eq!(inspection.claims.unwrap().version, "v2");
        assert_eq!(inspection.left_seconds, None);
    }

    #[test]
    fn a_revoked_one_one_of_an_older_epoch_and_one_that_lives_too_long_are_called_so() {
        let policy = policy(|_| {});
        let sign = |version: &str, epoch, issued, expires| {
            let seal = Seal::token(version.as_bytes(), epoch, Identity::from_random(1), issued, expires);
            policy.ring.sign("abcdefghijkl", &seal).unwrap()
        };
        let week = MAX_TOKEN_LIFE_SECONDS;
        for (token, expected) in [
            (sign("v2", 3, NOW - 101, NOW + 1), Verdict::Revoked),
            (sign("v2", 2, NOW, NOW + 1), Verdict::VersionGone),
            (sign("v9", 1, NOW, NOW + 1), Verdict::VersionUnknown),
            (sign("v2", 3, NOW, NOW + week + 1), Verdict::TooLong),
        ] {
            assert_eq!(judged(&policy, &token, NOW), expected, "{token}");
        }
    }

    #[test]
    fn what_is_no_token_says_nothing() {
        let policy = policy(|_| {});
        for text in ["", "x", "p1~k1~v2~3~0000000000000007~5~mac", "t1~k1~v2~x~0000000000000007~5~6~mac"] {
            let inspection = inspect(&policy, policy.release(0).unwrap(), text, NOW);
            assert_eq!((inspection.verdict, inspection.claims), (Verdict::NotGenuine, None), "{text}");
        }
        let off = self::policy(|release| release["override"] = json!({"mode": "off"}));
        assert_eq!(judged(&off, "t1", NOW), Verdict::NotByToken);
    }
}
