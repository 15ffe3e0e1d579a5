//! Sessions and carts as a user meets them, and what a flip looks like.

use anyhow::Result;
use http::{Request, StatusCode};
use serde_json::json;

use crate::browser::{Browser, Protocol, open_shop, until};

#[tokio::test]
async fn the_first_visit_opens_a_session_and_the_next_ones_keep_it() -> Result<()> {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let shop = open_shop("v1", "v1-a").await?;
        let mut browser = Browser::new(protocol);
        let first = browser.get(&shop, "/").await?;
        let id = browser.jar["JSESSIONID"].clone();
        assert_eq!(id.len(), 32);
        assert_eq!(first.cookies(), [format!("JSESSIONID={id}; Path=/; HttpOnly")]);
        assert_eq!(first.header("cache-control"), None);
        assert_eq!(
            first.json()?,
            json!({"version": "v1", "pod": "v1-a", "session": id, "known_session": false, "lost": false,
                   "user": null, "cart": []})
        );

        browser.post(&shop, "/cart?item=tea").await?;
        browser.get(&shop, "/cart/add?item=green%20cup").await?;
        let again = browser.get(&shop, "/").await?;
        assert_eq!(again.cookies(), Vec::<&str>::new());
        assert_eq!(again.json()?["known_session"], true);
        assert_eq!(again.json()?["cart"], json!(["tea", "green cup"]));
        assert_eq!(shop.inspector().session(&id).map(|session| session.cart.len()), Some(2));
    }
    Ok(())
}

#[tokio::test]
async fn a_flip_to_another_pod_loses_the_cart_and_says_so() -> Result<()> {
    let (a, b) = (open_shop("v1", "v1-a").await?, open_shop("v2", "v2-a").await?);
    let mut browser = Browser::new(Protocol::Http1);
    browser.post(&a, "/cart?item=tea").await?;

    let flipped = browser.get(&b, "/cart").await?;
    assert_eq!(flipped.json()?["lost"], true);
    assert_eq!(flipped.json()?["cart"], json!([]));
    assert_eq!(flipped.header("x-shop-session"), Some("lost"));
    assert_eq!(flipped.header("x-shop-version"), Some("v2"));
    assert!(flipped.cookies().is_empty(), "looking at the cart opens no session");
    assert_eq!(b.inspector().stats().lost, 1);
    assert_eq!(b.inspector().stats().sessions, 0);

    let back = browser.get(&a, "/cart").await?;
    assert_eq!(back.json()?["cart"], json!(["tea"]));
    assert_eq!(back.header("x-shop-session"), Some("known"));
    Ok(())
}

#[tokio::test]
async fn a_lost_session_is_replaced_on_the_home_page() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.jar.insert("JSESSIONID".to_owned(), "0".repeat(32));
    let reply = browser.get(&shop, "/").await?;
    assert_eq!(reply.json()?["lost"], true);
    assert_ne!(browser.jar["JSESSIONID"], "0".repeat(32));
    assert_eq!(browser.get(&shop, "/cart").await?.json()?["known_session"], true);
    Ok(())
}

#[tokio::test]
async fn of_two_session_cookies_the_known_one_counts() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.get(&shop, "/").await?;
    let request = Request::get("/cart").header("cookie", "a=1; JSESSIONID=stale");
    assert_eq!(browser.send(&shop, request).await?.json()?["known_session"], true);
    Ok(())
}

#[tokio::test]
async fn a_login_rotates_the_id_and_keeps_the_cart() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.post(&shop, "/cart?item=tea").await?;
    let old = browser.jar["JSESSIONID"].clone();

    let reply = browser.post(&shop, "/login?user=ada").await?;
    assert_eq!(reply.json()?["user"], "ada");
    assert_eq!(reply.json()?["cart"], json!(["tea"]));
    assert_ne!(browser.jar["JSESSIONID"], old);

    browser.jar.insert("JSESSIONID".to_owned(), old);
    assert_eq!(browser.get(&shop, "/cart").await?.json()?["lost"], true, "the old id is worth nothing");
    Ok(())
}

#[tokio::test]
async fn a_logout_ends_the_session_and_deletes_its_cookie() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.post(&shop, "/cart?item=tea").await?;
    let reply = browser.post(&shop, "/logout").await?;
    assert_eq!(reply.cookies(), ["JSESSIONID=; Path=/; Max-Age=0"]);
    assert!(browser.jar.is_empty(), "{:?}", browser.jar);
    let stats = browser.get(&shop, "/stats").await?.json()?;
    assert_eq!((&stats["sessions"], &stats["carts"], &stats["requests"]), (&json!(0), &json!(0), &json!(3)));
    Ok(())
}

#[tokio::test]
async fn a_browser_gets_a_page_with_its_cart() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.post(&shop, "/cart?item=blue+kettle").await?;
    let page = browser.send(&shop, Request::get("/").header("accept", "text/html,*/*;q=0.8")).await?;
    let html = String::from_utf8(page.body.to_vec())?;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(html.contains("blue kettle") && html.contains("v1-a"), "{html}");
    Ok(())
}

#[tokio::test]
async fn pages_without_a_session_open_none() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    for path in ["/cart", "/api/ping", "/healthz", "/stats", "/headers", "/static/app.js", "/landing"] {
        let reply = browser.get(&shop, path).await?;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        assert!(reply.cookies().is_empty(), "{path}");
        assert_eq!(reply.header("x-shop-pod"), Some("v1-a"), "{path}");
    }
    assert_eq!(shop.inspector().stats().sessions, 0);
    Ok(())
}

#[tokio::test]
async fn the_careless_landing_page_sets_a_session_on_a_public_response() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let reply = Browser::new(Protocol::Http1).get(&shop, "/landing?session=1").await?;
    assert_eq!(reply.header("cache-control"), Some("public, max-age=60"));
    assert_eq!(reply.cookies().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_delayed_response_is_overtaken_but_its_work_came_first() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    browser.get(&shop, "/").await?;
    let id = browser.jar["JSESSIONID"].clone();

    let slow = async {
        let request = Request::post("/cart?item=first").header("x-shop-delay-ms", "300");
        let reply = browser.clone().send(&shop, request).await?;
        anyhow::Ok((std::time::Instant::now(), reply.json()?))
    };
    let quick = async {
        until(|| shop.inspector().session(&id).is_some_and(|session| session.cart == ["first"])).await?;
        let reply = browser.clone().post(&shop, "/cart?item=second").await?;
        anyhow::Ok((std::time::Instant::now(), reply.json()?))
    };
    let ((slow_at, slow), (quick_at, quick)) = tokio::try_join!(slow, quick)?;
    let late = quick_at.saturating_duration_since(slow_at);
    assert!(quick_at < slow_at, "the quick response came {late:?} after the slow one");
    assert_eq!(slow["cart"], json!(["first"]));
    assert_eq!(quick["cart"], json!(["first", "second"]));
    Ok(())
}
