//! The shop and the catalog behind it: both hops in one response, and which headers make it to the second.

use anyhow::{Context as _, Result};
use demo_shop::proto::AskRequest;
use demo_shop::{CatalogAt, PodConfig, Propagate, RunningPod, RunningShop, ShopConfig};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::browser::{Browser, Protocol, open_shop, open_shop_with};
use crate::caller::{caller, open_catalog};

/// A name that leads nowhere: only the address beside it does.
const NAME: &str = "http://catalog.shop.svc.cluster.local:9101";

const SENT: [(&str, &str); 6] = [
    ("baggage", "a=1"),
    ("baggage", "b = 2 ;p,c=%20"),
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("x-canary-cohort", "shop=canary"),
    ("x-canary-id", "0123456789abcdef"),
    ("x-canary-version", "shop/shop/v2"),
];

async fn both(propagate: Propagate) -> Result<(RunningPod, RunningShop)> {
    let catalog = open_catalog(PodConfig::new("v2", "catalog-v2-a")?).await?;
    let at = CatalogAt::new(NAME)?.with_address(catalog.local_addr()).with_propagate(propagate);
    let shop = open_shop_with(ShopConfig::new("v1", "v1-a")?.with_catalog(at)).await?;
    Ok((catalog, shop))
}

fn lines(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

#[tokio::test]
async fn the_response_shows_both_hops_and_what_each_got() -> Result<()> {
    let [baggage @ .., cohort, id, _routing] = &SENT;
    for (propagate, expected) in
        [(Propagate::Headers, &[*cohort, *id][..]), (Propagate::Baggage, baggage), (Propagate::None, &[])]
    {
        let (_catalog, shop) = both(propagate).await?;
        for via in ["http", "grpc"] {
            let mut request = Request::get(format!("/catalog?via={via}"));
            for (name, value) in SENT {
                request = request.header(name, value);
            }
            let seen = Browser::new(Protocol::Http1).send(&shop, request).await?.json()?;
            assert_eq!((&seen["version"], &seen["pod"]), (&json!("v1"), &json!("v1-a")));
            assert_eq!(seen["carried"], lines(&SENT), "the shop got all of it");
            assert_eq!(
                seen["catalog"],
                json!({"service": "catalog", "version": "v2", "pod": "catalog-v2-a", "via": via, "carried": lines(expected)}),
                "{propagate:?} via {via}"
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_grpc_call_of_the_shop_goes_on_to_the_catalog() -> Result<()> {
    let (_catalog, shop) = both(Propagate::Headers).await?;
    let mut request = tonic::Request::new(AskRequest {});
    request.metadata_mut().insert("x-canary-id", "0123456789abcdef".parse()?);
    let response = caller(shop.local_addr())?.ask(request).await?;
    assert_eq!(response.metadata().get("x-shop-version").context("no version")?, "v1");
    let response = response.into_inner();
    assert_eq!((response.service.as_str(), response.version.as_str()), ("shop", "v1"));
    let catalog = response.catalog.context("no second hop")?;
    assert_eq!((catalog.service.as_str(), catalog.version.as_str()), ("catalog", "v2"));
    assert_eq!(catalog.carried, response.carried);
    assert_eq!(catalog.carried.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_home_page_names_the_catalog_for_people_and_programs() -> Result<()> {
    let (_catalog, shop) = both(Propagate::Headers).await?;
    let mut browser = Browser::new(Protocol::Http1);
    assert_eq!(browser.get(&shop, "/").await?.json()?["catalog"]["pod"], "catalog-v2-a");
    let page = browser.send(&shop, Request::get("/").header("accept", "text/html")).await?;
    let text = String::from_utf8_lossy(&page.body);
    assert!(text.contains("catalog v2"), "{text:?}");
    Ok(())
}

#[tokio::test]
async fn a_catalog_that_is_gone_is_a_bad_gateway_over_both_protocols() -> Result<()> {
    let (catalog, shop) = both(Propagate::Headers).await?;
    let mut browser = Browser::new(Protocol::Http1);
    assert_eq!(browser.get(&shop, "/catalog").await?.status, StatusCode::OK);
    catalog.kill().await;
    for path in ["/", "/catalog?via=http", "/catalog?via=grpc"] {
        let reply = browser.get(&shop, path).await?;
        assert_eq!(reply.status, StatusCode::BAD_GATEWAY, "{path}");
        assert!(reply.json()?["error"].as_str().is_some_and(|text| text.contains("refused")), "{reply:?}");
    }
    assert_eq!(browser.get(&shop, "/cart").await?.status, StatusCode::OK, "the rest of the shop is there");
    let refused = caller(shop.local_addr())?.ask(AskRequest {}).await;
    assert_eq!(refused.err().map(|status| status.code()), Some(tonic::Code::Unavailable));
    Ok(())
}

#[tokio::test]
async fn a_shop_that_can_do_without_its_catalog_hides_that_it_fails() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let catalog = demo_shop::serve_failing_catalog(listener, PodConfig::new("v2", "catalog-v2-a")?, 50)?;
    let config = ShopConfig::new("v1", "v1-a")?.with_optional_catalog(true);
    let at = CatalogAt::new(&format!("http://{}", catalog.local_addr()))?;
    let shop = demo_shop::serve(TcpListener::bind("127.0.0.1:0").await?, config.with_catalog(at))?;
    let mut browser = Browser::new(Protocol::Http1);
    let mut failed = 0;
    for _ in 0..10 {
        let reply = browser.get(&shop, "/").await?;
        assert_eq!(reply.status, StatusCode::OK);
        failed += u32::from(reply.json()?["catalog"].is_null());
    }
    assert_eq!(failed, 5, "half of its responses are errors");
    Ok(())
}

#[tokio::test]
async fn a_shop_without_a_catalog_or_asked_in_an_unknown_way_says_so() -> Result<()> {
    let shop = open_shop("v1", "v1-a").await?;
    let mut browser = Browser::new(Protocol::Http1);
    assert_eq!(browser.get(&shop, "/catalog").await?.status, StatusCode::NOT_FOUND);
    let odd = browser.get(&shop, "/catalog?via=pigeon").await?;
    assert_eq!(odd.status, StatusCode::BAD_REQUEST);
    assert_eq!(odd.json()?["error"], "via: expected http or grpc, found \"pigeon\"");
    Ok(())
}
