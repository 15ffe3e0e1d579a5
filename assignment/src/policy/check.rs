//! Checks a configuration. Each error names the place, what was expected and what was found.

use crate::contract::{
    ContractError, CookieConfig, FilterConfig, IdentityMode, KeySource, MintPolicy, OverrideMode, Position,
    ReleaseConfig, Role, SameSite, Secret, Stickiness,
};
use crate::seal::{KeyRing, MAX_NAME_LEN};

/// The first thing that is wrong. (Later ones mostly follow from it; and one shared, plain function instead of a closure
/// for each check keeps the module in the proxy small.)
struct Checks<'c> {
    /// The beginning of the places.
    prefix: &'c str,
    fault: Option<ContractError>,
}

impl Checks<'_> {
    #[inline(never)]
    fn ensure(&mut self, holds: bool, field: &str, expected: &str, found: &str) {
        if !holds && self.fault.is_none() {
            let place = format!("{}{field}", self.prefix);
            let found = if found.is_empty() { "nothing" } else { found };
            self.fault = Some(ContractError::invalid(place, format!("expected {expected}, found {found}")));
        }
    }

    fn end(self) -> Result<(), ContractError> {
        self.fault.map_or(Ok(()), Err)
    }
}

/// Checks the settings of the whole proxy.
pub(super) fn proxy(config: &FilterConfig) -> Result<(), ContractError> {
    let mut checks = Checks { prefix: "", fault: None };
    cookie(&mut checks, "idCookie", &config.id_cookie);
    let names = &config.headers;
    let all = [&names.routing, &names.identity, &names.cohort, &names.overrides, &names.token];
    for name in all.into_iter().chain(&config.debug_header) {
        let legal = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        checks.ensure(legal, "headers", "names of a-z 0-9 -", name);
    }
    let baggage = config.baggage.as_deref();
    checks.ensure(baggage.is_none_or(is_token), "baggage", "a key", baggage.unwrap_or_default());
    let long_enough =
        config.identity_key.as_ref().is_none_or(|secret| secret.expose().len() >= Secret::MIN_LEN);
    checks.ensure(long_enough, "identityKey", "at least 16 bytes", "fewer");
    checks.end()
}

/// Checks one release.
pub(super) fn release(
    config: &FilterConfig,
    ring: &KeyRing,
    name: &str,
    release: &ReleaseConfig,
) -> Result<(), ContractError> {
    let prefix = format!("releases.{name}.");
    let mut checks = Checks { prefix: &prefix, fault: None };
    let is_named =
        name.split_once('/').is_some_and(|(namespace, name)| is_dns_label(namespace) && is_dns_label(name));
    checks.ensure(is_named, "name", "<namespace>/<name>, two DNS labels", name);
    let uid_fits = (1..=MAX_NAME_LEN).contains(&release.uid.len());
    checks.ensure(uid_fits, "uid", "1 to 63 characters", &release.uid);
    let train = release.train.as_deref();
    checks.ensure(
        train.is_none_or(is_label_value),
        "train",
        "a label value: up to 63 letters, digits, `-`, `_` and `.`, a letter or digit first and last",
        train.unwrap_or_default(),
    );
    hosts_and_paths(&mut checks, release);
    versions(&mut checks, release);
    keys(&mut checks, release);
    stickiness(&mut checks, config, ring, release);
    overrides(&mut checks, ring, release);
    checks.end()
}

fn hosts_and_paths(checks: &mut Checks<'_>, release: &ReleaseConfig) {
    checks.ensure(!release.hosts.is_empty(), "hosts", "at least one host", "");
    for host in &release.hosts {
        checks.ensure(is_host(host), "hosts", "a name, *.suffix or * in lower case without a port", host);
    }
    checks.ensure(!release.paths.is_empty(), "paths", "at least one path prefix", "");
    for path in &release.paths {
        let legal = path.starts_with('/') && !path.bytes().any(|byte| matches!(byte, b'?' | b'#'));
        checks.ensure(legal, "paths", "a prefix that starts with / and has no ? or #", path);
    }
}

fn versions(checks: &mut Checks<'_>, release: &ReleaseConfig) {
    let count = |role| release.versions.iter().filter(|version| version.role == role).count();
    let (stable, canary) = (count(Role::Stable), count(Role::Canary));
    checks.ensure(stable == 1, "versions", "one stable version", if stable == 0 { "" } else { "several" });
    checks.ensure(canary <= 1, "versions", "at most one canary", "several");
    let has_someone = canary == 1 || release.weight.basis_points() == 0;
    checks.ensure(has_someone, "weight", "0 where there is no canary", "more");
    for (index, version) in release.versions.iter().enumerate() {
        let name = version.name.as_str();
        checks.ensure(
            is_label_value(name),
            "versions",
            "a label value: up to 63 letters, digits, `-`, `_` and `.`, a letter or digit first and last",
            name,
        );
        let again = release.versions.iter().take(index).any(|other| other.name == name);
        checks.ensure(!again, "versions", "each version once", name);
        let gone = release.gone.iter().any(|gone| gone.name == name && gone.epoch >= version.epoch);
        checks.ensure(!gone, "gone", "no version that is live at that epoch", name);
        let routing = version.routing.as_deref();
        let is_value = |value: &str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic());
        let expected = "a header value of visible characters without blanks";
        checks.ensure(routing.is_none_or(is_value), "versions", expected, routing.unwrap_or_default());
    }
}

