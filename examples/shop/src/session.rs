//! The store: every session and cart of this process, in memory only, because losing them is the point.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// What the shop remembers of one visitor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The name given at login.
    pub user: Option<String>,
    /// What was put into the cart, oldest first, repeats included.
    pub cart: Vec<String>,
}

/// 128 random bits as 32 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct SessionId(String);

impl SessionId {
    fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes)?;
        let mut hex = String::with_capacity(32);
        for byte in bytes {
            // WriteOptions to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
        }
        Ok(Self(hex))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// All sessions of one process. A session lives until its logout or the end of the process.
#[derive(Debug, Default)]
pub(crate) struct Store {
    sessions: Mutex<HashMap<SessionId, (Session, Instant)>>,
}

impl Store {
    /// The id as stored, if it is known.
    pub(crate) fn find(&self, id: &str) -> Option<SessionId> {
        self.lock().get_key_value(id).map(|(id, _)| id.clone())
    }

    /// A copy of the session `id`, when it is known.
    pub(crate) fn get(&self, id: &str) -> Option<Session> {
        self.lock().get(id).map(|(session, _)| session.clone())
    }

    /// Whether the session `id` began so long ago.
    pub(crate) fn is_older(&self, id: &SessionId, than: Duration) -> bool {
        self.lock().get(id).is_some_and(|(_, since)| since.elapsed() >= than)
    }

    /// Opens an empty session under a new id. Fails only if the system has no randomness.
    pub(crate) fn open(&self) -> Result<SessionId, getrandom::Error> {
        let id = SessionId::random()?;
        self.lock().insert(id.clone(), (Session::default(), Instant::now()));
        Ok(id)
    }

    /// Puts `item` into the cart of `id` and gives the session as it is then; `None` when it is unknown.
    pub(crate) fn add(&self, id: &SessionId, item: &str) -> Option<Session> {
        let mut sessions = self.lock();
        let (session, _) = sessions.get_mut(id)?;
        session.cart.push(item.to_owned());
        Some(session.clone())
    }

    /// Logs `user` in under a new id that takes over the cart; the old id, if there was one, is unknown from now on. So
    /// an id that an attacker planted before the login is not valid after it (session fixation).
    pub(crate) fn login(
        &self,
        old: Option<&SessionId>,
        user: &str,
    ) -> Result<(SessionId, Session), getrandom::Error> {
        let id = SessionId::random()?;
        let mut sessions = self.lock();
        let old = old.and_then(|old| sessions.remove(old));
        let mut session = old.map(|(session, _)| session).unwrap_or_default();
        session.user = Some(user.to_owned());
        sessions.insert(id.clone(), (session.clone(), Instant::now()));
        Ok((id, session))
    }

    /// Ends the session `id`; nothing happens when it is unknown.
    pub(crate) fn close(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    /// Sessions that live, and how many of them have something in the cart.
    pub(crate) fn count(&self) -> (usize, usize) {
        let sessions = self.lock();
        (sessions.len(), sessions.values().filter(|(session, _)| !session.cart.is_empty()).count())
    }

    /// Every change is one call on the map, so a panic elsewhere leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, (Session, Instant)>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_32_lower_case_hex_digits_and_never_the_same() {
        let store = Store::default();
        let (a, b) = (store.open().unwrap(), store.open().unwrap());
        assert_ne!(a, b);
        assert_eq!(a.as_str().len(), 32);
        assert!(a.as_str().bytes().all(|byte| b"0123456789abcdef".contains(&byte)), "{a:?}");
    }

    #[test]
    fn a_cart_keeps_order_and_repeats() {
        let store = Store::default();
        let id = store.open().unwrap();
        for item in ["tea", "cup", "tea"] {
            store.add(&id, item).unwrap();
        }
        assert_eq!(store.get(id.as_str()).unwrap().cart, ["tea", "cup", "tea"]);
    }

    #[test]
    fn a_session_of_another_process_is_unknown() {
        let (here, there) = (Store::default(), Store::default());
        let id = there.open().unwrap();
        assert_eq!(here.find(id.as_str()), None);
        assert_eq!(here.add(&id, "tea"), None);
    }

    #[test]
    fn a_login_keeps_the_cart_and_makes_the_old_id_unknown() {
        let store = Store::default();
        let old = store.open().unwrap();
        store.add(&old, "tea").unwrap();
        let (new, session) = store.login(Some(&old), "ada").unwrap();
        assert_ne!(new, old);
        assert_eq!(session, Session { user: Some("ada".to_owned()), cart: vec!["tea".to_owned()] });
        assert_eq!(store.get(old.as_str()), None);
        assert_eq!(store.get(new.as_str()), Some(session));
    }

    #[test]
    fn a_login_without_a_session_opens_one() {
        let store = Store::default();
        let (id, session) = store.login(None, "ada").unwrap();
        assert_eq!(session.cart, Vec::<String>::new());
        assert_eq!(store.find(id.as_str()), Some(id));
    }

    #[test]
    fn a_closed_session_is_unknown_and_its_cart_is_not_counted() {
        let store = Store::default();
        let (full, empty) = (store.open().unwrap(), store.open().unwrap());
        store.add(&full, "tea").unwrap();
        assert_eq!(store.count(), (2, 1));
        store.close(&full);
        assert_eq!(store.find(full.as_str()), None);
        assert_eq!(store.count(), (1, 0));
        assert_eq!(store.find(empty.as_str()), Some(empty));
    }
}
