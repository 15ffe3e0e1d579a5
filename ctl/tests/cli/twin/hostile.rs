//! Charts that are no charts: each is an error with its file and place, or is handled, and none hangs or takes all memory.

use super::{BOTH, chart, fixture};

/// A few lines that stand for 10^18 values.
fn alias_bomb() -> String {
    let levels = (1..20)
        .map(|level| format!("l{level}: &l{level} [{}]\n", vec![format!("*l{}", level - 1); 9].join(", ")));
    std::iter::once("l0: &l0 x\n".to_owned()).chain(levels).collect()
}

/// Lines of 90 levels each, within one another.
fn nested_aliases() -> String {
    let line = |name: usize, inner: &str| {
        format!("  l{name}: &l{name} {}{inner}{}\n", "[".repeat(90), "]".repeat(90))
    };
    let levels = (1..60).map(|level| line(level, &format!("*l{}", level - 1)));
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n".to_owned();
    std::iter::once(head + &line(0, "x")).chain(levels).collect()
}

#[test]
fn a_hostile_chart_is_an_error_with_its_file_and_place() {
    let cli = fixture();
    let bomb =
        "v2.yaml: line 7, column 35: expected at most 500000 values, those of aliases included, found more";
    let one = "---\n{apiVersion: v1, kind: A, metadata: {name: NAME}}\n";
    let many: String = (0..5_001).map(|number| one.replace("NAME", &format!("a{number}"))).collect();
    let nested_list = "kind: List\nitems: [{kind: List, apiVersion: v1, items: []}]\n";
    let twice = one.repeat(2);
    let long = "x".repeat((8 << 20) + 1);
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        (alias_bomb().as_bytes(), bomb),
        (nested_aliases().as_bytes(), "v2.yaml: line 6, column 101: expected values nested at most 100 deep"),
        (deep.as_bytes(), "v2.yaml: line 1, column "),
        (long.as_bytes(), "cannot read v2.yaml: expected at most 8 MiB, found more"),
        (many.as_bytes(), "v2.yaml: line 10002: expected at most 5000 objects, found more"),
        (b"a: [", "v2.yaml: line "),
        (b"a: 1\nb: \xc3\x28\n", "cannot read v2.yaml: expected UTF-8, found other bytes at line 2, byte 4"),
        (b"metadata:\n\tname: a\n", "v2.yaml: line 2, column "),
        (b"kind: A\nmetadata:\n  name: a\n  name: b\n", "v2.yaml: line 4, column 3: `name` is given twice"),
        (twice.as_bytes(), "v2.yaml: line 4: A NAME is there twice"),
        (b"kind: List\n", "v2.yaml: line 1: expected an object with `items`, found none"),
        (nested_list.as_bytes(), "v2.yaml: line 1: expected an object with `metadata.name`, found none"),
        (
            b"---\n# nothing\n---\n---\nnull\n",
            "service-exists: Service shop: expected the Service in the new render",
        ),
        (b"", "service-exists: "),
        (b"- a\n", "v2.yaml: line 1: expected an object with `apiVersion`, found none"),
        (
            b"apiVersion: v1\nkind: A\nmetadata: {name: 1}\n",
            "expected an object with `metadata.name`, found none",
        ),
    ] {
        std::fs::write(cli.path("v2.yaml"), text).unwrap();
        let ran = cli.run(&format!("twin render {BOTH}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{expected}");
        assert!(ran.stderr.contains(expected), "expected `{expected}`, found `{}`", ran.stderr);
    }
}

#[test]
fn a_hostile_stream_of_helm_is_an_error_too() {
    // The limit is within the last character.
    let text = "x".repeat(8 << 20) + "é";
    let ran = fixture().run_with_stdin("twin post-render --deployed=deployed.yaml", &text);
    ran.expect_output(2, "", "error: cannot read stdin: expected at most 8 MiB, found more\n");
}

#[test]
fn names_of_a_chart_reach_neither_the_terminal_nor_a_line_of_their_own() {
    let cli = fixture();
    let odd = chart("2", "").replace("name: c,", "name: \"\\e[2J\\u202e\",").replace("stringData", "data");
    cli.write("v2.yaml", &odd);
    let ran = cli.run(&format!("twin render {BOTH} --share db"));
    assert!(
        ran.code == 0 && !ran.stdout.contains(['\u{1b}', '\u{202e}']),
        "escaped for the terminal: {}",
        ran.stdout
    );
    let hook = "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: \"a\\nerror: \\e[31mb\", annotations: {helm.sh/hook: pre-upgrade}}}\n";
    cli.write("v2.yaml", &chart("2", hook));
    for verb in ["render", "check", "diff"] {
        let ran = cli.run(&format!("twin {verb} {BOTH} --share db"));
        let text = ran.stdout + &ran.stderr;
        assert!(text.contains(r"Job a\nerror: \u{1b}[31mb"), "{verb}: {text}");
        assert!(!text.contains('\u{1b}') && !text.contains("\nerror: \\u"), "{verb}: {text}");
    }
}

#[test]
fn a_name_that_is_too_long_for_a_twin_is_refused() {
    let cli = fixture();
    let name = "x".repeat(300);
    let long = |image: &str| chart(image, "").replace("shop-config", &name);
    cli.write("v1.yaml", &long("1")).write("v2.yaml", &long("2"));
    cli.write("deployed.yaml", &cli.run("twin render --rendered v1.yaml").stdout);
    let ran = cli.run(&format!("twin render {BOTH} --share db"));
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("expected a name of at most 236 characters, found 309"), "{}", ran.stderr);
}
