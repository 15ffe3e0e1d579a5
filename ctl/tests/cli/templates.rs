//! The templates stand by themselves.

use crate::cli_fixture::repository;
use placed_yaml as yaml;

#[test]
fn every_template_is_one_valid_document_that_says_why_it_exists() {
    let folder = repository("envoyfilter-templates");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let templates: Vec<_> =
        files.iter().filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    assert_eq!(templates.len(), 15);
    for path in templates {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("# "), "{}", path.display());
        yaml::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
