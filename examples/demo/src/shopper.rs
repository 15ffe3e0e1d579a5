//! A user who remembers which process served them and what is in their cart, and reports what differs.

use crate::connections::ConnectionPool;
use crate::environment::HOST;
use browser::{Kind, Response, User, Visit};
use http::Method;
use std::net::SocketAddr;

/// Something that must not happen to a shopper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incident {
    /// The response came from another version or pod than the one before.
    Flip(String),
    /// The session or the cart is not what it was.
    LostCart(String),
    /// No response, or not 200.
    Error(String),
}

#[derive(Debug)]
pub(crate) struct Shopper {
    /// Distinguishes shoppers of one crowd.
    pub(crate) number: u32,
    user: User,
    /// Version and pod of the last response.
    served_by: Option<(String, String)>,
    cart: Vec<String>,
}

/// What can be bought.
const GOODS: [&str; 5] = ["tea", "cup", "pot", "honey", "spoon"];

impl Shopper {
    /// A shopper without cookies.
    pub(crate) fn new(number: u32, shop: SocketAddr) -> Self {
        let user = User::http1(shop, format!("{HOST}:{}", shop.port()));
        Self { number, user, served_by: None, cart: Vec::new() }
    }

    /// The version that serves them; `None` before the first response.
    pub(crate) fn version(&self) -> Option<&str> {
        self.served_by.as_ref().map(|(version, _)| version.as_str())
    }

    /// Their cookies as a request carries them.
    pub(crate) fn cookies(&self) -> String {
        self.user.cookies_for("/").unwrap_or_default()
    }

    /// Loads the shop's page, with the query of a link where there is one.
    pub(crate) async fn load_page(&mut self, pool: &ConnectionPool, query: &str) -> Vec<Incident> {
        self.request(pool, Kind::Navigate, Method::GET, &format!("/{query}")).await
    }

    /// Adds an item to the cart.
    pub(crate) async fn add_item(&mut self, pool: &ConnectionPool) -> Vec<Incident> {
        let index = (self.number as usize).wrapping_add(self.cart.len());
        let item = GOODS.iter().cycle().nth(index % GOODS.len()).copied().unwrap_or_default();
        self.cart.push(item.to_owned());
        self.request(pool, Kind::Fetch, Method::POST, &format!("/cart?item={item}")).await
    }

    /// Logs in, which changes the id of the session.
    pub(crate) async fn log_in(&mut self, pool: &ConnectionPool) -> Vec<Incident> {
        let path = format!("/login?user=shopper-{}", self.number);
        self.request(pool, Kind::Fetch, Method::POST, &path).await
    }

    pub(crate) async fn view_cart(&mut self, pool: &ConnectionPool) -> Vec<Incident> {
        self.request(pool, Kind::Fetch, Method::GET, "/cart").await
    }

    /// Logs out, which ends the session.
    pub(crate) async fn log_out(&mut self, pool: &ConnectionPool) -> Vec<Incident> {
        self.cart.clear();
        self.request(pool, Kind::Fetch, Method::POST, "/logout").await
    }

    async fn request(
        &mut self,
        pool: &ConnectionPool,
        kind: Kind,
        method: Method,
        path: &str,
    ) -> Vec<Incident> {
        let place = format!("shopper {} at {method} {path}", self.number);
        match pool.send(&mut self.user, &Visit::new(kind, path).method(method)).await {
            Err(error) => vec![Incident::Error(format!("{place}: {error}"))],
            Ok(response) => self.compare(&response, &place),
        }
    }

    /// Compares a response with what is known.
    fn compare(&mut self, response: &Response, place: &str) -> Vec<Incident> {
        if response.status != 200 {
            return vec![Incident::Error(format!("{place}: status {}", response.status))];
        }
        let mut incidents = Vec::new();
        let header = |name| response.header(name).unwrap_or_default().to_owned();
        let (version, pod) = (header("x-shop-version"), header("x-shop-pod"));
        match self.served_by.replace((version.clone(), pod.clone())) {
            Some(before) if before != (version, pod.clone()) => {
                incidents.push(Incident::Flip(format!("{place}: from {} to {pod}", before.1)));
            }
            _ => {}
        }
        let cart = cart_in(response);
        let differs = cart.as_ref().is_some_and(|cart| *cart != self.cart);
        if header("x-shop-session") == "lost" || differs {
            let cart = cart.unwrap_or_default();
            let (expected, found) = (self.cart.join(", "), cart.join(", "));
            incidents.push(Incident::LostCart(format!("{place}: expected [{expected}], found [{found}]")));
            // One incident for one loss: the next response is compared with this one.
            self.cart = cart;
        }
        incidents
    }
}

