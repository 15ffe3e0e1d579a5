//! The content of a token, and whether a proxy would accept it.

use assignment::decide::{MAX_TOKEN_LIFE_SECONDS, is_ahead};
use assignment::policy::{PinStatus, Release};
use assignment::seal::Kind;
use assignment::{Identity, Policy};
use serde::Serialize;

/// Whether a token is valid, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TokenVerdict {
    /// A proxy accepts it.
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
    /// Its life is longer than a token may have.
    TooLong,
    /// Issued further ahead than clocks may differ.
    Ahead,
    /// The release accepts no tokens.
    NotByToken,
}

/// The content of a token, verified or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Claims {
    /// The id of the key that signed it, by its text.
    pub key: String,
    pub version: String,
    /// The version's epoch.
    pub epoch: u32,
    /// The number that distinguishes tokens in logs.
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
    pub verdict: TokenVerdict,
    /// The release that was asked.
    pub release: String,
    /// Its content; `None` if the text is no token.
    pub claims: Option<Claims>,
    /// The rest of its life, in seconds; `None` if it is not valid.
    pub left_seconds: Option<u64>,
}

/// Judges a token as the release's proxies would at this moment (seconds since 1970-01-01 UTC).
pub fn inspect(policy: &Policy, release: &Release, token: &str, now: u64) -> Inspection {
    let verdict = judge(policy, release, token, now);
    let claims = claims(token);
    let left_seconds = claims
        .as_ref()
        .filter(|_| verdict == TokenVerdict::Valid)
        .map(|claims| claims.expires_seconds.saturating_sub(now));
    Inspection { verdict, release: release.name.clone(), claims, left_seconds }
}

fn judge(policy: &Policy, release: &Release, token: &str, now: u64) -> TokenVerdict {
    let Some(config) = release.token.as_ref() else { return TokenVerdict::NotByToken };
    let seal = policy.ring.verify(Kind::Token, &release.uid, token.as_bytes());
    let Some((seal, expires)) = seal.and_then(|seal| Some((seal, seal.expires?))) else {
        return TokenVerdict::NotGenuine;
    };
    if expires.saturating_sub(seal.issued) > MAX_TOKEN_LIFE_SECONDS {
        return TokenVerdict::TooLong;
    }
    if is_ahead(seal.issued, now) {
        return TokenVerdict::Ahead;
    }
    if seal.issued < config.not_before_seconds {
        return TokenVerdict::Revoked;
    }
    if now >= expires {
        return TokenVerdict::Expired;
    }
    match release.pin_status(seal.version, seal.epoch, || now) {
        PinStatus::Live(_) => TokenVerdict::Valid,
        PinStatus::Gone => TokenVerdict::VersionGone,
        PinStatus::Unknown => TokenVerdict::VersionUnknown,
    }
}

/// The fields of the text as `assignment::seal` describes them, without verification: a forged token is shown too.
fn claims(token: &str) -> Option<Claims> {
    let fields: Vec<&str> = token.split('.').collect();
    // A version may have dots itself.
    let ["t1", key, version @ .., epoch, nonce, issued, expires, _mac] = fields.as_slice() else {
        return None;
    };
    let nonce: Identity = nonce.parse().ok()?;
    Some(Claims {
        key: (*key).to_owned(),
        version: version.join("."),
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

    fn judged(policy: &Policy, token: &str, now: u64) -> TokenVerdict {
        inspect(policy, policy.release(0).unwrap(), token, now).verdict
    }

    #[test]
    fn a_token_is_valid_until_its_last_second() {
        let policy = policy(|_| {});
        let token = issued(&policy, "v2", 60).unwrap().token;
        let inspection = inspect(&policy, policy.release(0).unwrap(), &token, NOW + 59);
        assert_eq!((inspection.verdict, inspection.left_seconds), (TokenVerdict::Valid, Some(1)));
        let claims = inspection.claims.unwrap();
        assert_eq!((claims.version.as_str(), claims.epoch, claims.issued_seconds), ("v2", 3, NOW));
        assert_eq!(judged(&policy, &token, NOW + 60), TokenVerdict::Expired);
    }

    #[test]
    fn an_edited_token_is_read_and_not_believed() {
        let policy = policy(|_| {});
        let token = issued(&policy, "v1", 60).unwrap().token.replace(".v1.", ".v2.");
        let inspection = inspect(&policy, policy.release(0).unwrap(), &token, NOW);
        assert_eq!(inspection.verdict, TokenVerdict::NotGenuine);
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
            (sign("v2", 3, NOW - 101, NOW + 1), TokenVerdict::Revoked),
            (sign("v2", 2, NOW, NOW + 1), TokenVerdict::VersionGone),
            (sign("v9", 1, NOW, NOW + 1), TokenVerdict::VersionUnknown),
            (sign("v2", 3, NOW, NOW + week + 1), TokenVerdict::TooLong),
            (sign("v2", 3, NOW + 301, NOW + 302), TokenVerdict::Ahead),
            (sign("v2", 3, NOW + 300, NOW + 301), TokenVerdict::Valid),
        ] {
            assert_eq!(judged(&policy, &token, NOW), expected, "{token}");
        }
    }

    #[test]
    fn a_version_with_dots_is_read() {
        let text = "t1.k1.2026.11-a.3.0000000000000007.5.6.mac";
        assert_eq!(
            claims(text).map(|claims| (claims.version, claims.epoch)),
            Some(("2026.11-a".to_owned(), 3))
        );
    }

    #[test]
    fn what_is_no_token_says_nothing() {
        let policy = policy(|_| {});
        for text in ["", "x", "p1.k1.v2.3.0000000000000007.5.mac", "t1.k1.v2.x.0000000000000007.5.6.mac"] {
            let inspection = inspect(&policy, policy.release(0).unwrap(), text, NOW);
            assert_eq!((inspection.verdict, inspection.claims), (TokenVerdict::NotGenuine, None), "{text}");
        }
        let off = self::policy(|release| release["override"] = json!({"mode": "off"}));
        assert_eq!(judged(&off, "t1", NOW), TokenVerdict::NotByToken);
    }
}
