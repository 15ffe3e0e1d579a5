//! The rules: each checks a release and reports what is dangerous in it.

use super::Level;
use super::findings::RawFinding;
use super::rollout_rules::{
    metrics_of_both_versions_are_no_reason_against_one, percentiles_inside_a_train_count_in_its_own_rollouts,
    plans_end_with_little_traffic, tokens_need_encryption, urls_of_receivers_are_secrets,
};
use crate::spec::{Mode, Release};
use assignment::contract::{
    CacheControl, ExpiryAction, IdentityMode, KeySource, MintPolicy, OverrideMode, Stickiness,
};

pub(super) type LintRule = fn(&Release) -> Vec<RawFinding>;

/// Every rule with its identifier, in the order of the fields they are about.
pub(super) const ALL: [(&str, LintRule); 22] = [
    ("session-cookie", sticky_sessions_need_their_cookie),
    ("session-in-address", servlet_sessions_in_the_address_are_not_seen),
    ("foreign-sessions", foreign_sessions_count_as_older),
    ("shared-pins", pins_can_be_passed_on),
    ("no-user-key", users_have_a_key),
    ("personal-key", personal_keys_are_found_by_dictionary),
    ("keyed-sidecars", sidecars_of_keyed_identities_have_no_other_key),
    ("client-key", clients_choose_some_keys),
    ("client-cookie", clients_choose_cookies),
    ("unauthenticated-jwt", jwt_needs_authentication),
    ("sidecars-without-train", sidecars_decide_alone_outside_a_train),
    ("open-override", open_override_lets_everyone_in),
    ("cookies-without-tls", cookies_without_tls_can_be_read),
    ("receiver-url", urls_of_receivers_are_secrets),
    ("plain-token", tokens_need_encryption),
    ("metric-of-both-versions", metrics_of_both_versions_are_no_reason_against_one),
    ("percentile-inside-train", percentiles_inside_a_train_count_in_its_own_rollouts),
    ("slow-plan", plans_end_with_little_traffic),
    ("no-session-affinity", pods_forget_sessions_without_affinity),
    ("shared-caches", shared_caches_mix_versions),
    ("pins-outlive-expiry", pins_outlive_an_expiry),
    ("plugin-without-default", a_plugin_has_no_default),
];

pub(super) fn raise(
    level: Level,
    field: &str,
    message: impl Into<String>,
    hint: &'static str,
) -> Vec<RawFinding> {
    vec![RawFinding { level, field: field.to_owned(), message: message.into(), hint }]
}

pub(super) const NOTHING: Vec<RawFinding> = Vec::new();

/// The API server draws the uid of an object, and refuses one that names another.
pub(super) fn an_object_has_another_uid(is_in_metadata: bool) -> Vec<RawFinding> {
    if !is_in_metadata {
        return NOTHING;
    }
    let message = "in a cluster `metadata.uid` is the object's own: this file cannot be applied there twice";
    raise(
        Level::Info,
        "metadata.uid",
        message,
        "move the value to `spec.uid`: pins, ids and tokens stay valid",
    )
}

fn sticky_sessions_need_their_cookie(release: &Release) -> Vec<RawFinding> {
    if release.stickiness != Stickiness::Session || release.session.cookie.is_some() {
        return NOTHING;
    }
    if release.mint == MintPolicy::Never {
        let message = "sessions cannot stick: there is no session cookie to pin with, and no id is minted";
        return raise(
            Level::Error,
            "spec.session",
            message,
            "name the application's cookie in `session.cookie`",
        );
    }
    let message = "without a session cookie a pin is written with the minted id, and a login can outlive it";
    raise(
        Level::Warning,
        "spec.session",
        message,
        "name the application's cookie in `session.cookie`, if it has one",
    )
}

/// Servlet containers keep the session of a client without cookies in the address (Jakarta Servlet 6.0 §7.1.3). The version is
/// decided before the application draws such an id, and only a cookie can keep the decision.
fn servlet_sessions_in_the_address_are_not_seen(release: &Release) -> Vec<RawFinding> {
    let is_servlet = |name: &str| name.eq_ignore_ascii_case("JSESSIONID");
    if !release.session.cookie.as_deref().is_some_and(is_servlet) {
        return NOTHING;
    }
    let message = "the session of a client without cookies is in the address (`;jsessionid=`) and not seen: its requests change \
                   version and pod";
    let hint = "turn it off: `<tracking-mode>COOKIE</tracking-mode>` in web.xml, or `server.servlet.session.tracking-modes=cookie` (Spring Boot)";
    raise(Level::Info, "spec.session.cookie", message, hint)
}

