//! One request as the routes see it: its query, the session it brought, and the JSON view they share.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::atomic::Ordering;

use ::http::header::{ACCEPT, HeaderValue};
use ::http::request::Parts;
use serde::Serialize;

use crate::cookie;
use crate::hop::HopError;
use crate::proto;
use crate::refusal::Refusal;
use crate::response::{DelayedResponse, full};
use crate::routes;
use crate::session::{Session, SessionId};
use crate::shop::Shop;

/// The session that a request brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Brought {
    /// No session cookie.
    Nothing,
    /// A session of this process.
    Known(SessionId),
    /// A session cookie that is unknown to this process: the sign of a flip.
    Lost,
}

/// A request and the shop it came to.
pub(crate) struct Visit<'a> {
    pub(crate) shop: &'a Shop,
    pub(crate) request: &'a Parts,
    pub(crate) brought: Brought,
    /// Whether the client gets another session in the place of the one that it brought.
    is_forgotten: bool,
    catalog: Option<Result<proto::AskResponse, HopError>>,
}

/// The session as it is after the request, and the cookie line for the client if it is new.
#[derive(Debug, Default)]
pub(crate) struct Current {
    pub(crate) id: Option<SessionId>,
    pub(crate) session: Session,
    pub(crate) set_cookie: Option<HeaderValue>,
}

/// The fields of every JSON body, with an endpoint's own fields after them.
#[derive(Serialize)]
struct View<'a, E> {
    version: &'a str,
    pod: &'a str,
    session: Option<&'a SessionId>,
    known_session: bool,
    lost: bool,
    user: Option<&'a str>,
    cart: &'a [String],
    #[serde(flatten)]
    extra: E,
}

/// The extra of an endpoint that has none.
#[derive(Serialize)]
pub(crate) struct Nothing {}

impl<'a> Visit<'a> {
    /// Looks the request's session up. Of several session cookies the first one known counts, as in servlet
    /// containers.
    /// `catalog` is what the catalog answered on its behalf, where it was asked.
    pub(crate) fn new(
        shop: &'a Shop,
        request: &'a Parts,
        catalog: Option<Result<proto::AskResponse, HopError>>,
    ) -> Self {
        let mut brought = Brought::Nothing;
        for value in cookie::values(&request.headers, shop.config.session_cookie()) {
            brought = Brought::Lost;
            if let Some(id) = std::str::from_utf8(value).ok().and_then(|id| shop.store.find(id)) {
                brought = Brought::Known(id);
                break;
            }
        }
        let is_page = routes::is_page(request.uri.path());
        let known = if let Brought::Known(id) = &brought { Some(id) } else { None };
        let is_over = |id| shop.config.session_life.is_some_and(|life| shop.store.is_older(id, life));
        let is_forgotten = is_page
            && match known {
                Some(id) => shop.forgets() || is_over(id),
                None => brought == Brought::Lost && shop.config.reopens_sessions,
            };
        if let Some(id) = known.filter(|_| is_forgotten) {
            shop.store.close(id);
            brought = Brought::Lost;
        }
        if brought == Brought::Lost {
            shop.counters.lost.fetch_add(1, Ordering::Relaxed);
        }
        Self { shop, request, brought, is_forgotten, catalog }
    }

    /// The catalog's response, if it was called; a call without a response is a refusal.
    pub(crate) fn catalog(&self) -> Result<Option<&proto::AskResponse>, Refusal> {
        match &self.catalog {
            Some(Err(error)) => Err(Refusal::Catalog(error.to_string())),
            Some(Ok(response)) => Ok(Some(response)),
            None => Ok(None),
        }
    }

    /// The first value of the query parameter `name`, decoded; an empty one is none.
    pub(crate) fn param(&self, name: &str) -> Option<Cow<'a, str>> {
        self.params().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value)
    }

    /// All query parameters in order, decoded.
    pub(crate) fn params(&self) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> + use<'a> {
        form_urlencoded::parse(self.request.uri.query().unwrap_or_default().as_bytes())
    }

    /// The query parameter `name`, which must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<Cow<'a, str>, Refusal> {
        self.param(name).ok_or_else(|| Refusal::Value {
            place: name,
            expected: "a value in the query",
            found: self.request.uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// The query parameter `name` as a number, or `default` without it.
    pub(crate) fn number<N: FromStr>(&self, name: &'static str, default: N) -> Result<N, Refusal> {
        let Some(found) = self.param(name) else { return Ok(default) };
        let refused = || Refusal::Value { place: name, expected: "a whole number", found: found.to_string() };
        found.parse().map_err(|_| refused())
    }

    /// Whether a browser requests a page.
    pub(crate) fn wants_html(&self) -> bool {
        let lines = self.request.headers.get_all(ACCEPT);
        lines.into_iter().any(|line| line.to_str().is_ok_and(|line| line.contains("text/html")))
    }

    /// The session that the request brought, if it is known; opens one in the place of one that was forgotten.
    pub(crate) fn current(&self) -> Current {
        if self.is_forgotten {
            return self.new_session().unwrap_or_default();
        }
        let Brought::Known(id) = &self.brought else { return Current::default() };
        match self.shop.store.get(id.as_str()) {
            Some(session) => Current { id: Some(id.clone()), session, set_cookie: None },
            // A logout or login in parallel took it away meanwhile.
            None => Current::default(),
        }
    }

    /// Whether it is of the user whose pages all fail.
    pub(crate) fn is_of_failing_user(&self) -> bool {
        let failing = self.shop.config.fail_user.as_deref();
        failing.is_some() && self.current().session.user.as_deref() == failing
    }

    /// Whether it has no session, and is one of those that fail.
    pub(crate) fn is_new_and_fails(&self) -> bool {
        !matches!(self.brought, Brought::Known(_)) && self.shop.fails_new()
    }

    /// The session that the request brought, or a new one.
    pub(crate) fn current_or_new(&self) -> Result<Current, Refusal> {
        let current = self.current();
        if current.id.is_some() {
            return Ok(current);
        }
        self.new_session()
    }

    fn new_session(&self) -> Result<Current, Refusal> {
        let id = self.shop.store.open()?;
        self.issued(id, Session::default())
    }

    /// A session under an id that the client does not have yet.
    pub(crate) fn issued(&self, id: SessionId, session: Session) -> Result<Current, Refusal> {
        let set_cookie = Some(cookie::set_session(self.shop.config.session_cookie(), &id)?);
        Ok(Current { id: Some(id), session, set_cookie })
    }

    /// Status 200 with the view of `current` and `extra` fields, and the cookie when there is a new one.
    pub(crate) fn json(&self, current: &Current, extra: impl Serialize) -> Result<DelayedResponse, Refusal> {
        let view = View {
            version: self.shop.config.version(),
            pod: self.shop.config.pod(),
            session: current.id.as_ref(),
            known_session: matches!(self.brought, Brought::Known(_)),
            lost: self.brought == Brought::Lost,
            user: current.session.user.as_deref(),
            cart: &current.session.cart,
            extra,
        };
        let mut body = serde_json::to_vec(&view)?;
        body.push(b'\n');
        let response = DelayedResponse::new("application/json", full(body));
        Ok(match &current.set_cookie {
            Some(line) => response.cookie(line.clone()),
            None => response,
        })
    }
}
