//! A user with a cookie jar, who remembers who served them and what is in their cart, and says what does not fit.

use super::client::{Answer, Client, Errand};
use cookie_store::CookieStore;
use hyper::Method;
use url::Url;

/// Something that must not happen to a shopper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Incident {
    /// Another version or pod than before answered.
    Flip(String),
    /// The session or the cart is not what it was.
    LostCart(String),
    /// No answer, or not 200.
    Error(String),
}

/// One user.
#[derive(Debug)]
pub(super) struct Shopper {
    pub(super) number: u32,
    jar: CookieStore,
    url: Url,
    /// Version and pod of the answers so far.
    served_by: Option<(String, String)>,
    cart: Vec<String>,
}

/// What can be bought.
const GOODS: [&str; 5] = ["tea", "cup", "pot", "honey", "spoon"];

impl Shopper {
    /// Somebody who was never here.
    pub(super) fn new(number: u32, url: Url) -> Self {
        Self { number, jar: CookieStore::default(), url, served_by: None, cart: Vec::new() }
    }

    /// The version that serves them; `None` before the first answer.
    pub(super) fn version(&self) -> Option<&str> {
        self.served_by.as_ref().map(|(version, _)| version.as_str())
    }

    /// Their cookies as a request carries them.
    pub(super) fn cookies(&self) -> String {
        let pairs = self.jar.get_request_values(&self.url);
        pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// Loads the shop's page, perhaps with a query that a link brought.
    pub(super) async fn arrive(&mut self, client: &Client, query: &str) -> Vec<Incident> {
        self.go(client, Method::GET, &format!("/{query}"), true).await
    }

    /// Puts something into the cart.
    pub(super) async fn buy(&mut self, client: &Client) -> Vec<Incident> {
        let turn = (self.number as usize).wrapping_add(self.cart.len());
        let item = GOODS.iter().cycle().nth(turn % GOODS.len()).copied().unwrap_or_default();
        self.cart.push(item.to_owned());
        self.go(client, Method::POST, &format!("/cart?item={item}"), false).await
    }

    /// Logs in, which gives the session another id.
    pub(super) async fn log_in(&mut self, client: &Client) -> Vec<Incident> {
        self.go(client, Method::POST, &format!("/login?user=shopper-{}", self.number), false).await
    }

    /// Looks at the cart.
    pub(super) async fn look(&mut self, client: &Client) -> Vec<Incident> {
        self.go(client, Method::GET, "/cart", false).await
    }

    /// Logs out, which ends the session.
    pub(super) async fn leave(&mut self, client: &Client) -> Vec<Incident> {
        self.cart.clear();
        self.go(client, Method::POST, "/logout", false).await
    }

    async fn go(&mut self, client: &Client, method: Method, path: &str, is_page: bool) -> Vec<Incident> {
        let errand = Errand { method, path: path.to_owned(), is_page };
        let place = format!("shopper {} at {} {path}", self.number, errand.method);
        match client.ask(&errand, &self.cookies()).await {
            Err(error) => vec![Incident::Error(format!("{place}: {error}"))],
            Ok(answer) => self.take(&answer, &place),
        }
    }

    /// Keeps the cookies, and compares the answer with what is known.
    fn take(&mut self, answer: &Answer, place: &str) -> Vec<Incident> {
        for line in &answer.set_cookies {
            // An error is a cookie that a browser would drop; that is what happens here too.
            let _dropped = self.jar.parse(line, &self.url);
        }
        let mut incidents = Vec::new();
        if answer.status != 200 {
            incidents.push(Incident::Error(format!("{place}: status {}", answer.status)));
            return incidents;
        }
        let now = (answer.version.clone(), answer.pod.clone());
        match self.served_by.replace(now.clone()) {
            Some(before) if before != now => {
                incidents.push(Incident::Flip(format!("{place}: from {} to {}", before.1, now.1)));
            }
            _ => {}
        }
        let shows_another = answer.cart.as_ref().is_some_and(|cart| *cart != self.cart);
        if answer.has_lost_session || shows_another {
            let found = answer.cart.as_deref().unwrap_or_default().join(", ");
            let had = self.cart.join(", ");
            incidents.push(Incident::LostCart(format!("{place}: expected [{had}], found [{found}]")));
            // Said once: from now on this is what they know.
            self.cart = answer.cart.clone().unwrap_or_default();
        }
        incidents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shopper() -> Shopper {
        Shopper::new(1, "http://127.0.0.1/".parse().unwrap())
    }

    fn answer(pod: &str, cart: &[&str]) -> Answer {
        Answer {
            status: 200,
            version: pod[..2].to_owned(),
            pod: pod.to_owned(),
            cart: Some(cart.iter().map(|item| (*item).to_owned()).collect()),
            ..Answer::default()
        }
    }

    #[test]
    fn a_shopper_who_is_left_alone_has_nothing_to_say() {
        let mut shopper = shopper();
        for _ in 0..3 {
            assert_eq!(shopper.take(&answer("v1-a", &[]), "here"), []);
        }
        assert_eq!(shopper.version(), Some("v1"));
    }

    #[test]
    fn another_pod_is_a_flip_also_within_a_version() {
        for other in ["v1-b", "v2-a"] {
            let mut shopper = shopper();
            shopper.take(&answer("v1-a", &[]), "here");
            let said = shopper.take(&answer(other, &[]), "there");
            assert_eq!(said, [Incident::Flip(format!("there: from v1-a to {other}"))]);
        }
    }

    #[test]
    fn an_empty_cart_and_an_unknown_session_are_lost_carts_and_said_once() {
        let mut shopper = shopper();
        shopper.cart = vec!["tea".to_owned()];
        assert!(matches!(shopper.take(&answer("v1-a", &[]), "here")[..], [Incident::LostCart(_)]));
        assert_eq!(shopper.take(&answer("v1-a", &[]), "here"), []);
        let unknown = Answer { has_lost_session: true, ..answer("v1-a", &[]) };
        assert!(matches!(shopper.take(&unknown, "here")[..], [Incident::LostCart(_)]));
    }

    #[test]
    fn another_status_than_200_is_an_error() {
        let refused = Answer { status: 503, ..Answer::default() };
        assert!(matches!(shopper().take(&refused, "here")[..], [Incident::Error(_)]));
    }

    #[test]
    fn cookies_are_kept_and_deleted_as_the_shop_says() {
        let mut shopper = shopper();
        let line = |text: &str| Answer { set_cookies: vec![text.to_owned()], ..answer("v1-a", &[]) };
        shopper.take(&line("JSESSIONID=1; Path=/; HttpOnly"), "here");
        assert_eq!(shopper.cookies(), "JSESSIONID=1");
        shopper.take(&line("JSESSIONID=; Path=/; Max-Age=0"), "here");
        assert_eq!(shopper.cookies(), "");
    }
}
