//! Everything that runs: two pods of each version, and an Envoy with the files that `canary-ctl generate` wrote.

use crate::ctl::CanaryCtl;
use crate::error::Error;
use crate::find::Programs;
use crate::port;
use crate::process::Process;
use canary_ctl::local::{Admin, EMPTY_ECDS, Layout, replace};
use placed_yaml::Template;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;
use tempfile::TempDir;

/// The pods, by version.
const PODS: [(&str, [&str; 2]); 2] = [("v1", ["v1-a", "v1-b"]), ("v2", ["v2-a", "v2-b"])];
/// The ports of [`SPEC`], where they are free.
const LISTEN: u16 = 8080;
const ADMIN: u16 = 9901;
const SPEC: &str = include_str!("../../local/canary.yaml");

/// The release of [`SPEC`].
pub(crate) const RELEASE: &str = "shop/shop";
pub(crate) const CANARY: &str = "v2";
pub(crate) const HOST: &str = "127.0.0.1";

/// What runs. Dropping it kills every process, Envoy first, and removes the folder.
#[derive(Debug)]
pub(crate) struct DemoEnv {
    envoy: Process,
    pods: Vec<Process>,
    _folder: TempDir,
    /// Where users connect.
    pub(crate) listen: SocketAddr,
    /// Envoy's admin interface.
    pub(crate) admin: Admin,
    /// `canary-ctl` for this release.
    pub(crate) ctl: CanaryCtl,
    /// Envoy's version, like `1.40.0`.
    pub(crate) envoy_version: String,
}

/// Whether the filter is installed when Envoy starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Installed,
    /// As on a gateway where it was never installed: the first `canary-ctl weight` installs it.
    InstalledLater,
}

impl DemoEnv {
    /// Starts everything, on other ports than 8080 and 9901 where those are taken.
    pub(crate) async fn start(programs: &Programs, filter: Filter) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("canary-demo-").tempdir();
        let folder = folder.map_err(|error| Error::Create("a folder", error))?;
        let (pods, endpoints) = start_pods(programs).await?;
        let listen = port::free(LISTEN)?;
        let admin = Admin::new(port::free(ADMIN)?);
        let spec = spec(programs, listen, admin.address(), &endpoints)?;
        replace(&folder.path().join("canary.yaml"), &spec)?;
        let ctl = CanaryCtl { program: programs.canary_ctl.clone(), folder: folder.path().to_owned() };
        ctl.run(&["generate"]).await?;
        let layout = Layout::new(folder.path().join(".canary"));
        if filter == Filter::InstalledLater {
            replace(&layout.ecds(), EMPTY_ECDS)?;
        }
        let (envoy, envoy_version) = start_envoy(programs, &layout, admin).await?;
        Ok(Self { envoy, pods, _folder: folder, listen, admin, ctl, envoy_version })
    }

    /// A message where the preferred ports were taken.
    pub(crate) fn other_ports(&self) -> Option<String> {
        let used = [(LISTEN, self.listen), (ADMIN, self.admin.address())];
        let others = used.iter().filter(|(preferred, address)| *preferred != address.port());
        let text: Vec<String> = others
            .map(|(preferred, address)| format!("port {preferred} is taken, using {}", address.port()))
            .collect();
        (!text.is_empty()).then(|| text.join("; "))
    }

    /// Ends everything, Envoy first, so that it never routes to a pod that is gone.
    pub(crate) fn stop(self) {
        drop(self.envoy);
        drop(self.pods);
    }
}

type Endpoints = BTreeMap<&'static str, Vec<SocketAddr>>;

async fn start_pods(programs: &Programs) -> Result<(Vec<Process>, Endpoints), Error> {
    let (mut pods, mut endpoints) = (Vec::new(), Endpoints::new());
    for (version, names) in PODS {
        for name in names {
            let mut command = Command::new(&programs.shop);
            command.args(["--listen", "127.0.0.1:0", "--version", version, "--pod", name]);
            let mut pod = Process::start(name, &mut command)?;
            let address = pod.ready(async |log| address_in(log)).await?;
            endpoints.entry(version).or_default().push(address);
            pods.push(pod);
        }
    }
    Ok((pods, endpoints))
}

/// The address in `demo-shop v1 v1-a: listening on http://127.0.0.1:9001`, once that line is complete.
fn address_in(log: &str) -> Option<SocketAddr> {
    let mut lines = log.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    lines.find_map(|line| line.split_once("listening on http://")?.1.trim().parse().ok())
}

/// The example with the addresses and the module of this machine.
fn spec(
    programs: &Programs,
    listen: SocketAddr,
    admin: SocketAddr,
    endpoints: &Endpoints,
) -> Result<String, Error> {
    let mut spec = Template::new(SPEC)?;
    spec.set("spec/delivery/module", &programs.filter)?
        .set("spec/delivery/local/listen", listen)?
        .set("spec/delivery/local/admin", admin)?;
    for (version, addresses) in endpoints {
        spec.set(&format!("spec/delivery/local/endpoints/{version}"), addresses)?;
    }
    Ok(spec.finish()?)
}

async fn start_envoy(programs: &Programs, layout: &Layout, admin: Admin) -> Result<(Process, String), Error> {
    let mut command = Command::new(&programs.envoy);
    command.arg("--config-path").arg(layout.bootstrap());
    // Without hot restart any number of Envoys can run side by side.
    command.args(["--disable-hot-restart", "--concurrency", "2", "--log-level", "warning"]);
    let mut envoy = Process::start("envoy", &mut command)?;
    envoy.ready(async |_| admin.get("/ready").await.ok()).await?;
    let info = admin.get("/server_info").await?;
    Ok((envoy, version_in(&info)))
}

/// The version in `"version": "<commit>/1.40.0/Clean/RELEASE/BoringSSL"`.
fn version_in(info: &str) -> String {
    let info: serde_json::Value = serde_json::from_str(info).unwrap_or_default();
    let version = info.get("version").and_then(serde_json::Value::as_str).unwrap_or_default();
    version.split('/').nth(1).unwrap_or("of unknown version").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_addresses_and_module_are_replaced_by_those_of_this_machine() {
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let programs = Programs {
            canary_ctl: "/bin/canary-ctl".into(),
            envoy: "/bin/envoy".into(),
            filter: "/lib/filter.wasm".into(),
            shop: "/bin/demo-shop".into(),
        };
        let endpoints = Endpoints::from([("v1", vec![at(1), at(2)]), ("v2", vec![at(3), at(4)])]);
        let text = spec(&programs, at(8), at(9), &endpoints).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("canary.yaml");
        std::fs::write(&path, text).unwrap();
        let release = canary_release::file::load(&path).unwrap().release;
        let local = release.delivery.local.unwrap();
        assert_eq!((local.listen, local.admin), (at(8), at(9)));
        assert_eq!(local.endpoints["v2"], [at(3), at(4)]);
        assert_eq!(release.name.to_string(), RELEASE);
        assert_eq!((release.versions.canary.as_deref(), release.hosts[0].as_str()), (Some(CANARY), HOST));
    }

    #[test]
    fn addresses_and_versions_are_read_from_complete_output() {
        let log = "demo-shop v1 v1-a: listening on http://127.0.0.1:9001\n";
        assert_eq!(address_in(log), Some(SocketAddr::from(([127, 0, 0, 1], 9001))));
        assert_eq!(address_in(&log[..log.len() - 2]), None, "`127.0.0.1:900` is not the address");
        assert_eq!(version_in(r#"{"version": "abc/1.40.0/Clean/RELEASE/BoringSSL"}"#), "1.40.0");
    }
}
