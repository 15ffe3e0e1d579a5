//! Other sites in the same browser, and hostile text from a cluster.

use crate::server::{Dashboard, foreign_site, view};
use canary_dashboard::{HistoryView, ProblemView, ProxyView};
use serde_json::json;
use wasm_tests::chromium::{FOREIGN_HOST, Tab};

const HOSTILE: &str = "<img src=x onerror=\"window.attacked=1\"><script>window.attacked=1</script>";

#[tokio::test]
async fn text_of_a_cluster_is_shown_as_it_is_and_never_runs() {
    let mut hostile = view("shop/shop", 80, 20);
    hostile.versions[1].name = HOSTILE.to_owned();
    hostile.versions[1].responses.insert(HOSTILE.to_owned(), 3);
    hostile.paused = Some(HOSTILE.to_owned());
    let at = hostile.at;
    hostile.history = vec![HistoryView { at, weight: hostile.weight, text: HOSTILE.to_owned() }];
    hostile.problems = vec![ProblemView { message: HOSTILE.to_owned(), hint: HOSTILE.to_owned() }];
    let fault = Some(HOSTILE.to_owned());
    hostile.proxies =
        vec![ProxyView { name: HOSTILE.to_owned(), generation: None, is_current: false, fault }];
    let dashboard = Dashboard::start([hostile]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until("document.querySelector('.problem') !== null", true).await;
    let shown = tab.evaluate("document.body.innerText.split('<img src=x onerror=').length - 1").await;
    assert!(shown.as_u64() >= Some(8), "every text is shown: {shown}");
    assert_eq!(tab.evaluate("document.querySelectorAll('img, main script').length").await, json!(0));
    assert_eq!(tab.evaluate("String(window.attacked)").await, json!("undefined"));
}

#[tokio::test]
async fn the_policy_of_the_page_stops_markup_and_scripts_that_a_fault_would_insert() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    let insert = "(() => { try { document.body.innerHTML = '<p>attacked</p>'; return 'inserted' } catch (e) { return e.name } })()";
    assert_eq!(tab.evaluate(insert).await, json!("TypeError"), "Trusted Types refuse markup from text");
    let remote = "fetch('http://localhost:1/').then(() => 'sent', (error) => error.name)";
    assert_eq!(tab.evaluate(remote).await, json!("TypeError"), "`connect-src` is this server alone");
}

#[tokio::test]
async fn the_token_leaves_the_address_bar_and_a_tab_without_it_gets_no_data() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let mut tab = Tab::open().await;
    tab.goto(&dashboard.url("shop/shop")).await;
    tab.until("document.querySelectorAll('.dot.canary').length", 40).await;
    assert_eq!(tab.evaluate("location.hash").await, json!("#/shop/shop"));
    assert_eq!(tab.evaluate("document.cookie").await, json!(""), "cookies would be sent to every port");
    let mut other = Tab::open().await;
    other.goto(&format!("http://127.0.0.1:{}/#/shop/shop", dashboard.port)).await;
    other.until("document.getElementById('fault').innerText.includes('expected the token')", true).await;
    assert_eq!(other.evaluate("document.querySelectorAll('.dot').length").await, json!(0));
}

#[tokio::test]
async fn a_page_of_another_site_reads_nothing_even_with_the_token() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let (port, token) = (dashboard.port, &dashboard.token);
    let page = format!("<iframe src='http://127.0.0.1:{port}/'></iframe><script>
        const url = 'http://127.0.0.1:{port}/api/releases';
        const read = (options) => fetch(url, options).then((r) => r.text(), () => 'blocked');
        const auth = {{headers: {{Authorization: 'Bearer {token}'}}}};
        const script = () => new Promise((done) => {{
            const element = document.createElement('script');
            element.src = 'http://127.0.0.1:{port}/assets/dashboard.js';
            element.onload = () => done('loaded');
            element.onerror = () => done('blocked');
            document.head.append(element);
        }});
        const change = () => fetch(url + '/shop/shop/change', {{method: 'POST', mode: 'no-cors', body:
            '{{\"change\": \"weight\", \"weight\": \"99\", \"expectedGeneration\": 1, \"dryRun\": false}}',
            headers: {{'Content-Type': 'text/plain', Authorization: 'Bearer {token}'}}}}).catch(() => undefined);
        const opaque = () => fetch(url, {{mode: 'no-cors', ...auth}}).then((r) => r.text(), () => 'blocked');
        window.attack = () => change().then(() => Promise.all([read({{}}), read(auth), opaque(), script()])).then((all) => all.join());
        </script>");
    let site = foreign_site(page).await;
    let mut tab = Tab::open().await;
    let before = dashboard.state("shop/shop");
    // Another port of the same host is the same site: `Origin` and CORS have to do it alone.
    for host in [FOREIGN_HOST, "127.0.0.1"] {
        tab.goto(&format!("http://{host}:{site}/")).await;
        let found = tab.evaluate("window.attack()").await;
        let expected = ["blocked,blocked,blocked,blocked", "blocked,blocked,,blocked"];
        assert!(expected.contains(&found.as_str().unwrap()), "{host}: {found}");
        assert_eq!(dashboard.state("shop/shop"), before, "{host} has changed it");
        let frame = "(() => { try { return document.querySelector('iframe').contentDocument.body.innerText } catch { return '' } })()";
        assert!(!tab.evaluate(frame).await.to_string().contains("canary-ctl"), "no frame shows the page");
    }
}

#[tokio::test]
async fn a_rebound_name_gets_neither_the_page_nor_data() {
    let dashboard = Dashboard::start([view("shop/shop", 80, 20)]);
    let (port, token) = (dashboard.port, &dashboard.token);
    let mut tab = Tab::open().await;
    tab.goto(&format!("http://{FOREIGN_HOST}:{port}/")).await;
    assert_eq!(tab.evaluate("document.querySelector('main') === null").await, json!(true));
    let same_origin = format!(
        "fetch('/api/releases', {{headers: {{Authorization: 'Bearer {token}'}}}}).then((r) => r.status, (error) => error.name)"
    );
    assert!([json!(421), json!("TypeError")].contains(&tab.evaluate(&same_origin).await));
}
