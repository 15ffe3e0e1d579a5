//! Responses that fail after their headers, or by a gRPC status: counted by user group while a rollout runs.

use crate::fixture::{NOW, respond, sign, standard, with, worker};
use assignment::Identity;
use assignment::seal::Seal;
use serde_json::{Value, json};
use wasm_host::{Exchange, Headers, RequestHead, ResponseHead, Vm};

/// `response.flags`: the upstream ended the connection; its client left.
const CONNECTION_TERMINATION: u64 = 1 << 6;
const CLIENT_LEFT: u64 = 1 << 14;

fn in_rollout() -> Value {
    with("rolloutSinceSeconds", json!(NOW - 3_600))
}

/// A request of a session in group 3 that began at an odd second during the rollout.
fn request() -> RequestHead {
    let seal = Seal::pin(b"v2", 2, Identity::from_random(0x0123_4567_89ab_cde3), NOW - 59);
    RequestHead::get("/").header("cookie", format!("S=abcdefgh; __Host-pin={}", sign(&seal)))
}

/// An exchange whose response has these headers.
fn answered(vm: &Vm, head: ResponseHead) -> Exchange {
    let mut exchange = vm.request(request()).unwrap();
    exchange.respond(head).unwrap();
    exchange
}

/// Ends it with these flags.
fn end(exchange: Exchange, flags: u64) {
    exchange.set_property(&["response", "flags"], flags.to_le_bytes());
    exchange.end().unwrap();
}

/// Responses, and failed ones among them.
fn counted(vm: &Vm) -> (u64, u64) {
    vm.tick().unwrap();
    let of = |what: &str| {
        vm.proxy().metrics_with(&[&format!("canary_group_{what}.component.shop/web.tag.v2/3;.total")])
    };
    (of("responses"), of("server_errors"))
}

#[test]
fn a_response_that_its_version_breaks_off_counts_as_failed_once() {
    for (what, status, flags, failed) in [
        ("a whole one", 200, 0, 0),
        ("broken off", 200, CONNECTION_TERMINATION, 1),
        ("its client left", 200, CLIENT_LEFT, 0),
        ("its client left, so the rest ended", 200, CLIENT_LEFT | CONNECTION_TERMINATION, 0),
        ("a 5xx, broken off", 500, CONNECTION_TERMINATION, 1),
        ("an upgraded connection that ends", 101, CONNECTION_TERMINATION, 0),
    ] {
        let vm = worker(&in_rollout());
        end(answered(&vm, ResponseHead::status(status)), flags);
        assert_eq!(counted(&vm), (1, failed), "{what}");
    }
}

#[test]
fn a_response_without_a_body_costs_no_look_at_its_end() {
    let vm = worker(&in_rollout());
    end(answered(&vm, ResponseHead::status(200).without_body()), CONNECTION_TERMINATION);
    assert_eq!(counted(&vm), (1, 0));
    assert_eq!(vm.host_calls().get("proxy_get_property"), None);
}

#[test]
fn outside_of_a_rollout_no_end_is_looked_at() {
    let vm = worker(&standard());
    let mut exchange = answered(&vm, ResponseHead::status(200));
    exchange.trailers(status("13")).unwrap();
    end(exchange, 0);
    end(answered(&vm, ResponseHead::status(200)), CONNECTION_TERMINATION);
    assert_eq!(vm.host_calls().get("proxy_get_property"), None);
    assert_eq!(vm.host_calls().get("proxy_get_header_map_pairs"), Some(&4), "requests and response headers");
}

fn status(code: &str) -> Headers {
    Headers::response().with([("grpc-status", code), ("grpc-message", "why")])
}

#[test]
fn a_grpc_status_of_a_server_fault_counts_in_trailers_and_in_headers() {
    for (code, failed) in [("0", 0), ("5", 0), ("2", 1), ("13", 1), ("14", 1)] {
        let vm = worker(&in_rollout());
        let grpc = ResponseHead::status(200).header("content-type", "application/grpc");
        let mut exchange = answered(&vm, grpc.clone());
        exchange.trailers(status(code)).unwrap();
        // Trailers are the end: what a proxy says later is no second failure.
        end(exchange, CONNECTION_TERMINATION);
        assert_eq!(counted(&vm), (1, failed), "grpc-status {code} in trailers");
        respond(vm.request(request()).unwrap(), grpc.header("grpc-status", code).without_body());
        assert_eq!(counted(&vm), (2, 2 * failed), "grpc-status {code} in headers");
    }
}

/// Envoy gives a gRPC call to a cluster without healthy pods status 200 with UNAVAILABLE.
#[test]
fn a_version_without_healthy_pods_is_ejected_by_a_grpc_call_too() {
    let vm = worker(&standard());
    let dead = ResponseHead::status(200).header("grpc-status", "14");
    let dead = dead.property(&["response", "code_details"], "no_healthy_upstream").without_body();
    let routed = || vm.request(request()).unwrap().headers().text("x-canary-version");
    assert_eq!(routed().as_deref(), Some("shop/web/v2"));
    respond(vm.request(request()).unwrap(), dead);
    assert_eq!(routed().as_deref(), Some("shop/web/v1"));
}

#[test]
fn trailers_of_a_request_that_no_release_matches_are_not_read() {
    let vm = worker(&in_rollout());
    let mut exchange = vm.request(RequestHead::get("/").authority("other.example")).unwrap();
    exchange.respond(ResponseHead::status(200)).unwrap();
    exchange.trailers(status("13")).unwrap();
    exchange.end().unwrap();
    assert_eq!(vm.host_calls().get("proxy_get_header_map_pairs"), Some(&1), "the request's alone");
}
