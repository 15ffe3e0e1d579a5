//! What to do instead of skipping a preflight check.

use super::Hint;
use super::command::{ShellCommand, shown};
use super::status::{NO_ENVOY, unreadable};
use canary_release::preflight::{
    Alternative, CheckFailed, DefaultRoute, NarrowSelector, PreflightCheck, UnroutedCalls,
};
use canary_release::routing::{Bypass, Gap, ROUTE_KIND, RouteKind, TakenHost};
use canary_release::spec::Routes;
use std::collections::BTreeMap;

impl Hint for CheckFailed {
    /// An alternative, or the same operation with the check skipped.
    fn hint(&self) -> Option<String> {
        let skip = match self.check {
            PreflightCheck::UnseenProxies => {
                "; `--skip-check unseen-proxies` gives it 30 s instead, and says what was not observed"
                    .to_owned()
            }
            check => format!(", or give `--skip-check {check}`"),
        };
        Some(instead(&self.alternative) + &skip)
    }
}

impl Hint for Gap {
    fn hint(&self) -> Option<String> {
        Some(closes(self.bypass).to_owned())
    }
}

impl Hint for UnroutedCalls {
    fn hint(&self) -> Option<String> {
        Some(covers(self))
    }
}

const RESTART: &str = "`canary-ctl prepare` restarts them one after the other, so that they start with V8";
const END_CANARY: &str =
    "promote or roll back the canary before the edit and finish its drain, take the edit back";
const KEEP_AFFINITY: &str = "write a DestinationRule with `consistentHash` for the Service and `canary-ctl apply` first, or scale it to one pod";
/// The change that lets a Service have more than one version behind it.
pub(super) fn widen(narrow: &NarrowSelector) -> String {
    format!(
        "take `{}` out of its selector when the routes are there: subsets choose the version",
        shown(&narrow.label)
    )
}

fn instead(alternative: &Alternative) -> String {
    let text = match alternative {
        Alternative::StartPods { .. } => "start its pods",
        Alternative::WidenSelector(narrow) => return widen(narrow),
        Alternative::StopPods { version } => return stops(version),
        Alternative::StartProcess { .. } => "start it",
        Alternative::AddRoutes { routes: Routes::External } => {
            "put the routes that `canary-ctl generate routes` prints into it"
        }
        Alternative::AddRoutes { .. } => "`canary-ctl apply` puts them back",
        Alternative::RestoreFilter => "`canary-ctl apply` writes it again",
        Alternative::NameServicePort { .. } => "name one of its ports in `service.port`",
        Alternative::NameGateway => {
            "name the Gateway that serves the hosts in `gateways[].name`, as NAMESPACE/NAME"
        }
        Alternative::SelectProxies { labels } => return selector(labels),
        Alternative::ServeHost { host } => return serves(host),
        Alternative::TerminateTls { host } => return terminates(host),
        Alternative::CoverCalls { calls } => return covers(calls),
        Alternative::ShareHost { taken } => return shares(taken),
        Alternative::StateTls => {
            "set `cookies: {tls: true}` where something in front of the gateway speaks TLS with browsers, `{tls: false}` where \
             nothing does"
        }
        Alternative::NameModule => "name where the module is in `delivery.module`",
        Alternative::CloseGap { gap } => closes(gap.bypass),
        Alternative::SelectStable(default) => return selects(default),
        Alternative::PromoteTrain { train } => {
            let command = ShellCommand::new("canary-ctl promote --train").name(train, "TRAIN");
            return format!("{command} promotes them before it");
        }
        Alternative::AskPauser { by } => return format!("ask `{}`", shown(by)),
        Alternative::SmallerSteps { .. } => "take smaller steps, change `maxStep`",
        Alternative::AddUserKey => "add one to `identifyBy`, or set `mint: navigation`",
        Alternative::NameSessionCookie => "name the application's cookie in `session.cookie`",
        Alternative::ZeroWeight => "`canary-ctl weight 0` first",
        Alternative::EndCanary => END_CANARY,
        Alternative::KeepAffinity => KEEP_AFFINITY,
        Alternative::WaitUntil { .. } => "wait",
        Alternative::EndSessions { .. } => "choose a time at which its sessions may end",
        Alternative::ApplyTrain { .. } => "apply those releases between `verify` and `sign` by hand",
        Alternative::GiveSidecar { .. } => NO_ENVOY,
        Alternative::ReadMetrics { namespace, pod } => return unreadable(namespace, pod),
        Alternative::RestartProxies { .. } => RESTART,
    };
    text.to_owned()
}

