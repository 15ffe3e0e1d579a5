//! The schema that editors get is the one in the docs. That it is what the parser reads: `ctl/release/tests/schema/`.

use crate::cli_fixture::{CliFixture, repository};

const FLAGS: &str =
    "init --name shop --namespace shop --host shop.example.com --session-cookie SID --canary v2";

#[test]
fn the_schema_of_the_docs_is_that_of_the_tool() {
    let ran = CliFixture::new().run("schema");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let path = repository("docs/canary.schema.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &ran.stdout).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(ran.stdout, kept, "`canary-ctl schema > docs/canary.schema.json`");
}

#[test]
fn the_definition_of_the_docs_is_that_of_the_tool() {
    let ran = CliFixture::new().run("generate crd");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let path = repository("docs/crd.yaml");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &ran.stdout).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(ran.stdout, kept, "`canary-ctl generate crd > docs/crd.yaml`");
    // Kubernetes reads YAML 1.1, in which a plain `off` is false.
    assert!(!ran.stdout.contains("- off\n") && ran.stdout.contains("- \"off\"\n"));
}

#[test]
fn init_writes_a_schema_beside_the_file_and_names_it_in_the_first_line() {
    let cli = CliFixture::new();
    let without = cli.run(&format!("{FLAGS} -f without.yaml"));
    assert_eq!(without.code, 0, "{without:?}");
    assert!(!cli.path("canary.schema.json").exists() && !cli.read("without.yaml").contains("$schema"));
    let with = cli.run(&format!("{FLAGS} --schema"));
    assert!(
        with.code == 0 && with.stderr.starts_with("canary.schema.json written\ncanary.yaml written\n"),
        "{with:?}"
    );
    assert!(cli.read("canary.yaml").starts_with("# yaml-language-server: $schema=canary.schema.json\n"));
    assert_eq!(cli.read("canary.schema.json"), cli.run("schema").stdout);
    assert_eq!(cli.run("lint").code, 0);
}

#[test]
fn a_file_with_the_name_of_the_schema_is_replaced_only_by_force() {
    let cli = CliFixture::new();
    cli.write("canary.schema.json", "theirs");
    let ran = cli.run(&format!("{FLAGS} --schema"));
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("error: canary.schema.json is there already, and another one"),
        "{}",
        ran.stderr
    );
    assert_eq!(cli.read("canary.schema.json"), "theirs");
    assert!(!cli.path("canary.yaml").exists(), "nothing is written before");
    let ran = cli.run(&format!("{FLAGS} --schema --dry-run"));
    assert!(ran.code == 0 && ran.stdout.starts_with("# yaml-language-server: "), "{ran:?}");
    assert_eq!(cli.run(&format!("{FLAGS} --schema --force")).code, 0);
    assert_ne!(cli.read("canary.schema.json"), "theirs");
}
