//! Mutual TLS with certificates of istiod, and nothing else: both hops of the tests beside this one are made that way.

use super::hops::Hops;
use std::net::SocketAddr;
use wasm_tests::client::User;
use wasm_tests::lab::{Lab, Stage};

/// Asks for it in the namespace of both services, and returns when plain requests are refused that were answered before.
pub(super) async fn require(lab: &Lab, stage: &Stage) {
    let namespace = &stage.namespace;
    let pods = [
        address(lab, stage, "app=shop,version=v1", 8080).await,
        address(lab, stage, "app=catalog,version=v1", 9101).await,
    ];
    for pod in pods {
        assert!(takes_plain_text(pod).await, "{pod} of {namespace} refuses plain requests already");
    }
    let strict = serde_json::json!({"apiVersion": "security.istio.io/v1", "kind": "PeerAuthentication",
        "metadata": {"name": "strict", "namespace": namespace}, "spec": {"mtls": {"mode": "STRICT"}}});
    lab.apply(&strict.to_string()).await.unwrap();
    for pod in pods {
        let refused = async || (!takes_plain_text(pod).await).then_some(());
        lab.until(&format!("the end of plain requests at {pod}"), refused).await.unwrap();
    }
}

/// The shop is told who called: the gateway, by its certificate.
pub(super) async fn names_the_gateway(hops: &Hops) {
    let stage = &hops.stage;
    let received = stage.user().api("/headers").await.unwrap().text();
    let caller = format!("URI=spiffe://cluster.local/ns/{}/sa/default", stage.ingress);
    assert!(received.contains(&caller), "{caller} is not in {received}");
}

async fn takes_plain_text(pod: SocketAddr) -> bool {
    User::http1(pod, "shop").api("/healthz").await.is_ok_and(|answer| answer.status == 200)
}

async fn address(lab: &Lab, stage: &Stage, labels: &str, port: u16) -> SocketAddr {
    let columns = "jsonpath={.items[0].status.podIP}";
    let found =
        lab.kubectl(&["get", "pods", "-n", &stage.namespace, "-l", labels, "-o", columns]).await.unwrap();
    SocketAddr::new(found.parse().unwrap(), port)
}
