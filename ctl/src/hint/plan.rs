//! Why there is no plan.

use super::Hint;
use super::command::shown;
use super::status::writes;
use canary_release::destination_rule::RuleConflict;
use canary_release::object::Reference;
use canary_release::plan::Error;
use canary_release::record::{self, RoleChange, RoleChangeKind};
use canary_release::routing::{RouteObstacle, SiblingRefusal};

impl Hint for Error {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Manifest(error) => return error.hint(),
            Self::Config(error) => return error.hint(),
            Self::Rules(conflict) => return conflict.hint(),
            Self::Record(error) => return error.hint(),
            Self::NotCarried { .. } => "`canary-ctl apply` puts it there".to_owned(),
            Self::MissingObject(missing) => writes(missing.cause).to_owned(),
            Self::MissingModule(_) => "`canary-ctl apply` writes the module that this tool carries".to_owned(),
            Self::NothingToEdit { .. } => {
                "set `routes: managed`, and `apply` makes one; or write one first".to_owned()
            }
            Self::NothingBeside { routes, .. } if !routes.is_empty() => {
                "write that ReferenceGrant: each team that it names may lead requests to the Service".to_owned()
            }
            Self::NothingBeside { .. } => {
                "write one; or set `routes: managed`, and `apply` makes routes of its own".to_owned()
            }
            Self::NoSelector { .. } => "name the Service of the pods in `service.name`".to_owned(),
            Self::Siblings(refusals) if refusals.iter().all(|one| matches!(one, SiblingRefusal::NotAdmitted { .. })) => {
                "let the owner of the Gateway admit that namespace in `allowedRoutes` of the listener; or write these routes in the release's namespace".to_owned()
            }
            Self::Siblings(_) => {
                "change these rules; or set `routes: external`, and write the rules that `canary-ctl generate routes --gateway-api` prints".to_owned()
            }
            Self::SeveralPolicies { .. } => "let the DestinationRules of the gateways' namespaces agree".to_owned(),
            Self::OtherRoutes { .. } => "`canary-ctl uninstall`, then `canary-ctl apply`".to_owned(),
            Self::Uneditable { obstacle, .. } => past(obstacle).to_owned(),
            Self::Undecided { .. } => {
                "set `routes: inject`: ours go before theirs, and `uninstall` takes them out; or `external`: you put them in; or `managed`: one of ours beside it".to_owned()
            }
            // None of its routes is one to edit.
            Self::Hidden { by, leads: false, .. } => {
                format!("set `routes: external`, and put the routes that `canary-ctl generate routes` prints into {}", shown(by))
            }
            Self::Hidden { by, .. } => {
                format!("set `routes: inject`, and ours go into {}; or `external`, and put them there", shown(by))
            }
            Self::NotOurs { owner, .. } => format!(
                "set `routes: external`, and put the routes that `canary-ctl generate routes` prints into what {owner} applies; or take it with `apply --take-ownership` until {owner} writes it again",
                owner = shown(owner)
            ),
            Self::NoRollingUpdate { .. } => {
                "let its strategy be `RollingUpdate` with fewer unavailable pods than replicas, or add a replica".to_owned()
            }
            Self::Claimed { owner, .. } => format!(
                "`apply --force-conflicts` makes it ours, and takes out what only {owner} has set (`diff` shows it); after that, take it out of what {owner} applies",
                owner = shown(owner)
            ),
            Self::Object(_) => return None,
        })
    }
}

