//! One list of routes: ours before theirs, and theirs again.
//!
//! Before each of their routes that leads to the Service stands a copy of it for each version, with the filter's header in
//! each of its alternatives; so what they have asked for (time-outs, retries, rewrites, mirrors …) holds for every version.
//! Their own route becomes the default: it names the stable subset. A copy's name says what their route said before:
//!
//! ```text
//! shop/shop/v2@edit        their route named no subset
//! shop/shop/v2@edit=v1     it named this one
//! ```

use super::Ways;
use crate::spec::version_subset;
use assignment::contract::HeaderNames;
use serde_json::{Map, Value, json};

const MARK: &str = "@edit";

/// A route of theirs that cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Which one: `#2`, or its name. Ours are not counted.
    pub(super) route: String,
    /// What it does.
    pub(super) found: String,
    /// What a person can do about it.
    pub(super) hint: String,
}

/// A route of theirs, and our copies before it.
struct Theirs<'h> {
    number: usize,
    route: &'h Value,
    copies: Vec<Copied<'h>>,
}

/// What a copy's name says.
struct Copied<'h> {
    version: &'h str,
    /// The subset that their route named.
    subset: Option<&'h str>,
}

/// The list with our routes in it, whichever of them were in it before.
pub(super) fn edit(http: &[Value], ways: &Ways) -> Result<Vec<Value>, Unfit> {
    let mut edited = Vec::new();
    for theirs in theirs(http, &ways.release) {
        let original = theirs.original(ways);
        let Some(at) = theirs.place(ways)? else {
            edited.push(original);
            continue;
        };
        let subset = subset(&original, at).map(str::to_owned);
        theirs.judge(ways, subset.as_deref())?;
        for version in &ways.versions {
            edited.push(copy(&original, at, (ways, version, subset.as_deref())));
        }
        edited.push(with_subset(original, at, Some(&ways.stable_subset())));
    }
    Ok(edited)
}

/// The list without our routes, and theirs as they were.
pub(super) fn undo(http: &[Value], ways: &Ways) -> Vec<Value> {
    theirs(http, &ways.release).iter().map(|theirs| theirs.original(ways)).collect()
}

/// Whether one of their routes leads to the Service.
pub(super) fn leads(http: &[Value], ways: &Ways) -> bool {
    theirs(http, &ways.release).iter().any(|theirs| !places(theirs.route, ways).is_empty())
}

/// Whether each of their routes that leads to the Service has one of ours before it that leads to this version.
pub(super) fn carries(http: &[Value], ways: &Ways, version: &str) -> bool {
    let theirs = theirs(http, &ways.release);
    let mut led = theirs.iter().filter(|theirs| !places(theirs.route, ways).is_empty()).peekable();
    led.peek().is_some() && led.all(|theirs| theirs.copies.iter().any(|copied| copied.version == version))
}

/// Whether a route that does not match everything leads to the Service.
pub(super) fn leads_past(route: &Value, ways: &Ways) -> bool {
    !is_catch_all(route) && !places(route, ways).is_empty()
}

/// Whether everything that a route leads to is the Service's stable version.
pub(super) fn is_stable(route: &Value, ways: &Ways) -> bool {
    let places = places(route, ways);
    let all = route.get("route").and_then(Value::as_array).map_or(0, Vec::len);
    let stable = ways.stable_subset();
    places.len() == all && places.iter().all(|at| subset(route, *at) == Some(&stable))
}

/// Whether a route matches every request, as istiod sees it: what only chooses proxies does not count.
pub(super) fn is_catch_all(route: &Value) -> bool {
    const OF_REQUESTS: [&str; 6] =
        ["headers", "withoutHeaders", "queryParams", "method", "authority", "scheme"];
    let Some(alternatives) = route.get("match").and_then(Value::as_array) else { return true };
    let is_any = |one: &Value| {
        let uri = |kind: &str| one.get("uri").and_then(|uri| uri.get(kind)).and_then(Value::as_str);
        let any_path = one.get("uri").is_none() || uri("prefix") == Some("/") || uri("regex") == Some(".*");
        any_path && OF_REQUESTS.iter().all(|field| one.get(field).is_none())
    };
    alternatives.is_empty() || alternatives.iter().any(is_any)
}

/// Whether any release has its routes in the list.
pub(super) fn is_edited(http: &[Value]) -> bool {
    http.iter().any(|route| name(route).contains(MARK))
}

fn theirs<'h>(http: &'h [Value], release: &str) -> Vec<Theirs<'h>> {
    let (mut all, mut copies) = (Vec::new(), Vec::new());
    for route in http {
        match Copied::of(route, release) {
            Some(ours) => copies.push(ours),
            None => all.push(Theirs { number: all.len() + 1, route, copies: std::mem::take(&mut copies) }),
        }
    }
    all
}

