//! Files and layouts.

use crate::ModuleFixture;
use crate::fake_registry::digest;
use serde_json::Value;
use std::fs;

#[test]
fn a_file_of_somebody_else_is_replaced_only_by_force() {
    let fixture = ModuleFixture::new();
    let module = fixture.module();
    assert!(module.starts_with(b"\0asm"), "the module is none");
    fixture.run("save module-of-the-tool.wasm").expect(0, &["module-of-the-tool.wasm is there already"]);
    fixture.write("theirs", "theirs");
    let refused = "error: expected nothing or the same at theirs, found another file\n  hint: give `--force`";
    fixture.run("save theirs").expect(2, &[refused]);
    fixture.run("save theirs --dry-run").expect(2, &[refused]);
    fixture.run("save theirs --dry-run --force").expect(0, &["theirs would be replaced"]);
    assert_eq!(fs::read(fixture.path("theirs")).unwrap(), b"theirs");
    fixture.run("save theirs --force").expect(0, &["theirs replaced"]);
    assert_eq!(fs::read(fixture.path("theirs")).unwrap(), module);
    fixture.run("save new --dry-run").expect(0, &["new would be written"]);
    assert!(!fixture.path("new").exists());
}

#[test]
fn what_is_no_file_is_neither_read_nor_replaced() {
    let fixture = ModuleFixture::new();
    fs::create_dir(fixture.path("folder")).unwrap();
    for target in ["folder", "/dev/zero"] {
        let expected = format!("expected a file or nothing at {target}, found neither");
        fixture.run(&format!("save {target} --force")).expect(2, &[&expected]);
    }
    fixture.run("verify /dev/zero").expect(2, &["expected at most 16777216 bytes, found more"]);
    fixture.run("save").expect(2, &["required arguments were not provided"]);
}

#[test]
fn a_file_is_compared_by_digest_and_size() {
    let fixture = ModuleFixture::new();
    let module = fixture.module();
    let expected = format!("{} ({} bytes)", digest(&module), module.len());
    fixture
        .run("verify module-of-the-tool.wasm")
        .expect(0, &[&format!("module-of-the-tool.wasm: the module of this tool, {expected}")]);
    fixture.write("other", "\0asm");
    let other = "sha256:cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f (4 bytes)";
    let both = format!("  expected {expected}\n  found    {other}\n");
    fixture.run("verify other").expect(1, &["other: another module than that of this tool", &both]);
    fixture.write("archive", "\u{1f}");
    fixture.run("verify archive").expect(1, &["it is no WebAssembly module; archives are not unpacked"]);
    fixture.run("verify missing").expect(2, &["cannot read missing"]);
}

#[test]
fn a_layout_has_the_image_that_a_push_sends() {
    let fixture = ModuleFixture::new();
    fixture.run("save --oci-layout image --dry-run").expect(0, &["image/index.json would be written"]);
    assert!(!fixture.path("image").exists());
    fixture.run("save --oci-layout image").expect(0, &["image/index.json written"]);
    let pushed = fixture.run("push oci://registry.test/canary/filter --dry-run -o json");
    let pushed: Value = serde_json::from_str(&pushed.stdout).unwrap();
    let index: Value = serde_json::from_slice(&fs::read(fixture.path("image/index.json")).unwrap()).unwrap();
    assert_eq!(index["manifests"][0]["digest"], pushed["digest"]);
    let blobs: Vec<_> = fs::read_dir(fixture.path("image/blobs/sha256")).unwrap().collect();
    assert_eq!(blobs.len(), 4, "a manifest, a configuration and two layers: {blobs:?}");
    for blob in blobs {
        let path = blob.unwrap().path();
        let name = format!("sha256:{}", path.file_name().unwrap().to_str().unwrap());
        assert_eq!(digest(&fs::read(&path).unwrap()), name);
    }
    fixture.run("save --oci-layout image").expect(0, &["image/index.json is there already"]);
    fixture.write("image/index.json", r#"{"manifests": []}"#);
    let other = "expected nothing or the same at image/index.json, found an image of another module";
    fixture.run("save --oci-layout image").expect(2, &[other]);
    fixture.run("save --oci-layout image --force").expect(0, &["image/index.json replaced"]);
    fixture.write("home/letters", "theirs");
    let full = "expected an empty folder or an OCI image layout, found other files in home";
    fixture.run("save --oci-layout home --force").expect(2, &[full]);
}
