//! Mutual TLS with certificates of istiod, required: both hops of the other tests use it.

use super::hops::Hops;
use browser::User;
use mesh_lab::Lab;
use std::net::SocketAddr;
use wasm_tests::mesh::ShopEnv;

/// Requires mutual TLS in the namespace of both services, and returns when plain requests are refused that were
/// answered before.
pub(super) async fn require(lab: &Lab, env: &ShopEnv) {
    let namespace = &env.namespace;
    let pods = [
        address(lab, env, "app=shop,version=v1", 8080).await,
        address(lab, env, "app=catalog,version=v1", 9101).await,
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

/// The shop receives the caller's identity: the gateway's, by its certificate.
pub(super) async fn names_the_gateway(hops: &Hops) {
    let env = &hops.env;
    let received = env.user().api("/headers").await.unwrap().text();
    let caller = format!("URI=spiffe://cluster.local/ns/{}/sa/default", env.ingress);
    assert!(received.contains(&caller), "{caller} is not in {received}");
}

async fn takes_plain_text(pod: SocketAddr) -> bool {
    User::http1(pod, "shop").api("/healthz").await.is_ok_and(|response| response.status == 200)
}

async fn address(lab: &Lab, env: &ShopEnv, labels: &str, port: u16) -> SocketAddr {
    let columns = "jsonpath={.items[0].status.podIP}";
    let found =
        lab.kubectl(&["get", "pods", "-n", &env.namespace, "-l", labels, "-o", columns]).await.unwrap();
    SocketAddr::new(found.parse().unwrap(), port)
}
