//! The shop itself: a page, a cart, login and logout, with sessions as a servlet container has them.

use ::http::Method;
use serde::Serialize;

use super::{only, page};
use crate::cookie;
use crate::proto;
use crate::refusal::Refusal;
use crate::response::DelayedResponse;
use crate::visit::{Brought, Current, Nothing, Visit};

/// The fields of the home page beside the session.
#[derive(Serialize)]
struct Home<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    catalog: Option<&'a proto::AskResponse>,
}

/// `GET /`: the page for a browser, JSON for others; opens a session when none is known. Contains the catalog's part if
/// the shop has a catalog. If the catalog does not respond, the page is an error, or does without it where the shop is told so.
pub(super) fn home(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    only(visit, &[Method::GET], "GET, HEAD")?;
    let hidden = |refusal| if visit.shop.config.has_optional_catalog { Ok(None) } else { Err(refusal) };
    let catalog = visit.catalog().or_else(hidden)?;
    let current = visit.current_or_new()?;
    if !visit.wants_html() {
        return visit.json(&current, Home { catalog });
    }
    let response = page::home(visit, &current, catalog);
    Ok(match current.set_cookie {
        Some(line) => response.cookie(line),
        None => response,
    })
}

/// `GET /cart`: the cart, opening no session; `POST /cart?item=X`: see [`add`].
pub(super) fn cart(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    only(visit, &[Method::GET, Method::POST], "GET, HEAD, POST")?;
    if visit.request.method == Method::POST {
        return add(visit);
    }
    visit.json(&visit.current(), Nothing {})
}

/// `GET /cart/add?item=X`, `POST /cart?item=X`: puts an item into the cart, of a new session if need be.
pub(super) fn add(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    only(visit, &[Method::GET, Method::POST], "GET, HEAD, POST")?;
    let item = visit.required("item")?;
    let store = &visit.shop.store;
    let mut current = visit.current_or_new()?;
    let added = current.id.as_ref().and_then(|id| store.add(id, &item));
    if let Some(session) = added {
        current.session = session;
        return visit.json(&current, Nothing {});
    }
    // A parallel logout or login removed the session meanwhile: the item is added to a new one.
    let id = store.open()?;
    let session = store.add(&id, &item).unwrap_or_default();
    visit.json(&visit.issued(id, session)?, Nothing {})
}

/// `POST /login?user=U`: the same cart under a new session id, so that a planted id is worth nothing.
pub(super) fn login(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    only(visit, &[Method::POST], "POST")?;
    let user = visit.required("user")?;
    let old = match &visit.brought {
        Brought::Known(id) => Some(id),
        Brought::Nothing | Brought::Lost => None,
    };
    let (id, session) = visit.shop.store.login(old, &user)?;
    visit.json(&visit.issued(id, session)?, Nothing {})
}

/// `POST /logout`: ends the session and deletes its cookie, also a cookie unknown here.
pub(super) fn logout(visit: &Visit<'_>) -> Result<DelayedResponse, Refusal> {
    only(visit, &[Method::POST], "POST")?;
    if let Brought::Known(id) = &visit.brought {
        visit.shop.store.close(id);
    }
    let set_cookie = Some(cookie::delete_session(visit.shop.config.session_cookie())?);
    visit.json(&Current { set_cookie, ..Current::default() }, Nothing {})
}
