//! `init --from-flagger` and `--from-argo`: files in, a release and everything that differs out.

use crate::cli_fixture::{CliFixture, golden};

const CANARY: &str = include_str!("../../release/tests/import/flagger/01-steps.yaml");
const MIRROR: &str = include_str!("../../release/tests/import/flagger/05-blue-green-mirror.yaml");
const ROLLOUT: &str = include_str!("../../release/tests/import/argo/01-subsets.yaml");

fn fixture() -> CliFixture {
    let cli = CliFixture::new();
    cli.write("flagger.yaml", CANARY).write("mirror.yaml", MIRROR).write("rollout.yaml", ROLLOUT);
    cli
}

#[test]
fn a_canary_becomes_a_release_that_can_be_linted_and_a_list_of_what_differs() {
    let cli = fixture();
    let ran = cli.run("init --from-flagger flagger.yaml --session-cookie SID");
    assert_eq!(ran.code, 0, "{ran:?}");
    golden("init-from-flagger.txt", &ran.stdout);
    assert_eq!(
        ran.stderr,
        "canary.yaml written\ncanary-steps.yaml written: objects to apply one after the other, each with why\n"
    );
    golden("init-from-flagger-steps.yaml", &cli.read("canary-steps.yaml"));
    assert!(
        cli.read("canary-steps.yaml")
            .contains("`kubectl delete canaries.flagger.app cart -n store --cascade=orphan`")
    );
    let linted = cli.run("lint");
    assert_eq!(linted.code, 0, "{linted:?}");
    assert!(cli.read("canary.yaml").contains("\n    cookie: SID\n"));
}

/// The list of what is lost stands in the file, too: whoever reads it later sees what the source had.
#[test]
fn a_lost_guard_is_exit_code_1_and_the_file_is_written_and_names_it() {
    let cli = fixture();
    let ran = cli.run("init --from-flagger mirror.yaml -f mirrored.yaml");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.ends_with("guards of users are lost: exit code 1\n"), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("guards users (3):\n  mirror.yaml:12: spec.analysis.mirror lost\n"),
        "{}",
        ran.stdout
    );
    let head = cli.read("mirrored.yaml");
    let head: Vec<&str> = head.lines().take(2).collect();
    assert_eq!(
        head,
        [
            "# Not in it, though it guards users:",
            "#   mirror.yaml:12: spec.analysis.mirror: the canary gets no copies of requests before it has users"
        ]
    );
    assert!(cli.path("mirrored-steps.yaml").exists());
}

#[test]
fn stdin_and_a_dry_run_write_nothing() {
    let cli = fixture();
    let ran = cli.run_with_stdin("init --from-argo - --dry-run --canary v2", ROLLOUT);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("stable: \"1.4.2\"") && ran.stdout.contains("canary: v2"), "{}", ran.stdout);
    assert!(ran.stderr.contains("stdin:46: spec.strategy.canary.steps differs"), "{}", ran.stderr);
    assert!(!cli.path("canary.yaml").exists() && !cli.path("canary-steps.yaml").exists());
}

#[test]
fn programs_get_the_file_the_differences_and_the_steps() {
    let cli = fixture();
    let ran = cli.run("init --from-flagger mirror.yaml --dry-run -o json");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "guards of users are lost: exit code 1\n"));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["keepsGuards"], false);
    let first = &report["differences"][0];
    assert_eq!(
        (&first["importance"], &first["fate"], &first["line"]),
        (&"guard".into(), &"lost".into(), &12.into())
    );
    assert!(report["release"].as_str().unwrap().contains("kind: Release"), "{report}");
    let action = &report["steps"][1]["action"]["orphanCanary"];
    assert_eq!((&action["namespace"], &action["name"]), (&"store".into(), &"prices".into()));
}

#[test]
fn what_cannot_be_imported_is_refused_with_a_hint() {
    let cli = fixture();
    cli.write("both.yaml", &format!("{CANARY}---\n{MIRROR}")).write("broken.yaml", "a: [\n");
    cli.write("canary.yaml", "");
    for (line, expected) in [
        (
            "init --from-argo flagger.yaml",
            "error: expected an object of kind `Rollout`, found none\n  hint: give the file with it; several files by the flag again\n",
        ),
        (
            "init --from-flagger both.yaml",
            "error: expected one object of kind `Canary`, or the name of one, found Canary store/cart, Canary store/prices\n  hint: give `--name NAME`, and `--namespace` if there are several of that name\n",
        ),
        (
            "init --from-flagger flagger.yaml",
            "error: canary.yaml is there already\n  hint: give `--force` to overwrite it, or `-f FILE` for another\n",
        ),
    ] {
        let ran = cli.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, expected), "{line}");
    }
    let broken = cli.run("init --from-flagger broken.yaml");
    assert!(broken.code == 2 && broken.stderr.starts_with("error: broken.yaml:"), "{broken:?}");
    assert_eq!(cli.run("init --from-flagger both.yaml --name prices -f new.yaml").code, 1);
    let none = cli.run("init --from-flagger both.yaml --from-argo rollout.yaml");
    assert!(none.code == 2 && none.stderr.contains("cannot be used with"), "{none:?}");
}
