//! One list of routes: with ours before the owner's, and restored to the owner's.
//!
//! Before each route of the owner that leads to the Service, a copy of it for each version is inserted, with the
//! filter's header in each of its alternatives; so its settings (timeouts, retries, rewrites, mirrors …) apply to every
//! version. The owner's route becomes the default: it names the stable subset. A copy's name records what the owner's
//! route named before:
//!
//! ```text
//! shop/shop/v2@edit        their route named no subset
//! shop/shop/v2@edit=v1     it named this one
//! ```

use super::{RouteObstacle, RouteTargets};
use crate::spec::version_subset;
use assignment::contract::HeaderNames;
use serde_json::{Map, Value, json};

const MARK: &str = "@edit";

/// A route of theirs that cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// The route: `#2`, or its name. Ours are not counted.
    pub(crate) route: String,
    /// Its effect.
    pub(crate) obstacle: RouteObstacle,
}

/// A route of theirs, and our copies before it.
struct Theirs<'h> {
    number: usize,
    route: &'h Value,
    copies: Vec<Copied<'h>>,
}

/// The content of a copy's name.
struct Copied<'h> {
    version: &'h str,
    /// The subset that their route named.
    subset: Option<&'h str>,
}

/// The list with our routes in it, whichever of them were in it before.
pub(crate) fn edit(http: &[Value], targets: &RouteTargets) -> Result<Vec<Value>, Unfit> {
    let mut edited = Vec::new();
    for theirs in theirs(http, &targets.release) {
        let original = theirs.original(targets);
        let Some(at) = theirs.place(targets)? else {
            edited.push(original);
            continue;
        };
        let subset = subset(&original, at).map(str::to_owned);
        theirs.check_destination(targets, subset.as_deref())?;
        for version in &targets.versions {
            edited.push(copy(&original, at, (targets, version, subset.as_deref())));
        }
        edited.push(with_subset(original, at, Some(&targets.stable_subset())));
    }
    Ok(edited)
}

/// The list without our routes, and theirs as they were.
pub(crate) fn undo(http: &[Value], targets: &RouteTargets) -> Vec<Value> {
    theirs(http, &targets.release).iter().map(|theirs| theirs.original(targets)).collect()
}

/// Whether one of their routes leads to the Service.
pub(crate) fn leads(http: &[Value], targets: &RouteTargets) -> bool {
    theirs(http, &targets.release).iter().any(|theirs| !places(theirs.route, targets).is_empty())
}

/// Whether each of the owner's routes that leads to the Service has one of ours before it that leads to this version.
pub(crate) fn carries(http: &[Value], targets: &RouteTargets, version: &str) -> bool {
    let theirs = theirs(http, &targets.release);
    let mut led = theirs.iter().filter(|theirs| !places(theirs.route, targets).is_empty()).peekable();
    led.peek().is_some() && led.all(|theirs| theirs.copies.iter().any(|copied| copied.version == version))
}

/// Whether a route that does not match everything leads to the Service.
pub(crate) fn leads_past(route: &Value, targets: &RouteTargets) -> bool {
    !is_catch_all(route) && !places(route, targets).is_empty()
}

/// Whether everything that a route leads to is the Service's stable version.
pub(crate) fn is_stable(route: &Value, targets: &RouteTargets) -> bool {
    let places = places(route, targets);
    let all = route.get("route").and_then(Value::as_array).map_or(0, Vec::len);
    let stable = targets.stable_subset();
    places.len() == all && places.iter().all(|at| subset(route, *at) == Some(&stable))
}

/// Whether a route matches every request, as istiod sees it: what only chooses proxies does not count.
pub(crate) fn is_catch_all(route: &Value) -> bool {
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
pub(crate) fn is_edited(http: &[Value]) -> bool {
    http.iter().any(|route| name(route).contains(MARK))
}

/// Whether a release has its routes in the list.
pub(super) fn is_edited_for(http: &[Value], release: &str) -> bool {
    http.iter().any(|route| Copied::of(route, release).is_some())
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
    /// The route before the injection. Its current content is the owner's, except for our subset.
    fn original(&self, targets: &RouteTargets) -> Value {
        let route = self.route.clone();
        let places = places(self.route, targets);
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

    /// The place of its destination among the others; `None` if it leads elsewhere.
    fn place(&self, targets: &RouteTargets) -> Result<Option<usize>, Unfit> {
        match places(self.route, targets).as_slice() {
            [] => Ok(None),
            [at] => Ok(Some(*at)),
            _ => Err(self.unfit(RouteObstacle::SplitsRequests { service: targets.service.clone() })),
        }
    }

    /// Refuses a route that cannot be changed to what the release desires.
    fn check_destination(&self, targets: &RouteTargets, subset: Option<&str>) -> Result<(), Unfit> {
        if name(self.route).contains(MARK) {
            return Err(self.unfit(RouteObstacle::OtherRelease));
        }
        let path = format!("/headers/{}", HeaderNames::default().routing);
        let alternatives = self.route.get("match").and_then(Value::as_array).into_iter().flatten();
        if alternatives.into_iter().any(|one| one.pointer(&path).is_some()) {
            return Err(self.unfit(RouteObstacle::MatchesRoutingHeader));
        }
        let before = self.copies.first().and_then(|copied| copied.subset);
        let is_default = |subset: &str| Some(subset) == before || subset == targets.stable_subset();
        match subset {
            Some(subset) if !is_default(subset) => Err(self.unfit(RouteObstacle::OtherSubset {
                subset: subset.to_owned(),
                stable: targets.stable.clone(),
            })),
            _ => Ok(()),
        }
    }

    fn unfit(&self, obstacle: RouteObstacle) -> Unfit {
        let name = name(self.route);
        let route = if name.is_empty() { format!("#{}", self.number) } else { format!("`{name}`") };
        Unfit { route, obstacle }
    }
}

fn copy(
    original: &Value,
    at: usize,
    (targets, version, subset): (&RouteTargets, &str, Option<&str>),
) -> Value {
    let mut route = with_subset(original.clone(), at, Some(&version_subset(version)));
    let header = json!({"exact": format!("{}/{version}", targets.release)});
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
        fields.insert("name".to_owned(), format!("{}/{version}{MARK}{before}", targets.release).into());
        fields.insert("match".to_owned(), alternatives.into());
    }
    route
}

/// The places of the Service among a route's destinations.
fn places(route: &Value, targets: &RouteTargets) -> Vec<usize> {
    let destinations = route.get("route").and_then(Value::as_array).into_iter().flatten().enumerate();
    let host = |one: &Value| {
        one.pointer("/destination/host").and_then(Value::as_str).is_some_and(|host| targets.ends_at(host))
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
