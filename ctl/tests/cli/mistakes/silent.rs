//! An API server that does not respond, from the first request on or later: a person waits, and is told for what within a second.

use super::api_server::{ERROR_HEAD, HEAD, Server};
use super::{Folder, typed};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// API servers that do not finish their first response.
const UNFINISHED: [Server; 5] = [
    Server::Silent,
    Server::Stalls(HEAD),
    Server::Trickles(HEAD),
    Server::Trickles(ERROR_HEAD),
    Server::Trickles("HTTP/1.1 200 OK\r\nx: "),
];

/// Within a second, and what a machine takes that runs all tests at once.
const SOON: Duration = Duration::from_secs(3);

#[test]
fn an_api_server_that_is_silent_is_named_within_a_second_and_ctrl_c_is_no_error() {
    let lines = [&["rollback", "shop/shop"][..], &["status", "-r", "shop/shop"], &["list"], &["apply"]];
    let servers = [Server::Silent, Server::Stalls(HEAD)];
    for (words, server) in lines.into_iter().flat_map(|words| servers.map(|server| (words, server))) {
        let cli = typed(7, "").within(Folder::Release).with(server).fixture();
        let mut child = cli.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let begun = Instant::now();
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        assert!(begun.elapsed() < SOON, "{words:?}: {:?}", begun.elapsed());
        assert!(said.contains("http://127.0.0.1") && said.contains("staging"), "{words:?}: {said}");
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!((child.wait().unwrap().code(), rest.contains("error:")), (Some(130), false), "{rest}");
    }
}

#[test]
fn an_emergency_ends_with_its_time_and_names_the_command_that_stops_the_canary_without_this_tool() {
    let named = "kubectl -n shop patch destinationrule shop-canary --type merge -p";
    let known = r#"{"name":"v2","labels":{"version":"v1"}}"#;
    let table = [
        ("rollback", Folder::Release, &[named, known][..]),
        ("rollback shop/shop", Folder::Empty, &[named, "STABLE", "CANARY"]),
        ("weight 0 shop -n shop", Folder::Empty, &[named, "STABLE"]),
        ("weight 0 --context staging", Folder::Release, &["kubectl --context staging -n shop", known]),
        (
            "rollback --train autumn",
            Folder::Empty,
            &["kubectl -n NAMESPACE patch destinationrule NAME-canary"],
        ),
        ("pause shop/shop", Folder::Empty, &["has not responded for 2.00s"]),
        ("status shop/shop", Folder::Empty, &["has not responded for 2.00s"]),
        ("uninstall shop/shop", Folder::Empty, &["has not responded for 2.00s"]),
        ("rollout abort shop/shop", Folder::Empty, &["has not responded for 2.00s"]),
    ];
    let ends_in_time = |(line, folder, expected): (&str, Folder, &[&str]), server: Server| {
        let cli = typed(8, "").within(folder).with(server).fixture();
        let begun = Instant::now();
        let ran = cli.run(&format!("{line} --request-timeout 2s"));
        assert!(begun.elapsed() < Duration::from_secs(2) + SOON, "{line}: {:?}", begun.elapsed());
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        let first = ran.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("waiting for http://127.0.0.1"), "{line}, {server:?}: {ran:?}");
        for text in expected {
            assert!(ran.stderr.contains(text), "{line}, {server:?}: expected {text} in\n{}", ran.stderr);
        }
    };
    std::thread::scope(|scope| {
        for server in UNFINISHED.into_iter().chain([Server::SilentAfter(1)]) {
            scope.spawn(move || table.into_iter().for_each(|row| ends_in_time(row, server)));
        }
    });
}

#[test]
fn the_command_that_stops_the_canary_is_named_where_the_api_server_cannot_be_reached_at_all() {
    let cli = typed(9, "").within(Folder::Release).with(Server::Closed).fixture();
    let ran = cli.run("rollback");
    assert!(ran.stderr.contains("Connection refused"), "{ran:?}");
    assert!(ran.stderr.contains("kubectl -n shop patch destinationrule shop-canary"), "{ran:?}");
}

#[test]
fn a_response_that_comes_byte_by_byte_ends_with_its_time_where_no_emergency_is() {
    let ends = |line: &str, server: Server| {
        let cli = typed(7, "").within(Folder::Release).with(server).fixture();
        let begun = Instant::now();
        let ran = cli.run(&format!("{line} --request-timeout 2s"));
        // Reads without a response are sent again for 15 s.
        assert!(begun.elapsed() < Duration::from_secs(24), "{line}: {:?}", begun.elapsed());
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        let first = ran.stderr.lines().next().unwrap_or_default();
        assert!(first.starts_with("waiting for http://127.0.0.1"), "{line}: {ran:?}");
        assert!(ran.stderr.contains("expected the whole response within 2s"), "{line}: {ran:?}");
    };
    std::thread::scope(|scope| {
        let trickles = UNFINISHED.into_iter().filter(|server| matches!(server, Server::Trickles(_)));
        for server in trickles {
            scope.spawn(move || ["list", "apply", "doctor"].into_iter().for_each(|line| ends(line, server)));
        }
    });
}