/// A cookie of `Path=/` reaches every release of the host, and without a pin it looks like a session older than the filter.
fn foreign_sessions_count_as_older(release: &Release) -> Vec<RawFinding> {
    let session = &release.session;
    let adopts = release.stickiness == Stickiness::Session && session.cookie.is_some() && session.adopt;
    if !adopts || release.paths.iter().any(|path| path == "/") {
        return NOTHING;
    }
    let message = format!(
        "a session cookie with `Path=/` of an application outside these paths counts as a session older than the filter: for {} after \
         the installation its users stay on stable, whatever the weight",
        session.adopt_for
    );
    let hint = "set `session.adopt: false` if other applications of the host set this cookie";
    raise(Level::Warning, "spec.paths", message, hint)
}

/// A client can pass a genuine pin on; that none can be forged is the filter's promise.
fn pins_can_be_passed_on(release: &Release) -> Vec<RawFinding> {
    if release.stickiness != Stickiness::Session {
        return NOTHING;
    }
    let message = "a client can pass its pin on: whoever sends it stays on its version until a rollback";
    raise(
        Level::Info,
        "spec.stickiness",
        message,
        "use `weight 0` and tokens where only some may see the canary",
    )
}

fn users_have_a_key(release: &Release) -> Vec<RawFinding> {
    if !release.identify_by.is_empty() {
        return NOTHING;
    }
    if release.mint == MintPolicy::Never {
        let message = "no user has a key and no id is minted: everyone is a fallback";
        return raise(Level::Error, "spec.identifyBy", message, "add a key, or `mint: navigation`");
    }
    let message = "only clients that keep cookies are drawn; APIs and bots are a fallback";
    raise(Level::Info, "spec.identifyBy", message, "add a key that those clients send")
}

fn personal_keys_are_found_by_dictionary(release: &Release) -> Vec<RawFinding> {
    if release.identity == IdentityMode::Keyed {
        return NOTHING;
    }
    let personal = |key: &KeySource| matches!(key, KeySource::Jwt { .. } | KeySource::Header(_));
    let named = release.identify_by.iter().enumerate().filter(|(_, key)| personal(key));
    named
        .flat_map(|(index, _)| {
            let message =
                "this key may name a person, and the identity that travels can be found by dictionary";
            raise(Level::Error, &format!("spec.identifyBy[{index}]"), message, "set `identity: keyed`")
        })
        .collect()
}

fn sidecars_of_keyed_identities_have_no_other_key(release: &Release) -> Vec<RawFinding> {
    let is_handed_on = release.identity == IdentityMode::Keyed && !release.gateways.is_empty();
    if !is_handed_on || release.sidecars.is_empty() {
        return NOTHING;
    }
    let message = "sidecars have no identity key: they know a user by the propagated identity alone, and a call without it is a fallback";
    raise(
        Level::Info,
        "spec.identity",
        message,
        "let the applications forward `x-canary-id` and `x-canary-cohort`, or W3C `baggage`",
    )
}

fn clients_choose_some_keys(release: &Release) -> Vec<RawFinding> {
    let chosen = |what: &str| match release.identity {
        IdentityMode::Plain => (
            Level::Warning,
            format!("a client can choose {what}, and with it its bucket"),
            "set `identity: keyed`: then it can only try values; a JWT claim it can neither choose nor try",
        ),
        IdentityMode::Keyed => (
            Level::Info,
            format!("a client can try values of {what} until one has the bucket that it wants"),
            "prefer a JWT claim, which it can neither choose nor try",
        ),
    };
    let raised = |(index, key): (usize, &KeySource)| {
        let (level, message, hint) = match key {
            KeySource::Header(name) => chosen(&format!("header `{name}`")),
            KeySource::Query(name) => chosen(&format!("parameter `{name}`")),
            KeySource::ClientAddress {} => (
                Level::Warning,
                "everyone behind one address shares a bucket, and an address can be changed".to_owned(),
                "prefer a key that the application gives out: a session cookie or a JWT claim",
            ),
            KeySource::Cookie(_) | KeySource::Jwt { .. } | KeySource::Identity {} => return NOTHING,
        };
        raise(level, &format!("spec.identifyBy[{index}]"), message, hint)
    };
    release.identify_by.iter().enumerate().flat_map(raised).collect()
}

/// A session cookie, too, has the value that the client sends. A keyed bucket cannot be computed from it, so it is as much by chance as that of a
/// client that drops its cookies.
fn clients_choose_cookies(release: &Release) -> Vec<RawFinding> {
    let cookie = |(index, key): (usize, &KeySource)| match key {
        KeySource::Cookie(name) => Some((index, format!("`{name}`"))),
        _ => None,
    };
    let cookies: Vec<(usize, String)> = release.identify_by.iter().enumerate().filter_map(cookie).collect();
    let (Some((index, _)), IdentityMode::Plain) = (cookies.first(), release.identity) else { return NOTHING };
    let names: Vec<&str> = cookies.iter().map(|(_, name)| name.as_str()).collect();
    let message = format!(
        "a client can choose the value of cookie {}, and with it its bucket: at a weight above 0 it gets the version that it wants",
        names.join(" or ")
    );
    let hint = "set `identity: keyed` before the first weight, where that matters: then it can only try values (docs/concepts.md)";
    raise(Level::Info, &format!("spec.identifyBy[{index}]"), message, hint)
}

