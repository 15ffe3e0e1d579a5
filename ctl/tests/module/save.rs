//! Files and layouts.

use crate::{ModuleFixture, digest};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

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

/// A JSON file.
fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The blob that a descriptor names, which has its digest and size.
fn blob(layout: &Path, descriptor: &Value) -> Vec<u8> {
    let named = descriptor["digest"].as_str().unwrap();
    let bytes = fs::read(layout.join("blobs").join(named.replace(':', "/"))).unwrap();
    assert_eq!(
        (digest(&bytes).as_str(), json!(bytes.len())),
        (named, descriptor["size"].clone()),
        "{descriptor}"
    );
    bytes
}

/// OCI image specification 1.1: *Image Layout*, *Image Index*, *Image Manifest*, *Image Configuration*; the layers are those that
/// Istio's agent looks for.
#[test]
fn a_layout_is_one_of_the_specification_with_the_module_in_it() {
    let fixture = ModuleFixture::new();
    let (module, layout) = (fixture.module(), fixture.path("image"));
    let printed = fixture.run("save --oci-layout image").stdout;
    assert_eq!(json(&layout.join("oci-layout")), json!({"imageLayoutVersion": "1.0.0"}));
    let index = json(&layout.join("index.json"));
    let media_type = "application/vnd.oci.image.index.v1+json";
    assert_eq!((&index["schemaVersion"], &index["mediaType"]), (&json!(2), &json!(media_type)), "{index}");
    let [image] = index["manifests"].as_array().unwrap().as_slice() else { panic!("one image: {index}") };
    assert!(printed.contains(image["digest"].as_str().unwrap()), "{image}: {printed}");
    let manifest: Value = serde_json::from_slice(&blob(&layout, image)).unwrap();
    let types = |value: &Value| value["mediaType"].as_str().unwrap().to_owned();
    assert_eq!(types(&manifest), types(image), "{manifest}");
    let config: Value = serde_json::from_slice(&blob(&layout, &manifest["config"])).unwrap();
    let layers = manifest["layers"].as_array().unwrap();
    let content: Vec<_> = layers.iter().map(|layer| (types(layer), blob(&layout, layer))).collect();
    assert_eq!(
        content,
        [
            ("application/vnd.module.wasm.config.v1+json".to_owned(), b"{}".to_vec()),
            ("application/vnd.module.wasm.content.layer.v1+wasm".to_owned(), module),
        ]
    );
    let digests: Vec<&Value> = layers.iter().map(|layer| &layer["digest"]).collect();
    assert_eq!(config["rootfs"], json!({"type": "layers", "diff_ids": digests}), "{config}");
    assert_eq!(fs::read_dir(layout.join("blobs/sha256")).unwrap().count(), 4, "no other blob");
}

#[test]
fn a_layout_is_replaced_only_by_force_and_other_files_never() {
    let fixture = ModuleFixture::new();
    fixture.run("save --oci-layout image --dry-run").expect(0, &["image/index.json would be written"]);
    assert!(!fixture.path("image").exists());
    fixture.run("save --oci-layout image").expect(0, &["image/index.json written"]);
    fixture.run("save --oci-layout image").expect(0, &["image/index.json is there already"]);
    fixture.write("image/index.json", r#"{"manifests": []}"#);
    let other = "expected nothing or the same at image/index.json, found an image of another module";
    fixture.run("save --oci-layout image").expect(2, &[other]);
    fixture.run("save --oci-layout image --force").expect(0, &["image/index.json replaced"]);
    fixture.write("home/letters", "theirs");
    let full = "expected an empty folder or an OCI image layout, found other files in home";
    fixture.run("save --oci-layout home --force").expect(2, &[full]);
}
