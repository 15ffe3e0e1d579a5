//! Many users at once, each with a jar of their own.

use super::client::{Client, ClientError, Lines};
use super::jar::{Jar, cookie_line};
use super::response::Response;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::task::JoinSet;
use url::Url;

/// The number of users, their visits, and how many run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub users: u32,
    /// Requests of each, one after the other.
    pub requests: u32,
    /// Users at a time.
    pub concurrency: u32,
}

/// A user after their visits.
#[derive(Clone, Debug)]
pub(super) struct User {
    /// The cookies that they would send next time.
    pub(super) jar: Jar,
    /// The version of each response, in order; `None` if a response does not say.
    pub(super) versions: Vec<Option<String>>,
    /// The number of responses that were refusals or errors, by their status code.
    pub(super) errors: BTreeMap<u16, u32>,
    /// Answers that were neither and name no version.
    pub(super) silent: u32,
    /// Answers that a cache gave.
    pub(super) cached: u32,
}

impl User {
    /// A user without cookies.
    pub(super) fn new(url: &Url) -> Self {
        let jar = Jar::new(url.clone());
        Self { jar, versions: Vec::new(), errors: BTreeMap::new(), silent: 0, cached: 0 }
    }

    /// The version that all responses named; `None` if one does not say or two differ.
    pub(super) fn version(&self) -> Option<&str> {
        let first = self.versions.first()?.as_deref()?;
        self.versions.iter().all(|version| version.as_deref() == Some(first)).then_some(first)
    }

    /// Whether two answers named different versions.
    pub(super) fn has_flipped(&self) -> bool {
        let mut named = self.versions.iter().flatten();
        named.next().is_some_and(|first| named.any(|other| other != first))
    }

    /// Asks like a browser that loads the page, and keeps what the response sets.
    pub(super) async fn visit(&mut self, client: &Client) -> Result<Response, ClientError> {
        let mut lines = navigation();
        lines.extend(cookie_line(&self.jar.pairs()));
        let response = client.ask(&lines, None).await?;
        self.jar.keep(&response.set_cookies);
        self.versions.push(response.version.clone());
        if response.is_well() {
            self.silent += u32::from(response.version.is_none());
        } else {
            *self.errors.entry(response.status).or_default() += 1;
        }
        self.cached += u32::from(response.is_from_cache);
        Ok(response)
    }
}

/// The headers of a browser that loads a page.
pub(super) fn navigation() -> Lines {
    [("accept", "text/html,*/*;q=0.8"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Runs the users. `done` is called after each.
///
/// Fails with the first request that gets no response: a system that drops connections cannot be verified.
pub(super) async fn visit_all(
    client: &Arc<Client>,
    url: &Url,
    size: Size,
    done: impl Fn() + Clone + Send + 'static,
) -> Result<Vec<User>, ClientError> {
    let next = Arc::new(AtomicU32::new(0));
    let mut workers: JoinSet<Result<Vec<User>, ClientError>> = JoinSet::new();
    for _ in 0..size.concurrency.min(size.users) {
        let (client, url, next, done) = (Arc::clone(client), url.clone(), Arc::clone(&next), done.clone());
        workers.spawn(async move {
            let mut users = Vec::new();
            while next.fetch_add(1, Ordering::Relaxed) < size.users {
                let mut user = User::new(&url);
                for _ in 0..size.requests {
                    user.visit(&client).await?;
                }
                done();
                users.push(user);
            }
            Ok(users)
        });
    }
    let mut users = Vec::new();
    while let Some(ended) = workers.join_next().await {
        // A worker ends early only by a panic, which has its own message, or with the whole command.
        users.extend(ended.unwrap_or_else(|_| Ok(Vec::new()))?);
    }
    Ok(users)
}

/// The number of users of each version; `?` is a user whose responses name none.
pub(super) fn by_version(users: &[User]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for user in users {
        let version = user.versions.first().cloned().flatten().unwrap_or_else(|| "?".to_owned());
        *counts.entry(version).or_default() += 1;
    }
    counts
}
