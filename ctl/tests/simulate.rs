//! `simulate` as a process: what it prints, and with which exit code.

mod local_release;

use local_release::{Directory, json, stderr, stdout};
use serde_json::Value;

#[test]
fn a_list_of_ids_is_walked_through_the_plan() {
    let directory = Directory::generated("off");
    let ids: Vec<String> = (0..20_000).map(|number| format!("session-{number}")).collect();
    std::fs::write(directory.path().join("ids.txt"), ids.join("\n")).unwrap();
    let output = directory.run(&["simulate", "ids.txt", "--weights", "0,10,50,0", "-o", "json"]);
    let report = json(&output);
    assert_eq!((output.status.code(), &report["salt"]), (Some(0), &Value::from("shop/shop/v2")));
    assert_eq!(report["users"], 20_000);
    let steps = report["steps"].as_array().unwrap();
    let count = |step: usize, field: &str| steps[step][field].as_u64().unwrap();
    assert_eq!(count(0, "canary"), 0);
    assert_eq!(count(2, "toCanary"), count(2, "canary") - count(1, "canary"));
    assert_eq!(count(3, "toStable"), count(2, "canary"));
    assert_eq!(steps[1]["test"]["verdict"], "fits");
    let text = stdout(&directory.run(&["simulate", "ids.txt", "--weights", "10"]));
    assert!(text.contains("20,000 users, one a line"), "{text}");
}

#[test]
fn a_log_is_read_by_field_and_its_users_counted_once_where_asked() {
    let directory = Directory::written("off");
    let line = |id: usize| {
        format!(
            "203.0.113.{id} - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"Mozilla\" \"JSESSIONID=s{id}; a=b\"\n"
        )
    };
    let log: String = (0..100).map(|number| line(number % 20)).collect();
    std::fs::write(directory.path().join("access.log"), log + "garbage\n").unwrap();
    let by_cookie = directory.run(&["simulate", "access.log", "--log", "-o", "json"]);
    let report = json(&by_cookie);
    assert_eq!((&report["users"], &report["withoutKey"]), (&Value::from(100), &Value::from(1)));
    assert!(stderr(&by_cookie).contains("`--distinct` counts each once"), "{}", stderr(&by_cookie));
    let arguments =
        ["simulate", "access.log", "--log", "--key", "quoted:4", "--distinct", "--salt", "s", "-o", "json"];
    let report = json(&directory.run(&arguments));
    assert_eq!((&report["users"], &report["distinct"]), (&Value::from(20), &Value::from(true)));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let directory = Directory::written("off");
    let empty = directory.run(&["simulate", "--salt", "s"]);
    assert_eq!((empty.status.code(), stdout(&empty)), (Some(2), String::new()));
    assert!(stderr(&empty).contains("expected users, found none in 0 lines"), "{}", stderr(&empty));
    let missing = directory.run(&["simulate", "nowhere.txt", "--salt", "s"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).starts_with("error: cannot read nowhere.txt"), "{}", stderr(&missing));
    let unknown = directory.run(&["simulate", "ids.txt", "--log", "--salt", "s"]);
    assert!(stderr(&unknown).contains("hint: `--key client`"), "{}", stderr(&unknown));
    let above_hundred = directory.run(&["simulate", "ids.txt", "--weights", "10,200"]);
    assert!(stderr(&above_hundred).contains("step 2 of the weights"), "{}", stderr(&above_hundred));
}

/// Logs in the formats of `reports.md`, C36: each is read by its own fields, or refused with what was found.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of lines")]
fn a_log_is_taken_for_no_other_than_it_is() {
    let directory = Directory::written("off");
    let istio = |id: usize| {
        format!(
            "[2026-11-26T10:00:00.{id:03}Z] \"GET /cart HTTP/2\" 200 - via_upstream - \"-\" 0 512 12 11 \"203.0.113.{}\" \"Mozilla/5.0\" \
             \"id-{id}\" \"shop.example.com\" \"10.1.1.7:8080\" outbound|80|v1|shop.shop.svc.cluster.local 10.1.1.2:41000 10.1.1.2:8443 \
             203.0.113.9:51234 shop.example.com -\n",
            id % 20
        )
    };
    let json_line = |id: usize| {
        format!(
            "{{\"path\":\"/cart;JSESSIONID=zzz\",\"x_forwarded_for\":\"203.0.113.{}\",\"cookie\":{}}}\n",
            id % 20,
            if id.is_multiple_of(2) {
                format!("\"JSESSIONID=s{}; lang=de\"", id % 20)
            } else {
                "null".to_owned()
            }
        )
    };
    let write = |name: &str, text: String| std::fs::write(directory.path().join(name), text).unwrap();
    write("istio.log", (0..200).map(istio).collect());
    write("json.log", (0..200).map(json_line).collect());
    write("syslog.log", "Nov 26 10:00:00 host app: hello\n".repeat(5));
    std::fs::write(directory.path().join("log.gz"), b"\x1f\x8b\x08\0\0\0").unwrap();
    for (arguments, users) in [
        (&["istio.log", "--log", "--key", "client"][..], 20),
        (&["json.log", "--log", "--key", "client"], 20),
        (&["json.log", "--log", "--key", "cookie:JSESSIONID"], 10),
    ] {
        let all = [&["simulate", "--distinct", "--salt", "s", "-o", "json"], arguments].concat();
        let output = directory.run(&all);
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        assert_eq!(json(&output)["users"], users, "{arguments:?}");
    }
    for (arguments, expected, hint) in [
        (
            &["istio.log"][..],
            "expected ids, one a line, found a log in Istio's default format",
            "give `--log`",
        ),
        (
            &["istio.log", "--log", "--key", "cookie:a"],
            "found none in 200 lines of Istio's default format",
            "`--key client`",
        ),
        (
            &["istio.log", "--log", "--key", "user"],
            "found none in 200 lines of Istio's default format",
            "`--key client`",
        ),
        (
            &["syslog.log", "--log", "--key", "client"],
            "found `Nov 26 10:00:00 host app: hello`",
            "`--key quoted:N`",
        ),
        (&["log.gz", "--log", "--key", "client"], "expected lines of text, found gzip", "`zcat FILE |"),
    ] {
        let output = directory.run(&[&["simulate", "--salt", "s"], arguments].concat());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text.contains(expected) && text.contains(hint), "{arguments:?}: {text}");
    }
}