impl Hint for record::Error {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoRecord(_) => "a newer canary-ctl may have written it: use that one".to_owned(),
            Self::NoCanary { promoted: Some(version), .. } => {
                format!("`canary-ctl rollback` takes the promotion of `{}` back", shown(version))
            }
            Self::NoCanary { draining, .. } if !draining.is_empty() => {
                "`canary-ctl rollback --now` ends these sessions: their users are on stable with their next request"
                    .to_owned()
            }
            Self::NoCanary { .. } => "name one in `versions.canary`, and `canary-ctl apply`".to_owned(),
            Self::NoWayBack { version } => format!(
                "name `{}` in `versions.canary`, `canary-ctl apply`, give it its users, and promote it",
                shown(version)
            ),
            Self::OldStable { stable, turn, .. } => old_stable(stable, turn.as_deref()),
            Self::OldCanary { turn } => format!(
                "take `versions.canary` out of the file; or give `--allow-rolled-back` where `{}` is another build now: it comes at the file's weight, and old pins do not count",
                shown(&turn.from)
            ),
        })
    }
}

/// The version that the file has to name. Otherwise applying it would move all users back.
fn old_stable(stable: &str, turn: Option<&RoleChange>) -> String {
    let file = format!(
        "set `versions.stable: {}`, and take `versions.canary` out or name the next one there",
        shown(stable)
    );
    match turn.map(|turn| turn.kind) {
        Some(RoleChangeKind::Promoted) => format!("{file}; `canary-ctl rollback` takes the promotion back"),
        _ => file,
    }
}

/// The change that the owner of a route can make.
const fn past(obstacle: &RouteObstacle) -> &'static str {
    match obstacle {
        RouteObstacle::SplitsRequests { .. } => {
            "leave one of them: a split by weight moves users with every request"
        }
        RouteObstacle::OtherRelease => "one route cannot lead to the Services of two releases by weight",
        RouteObstacle::MatchesRoutingHeader => "take it out, or set `routes: external`",
        RouteObstacle::OtherSubset { .. } => {
            "remove the subset: requests on this route would bypass the filter's decision"
        }
    }
}

impl Hint for RuleConflict {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Hidden { ours, by, .. } => format!(
                "delete {}, or move its settings to a rule for the host in namespace `{}`: `canary-ctl apply` takes them over",
                shown(&list(by)),
                shown(&ours.namespace)
            ),
            Self::Subset { theirs, wanted, .. } => {
                format!(
                    "make it {} in {}, or give it another name there and in the routes that name it",
                    shown(wanted),
                    shown(&theirs.to_string())
                )
            }
            Self::Policies { ours, .. } => format!(
                "let one rule in namespace `{}` without `exportTo` hold for all of them",
                shown(&ours.namespace)
            ),
        })
    }
}

fn list(rules: &[Reference]) -> String {
    if rules.is_empty() {
        return "no rule".to_owned();
    }
    rules.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::destination_rule::Clients;

    #[test]
    fn a_rule_that_proxies_find_first_is_named_with_the_namespace_of_ours() {
        let rule = |namespace: &str, name: &str| Reference::new("v1", "DestinationRule", namespace, name);
        let conflict = RuleConflict::Hidden {
            ours: Box::new(rule("shop", "shop-canary")),
            of: Clients("ingress".to_owned()),
            by: vec![rule("ingress", "first")],
        };
        assert_eq!(
            conflict.hint().unwrap(),
            "delete DestinationRule ingress/first, or move its settings to a rule for the host in namespace `shop`: `canary-ctl apply` takes them over"
        );
    }

    #[test]
    fn a_route_that_cannot_be_edited_has_the_hint_of_its_obstacle() {
        let error = |obstacle| Error::Uneditable {
            object: "VirtualService shop/theirs".to_owned(),
            route: "#1".to_owned(),
            obstacle,
        };
        let split = error(RouteObstacle::SplitsRequests { service: "shop".to_owned() });
        assert_eq!(
            split.to_string(),
            "cannot edit VirtualService shop/theirs: route #1 splits requests among destinations of `shop`"
        );
        let expected = "leave one of them: a split by weight moves users with every request";
        assert_eq!(split.hint().as_deref(), Some(expected));
        let expected = "take it out, or set `routes: external`";
        assert_eq!(error(RouteObstacle::MatchesRoutingHeader).hint().as_deref(), Some(expected));
    }
}
