//! The order in which the control plane starts, and the readiness check of each part.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kube::Client;
use tokio::time::sleep;

use super::super::binaries::Program;
use super::super::error::LabError;
use super::super::space::{NODE, Network, Process, Processes, SERVICES};
use super::access::{Access, Account};

/// Readiness takes two seconds on an idle machine.
const DEADLINE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);

/// Where the parts listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses {
    /// The address of the API server.
    pub(crate) host: Ipv4Addr,
    /// The port of the API server.
    pub(crate) api: u16,
    /// The ports of etcd, on the loopback interface.
    etcd: [u16; 2],
}

impl Addresses {
    /// Those of a node that is alone in its network.
    pub(crate) const fn of_a_node() -> Self {
        Self { host: NODE, api: 6443, etcd: [2379, 2380] }
    }

    /// Free ports of the machine.
    pub(crate) fn on_loopback() -> std::io::Result<Self> {
        let host = Ipv4Addr::LOCALHOST;
        // All are open at a time, so that they differ.
        let listeners =
            [TcpListener::bind((host, 0))?, TcpListener::bind((host, 0))?, TcpListener::bind((host, 0))?];
        let [api, clients, peers] = listeners.each_ref().map(TcpListener::local_addr);
        Ok(Self { host, api: api?.port(), etcd: [clients?.port(), peers?.port()] })
    }

    fn is_a_node(self) -> bool {
        self.host == NODE
    }

    fn etcd_url(self) -> String {
        format!("http://127.0.0.1:{}", self.etcd[0])
    }
}

/// Where the lab's processes run, and where they write.
#[derive(Debug)]
pub(crate) struct Site {
    /// Where the control plane listens.
    pub(crate) addresses: Addresses,
    pub(crate) network: Network,
    /// Where processes are born.
    pub(crate) processes: Processes,
    pub(crate) folder: PathBuf,
    /// The logs of containers that ended by themselves, each with its exit code.
    pub(crate) ended: Mutex<Vec<(PathBuf, i32)>>,
}

impl Site {
    /// The log of a process.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.folder.join("logs").join(format!("{name}.log"))
    }

    fn start(&self, program: Program, arguments: &[String]) -> Result<Process, LabError> {
        let mut command = Command::new(program.path()?);
        command.args(arguments).current_dir(&self.folder);
        let failed = LabError::system(format!("start {}", program.0));
        Process::start(&self.processes, &self.network, None, command, &self.log(program.0)).map_err(failed)
    }
}

/// The running control plane.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    processes: Vec<Process>,
}

impl ControlPlane {
    /// Starts all of it and waits until the API server serves.
    pub(crate) async fn start(site: &Site, access: &Access) -> Result<Self, LabError> {
        let addresses = site.addresses;
        let etcd = site.start(Program::ETCD, &etcd(addresses, &site.folder))?;
        let api_server = site.start(Program::API_SERVER, &api_server(addresses, access))?;
        let kubeconfig = access
            .kubeconfig(&Account::admin(), addresses.host, addresses.api)
            .map_err(LabError::system("write a kubeconfig"))?;
        wait_for_api(&kubeconfig, &[&etcd, &api_server]).await?;
        let controllers =
            site.start(Program::CONTROLLER_MANAGER, &controller_manager(access, &kubeconfig))?;
        let mut processes = vec![etcd, api_server, controllers];
        if addresses.is_a_node() {
            processes.push(site.start(Program::KUBE_PROXY, &kube_proxy(&kubeconfig))?);
        }
        Ok(Self { processes })
    }

    /// The ends of all logs.
    pub(crate) fn logs(&self) -> String {
        self.processes.iter().map(Process::log_tail).collect()
    }
}

/// A client of this kubeconfig. It belongs to the runtime that it is made in.
pub(crate) async fn client(kubeconfig: &Path) -> Result<Client, kube::Error> {
    let unusable = |error: kube::config::KubeconfigError| kube::Error::Service(Box::new(error));
    let file = kube::config::Kubeconfig::read_from(kubeconfig).map_err(unusable)?;
    let options = kube::config::KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await.map_err(unusable)?;
    Client::try_from(config)
}

