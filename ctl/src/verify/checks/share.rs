//! Whether the canary's share of the users is the weight.

use super::{Check, CheckContext};
use assignment::contract::{KeySource, MintPolicy};
use assignment::policy::Release;
use canary_release::stats::{Verdict, wilson};

pub(super) fn check(context: &CheckContext<'_>) -> Check {
    let name = "share";
    let Some((canary, _)) = context.expected.canary() else {
        return Check::skipped(name, "no version is the canary");
    };
    if let Some(why) = context.expected.release().and_then(cannot_be_seen) {
        return Check::skipped(name, why);
    }
    let first_versions = context.users.iter().filter_map(|user| user.versions.first()?.as_deref());
    let (mut hits, mut of) = (0, 0);
    for version in first_versions {
        of += 1;
        hits += u64::from(version == canary);
    }
    let weight = context.expected.weight();
    let (low, high) = wilson(hits, of);
    let verdict = Verdict::of_share(hits, of, weight.as_fraction());
    let seen = format!(
        "{hits} of {of} users on {canary}, {:.2} to {:.2}% (95%), asked {weight}: {verdict}",
        low * 100.0,
        high * 100.0
    );
    match verdict {
        Verdict::TooFew => Check::skipped(name, format!("{seen}; ask for more --users")),
        Verdict::Fits { .. } | Verdict::Exact | Verdict::Deviates { .. } => {
            Check::of(name, !verdict.is_deviation(), seen)
        }
    }
}

/// Simulated new users have no key except the id that the filter mints.
fn cannot_be_seen(release: &Release) -> Option<&'static str> {
    if release.identify_by.contains(&KeySource::ClientAddress {}) {
        return Some("the client's address is the key, and all users of this check have one address");
    }
    (release.mint == MintPolicy::Never)
        .then_some("`mint: never`: new users have no key, so they get the fallback and no share can be seen")
}