impl<'h> Copied<'h> {
    fn of(route: &'h Value, release: &str) -> Option<Self> {
        let rest = name(route).strip_prefix(release)?.strip_prefix('/')?;
        let (version, subset) = rest.split_once(MARK)?;
        Some(Self { version, subset: subset.strip_prefix('=') })
    }
}

impl Theirs<'_> {
    /// The route before we came. What it says now is theirs, but for a subset of ours.
    fn original(&self, ways: &Ways) -> Value {
        let route = self.route.clone();
        let places = places(self.route, ways);
        let ([at], Some(before)) = (places.as_slice(), self.copies.first()) else {
            return route;
        };
        let is_ours =
            |subset: &str| self.copies.iter().any(|copied| version_subset(copied.version) == subset);
        match subset(self.route, *at) {
            Some(now) if is_ours(now) => with_subset(route, *at, before.subset),
            _ => route,
        }
    }

    /// Where its destination is among the others; `None` where it leads elsewhere.
    fn place(&self, ways: &Ways) -> Result<Option<usize>, Unfit> {
        match places(self.route, ways).as_slice() {
            [] => Ok(None),
            [at] => Ok(Some(*at)),
            _ => Err(self.unfit(
                format!("splits requests among destinations of `{}`", ways.service),
                "leave one of them: a split by weight moves users with every request",
            )),
        }
    }

    /// Refuses what cannot come to what the release asks for.
    fn judge(&self, ways: &Ways, subset: Option<&str>) -> Result<(), Unfit> {
        if name(self.route).contains(MARK) {
            return Err(self.unfit(
                "belongs to another release",
                "one route cannot lead to the Services of two releases by weight",
            ));
        }
        let path = format!("/headers/{}", HeaderNames::default().routing);
        let alternatives = self.route.get("match").and_then(Value::as_array).into_iter().flatten();
        if alternatives.into_iter().any(|one| one.pointer(&path).is_some()) {
            return Err(
                self.unfit("matches the filter's header itself", "take it out, or set `routes: external`")
            );
        }
        let before = self.copies.first().and_then(|copied| copied.subset);
        let is_default = |subset: &str| Some(subset) == before || subset == ways.stable_subset();
        match subset {
            Some(subset) if !is_default(subset) => Err(self.unfit(
                format!(
                    "leads to subset `{subset}`, which is not the one of stable version `{}`",
                    ways.stable
                ),
                "take the subset out: whoever takes this route would pass the filter's decision by",
            )),
            _ => Ok(()),
        }
    }

    fn unfit(&self, found: impl Into<String>, hint: &str) -> Unfit {
        let name = name(self.route);
        let route = if name.is_empty() { format!("#{}", self.number) } else { format!("`{name}`") };
        Unfit { route, found: found.into(), hint: hint.to_owned() }
    }
}

/// Their route for one version.
fn copy(original: &Value, at: usize, (ways, version, subset): (&Ways, &str, Option<&str>)) -> Value {
    let mut route = with_subset(original.clone(), at, Some(&version_subset(version)));
    let header = json!({"exact": format!("{}/{version}", ways.release)});
    let mut alternatives: Vec<Value> =
        original.get("match").and_then(Value::as_array).cloned().unwrap_or_default();
    if alternatives.is_empty() {
        alternatives.push(Value::Object(Map::new()));
    }
    for one in alternatives.iter_mut().filter_map(Value::as_object_mut) {
        let headers = one.entry("headers").or_insert_with(|| json!({}));
        if let Some(headers) = headers.as_object_mut() {
            headers.insert(HeaderNames::default().routing, header.clone());
        }
    }
    if let Some(fields) = route.as_object_mut() {
        let before = subset.map(|subset| format!("={subset}")).unwrap_or_default();
        fields.insert("name".to_owned(), format!("{}/{version}{MARK}{before}", ways.release).into());
        fields.insert("match".to_owned(), alternatives.into());
    }
    route
}

/// Where the Service is among a route's destinations.
fn places(route: &Value, ways: &Ways) -> Vec<usize> {
    let destinations = route.get("route").and_then(Value::as_array).into_iter().flatten().enumerate();
    let host = |one: &Value| {
        one.pointer("/destination/host").and_then(Value::as_str).is_some_and(|host| ways.ends_at(host))
    };
    destinations.filter(|(_, one)| host(one)).map(|(at, _)| at).collect()
}

fn subset(route: &Value, at: usize) -> Option<&str> {
    route.get("route")?.get(at)?.pointer("/destination/subset")?.as_str()
}

fn with_subset(mut route: Value, at: usize, subset: Option<&str>) -> Value {
    let destination = route.pointer_mut(&format!("/route/{at}/destination")).and_then(Value::as_object_mut);
    if let Some(destination) = destination {
        match subset {
            Some(subset) => drop(destination.insert("subset".to_owned(), subset.into())),
            None => drop(destination.remove("subset")),
        }
    }
    route
}

fn name(route: &Value) -> &str {
    route.get("name").and_then(Value::as_str).unwrap_or_default()
}
