//! What a configuration may say. Each refusal names the place and says what was expected.

use crate::contract::{
    ContractError, CookieConfig, FilterConfig, IdentityMode, KeySource, MintPolicy, OverrideMode, Position,
    ReleaseConfig, Role, SameSite, Secret, Stickiness,
};
use crate::seal::{MAX_NAME_LEN, Ring};

type Checked = Result<(), ContractError>;

fn ensure(holds: bool, place: impl FnOnce() -> String, reason: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(ContractError::invalid(place(), reason())) }
}

/// What holds for the proxy as a whole.
pub(super) fn proxy(config: &FilterConfig) -> Checked {
    cookie("idCookie", &config.id_cookie)?;
    let names = &config.headers;
    let all = [&names.routing, &names.identity, &names.cohort, &names.overrides, &names.token];
    for name in all.into_iter().chain(&config.debug_header) {
        let legal = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        ensure(
            legal,
            || "headers".into(),
            || format!("expected a header name of `a-z 0-9 -`, found `{name}`"),
        )?;
    }
    if let Some(secret) = &config.identity_key {
        let long_enough = secret.expose().len() >= Secret::MIN_LEN;
        ensure(
            long_enough,
            || "identityKey".into(),
            || format!("expected at least {} bytes", Secret::MIN_LEN),
        )?;
    }
    Ok(())
}

/// What holds for one release.
pub(super) fn release(config: &FilterConfig, ring: &Ring, name: &str, release: &ReleaseConfig) -> Checked {
    let place = |field: &str| format!("releases.{name}.{field}");
    let named =
        name.split_once('/').is_some_and(|(namespace, name)| is_dns_label(namespace) && is_dns_label(name));
    ensure(named, || format!("releases.{name}"), || "expected `<namespace>/<name>`, two DNS labels".into())?;
    let uid_fits = (1..=MAX_NAME_LEN).contains(&release.uid.len());
    ensure(uid_fits, || place("uid"), || format!("expected 1 to {MAX_NAME_LEN} characters"))?;
    hosts_and_paths(release, &place)?;
    versions(release, &place)?;
    keys(release, &place)?;
    stickiness(config, ring, release, &place)?;
    overrides(ring, release, &place)
}

fn hosts_and_paths(release: &ReleaseConfig, place: &impl Fn(&str) -> String) -> Checked {
    ensure(!release.hosts.is_empty(), || place("hosts"), || "expected at least one host".into())?;
    for host in &release.hosts {
        ensure(
            is_host(host),
            || place("hosts"),
            || format!("expected `name`, `*.suffix` or `*` in lower case without a port, found `{host}`"),
        )?;
    }
    ensure(!release.paths.is_empty(), || place("paths"), || "expected at least one path prefix".into())?;
    for path in &release.paths {
        let legal = path.starts_with('/') && !path.contains(['?', '#']);
        ensure(
            legal,
            || place("paths"),
            || format!("expected a path prefix that starts with `/` and has no `?` or `#`, found `{path}`"),
        )?;
    }
    Ok(())
}

fn versions(release: &ReleaseConfig, place: &impl Fn(&str) -> String) -> Checked {
    let count = |role| release.versions.iter().filter(|version| version.role == role).count();
    let (stable, canary) = (count(Role::Stable), count(Role::Canary));
    ensure(stable == 1, || place("versions"), || format!("expected one stable version, found {stable}"))?;
    ensure(canary <= 1, || place("versions"), || format!("expected at most one canary, found {canary}"))?;
    ensure(
        canary == 1 || release.weight.basis_points() == 0,
        || place("weight"),
        || format!("expected 0 where there is no canary, found {}", release.weight),
    )?;
    for (index, version) in release.versions.iter().enumerate() {
        let here = || place(&format!("versions[{index}]"));
        ensure(is_label_value(&version.name), here, || {
            format!(
                "expected a version label value (RFC 1123, up to 63 characters), found `{}`",
                version.name
            )
        })?;
        let again = release.versions.iter().take(index).any(|other| other.name == version.name);
        ensure(!again, here, || format!("version `{}` is listed twice", version.name))?;
        let contradicted =
            release.gone.iter().any(|gone| gone.name == version.name && gone.epoch >= version.epoch);
        ensure(!contradicted, here, || format!("version `{}` is live and gone at one epoch", version.name))?;
    }
    Ok(())
}

