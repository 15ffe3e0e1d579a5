//! Rights that are missing, and the command that prints them as Roles.

use super::command::{ShellCommand, shown};
use canary_release::format::counted;
use canary_release::rbac::Right;
use std::collections::BTreeMap;

/// The rights that a user lacks, by namespace, and how to get them.
pub fn missing_rights(user: &str, missing: &[Right]) -> String {
    let mut by_namespace: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for right in missing {
        let name = right.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        let line = format!("{} {}{name}", right.verb, right.resource);
        by_namespace.entry(&right.namespace).or_default().push(line);
    }
    let lists: Vec<String> = by_namespace
        .into_iter()
        .map(|(namespace, rights)| format!("in `{}`: {}", shown(namespace), shown(&rights.join(", "))))
        .collect();
    let rights = counted(missing.len(), "right", "rights");
    format!("{}; `{}` lacks {rights}: {}", printed_for(user), shown(user), lists.join("; "))
}

/// The rule that gives a right.
pub(super) fn right_to_add(right: &Right) -> String {
    let Right { verb, .. } = right;
    let [namespace, group, resource] =
        [&right.namespace, &right.group, &right.resource].map(|text| shown(text));
    let rule = format!("{{apiGroups: [\"{group}\"], resources: [\"{resource}\"], verbs: [\"{verb}\"]}}");
    if namespace == "*" {
        return format!(
            "`-n NAMESPACE` asks for one namespace; for all of them add to a ClusterRole: {rule}"
        );
    }
    format!("add to a Role in `{namespace}`: {rule}; `canary-ctl generate rbac` prints all rights")
}

/// The command that prints all rights of a release as Roles for a user.
pub fn printed_for(user: &str) -> String {
    let account = user.strip_prefix("system:serviceaccount:").and_then(|account| account.split_once(':'));
    let command = match account {
        Some((namespace, name)) => ShellCommand::new("canary-ctl generate rbac --service-account")
            .name(&format!("{namespace}/{name}"), "NAMESPACE/NAME"),
        None => ShellCommand::new("canary-ctl generate rbac --user").quoted(user, "USER"),
    };
    format!("{command} prints all rights")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(namespace: &str, verb: &'static str, resource: &str, name: Option<&str>) -> Right {
        let (group, name) = (String::new(), name.map(str::to_owned));
        Right { namespace: namespace.to_owned(), group, resource: resource.to_owned(), name, verb }
    }

    #[test]
    fn all_missing_rights_are_listed_by_namespace_with_the_command_that_prints_them() {
        let missing = [
            right("ingress", "get", "pods/proxy", None),
            right("shop", "create", "configmaps", None),
            right("shop", "get", "services", Some("shop")),
        ];
        let expected = "`canary-ctl generate rbac --user bob` prints all rights; `bob` lacks 3 rights: in `ingress`: get pods/proxy; \
                        in `shop`: create configmaps, get services shop";
        assert_eq!(missing_rights("bob", &missing), expected);
    }

    #[test]
    fn a_service_account_is_named_as_the_command_takes_it() {
        let expected = "`canary-ctl generate rbac --service-account ci/deployer` prints all rights";
        assert_eq!(printed_for("system:serviceaccount:ci:deployer"), expected);
    }
}
