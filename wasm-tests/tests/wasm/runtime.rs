//! The module that creates V8 in a proxy: the bytes in the templates are those of its text form.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use programs::artifact;

const TEXT: &str = include_str!("../../../envoyfilter-templates/wasm-runtime.wat");

#[test]
fn the_templates_carry_the_module_that_the_text_describes() {
    let expected = BASE64_STANDARD.encode(wat::parse_str(TEXT).expect("a module"));
    for (template, times) in [("wasm-runtime.yaml", 2), ("local-envoy.yaml", 1)] {
        let path = artifact::root().join("envoyfilter-templates").join(template);
        let text = std::fs::read_to_string(path).expect("a template");
        let found: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("local: {inline_bytes: ")?.strip_suffix('}'))
            .collect();
        assert_eq!(found, vec![expected.as_str(); times], "{template}");
    }
}