fn keys(release: &ReleaseConfig, place: &impl Fn(&str) -> String) -> Checked {
    for (index, key) in release.keys.iter().enumerate() {
        let named = match key {
            KeySource::Cookie(name) => is_token(name),
            KeySource::Header(name) => is_token(name) && !name.bytes().any(|b| b.is_ascii_uppercase()),
            KeySource::Query(name) => is_token(name),
            KeySource::Jwt { claim, payload } => !claim.is_empty() && !payload.is_empty(),
            KeySource::Identity {} | KeySource::ClientAddress {} => true,
        };
        ensure(
            named,
            || place(&format!("keys[{index}]")),
            || "expected a name (header names in lower case) or a claim path".into(),
        )?;
    }
    Ok(())
}

fn stickiness(
    config: &FilterConfig,
    ring: &Ring,
    release: &ReleaseConfig,
    place: &impl Fn(&str) -> String,
) -> Checked {
    let edge = config.position == Position::Edge;
    let session = release.stickiness == Stickiness::Session;
    ensure(
        !session || release.pin.is_some() || !edge,
        || place("pin"),
        || "expected a pin cookie with `stickiness: session`".into(),
    )?;
    let signs = edge && (session || release.mint != MintPolicy::Never);
    ensure(
        !signs || ring.can_sign(),
        || "keys".into(),
        || "expected a key with `use: sign`: pins and minted ids are signed".into(),
    )?;
    if let Some(pin) = &release.pin {
        cookie(&place("pin.cookie"), &pin.cookie)?;
        ensure(pin.max_age_seconds > 0, || place("pin.maxAgeSeconds"), || "expected more than 0".into())?;
        ensure(pin.idle_seconds != Some(0), || place("pin.idleSeconds"), || "expected more than 0".into())?;
    }
    if let Some(name) = &release.session_cookie {
        ensure(
            is_token(name),
            || place("sessionCookie"),
            || format!("expected a cookie name, found `{name}`"),
        )?;
    }
    let keyed = release.identity == IdentityMode::Keyed;
    ensure(
        !keyed || config.identity_key.is_some(),
        || place("identity"),
        || "`keyed` needs the proxy's `identityKey`".into(),
    )
}

fn overrides(ring: &Ring, release: &ReleaseConfig, place: &impl Fn(&str) -> String) -> Checked {
    let Some(token) = &release.overrides.token else {
        let needed = release.overrides.mode == OverrideMode::Token;
        return ensure(!needed, || place("override.token"), || "expected with `mode: token`".into());
    };
    cookie(&place("override.token.cookie"), &token.cookie)?;
    ensure(is_token(&token.query), || place("override.token.query"), || "expected a parameter name".into())?;
    let verifies = release.overrides.mode != OverrideMode::Token || ring.can_sign();
    ensure(verifies, || "keys".into(), || "expected a key with `use: sign`: tokens are signed".into())
}

fn cookie(place: &str, cookie: &CookieConfig) -> Checked {
    let here = || place.to_owned();
    ensure(is_token(&cookie.name), here, || format!("expected a cookie name, found `{}`", cookie.name))?;
    let host_prefix = cookie.name.starts_with("__Host-");
    ensure(!host_prefix || (cookie.secure && cookie.domain.is_none()), here, || {
        format!("`{}` needs `secure` and no `domain`, or browsers drop it", cookie.name)
    })?;
    ensure(!cookie.name.starts_with("__Secure-") || cookie.secure, here, || {
        format!("`{}` needs `secure`, or browsers drop it", cookie.name)
    })?;
    let same_site_fits = cookie.same_site != SameSite::None || cookie.secure;
    ensure(same_site_fits, here, || "`sameSite: None` needs `secure`, or browsers drop it".into())?;
    let domain_fits = cookie.domain.as_deref().is_none_or(|domain| is_host(domain) && !domain.contains('*'));
    ensure(domain_fits, here, || "expected a host name as `domain`".into())
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
