//! A firewall between the API server and the proxies: their metrics are read through the kubelet.

use tokio::process::Command;

use crate::support::cli::Cli;
use crate::support::in_the_mesh;
use crate::support::loaded_fixture::LoadedFixture;

/// The port of every proxy's metrics.
const PORT: &str = "15090";
/// Has no right but those that `generate rbac --port-forward` prints.
const OPERATOR: &str = "restricted-forwarder";
/// Has no right but those that `generate rbac` prints.
const BLIND: &str = "restricted-blind";

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn a_weight_is_seen_in_a_proxy_that_the_api_server_does_not_reach() {
    in_the_mesh(async |lab| {
        let loaded = LoadedFixture::set_up(lab, "blocked", |release| release).await;
        loaded.apply().await;
        let admin = Cli::new(lab, &loaded.document);
        let rights = admin.run(&format!("generate rbac --port-forward --user {OPERATOR}")).await.stdout;
        lab.apply(&rights).await.unwrap();
        let (ingress, pod) = (&loaded.env.ingress, loaded.env.gateway_pod(lab).await.unwrap());
        let address = ["get", "pod", &pod, "-n", ingress, "-o", "jsonpath={.status.podIP}"];
        let address = lab.kubectl(&address).await.unwrap();
        let path =
            format!("/api/v1/namespaces/{ingress}/pods/{pod}:{PORT}/proxy/stats/prometheus?filter=inert");
        let direct = ["get", "--request-timeout=2s", "--raw", &path];
        lab.kubectl(&direct).await.expect("the API server reaches the proxy");

        firewall("-I", &address).await;
        assert!(lab.kubectl(&direct).await.is_err(), "the API server still reaches the proxy");
        let cli = Cli::of(lab, &loaded.document, OPERATOR);
        cli.expect("weight 20 --wait --timeout 20s", 0, &["active after"]).await;
        let status = cli.expect("status", 0, &["weight 20%"]).await;
        assert!(!status.stdout.contains("does not answer"), "{status:?}");
        cli.expect("doctor", 0, &[]).await;

        // The Roles of a release have one name: they belong to this user from here on.
        let rights = admin.run(&format!("generate rbac --user {BLIND}")).await.stdout;
        lab.apply(&rights).await.unwrap();
        let blind = Cli::of(lab, &loaded.document, BLIND);
        let refused = blind.expect("promote", 2, &["does not answer on port 15090"]).await;
        assert!(refused.stderr.contains("--skip-check unseen-proxies"), "{refused:?}");
        let skipped = "weight 30 --wait --skip-check unseen-proxies";
        blind.expect(skipped, 0, &["active where it was observed", "not observed: "]).await;
        let status = admin.expect("status", 0, &["weight 30%", "1 of 1 proxies run it"]).await;
        assert!(!status.stdout.contains("problem: "), "the proxy got it in that time: {status:?}");
        firewall("-D", &address).await;
    });
}

/// Inserts or deletes the rule: packets to the port of this pod are dropped, and the kubelet connects from within the pod.
async fn firewall(action: &str, address: &str) {
    let rule = ["OUTPUT", "-d", address, "-p", "tcp", "--dport", PORT, "-j", "DROP"];
    let done = Command::new("iptables").arg("-w").arg(action).args(rule).status().await.unwrap();
    assert!(done.success(), "iptables {action}: {done}");
}