/// The alternative to skipping a check, whatever it has found.
pub(crate) const fn alternative_to(check: PreflightCheck) -> &'static str {
    match check {
        PreflightCheck::NoReadyPods => "start the pods of the version",
        PreflightCheck::NoRoutes => {
            "`canary-ctl apply`; with `routes: external`, `canary-ctl generate routes`"
        }
        PreflightCheck::NoServicePort => "name a port of the Service in `service.port`",
        PreflightCheck::NoFilter => "`canary-ctl apply` writes it again",
        PreflightCheck::NoGateway => "name the Gateway in `gateways[].name`, as NAMESPACE/NAME",
        PreflightCheck::NoProxies | PreflightCheck::SelectorMismatch => {
            "set `gateways[].selector` to the labels that the Gateway selects"
        }
        PreflightCheck::HostNotServed => "add the host to `servers[].hosts` of the Gateway",
        PreflightCheck::HostTaken => "add the host to their route object, or set `routes: external`",
        PreflightCheck::NoHttpServer => "let a server with `tls.mode: SIMPLE` serve the host",
        PreflightCheck::NoTls => "set `cookies: {tls: true}` where TLS ends in front of the gateway",
        PreflightCheck::PlaceholderModule => "name the module in `delivery.module`",
        PreflightCheck::HiddenSubsets => "give that DestinationRule the subsets of the release",
        PreflightCheck::UnroutedCalls => "call the Service of the release, by HTTP, within its scope",
        PreflightCheck::RoutesBypassed => {
            "let that route lead to the subset of stable; with `routes: gateway-api`, let the Service select stable"
        }
        PreflightCheck::Paused => "ask the user who paused the release",
        PreflightCheck::MaxStep => "take smaller steps, or change `maxStep`",
        PreflightCheck::NoUserKey => "add a key to `identifyBy`, or set `mint: navigation`",
        PreflightCheck::MovesUsers => "end the canary first: `canary-ctl weight 0`, or promote it",
        PreflightCheck::NoWasmRuntime => "`canary-ctl prepare` restarts the proxies, one after the other",
        PreflightCheck::UnseenProxies => "grant the right to read `pods/proxy`, or use `--prometheus`",
    }
}

fn stops(version: &str) -> String {
    format!(
        "scale the Deployment of `{}` to 0 replicas, and wait until its pods have ended; the twin of a Helm chart goes with `helm rollback` to \
         the revision before it",
        shown(version)
    )
}

/// The edit of the plain Service by its owner.
pub(super) fn selects(default: &DefaultRoute) -> String {
    let patch = serde_json::json!({"spec": {"selector": {&default.label: &default.stable}}}).to_string();
    let command = ShellCommand::new("kubectl patch service")
        .name(&default.service, "SERVICE")
        .words("-n")
        .name(&default.namespace, "NAMESPACE")
        .words("-p")
        .quoted(&patch, "PATCH");
    format!("{command}, and the same in the chart or the repository that owns it")
}

fn serves(host: &str) -> String {
    format!("add `{}` to `servers[].hosts` of the Gateway, or correct `hosts`", shown(host))
}

fn terminates(host: &str) -> String {
    format!("let a server with `tls.mode: SIMPLE` serve `{}`, and delete this one for it", shown(host))
}

/// The way to keep routes of others for a host: Istio merges those of one name at a gateway, and none inside the mesh.
const ROUTES_OF_GATEWAY_API: &str = "`canary-ctl generate routes --gateway-api`";

fn shares(taken: &TakenHost) -> String {
    let TakenHost { host, gateway, object, wildcard } = taken;
    let (is_inside, is_route) = (gateway == "mesh", RouteKind::of(&object.kind).is_some());
    if !is_inside && (is_route || host == wildcard) {
        return format!(
            "bind the routes of {} for `{}` to Gateway `{}` in a {ROUTE_KIND} that is older than ours, or set `routes: external`",
            shown(&object.to_string()),
            shown(host),
            shown(gateway)
        );
    }
    let (host, object) = (shown(host), shown(&object.to_string()).into_owned());
    if is_inside {
        let command = if is_route { ROUTES_OF_GATEWAY_API } else { "`canary-ctl generate routes`" };
        return format!("set `routes: external`, and put the routes that {command} prints into {object}");
    }
    format!(
        "add `{host}` to `hosts` of {object}, so that Istio merges both; or set `routes: inject`, if it leads to the Service"
    )
}

