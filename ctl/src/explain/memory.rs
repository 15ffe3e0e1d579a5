//! What the response would remember, as sentences.

use assignment::contract::Position;
use assignment::decide::PinAction;
use assignment::policy::Release;
use assignment::{Decision, Policy};

/// One sentence for each cookie that the response would set. `version` is the version's name, or what stands for it.
pub(super) fn of(policy: &Policy, release: &Release, decision: &Decision, version: &str) -> Vec<String> {
    if policy.position == Position::Mesh {
        return Vec::new();
    }
    let name = release.pin.as_ref().map_or("the pin", |pin| pin.cookie.name.as_str());
    let pin = match (&decision.pin, &release.session_cookie) {
        (PinAction::WithSession, Some(session)) => {
            Some(format!("{name}: pins {version}, if the response sets {session}, in that same response"))
        }
        (PinAction::Never, _) | (PinAction::WithSession, None) => None,
        (PinAction::Now { .. }, _) => {
            Some(format!("{name}: pins {version} now, unless a shared cache may keep the response"))
        }
    };
    let id = decision.mints.then(|| {
        let days = policy.id_max_age_seconds / (24 * 3600);
        format!(
            "{}: the id that was drawn, for {days} days, unless a shared cache may keep the response",
            policy.id_cookie.name
        )
    });
    let token = decision.token.as_ref().and(release.token.as_ref()).map(|token| {
        format!("{}: the token of the query, which is removed from the path", token.cookie.name)
    });
    pin.into_iter().chain(id).chain(token).collect()
}
