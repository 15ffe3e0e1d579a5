//! An operator on a laptop without files, at night: `docs/guides/incident.md`.

use super::{Page, Terminal, cluster, run};
use canary_operations::Cluster;
use canary_release::spec::Release;
use fake_api_server::FakeApi;
use fake_api_server::fixture::{apply, promote, release, set_weight};
use serde_json::json;

async fn at_30_percent() -> (FakeApi, Cluster, Release) {
    let api = cluster("shop", &["v1", "v2"]);
    let gateway = json!({"name": "istio-ingress/shop", "namespace": "istio-ingress", "selector": {"istio": "ingressgateway"}});
    let release = release(&json!({"gateways": [gateway]}));
    let operator = api.cluster().await;
    apply(&operator, &release).await.unwrap();
    set_weight(&operator, &release, "30").await.unwrap();
    (api, operator, release)
}

#[test]
fn the_page_leads_from_an_empty_folder_to_a_rollback_that_has_arrived() {
    run(async {
        let (api, operator, release) = at_30_percent().await;

        let (page, terminal) = (Page::open("guides/incident.md"), Terminal::new(&api).await);
        let printed = terminal.types_all(&page.block("Without a file", "sh"));
        let [list, rollback, status] = printed.as_slice() else {
            panic!("expected three commands: {printed:#?}")
        };
        assert!(list.contains("shop/shop") && list.contains("30%"), "{list}");
        assert!(rollback.contains("1 of 1 proxies run it"), "{rollback}");
        assert!(status.contains("1 of 1 proxies run it") && !status.contains("v2 (canary)"), "{status}");
        let record = operator.get_record(&release.name).await.unwrap().record;
        assert_eq!((record.state.weight.basis_points(), record.state.versions.len()), (0, 1), "{record:?}");
    });
}

#[test]
fn after_a_promotion_a_rollback_says_what_it_does_to_sessions_and_names_now() {
    run(async {
        let (api, operator, release) = at_30_percent().await;
        promote(&operator, &release).await.unwrap();

        let terminal = Terminal::new(&api).await;
        let asked = terminal.types("canary-ctl rollback shop/shop --dry-run --now");
        assert!(
            asked.contains("its sessions lose their state: they are on stable with their next request"),
            "{asked}"
        );
        for line in ["canary-ctl rollback shop/shop --dry-run", "canary-ctl rollback shop/shop"] {
            let printed = terminal.types(line);
            assert!(printed.contains("its sessions finish there until"), "{line}: {printed}");
            assert!(printed.contains("`canary-ctl rollback --now` ends its sessions"), "{line}: {printed}");
        }
        let status = terminal.types("canary-ctl status shop/shop");
        assert!(
            status.contains("the sessions of `v2` finish there; `canary-ctl rollback --now` ends them"),
            "{status}"
        );
    });
}
