//! A real browser, TLS, and session cookies with other attributes than ours: the return from a bank by POST, a frame in another site, a
//! subdomain, a browser that is closed and opened again (promise 4).

use std::path::Path;

use canary_ctl::local::Filter;
use serde_json::{Value, json};
use wasm_tests::scenario::{Document, EnvoyFixture, EnvoySetup, HOST, Pods};

use crate::support::{Place, SHOP, connection_manager, counted, insert_lua};
use wasm_tests::chromium::{FOREIGN_HOST, Tab};

/// Gives the session cookie the attributes that the query names.
const ATTRIBUTES: &str = r#"
function envoy_on_request(handle)
  local attributes = handle:headers():get(":path"):match("attributes=([^&]*)")
  if attributes then handle:streamInfo():dynamicMetadata():set("test", "attributes", attributes) end
end
function envoy_on_response(handle)
  local wanted = handle:streamInfo():dynamicMetadata():get("test")
  local line = handle:headers():get("set-cookie")
  if wanted and line then
    local attributes = wanted["attributes"]:gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end)
    handle:headers():replace("set-cookie", line:match("^[^;]*") .. attributes)
  end
end
"#;

/// The listener behind TLS, with a certificate of its own.
fn with_tls(bootstrap: &mut Value, folder: &Path) {
    insert_lua(bootstrap, Place::Last, ATTRIBUTES);
    let names = vec![HOST.to_owned(), FOREIGN_HOST.to_owned()];
    let certificate = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a writable folder");
        json!({"filename": path})
    };
    let chain = file("tls.crt", certificate.cert.pem());
    let key = file("tls.key", certificate.signing_key.serialize_pem());
    let tls = json!({
        "name": "envoy.transport_sockets.tls",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
            "common_tls_context": {"tls_certificates": [{"certificate_chain": chain, "private_key": key}]},
        },
    });
    bootstrap["static_resources"]["listeners"][0]["filter_chains"][0]["transport_socket"] = tls;
    assert!(connection_manager(bootstrap)["http_filters"].is_array(), "the first listener is the users'");
}

async fn fixture(pods: &Pods) -> EnvoyFixture {
    let binary = envoy_kit::newest().expect("an Envoy");
    let hosts = json!([HOST, "www.example.com"]);
    let document = Document::session("shop").with("/spec/hosts", hosts).with("/spec/weight", "100");
    let setup = EnvoySetup { bootstrap: with_tls, filter: Filter::Installed, ..EnvoySetup::of([document]) };
    EnvoyFixture::start(&binary, setup, pods).await.expect("a fixture")
}

/// A page that puts an item into the cart, whose response sets the session cookie with these attributes.
fn page(fixture: &EnvoyFixture, host: &str, item: &str, attributes: &str) -> String {
    let codes: Vec<String> = attributes.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let encoded = codes.concat();
    format!("https://{host}:{}/cart/add?item={item}&attributes={encoded}", fixture.listener().port())
}

/// Version and cart of the page that the tab shows.
async fn shown(tab: &mut Tab) -> (String, Value) {
    let text = tab.evaluate("document.body.innerText").await;
    let page: Value = serde_json::from_str(text.as_str().unwrap_or_default()).expect("the shop's JSON");
    (page["version"].as_str().unwrap_or_default().to_owned(), page["cart"].clone())
}

/// Opens a session on v2, and takes new sessions away from it.
async fn open(fixture: &EnvoyFixture, attributes: &str) -> Tab {
    fixture.weight(SHOP, "100").await.expect("the weight arrives");
    let mut tab = Tab::open().await;
    tab.goto(&page(fixture, HOST, "tea", attributes)).await;
    assert_eq!(shown(&mut tab).await, ("v2".to_owned(), json!(["tea"])), "{attributes}");
    fixture.weight(SHOP, "0").await.expect("the weight arrives");
    tab
}

#[tokio::test]
async fn a_session_stays_through_a_post_from_another_site() {
    let pods = Pods::start().await.expect("pods start");
    let fixture = fixture(&pods).await;
    for attributes in ["; Path=/; SameSite=None; Secure", "; SameSite=None; Secure; HttpOnly"] {
        let mut tab = open(&fixture, attributes).await;
        tab.goto(&format!("https://{FOREIGN_HOST}:{}/", fixture.listener().port())).await;
        let form = format!(
            "const form = document.body.appendChild(document.createElement('form')); form.method = 'post';
             form.action = '{}'; form.submit();",
            page(&fixture, HOST, "milk", attributes)
        );
        tab.evaluate(&form).await;
        tab.until("location.hostname + document.readyState", format!("{HOST}complete")).await;
        let both = ("v2".to_owned(), json!(["tea", "milk"]));
        assert_eq!(shown(&mut tab).await, both, "{attributes}");
        tab.goto(&page(&fixture, HOST, "rice", attributes)).await;
        assert_eq!(shown(&mut tab).await, ("v2".to_owned(), json!(["tea", "milk", "rice"])), "{attributes}");
    }
}

#[tokio::test]
async fn a_session_in_a_frame_of_another_site_stays() {
    let pods = Pods::start().await.expect("pods start");
    let fixture = fixture(&pods).await;
    let mut pinned = 0;
    for attributes in ["; Path=/; SameSite=None; Secure", "; Path=/; SameSite=None; Secure; Partitioned"] {
        fixture.weight(SHOP, "100").await.expect("the weight arrives");
        let mut tab = Tab::open().await;
        tab.goto(&format!("https://{FOREIGN_HOST}:{}/", fixture.listener().port())).await;
        for (weight, item) in [("100", "tea"), ("0", "milk"), ("0", "rice")] {
            fixture.weight(SHOP, weight).await.expect("the weight arrives");
            let frame = format!(
                "new Promise(loaded => {{ const frame = document.createElement('iframe'); frame.onload = () => loaded('loaded');
                 frame.src = '{}'; document.body.appendChild(frame); }})",
                page(&fixture, HOST, item, attributes)
            );
            assert_eq!(tab.evaluate(&frame).await, "loaded");
        }
        pinned += 2;
        assert_eq!(counted(&fixture, "v2/canary/pin").await, pinned, "{attributes}");
    }
}

#[tokio::test]
async fn a_session_of_a_domain_stays_on_a_subdomain_and_in_a_browser_that_is_opened_again() {
    let pods = Pods::start().await.expect("pods start");
    let fixture = fixture(&pods).await;
    let attributes = "; Path=/; Domain=example.com; Secure; Max-Age=3600";
    let mut tab = open(&fixture, attributes).await;
    tab.goto(&page(&fixture, "www.example.com", "milk", attributes)).await;
    assert_eq!(shown(&mut tab).await, ("v2".to_owned(), json!(["tea", "milk"])));
    let mut tab = tab.reopen().await;
    tab.goto(&page(&fixture, HOST, "rice", attributes)).await;
    assert_eq!(shown(&mut tab).await, ("v2".to_owned(), json!(["tea", "milk", "rice"])));
}