/// The way to apply a route of ours to calls.
fn covers(calls: &UnroutedCalls) -> String {
    let text = match calls {
        UnroutedCalls::HiddenSubsets { rule, .. } => {
            let rule = rule.to_string();
            return format!(
                "move the settings of {} into a rule of the Service's namespace without `workloadSelector`, and delete it, or give it the \
                 subsets of the release",
                shown(&rule)
            );
        }
        UnroutedCalls::OtherService { .. } => {
            "let it select the label of the stable version, or let callers use the Service of the release"
        }
        UnroutedCalls::Alias { .. } => "let its callers use the Service of the release",
        UnroutedCalls::WithoutVersion { .. } => {
            "give it the label with its version, or take it out of the Service"
        }
        UnroutedCalls::HostOfOthers { .. } => {
            "let it export its host to no one (`exportTo`), or give it another host"
        }
        UnroutedCalls::OnNodes { .. } => {
            "make it a ClusterIP, and let its clients use the gateway; or let it select the label of the stable version"
        }
        UnroutedCalls::Headless { .. } => {
            "name a Service with a cluster address in `service.name`; callers may keep the headless one beside it for its DNS names"
        }
        UnroutedCalls::NotHttp { .. } => {
            "set `appProtocol: http` (`http2`, `grpc`) at the port of the Service, or give the port a name such as `http-web`"
        }
        UnroutedCalls::OutOfScope { .. } => {
            "add NAMESPACE/HOST of the Service to `spec.egress[].hosts` of the Sidecar, or let these callers use the gateway"
        }
        UnroutedCalls::Waypoint { .. } => {
            "label the Service `istio.io/use-waypoint: none`, or let ambient callers use the gateway"
        }
    };
    text.to_owned()
}

/// The selector of a gateway's pods.
fn selector(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return "set `gateways[].selector` and `gateways[].namespace` to the labels and the namespace of the gateway's pods"
            .to_owned();
    }
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!(
        "set `gateways[].selector: {{{}}}`, as the Gateway has it, and `gateways[].namespace` to where its pods run",
        shown(&labels.join(", "))
    )
}

/// The change by its owner after which an object no longer leads past our routes.
const fn closes(bypass: Bypass) -> &'static str {
    match bypass {
        Bypass::WholeService => {
            "let its route name the subset of the stable version, or have the header routes of the release"
        }
        Bypass::HttpRoute => {
            "let it lead to a Service that selects the stable version, or have the header routes of the release"
        }
        Bypass::Ingress => "let it lead to the gateway, or to a Service that selects the stable version",
        Bypass::LoadBalancer => {
            "make it a ClusterIP, or let the load balancer's Service select the stable version"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use canary_release::object::Reference;
    use canary_release::preflight::PreflightCheck;

    fn hint(check: PreflightCheck, alternative: Alternative) -> String {
        check.refuse(&[], "", alternative).unwrap_err().hint().unwrap()
    }

    #[test]
    fn a_failed_check_names_an_alternative_and_the_flag_that_skips_it() {
        let max = assignment::Weight::FULL;
        assert_eq!(
            hint(PreflightCheck::MaxStep, Alternative::SmallerSteps { max }),
            "take smaller steps, change `maxStep`, or give `--skip-check max-step`"
        );
        assert_eq!(
            hint(PreflightCheck::Paused, Alternative::AskPauser { by: "bob".to_owned() }),
            "ask `bob`, or give `--skip-check paused`"
        );
    }

    #[test]
    fn a_host_is_shared_by_its_name_at_a_gateway_and_by_one_object_inside_the_mesh() {
        let text = |gateway: &str| {
            let object = Reference::new("networking.istio.io/v1", "VirtualService", "web", "site");
            let [host, wildcard] = ["shop.example.com", "*.example.com"].map(str::to_owned);
            let taken = TakenHost { host, gateway: gateway.to_owned(), object, wildcard };
            hint(PreflightCheck::HostTaken, Alternative::ShareHost { taken: Box::new(taken) })
        };
        assert_eq!(
            text("ingress/gateway"),
            "add `shop.example.com` to `hosts` of VirtualService web/site, so that Istio merges both; or set `routes: inject`, if it leads \
             to the Service, or give `--skip-check host-taken`"
        );
        assert_eq!(
            text("mesh"),
            "set `routes: external`, and put the routes that `canary-ctl generate routes` prints into VirtualService web/site, or give \
             `--skip-check host-taken`"
        );
    }

    #[test]
    fn routes_are_put_back_by_apply_unless_somebody_else_writes_them() {
        let text = |routes| hint(PreflightCheck::NoRoutes, Alternative::AddRoutes { routes });
        let ours = "`canary-ctl apply` puts them back, or give `--skip-check no-routes`";
        assert_eq!([text(Routes::Managed), text(Routes::Inject)], [ours; 2]);
        let theirs = "put the routes that `canary-ctl generate routes` prints into it, or give `--skip-check no-routes`";
        assert_eq!(text(Routes::External), theirs);
    }
}