/// The cart, where the response shows one.
fn cart_in(response: &Response) -> Option<Vec<String>> {
    serde_json::from_value(response.json().get("cart")?.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use demo_shop::ShopConfig;
    use http::{HeaderMap, HeaderValue, Version};
    use std::time::Duration;
    use tokio::net::TcpListener;

    fn shopper() -> Shopper {
        Shopper::new(1, SocketAddr::from(([127, 0, 0, 1], 80)))
    }

    fn response(pod: &str, cart: &[&str]) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert("x-shop-version", HeaderValue::from_str(&pod[..2]).unwrap());
        headers.insert("x-shop-pod", HeaderValue::from_str(pod).unwrap());
        Response {
            status: 200,
            protocol: Version::HTTP_11,
            headers,
            body: serde_json::json!({ "cart": cart }).to_string().into(),
            reopened: false,
            closing: false,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn responses_that_fit_are_no_incidents() {
        let mut shopper = shopper();
        for _ in 0..3 {
            assert_eq!(shopper.compare(&response("v1-a", &[]), "here"), []);
        }
        assert_eq!(shopper.version(), Some("v1"));
    }

    #[test]
    fn another_pod_is_a_flip_also_within_a_version() {
        for other in ["v1-b", "v2-a"] {
            let mut shopper = shopper();
            shopper.compare(&response("v1-a", &[]), "here");
            let found = shopper.compare(&response(other, &[]), "there");
            assert_eq!(found, [Incident::Flip(format!("there: from v1-a to {other}"))]);
        }
    }

    #[test]
    fn an_empty_cart_and_an_unknown_session_are_lost_carts_and_reported_once() {
        let mut shopper = shopper();
        shopper.cart = vec!["tea".to_owned()];
        let found = shopper.compare(&response("v1-a", &[]), "here");
        assert!(matches!(found[..], [Incident::LostCart(_)]), "{found:?}");
        assert_eq!(shopper.compare(&response("v1-a", &[]), "here"), []);
        let mut unknown = response("v1-a", &[]);
        unknown.headers.insert("x-shop-session", HeaderValue::from_static("lost"));
        let found = shopper.compare(&unknown, "here");
        assert!(matches!(found[..], [Incident::LostCart(_)]), "{found:?}");
    }

    #[test]
    fn another_status_than_200_is_an_error() {
        let refused = Response { status: 503, ..response("v1-a", &[]) };
        let found = shopper().compare(&refused, "here");
        assert!(matches!(found[..], [Incident::Error(_)]), "{found:?}");
    }

    #[tokio::test]
    async fn a_real_shop_gives_cookies_and_carts_that_fit_until_its_process_is_replaced() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shop = demo_shop::serve(listener, ShopConfig::new("v1", "v1-a").unwrap()).unwrap();
        let (address, pool) = (shop.local_addr(), ConnectionPool::new(shop.local_addr()));
        let mut shopper = Shopper::new(1, address);
        assert_eq!(shopper.load_page(&pool, "").await, []);
        let before_login = shopper.cookies();
        assert!(before_login.starts_with("JSESSIONID="), "{before_login}");
        assert_eq!(shopper.add_item(&pool).await, []);
        assert_eq!(shopper.log_in(&pool).await, []);
        assert_ne!(shopper.cookies(), before_login, "a login changes the id of the session");
        assert_eq!(shopper.view_cart(&pool).await, []);
        shop.kill().await;
        let shop = demo_shop::serve(
            TcpListener::bind(address).await.unwrap(),
            ShopConfig::new("v1", "v1-b").unwrap(),
        )
        .unwrap();
        let found = shopper.view_cart(&ConnectionPool::new(address)).await;
        assert!(matches!(found[..], [Incident::Flip(_), Incident::LostCart(_)]), "{found:?}");
        shop.kill().await;
        let found = shopper.view_cart(&ConnectionPool::new(address)).await;
        assert!(matches!(found[..], [Incident::Error(_)]), "{found:?}");
    }

    #[tokio::test]
    async fn a_logout_deletes_the_session_cookie() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shop = demo_shop::serve(listener, ShopConfig::new("v1", "v1-a").unwrap()).unwrap();
        let pool = ConnectionPool::new(shop.local_addr());
        let mut shopper = Shopper::new(1, shop.local_addr());
        assert_eq!(shopper.load_page(&pool, "").await, []);
        assert_eq!(shopper.log_out(&pool).await, []);
        assert_eq!(shopper.cookies(), "");
    }
}