async fn wait_for_api(kubeconfig: &Path, logs: &[&Process]) -> Result<(), LabError> {
    let start = Instant::now();
    loop {
        // The certificate that the client trusts exists only after the API server has created it.
        let found = match client(kubeconfig).await {
            Ok(client) => ready(&client).await,
            Err(error) => Err(error),
        };
        let Err(found) = found else { return Ok(()) };
        if start.elapsed() > DEADLINE || logs.iter().any(|process| !process.is_running()) {
            return Err(LabError::Timeout {
                what: "the API server".to_owned(),
                after: start.elapsed(),
                found: found.to_string(),
                logs: logs.iter().map(|process| process.log_tail()).collect(),
            });
        }
        sleep(POLL).await;
    }
}

async fn ready(client: &Client) -> Result<(), kube::Error> {
    let request = http::Request::get("/readyz").body(Vec::new()).map_err(kube::Error::HttpError)?;
    client.request_text(request).await.map(drop)
}

fn etcd(addresses: Addresses, folder: &Path) -> Vec<String> {
    let data = folder.join("etcd");
    let mut arguments = vec![format!("--data-dir={}", data.display()), "--unsafe-no-fsync".to_owned()];
    let (clients, peers) = (addresses.etcd_url(), format!("http://127.0.0.1:{}", addresses.etcd[1]));
    arguments.extend([
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster=default={peers}"),
    ]);
    arguments
}

fn api_server(addresses: Addresses, access: &Access) -> Vec<String> {
    // Every address of the node's network, so that its certificate is good for the node's, the service's, and 127.0.0.1.
    let bind = if addresses.is_a_node() { Ipv4Addr::UNSPECIFIED } else { addresses.host };
    let mut arguments = vec![
        format!("--etcd-servers={}", addresses.etcd_url()),
        format!("--bind-address={bind}"),
        format!("--advertise-address={}", addresses.host),
        format!("--secure-port={}", addresses.api),
        format!("--cert-dir={}", access.certificates().display()),
        format!("--service-account-key-file={}", access.accounts_public_key().display()),
        format!("--service-account-signing-key-file={}", access.accounts_key().display()),
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local".to_owned(),
        format!("--token-auth-file={}", access.tokens().display()),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        format!("--service-cluster-ip-range={SERVICES}"),
        // By default the name of the node comes first, and no DNS knows it. kubeadm prefers the address, too.
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
    ];
    if !addresses.is_a_node() {
        // Endpoints cannot be loopback addresses, and no pod asks for them.
        arguments.push("--endpoint-reconciler-type=none".to_owned());
    }
    arguments
}

fn controller_manager(access: &Access, kubeconfig: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--service-account-private-key-file={}", access.accounts_key().display()),
        format!("--root-ca-file={}", access.authority().display()),
        "--use-service-account-credentials=false".to_owned(),
        "--leader-elect=false".to_owned(),
        // Its own port is not needed, and may be taken.
        "--secure-port=0".to_owned(),
        // The node has no heart that could stop, and no addresses to give away.
        "--controllers=*,-node-lifecycle-controller,-node-ipam-controller".to_owned(),
        // By default every 15 s, which tests would wait for.
        "--horizontal-pod-autoscaler-sync-period=3s".to_owned(),
    ]
}

fn kube_proxy(kubeconfig: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--hostname-override={}", super::super::kubelet::NODE_NAME),
        "--proxy-mode=iptables".to_owned(),
        "--cluster-cidr=10.244.0.0/16".to_owned(),
        "--iptables-min-sync-period=100ms".to_owned(),
        // These settings belong to the whole machine.
        "--conntrack-max-per-core=0".to_owned(),
        "--conntrack-tcp-timeout-established=0s".to_owned(),
        "--conntrack-tcp-timeout-close-wait=0s".to_owned(),
    ]
}
