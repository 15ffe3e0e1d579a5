//! A module in the configuration itself: which bytes the object has, and which size it may have.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use canary_release::EmbeddedModule;
use canary_release::config::SigningKeys;
use canary_release::file::parse;
use canary_release::manifest::{Error, Options, ReleaseInstance, manifests};
use canary_release::object::{Object, Stage};
use canary_release::spec::{Module, Release};
use std::collections::BTreeMap;
use std::path::Path;

const CODE: &str = "/spec/configPatches/0/patch/value/typed_config/config/vm_config/code";

/// A release whose file says nothing about the delivery.
fn release(module: &[u8]) -> Release {
    let text = "apiVersion: canary-ctl.io/v1alpha1\nkind: Release\nmetadata: {name: shop, namespace: shop}\nspec:\n  \
        versions: {stable: v1, canary: v2}\n  hosts: [shop.example.com]\n  gateways: [{name: istio-ingress/shop}]\n  \
        stickiness: user\n  identifyBy: [{cookie: JSESSIONID}]\n";
    let mut release = parse(Path::new("canary.yaml"), text).unwrap().release;
    assert_eq!(release.delivery.module, Module::Embedded(None), "the default");
    release.delivery.module.embed(EmbeddedModule::new(module).as_ref());
    release
}

/// The object with the configuration.
fn config(release: &Release, is_shown: bool) -> Result<String, Error> {
    let (keys, held) = (SigningKeys::placeholder(), BTreeMap::new());
    let options =
        Options { keys: &keys, show_keys: !is_shown, held: &held, resource_names: &BTreeMap::new() };
    let all = manifests(&[ReleaseInstance::first(release, 1)], options)?;
    Ok(all.into_iter().find(|manifest| manifest.stage == Stage::Configuration).unwrap().text)
}

#[test]
fn the_configuration_contains_the_bytes_of_an_embedded_module_and_its_preview_their_digest() {
    // As large as the filter, and with every byte.
    let bytes: Vec<u8> = b"\0asm".iter().copied().chain((0..=u8::MAX).cycle().take(150_000)).collect();
    let release = release(&bytes);
    let text = config(&release, false).unwrap();
    let body: serde_json::Value = {
        let manifest = canary_release::object::Manifest { stage: Stage::Configuration, text };
        Object::of(&manifest).unwrap().unwrap().body
    };
    let inline = body.pointer(CODE).unwrap().pointer("/local/inline_bytes").unwrap().as_str().unwrap();
    assert_eq!(EmbeddedModule::from_base64(inline).unwrap().bytes(), bytes);
    assert_eq!(body.pointer(CODE).unwrap().get("remote"), None);

    let preview = config(&release, true).unwrap();
    let digest = EmbeddedModule::new(&bytes).unwrap().digest().to_string();
    assert!(preview.contains(&digest) && preview.len() < 10_000, "{preview}");
}

#[test]
fn an_object_that_etcd_would_refuse_is_refused_with_what_the_module_takes() {
    let module = |size: usize| [b"\0asm", vec![0; size].as_slice()].concat();
    assert!(config(&release(&module(1_000_000)), false).is_ok());
    let refused = config(&release(&module(1_100_000)), false).unwrap_err().to_string();
    let (_, found) = refused.split_once("found ").unwrap();
    let (size, rest) = found.split_once(", ").unwrap();
    assert!(size.parse::<usize>().unwrap() > 1_466_000, "{refused}");
    assert_eq!(rest, "1466672 of them the embedded module");
}

#[test]
fn a_tool_without_a_module_says_so() {
    let found = config(&release(b""), false).unwrap_err().to_string();
    assert_eq!(found, "expected a module to embed, found none: this tool was built without one");
}
