//! A simulated user: a browser with the filter's cookies and the application's, and every key that a release may ask for.

use assignment::contract::{KeySource, ReleaseConfig, VersionConfig};
use assignment::decide::PinAction;
use assignment::policy::Release;
use assignment::request::{Headers, session_pin};
use assignment::seal::Seal;
use assignment::{Decision, DecisionContext, Identity, Policy, Request, decide};
use std::collections::BTreeSet;

/// The pages of a release before and after an edit, and the names under which its users have keys.
pub(super) struct Pages {
    hosts: Vec<String>,
    paths: Vec<String>,
    cookies: BTreeSet<String>,
    headers: BTreeSet<String>,
    queries: BTreeSet<String>,
}

/// A page that a user visits.
pub(super) struct Page {
    host: String,
    path: String,
    /// The application's cookies and other keys of the user.
    headers: Vec<(String, String)>,
    cookies: Vec<(String, String)>,
}

impl Pages {
    pub(super) fn of(deployed: &ReleaseConfig, edited: Option<&ReleaseConfig>) -> Self {
        let mut pages = Self {
            hosts: Vec::new(),
            paths: Vec::new(),
            cookies: BTreeSet::new(),
            headers: BTreeSet::new(),
            queries: BTreeSet::new(),
        };
        for release in std::iter::once(deployed).chain(edited) {
            add_new(&mut pages.hosts, release.hosts.iter().map(|host| host.replacen('*', "any", 1)));
            add_new(&mut pages.paths, release.paths.iter().cloned());
            pages.cookies.extend(release.session_cookie.clone());
            for key in &release.identify_by {
                match key {
                    KeySource::Cookie(name) => drop(pages.cookies.insert(name.clone())),
                    KeySource::Header(name) => drop(pages.headers.insert(name.clone())),
                    KeySource::Query(name) => drop(pages.queries.insert(name.clone())),
                    KeySource::Jwt { .. } | KeySource::Identity {} | KeySource::ClientAddress {} => {}
                }
            }
        }
        pages
    }

    /// The pages of a user: every path of one host.
    pub(super) fn of_user<'p>(&'p self, user: &'p User) -> impl Iterator<Item = Page> + 'p {
        let host = self.hosts.get(user.kind() % self.hosts.len().max(1)).cloned().unwrap_or_default();
        let keys = |names: &BTreeSet<String>| -> Vec<(String, String)> {
            names.iter().map(|name| (name.clone(), user.key(name))).collect()
        };
        self.paths.iter().map(move |path| {
            let queries: Vec<String> =
                self.queries.iter().map(|name| format!("{name}={}", user.key(name))).collect();
            let path =
                if queries.is_empty() { path.clone() } else { format!("{path}?{}", queries.join("&")) };
            Page { host: host.clone(), path, headers: keys(&self.headers), cookies: keys(&self.cookies) }
        })
    }
}

fn add_new(known: &mut Vec<String>, names: impl Iterator<Item = String>) {
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
}

pub(super) struct User {
    number: u32,
    now: u64,
    /// The filter's cookies.
    cookies: Vec<(String, String)>,
}

impl User {
    pub(super) fn new(number: u32, now: u64) -> Self {
        Self { number, now, cookies: Vec::new() }
    }

    /// The value of the user's key of this name.
    fn key(&self, name: &str) -> String {
        format!("{name}-{}", self.number)
    }

    /// A number that says nothing of whether the user is older than the filter.
    pub(super) const fn kind(&self) -> usize {
        self.number as usize / 2
    }

    /// Every second one has a session of the application when the filter comes.
    const fn is_older(&self) -> bool {
        self.number.is_multiple_of(2)
    }

    /// Every second session has the host's pin alone: no response set its cookie, or one that an earlier module saw.
    const fn has_session_pin(&self) -> bool {
        self.kind().is_multiple_of(2)
    }

    /// Opens a session by this policy: a page without the application's cookies, if the user is new, and then each page with them.
    pub(super) fn begin_session(&mut self, policy: &Policy, pages: &Pages) {
        let mut visits: Vec<Page> = pages.of_user(self).collect();
        if !self.is_older()
            && let Some(first) = pages.of_user(self).next()
        {
            visits.insert(0, Page { cookies: Vec::new(), ..first });
        }
        for page in visits {
            let opens_session = page.cookies.is_empty();
            if let Some(decision) = self.visit(policy, &page) {
                self.keep(policy, &decision, opens_session);
            }
        }
    }

