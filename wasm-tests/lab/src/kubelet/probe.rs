//! Probes, with the period and the thresholds of the pod.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use k8s_openapi::api::core::v1::{Container, HTTPGetAction, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::super::space::Process;
use super::container::Place;
use browser::Connection;

/// What probes have found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The startup probe has succeeded, or there is none.
    Started,
    /// The readiness probe has changed its mind.
    Ready(bool),
}

/// Runs all probes of a container, and returns when one of them requires a restart.
pub(super) async fn watch(place: &Place, process: &Arc<Process>, tell: impl Fn(Finding)) {
    let container = &place.container;
    let asker = |probe| Asker { probe, place, process };
    if let Some(probe) = &container.startup_probe
        && !asker(probe).until(true).await
    {
        return;
    }
    tell(Finding::Started);
    let readiness = async {
        let Some(probe) = &container.readiness_probe else {
            tell(Finding::Ready(true));
            return std::future::pending().await;
        };
        let asker = asker(probe);
        asker.delay().await;
        loop {
            asker.turn(true).await;
            tell(Finding::Ready(true));
            asker.turn(false).await;
            tell(Finding::Ready(false));
        }
    };
    let liveness = async {
        let Some(probe) = &container.liveness_probe else { return std::future::pending().await };
        let asker = asker(probe);
        asker.delay().await;
        asker.turn(false).await;
    };
    tokio::select! { () = readiness => {}, () = liveness => {} }
}

struct Asker<'a> {
    probe: &'a Probe,
    place: &'a Place,
    process: &'a Arc<Process>,
}

impl Asker<'_> {
    async fn delay(&self) {
        sleep(seconds(self.probe.initial_delay_seconds, 0)).await;
    }

    /// A startup probe: whether it succeeded before it failed too often.
    async fn until(&self, wanted: bool) -> bool {
        self.delay().await;
        for _ in 0..self.probe.failure_threshold.unwrap_or(3) {
            if self.ask().await == wanted {
                return true;
            }
            self.pause().await;
        }
        false
    }

    /// Asks until the response has been this one as often in a row as the pod demands.
    async fn turn(&self, wanted: bool) {
        let threshold = if wanted { self.probe.success_threshold } else { self.probe.failure_threshold };
        let threshold = threshold.unwrap_or(if wanted { 1 } else { 3 });
        let mut in_a_row = 0;
        loop {
            in_a_row = if self.ask().await == wanted { in_a_row + 1 } else { 0 };
            if in_a_row >= threshold {
                return;
            }
            self.pause().await;
        }
    }

    async fn pause(&self) {
        sleep(seconds(self.probe.period_seconds, 10)).await;
    }

    async fn ask(&self) -> bool {
        let limit = seconds(self.probe.timeout_seconds, 1);
        timeout(limit, self.once()).await.unwrap_or(false)
    }

    async fn once(&self) -> bool {
        let probe = self.probe;
        if let Some(http) = &probe.http_get {
            return self.http(http).await.unwrap_or(false);
        }
        if let Some(socket) = &probe.tcp_socket {
            let Some(port) = port(&socket.port, &self.place.container) else { return false };
            return TcpStream::connect((self.place.address, port)).await.is_ok();
        }
        match probe.exec.as_ref().and_then(|exec| exec.command.clone()) {
            Some(command) => self.place.exec(self.process, &command).await,
            None => true,
        }
    }

    /// Whether the response's status is one of success or redirection.
    async fn http(&self, action: &HTTPGetAction) -> Option<bool> {
        let port = port(&action.port, &self.place.container)?;
        let address = SocketAddr::new(host(action, self.place.address), port);
        let mut request = Request::get(action.path.as_deref().unwrap_or("/"));
        request = request.header("host", address.to_string()).header("user-agent", "kube-probe/1.36");
        for header in action.http_headers.iter().flatten() {
            request = request.header(&header.name, &header.value);
        }
        let response = Connection::http1(address).send(request.body(Full::new(Bytes::new())).ok()?).await;
        Some((200..400).contains(&response.ok()?.status))
    }
}

fn host(action: &HTTPGetAction, pod: Ipv4Addr) -> IpAddr {
    action.host.as_deref().and_then(|host| host.parse().ok()).unwrap_or(IpAddr::V4(pod))
}

/// A port by its number or its name.
fn port(port: &IntOrString, container: &Container) -> Option<u16> {
    match port {
        IntOrString::Int(number) => u16::try_from(*number).ok(),
        IntOrString::String(name) => {
            let mut ports = container.ports.iter().flatten();
            let named = ports.find(|port| port.name.as_ref() == Some(name));
            named.map_or_else(|| name.parse().ok(), |port| u16::try_from(port.container_port).ok())
        }
    }
}

fn seconds(value: Option<i32>, default: u64) -> Duration {
    Duration::from_secs(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(default))
}
