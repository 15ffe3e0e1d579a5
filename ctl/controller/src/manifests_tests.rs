use super::*;
use canary_release::file::load;
use canary_release::rbac::{add_rollout_rights, rules as rules_of};
use canary_release::spec::{Module, Routes};
use std::collections::BTreeMap;
use std::path::Path;

/// The rights of an operator, as they are printed for people, are those of the controller too.
#[test]
fn the_controllers_rights_cover_what_the_operations_need_for_each_example() {
    let given = rules();
    let given = given.as_array().unwrap();
    let has =
        |rule: &Value, field: &str, name: &str| rule[field].as_array().unwrap().iter().any(|has| has == name);
    for example in ["session-cookie", "jwt-user", "qa-only"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example).join("canary.yaml");
        let Ok(document) = load(&path) else { panic!("{} is no release", path.display()) };
        let mut release = document.release;
        release.delivery.module = Module::Url("oci://registry.test/filter:1".to_owned());
        let needed = [None, Some(Routes::GatewayApi), Some(Routes::External)].map(|routes| {
            release.routes = routes.or(release.routes);
            let mut all = rules_of(&release).unwrap();
            add_rollout_rights(&mut all, &release);
            all
        });
        for needed in needed.iter().flat_map(BTreeMap::values).flatten() {
            let ([group], [resource]) = (&needed.api_groups, &needed.resources);
            for verb in &needed.verbs {
                let covers = |rule: &&Value| {
                    has(rule, "apiGroups", group)
                        && has(rule, "resources", resource)
                        && has(rule, "verbs", verb)
                };
                assert!(given.iter().any(|rule| covers(&rule)), "{example}: {verb} {group}/{resource}");
            }
        }
    }
}
