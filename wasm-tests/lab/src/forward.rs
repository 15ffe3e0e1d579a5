//! Forwards a port of this machine to an address of the lab.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use super::error::LabError;
use super::lab::Lab;
use super::space::NODE;

impl Lab {
    /// Listens on this port of the machine's loopback, leads to the API server, and returns a kubeconfig of `admin` for it.
    pub fn forward_api(&self, port: u16) -> Result<PathBuf, LabError> {
        let address = self.forward(port, (NODE, self.site().addresses.api).into())?;
        self.kubeconfig_at("admin", Ipv4Addr::LOCALHOST, address.port())
    }

    /// Listens on this port of the machine's loopback (0 takes a free one), passes every connection on to `target`, and
    /// returns where it listens. It ends with the lab.
    pub fn forward(&self, port: u16, target: SocketAddr) -> Result<SocketAddr, LabError> {
        let failed = LabError::system(format!("listen on port {port}"));
        let listen = || {
            // Made here, outside: a socket stays in the network that it was made in.
            let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = listen().map_err(failed)?;
        self.spawn(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((mut outside, _)) = listener.accept().await {
                tokio::spawn(async move {
                    if let Ok(mut inside) = TcpStream::connect(target).await {
                        // Either side may break off at any time.
                        drop(copy_bidirectional(&mut outside, &mut inside).await);
                    }
                });
            }
        });
        Ok(address)
    }
}