    /// Keeps the cookies of the response.
    fn keep(&mut self, policy: &Policy, decision: &Decision, sets_session: bool) {
        if decision.mints
            && let Some(identity) = decision.identity
        {
            let id = policy.ring.sign("", &Seal::id(identity, self.now));
            self.cookies.extend(id.map(|id| (policy.id_cookie.name.clone(), id)));
        }
        let Some(release) = policy.release(decision.release) else { return };
        let sets_session = sets_session && release.session_cookie.is_some();
        let is_pinned = match decision.pin {
            PinAction::Never => false,
            PinAction::WithSession => sets_session,
            PinAction::Now { .. } => true,
        };
        if let (true, Some(version), Some(identity)) =
            (is_pinned, release.versions.get(decision.version), decision.identity)
        {
            let seal = Seal::pin(version.name.as_bytes(), version.epoch, identity, self.now);
            self.pin(policy, release, &seal, sets_session);
        }
    }

    /// Gives the user a session that began when this version took new ones.
    pub(super) fn pin_to(&mut self, policy: &Policy, version: &VersionConfig) {
        if let Some(release) = policy.releases().first() {
            let seal = Seal::pin(version.name.as_bytes(), version.epoch, self.identity(), self.now);
            self.pin(policy, release, &seal, true);
        }
    }

    /// Keeps the pins of a response that sets the session cookie, or the one of a session that was not seen to begin.
    fn pin(&mut self, policy: &Policy, release: &Release, seal: &Seal<'_>, sets_session: bool) {
        let Some(pin) = &release.pin else { return };
        let Some(mut text) = policy.ring.sign(&release.uid, seal) else { return };
        if let (true, Some(session)) = (sets_session && self.has_session_pin(), &release.session_cookie) {
            text = session_pin(self.key(session).as_bytes(), &text);
            self.set_cookie(&release.session_pin_name, text.clone());
        }
        self.set_cookie(&pin.cookie.name, text);
    }

    fn set_cookie(&mut self, cookie: &str, value: String) {
        self.cookies.retain(|(name, _)| name != cookie);
        self.cookies.push((cookie.to_owned(), value));
    }

    fn identity(&self) -> Identity {
        Identity::of_key(self.key("minted").as_bytes())
    }

    /// The decision for a page; `None` where no release decides.
    pub(super) fn visit(&self, policy: &Policy, page: &Page) -> Option<Decision> {
        let mut headers: Vec<(&str, String)> = vec![
            (":authority", page.host.clone()),
            (":path", page.path.clone()),
            (":method", "GET".to_owned()),
            ("accept", "text/html".to_owned()),
            (&policy.headers.identity, String::from_utf8_lossy(&self.identity().to_hex()).into_owned()),
        ];
        headers.extend(page.headers.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let cookies = self.cookies.iter().chain(&page.cookies);
        let cookies: Vec<String> = cookies.map(|(name, value)| format!("{name}={value}")).collect();
        if !cookies.is_empty() {
            headers.push(("cookie", cookies.join("; ")));
        }
        let pairs: Vec<(&[u8], &[u8])> =
            headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let request = Request::read(Headers::List(&pairs), &policy.headers);
        decide(policy, policy.find(request.authority, request.path)?, &request, self)
    }
}

impl DecisionContext for User {
    fn now_seconds(&self) -> u64 {
        self.now
    }

    fn random(&self) -> Option<u64> {
        u64::from_str_radix(&self.identity().to_string(), 16).ok()
    }

    fn jwt_claim(&self, _payload: &str, claim: &[String]) -> Option<Vec<u8>> {
        Some(self.key(&claim.join(".")).into_bytes())
    }

    fn client_address(&self) -> Option<Vec<u8>> {
        let [_, _, high, low] = self.number.to_be_bytes();
        Some(format!("192.0.{high}.{low}").into_bytes())
    }

    fn is_unavailable(&self, _release: usize, _version: usize) -> bool {
        false
    }
}
