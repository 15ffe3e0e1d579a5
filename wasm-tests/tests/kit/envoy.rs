//! Tests the child process: every tested Envoy starts, serves, answers admin requests, and is ended afterwards.

use std::path::Path;
use std::time::Duration;

use browser::User;
use envoy_kit::{Envoy, EnvoyError, Options, each_tested, free_ports, newest};

use crate::bootstrap::Bootstrap;

#[tokio::test]
async fn every_tested_envoy_answers_over_both_protocols() {
    for binary in each_tested().expect("all are installed") {
        let bootstrap = Bootstrap::write("");
        let envoy = bootstrap.start(&binary).await;
        for mut user in [User::http1(bootstrap.listener, "a"), User::http2(bootstrap.listener, "a")] {
            assert_eq!(user.navigate("/").await.expect("a response").text(), "hello");
        }
        let served = envoy.admin().wait_for("http.main.downstream_rq_2xx", 2, Duration::from_secs(20)).await;
        assert_eq!(served.expect("counted"), 2, "envoy {}", binary.minor);
        let version = envoy.admin().get("/server_info").await.expect("a response");
        assert!(version.contains(&format!("/{}.", binary.minor)), "{version}");
    }
}

#[tokio::test]
async fn the_admin_interface_tells_statistics_listeners_and_configuration() {
    let bootstrap = Bootstrap::write("");
    let envoy = bootstrap.start(&newest().expect("installed")).await;
    let admin = envoy.admin();
    let stats = admin.stats().await.expect("statistics");
    assert_eq!(stats["server.live"], 1);
    assert_eq!(stats["listener_manager.total_listeners_active"], 1);
    assert_eq!(admin.counter("no.such.counter").await.expect("statistics"), 0);
    let active = admin.metric("envoy_listener_manager_total_listeners_active", &[]).await.expect("samples");
    assert!((active - 1.0).abs() < f64::EPSILON, "{active}");
    let listeners = admin.listeners().await.expect("listeners");
    assert_eq!(listeners["listener_statuses"][0]["name"], "main");
    let dump = admin.config_dump().await.expect("a dump");
    let fields = dump.as_object().map(|dump| dump.keys().collect::<Vec<_>>());
    assert!(dump["configs"].is_array(), "expected a list `configs`, found fields {fields:?}");
    let refused = admin.get("/no-such-page").await.expect_err("404");
    assert!(matches!(refused, EnvoyError::Admin { status: 404, .. }), "{refused}");
}

#[tokio::test]
async fn an_envoy_is_gone_when_it_is_dropped() {
    let bootstrap = Bootstrap::write("");
    let envoy = bootstrap.start(&newest().expect("installed")).await;
    let (pid, log) = (envoy.pid(), envoy.log_path());
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    assert!(log.exists());
    drop(envoy);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!log.exists());
}

#[tokio::test]
async fn an_envoy_is_gone_when_its_test_panics() {
    let bootstrap = Bootstrap::write("");
    let envoy = bootstrap.start(&newest().expect("installed")).await;
    let pid = envoy.pid();
    let failed = tokio::spawn(async move {
        let _held = envoy;
        panic!("on purpose: the log that follows is the point of this test");
    });
    let error = failed.await.expect_err("it panicked");
    assert!(error.is_panic(), "{error:?}");
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[tokio::test]
async fn an_envoy_that_refuses_its_bootstrap_ends_with_its_log() {
    let bootstrap = Bootstrap::write("");
    std::fs::write(bootstrap.path(), "no_such_field: 1").expect("written");
    let binary = newest().expect("installed");
    let error = Envoy::start(&binary, &bootstrap.path(), bootstrap.admin, &Options::default()).await;
    let error = error.expect_err("refused");
    assert!(matches!(&error, EnvoyError::Ended { log, .. } if log.contains("no_such_field")), "{error}");
}

#[tokio::test]
async fn clients_of_both_protocols_notice_a_drain() {
    let bootstrap = Bootstrap::write("");
    let arguments = ["--drain-strategy", "immediate"].map(str::to_owned).to_vec();
    let options = Options { arguments, ..Options::default() };
    let binary = newest().expect("installed");
    let start = Envoy::start(&binary, &bootstrap.path(), bootstrap.admin, &options).await;
    let envoy = start.expect("envoy starts");
    let mut users = [User::http1(bootstrap.listener, "a"), User::http2(bootstrap.listener, "a")];
    for user in &mut users {
        user.navigate("/").await.expect("a response");
    }
    envoy.admin().post("/drain_listeners?graceful&skip_exit").await.expect("drains");
    for user in &mut users {
        let mut closed = false;
        for _ in 0..2 {
            let response = user.navigate("/").await.expect("a response");
            closed |= response.closing || response.reopened;
        }
        assert!(closed, "{user:?}");
    }
}

#[test]
fn free_ports_differ_from_each_other_and_between_calls() {
    let mut ports = [free_ports::<20>(), free_ports::<20>()].concat();
    assert!(ports.iter().all(|port| (12_000..32_000).contains(port)), "{ports:?}");
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 40);
}