fn keys(checks: &mut Checks<'_>, release: &ReleaseConfig) {
    for key in &release.identify_by {
        match key {
            KeySource::Cookie(name) | KeySource::Query(name) => {
                checks.ensure(is_token(name), "identifyBy", "a name", name);
            }
            KeySource::Header(name) => {
                let legal = is_token(name) && !name.bytes().any(|byte| byte.is_ascii_uppercase());
                checks.ensure(legal, "identifyBy", "a header name in lower case", name);
            }
            KeySource::Jwt { claim, payload } => {
                checks.ensure(
                    !claim.is_empty() && !payload.is_empty(),
                    "identifyBy",
                    "a claim and a payload",
                    "",
                );
            }
            KeySource::Identity {} | KeySource::ClientAddress {} => {}
        }
    }
}

fn stickiness(checks: &mut Checks<'_>, config: &FilterConfig, ring: &KeyRing, release: &ReleaseConfig) {
    let edge = config.position == Position::Edge;
    let session = release.stickiness == Stickiness::Session;
    checks.ensure(!session || release.pin.is_some() || !edge, "pin", "a cookie with stickiness: session", "");
    let signs = edge && (session || release.mint != MintPolicy::Never);
    checks.ensure(!signs || ring.can_sign(), "pin", "a key with use: sign for pins and minted ids", "");
    if let Some(pin) = &release.pin {
        cookie(checks, "pin.cookie", &pin.cookie);
        checks.ensure(pin.max_age_seconds > 0, "pin.maxAgeSeconds", "more than 0", "0");
        checks.ensure(pin.idle_seconds != Some(0), "pin.idleSeconds", "more than 0", "0");
    }
    let session_cookie = release.session_cookie.as_deref();
    checks.ensure(
        session_cookie.is_none_or(is_token),
        "sessionCookie",
        "a name",
        session_cookie.unwrap_or_default(),
    );
    let keyed = release.identity == IdentityMode::Keyed;
    checks.ensure(
        !keyed || config.identity_key.is_some(),
        "identity",
        "the proxy's identityKey with keyed",
        "",
    );
}

fn overrides(checks: &mut Checks<'_>, ring: &KeyRing, release: &ReleaseConfig) {
    let by_token = release.overrides.mode == OverrideMode::Token;
    checks.ensure(
        !by_token || release.overrides.token.is_some(),
        "override.token",
        "one with mode: token",
        "",
    );
    checks.ensure(!by_token || ring.can_sign(), "override.mode", "a key with use: sign for tokens", "");
    if let Some(token) = &release.overrides.token {
        cookie(checks, "override.token.cookie", &token.cookie);
        checks.ensure(is_token(&token.query), "override.token.query", "a parameter name", &token.query);
    }
}

/// The browsers' requirements on a cookie; they reject other cookies silently.
fn cookie(checks: &mut Checks<'_>, field: &str, cookie: &CookieConfig) {
    let name = cookie.name.as_str();
    checks.ensure(is_token(name), field, "a cookie name", name);
    let host_prefix = name.starts_with("__Host-");
    let host_fits = !host_prefix || (cookie.secure && cookie.domain.is_none());
    checks.ensure(host_fits, field, "secure and no domain with a __Host- name", name);
    let secure_fits = cookie.secure || !name.starts_with("__Secure-");
    checks.ensure(secure_fits, field, "secure with a __Secure- name", name);
    let same_site_fits = cookie.secure || cookie.same_site != SameSite::None;
    checks.ensure(same_site_fits, field, "secure with sameSite: None", name);
    let domain = cookie.domain.as_deref();
    let domain_fits = domain.is_none_or(|domain| is_host(domain) && !domain.starts_with('*'));
    checks.ensure(domain_fits, field, "a host name as domain", domain.unwrap_or_default());
}

/// RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_host(host: &str) -> bool {
    let name = host.strip_prefix("*.").unwrap_or(host);
    host == "*"
        || (!name.is_empty()
            && !name.starts_with('.')
            && host.len() <= 255
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._[]:".contains(&b))
            && (!name.contains(':') || (name.starts_with('[') && name.ends_with(']'))))
}

/// RFC 1123 label.
fn is_dns_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// A Kubernetes label value that is not empty.
fn is_label_value(text: &str) -> bool {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    (1..=MAX_NAME_LEN).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && alphanumeric(text.as_bytes().first())
        && alphanumeric(text.as_bytes().last())
}
