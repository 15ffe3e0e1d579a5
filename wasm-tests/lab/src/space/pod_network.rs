//! A pod's network: one device, one address, and all traffic routed through the node.
//!
//! Devices are not bridged: traffic between pods is routed, so that the node's rules (kube-proxy's) see both
//! directions.

use std::io;
use std::net::Ipv4Addr;

use super::network::Network;
use super::{NODE, SERVICES};

/// The node's network: one address, and packets are passed on.
pub(crate) fn node() -> io::Result<Network> {
    let network = Network::create()?;
    // No interface has a Service's address; the route makes the kernel accept a packet until kube-proxy's rules rewrite
    // it.
    network.ip(&format!("address add {NODE}/32 dev lo\nroute add {SERVICES} dev lo src {NODE}\n"))?;
    network.set(&[("net.ipv4.ip_forward", "1")])?;
    Ok(network)
}

/// A pod's network, connected with the node's. The virtual cable is deleted with the network.
pub(crate) fn pod(node: &Network, address: Ipv4Addr) -> io::Result<Network> {
    let network = Network::create()?;
    let [_, _, third, fourth] = address.octets();
    let device = format!("pod{third}-{fourth}");
    node.ip(&format!(
        "link add {device} type veth peer name eth0 netns {}\n\
         link set {device} up\n\
         route add {address}/32 dev {device} src {NODE}\n",
        network.path()
    ))?;
    network.ip(&format!(
        "address add {address}/32 dev eth0\n\
         link set eth0 up\n\
         route add {NODE}/32 dev eth0\n\
         route add default via {NODE}\n"
    ))?;
    Ok(network)
}