fn jwt_needs_authentication(release: &Release) -> Vec<RawFinding> {
    let jwt = release.identify_by.iter().position(|key| matches!(key, KeySource::Jwt { .. }));
    let (Some(index), false) = (jwt, release.delivery.mode == Mode::Local) else { return NOTHING };
    let message = "the claim is read from what a RequestAuthentication on the gateway has verified";
    raise(
        Level::Info,
        &format!("spec.identifyBy[{index}]"),
        message,
        "apply one there, or no request has this key",
    )
}

fn sidecars_decide_alone_outside_a_train(release: &Release) -> Vec<RawFinding> {
    if release.sidecars.is_empty() || release.train.is_some() || release.stickiness == Stickiness::User {
        return NOTHING;
    }
    let message =
        "inside the mesh a release outside a train is a pure function of the user: pins do not count there";
    raise(Level::Error, "spec.sidecars", message, "give the releases that belong together one `train`")
}

fn open_override_lets_everyone_in(release: &Release) -> Vec<RawFinding> {
    if release.overrides.mode != OverrideMode::Open {
        return NOTHING;
    }
    let message = "everyone who can send a header can choose a version, at weight 0 too";
    raise(Level::Error, "spec.override", message, "use `override: token`, unless the network is trusted")
}

fn cookies_without_tls_can_be_read(release: &Release) -> Vec<RawFinding> {
    if release.delivery.mode == Mode::Local {
        return secure_cookies_are_dropped_without_tls(release);
    }
    if release.cookies.tls {
        return NOTHING;
    }
    let message =
        "without TLS our cookies are neither Secure nor bound to the host: others can read and replace them";
    let hint =
        "leave `tls` out where the gateway speaks TLS, set `tls: true` where something in front of it does";
    raise(Level::Warning, "spec.cookies.tls", message, hint)
}

/// The local Envoy listens without TLS. Browsers keep `Secure` cookies of `localhost`, other clients do not.
fn secure_cookies_are_dropped_without_tls(release: &Release) -> Vec<RawFinding> {
    if !release.cookies.tls {
        return NOTHING;
    }
    let message = "the local Envoy has no TLS, and clients other than browsers drop `Secure` cookies: they change versions";
    raise(Level::Error, "spec.cookies.tls", message, "set `cookies: {tls: false}`")
}

fn pods_forget_sessions_without_affinity(release: &Release) -> Vec<RawFinding> {
    let none = release.session_affinity == assignment::contract::SessionAffinity::None;
    if !none || release.stickiness != Stickiness::Session || release.delivery.mode == Mode::Local {
        return NOTHING;
    }
    let message = "a session sticks to its version; to its pod only where the host has a policy of its own";
    raise(
        Level::Info,
        "spec.sessionAffinity",
        message,
        "set `sessionAffinity: identity`, unless a DestinationRule has one",
    )
}

fn shared_caches_mix_versions(release: &Release) -> Vec<RawFinding> {
    if release.cache_control == CacheControl::Private {
        return NOTHING;
    }
    let message =
        "a CDN or another shared cache hands cacheable responses of one version to users of the other";
    raise(
        Level::Info,
        "spec.cacheControl",
        message,
        "set `cacheControl: private`, unless every cacheable response is the same in both",
    )
}

fn pins_outlive_an_expiry(release: &Release) -> Vec<RawFinding> {
    let day = crate::spec::Seconds::DAY;
    let keeps = release.on_expiry == ExpiryAction::Stop && release.stickiness == Stickiness::Session;
    if !keeps || release.session.max_age <= day {
        return NOTHING;
    }
    let message = format!(
        "after a weight has expired, sessions stay on the canary for up to {}",
        release.session.max_age
    );
    raise(Level::Info, "spec.session.maxAge", message, "set `onExpiry: rollback` to bring them back at once")
}

fn a_plugin_has_no_default(release: &Release) -> Vec<RawFinding> {
    if !release.delivery.mode.config_object().is_plugin {
        return NOTHING;
    }
    let message =
        "in this mode a gateway that starts without the module serves everyone from stable, pinned users too";
    raise(
        Level::Warning,
        "spec.delivery.mode",
        message,
        "use `envoyfilter`: this mode needs an EnvoyFilter too, which removes the clients' headers",
    )
}
