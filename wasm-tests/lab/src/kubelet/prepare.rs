//! What the containers of a pod share, and what each of them gets: network, volumes, files, program, user.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt as _;

use super::super::error::LabError;
use super::super::space::{Mount, Network, Root, pod as pod_network};
use super::container::{ContainerProgram, Place};
use super::environment::{self, Environment, expand};
use super::volume::Volumes;
use super::watch::Kubelet;

/// A pod's network and volumes. The network ends with the value.
#[derive(Debug)]
pub(super) struct Sandbox {
    pub(super) pod: Pod,
    pub(super) address: Ipv4Addr,
    network: Arc<Network>,
    volumes: BTreeMap<String, PathBuf>,
    hosts: PathBuf,
}

impl Sandbox {
    /// Makes them. Fails while an object that a volume needs is not there.
    pub(super) async fn make(kubelet: &Kubelet, pod: &Pod, address: Ipv4Addr) -> Result<Self, LabError> {
        let namespace = pod.namespace().unwrap_or_default();
        let folder = kubelet.site.folder.join("pods").join(pod.uid().unwrap_or_default());
        let volumes = Volumes { client: &kubelet.client, pod, address, folder: &folder }.make().await?;
        let hosts = kubelet.hosts.of(&namespace).map_err(LabError::system("write the hosts file"))?;
        let network = pod_network(&kubelet.site.network, address);
        let network = Arc::new(network.map_err(LabError::system("connect the pod's network"))?);
        let settings = pod.spec.as_ref().and_then(|spec| spec.security_context.as_ref()?.sysctls.as_ref());
        let settings: Vec<_> =
            settings.into_iter().flatten().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        network.set(&settings).map_err(LabError::system("set the pod's sysctls"))?;
        kubelet.networks.add(&namespace, &pod.name_any(), &network);
        Ok(Self { pod: pod.clone(), address, network, volumes, hosts })
    }

    pub(super) fn log(&self, kubelet: &Kubelet, container: &str) -> PathBuf {
        let namespace = self.pod.namespace().unwrap_or_default();
        kubelet.site.log(&format!("{namespace}.{}.{container}", self.pod.name_any()))
    }

    /// Where and how a container runs. Fails while its image is unknown or an object that its environment needs is missing.
    pub(super) async fn place(&self, kubelet: &Kubelet, container: &Container) -> Result<Place, LabError> {
        let image = kubelet.images.find(container.image.as_deref().unwrap_or_default())?;
        let environment = environment::of(&kubelet.client, &self.pod, container, self.address).await?;
        let mut mounts: Vec<Mount> = image.mounts().collect();
        mounts.push(Mount { source: self.hosts.clone(), target: "/etc/hosts".into() });
        mounts.extend(container.volume_mounts.iter().flatten().filter_map(|mount| {
            let volume = self.volumes.get(&mount.name)?;
            let source = mount.sub_path.as_ref().map_or_else(|| volume.clone(), |path| volume.join(path));
            Some(Mount { source, target: Path::new(&mount.mount_path).to_owned() })
        }));
        Ok(Place {
            site: Arc::clone(&kubelet.site),
            network: Arc::clone(&self.network),
            address: self.address,
            program: self.program(container, &image.entrypoint, environment),
            root: Root { mounts },
            log: self.log(kubelet, &container.name),
            container: container.clone(),
        })
    }

    fn program(
        &self,
        container: &Container,
        entrypoint: &[String],
        environment: Environment,
    ) -> ContainerProgram {
        let command = container.command.as_deref().unwrap_or(entrypoint);
        let arguments = container.args.as_deref().unwrap_or_default();
        let line = command.iter().chain(arguments).map(|word| expand(word, &environment)).collect();
        let pod = self.pod.spec.as_ref().and_then(|spec| spec.security_context.as_ref());
        let own = container.security_context.as_ref();
        let user = own.and_then(|own| own.run_as_user).or_else(|| pod.and_then(|pod| pod.run_as_user));
        let group = own.and_then(|own| own.run_as_group).or_else(|| pod.and_then(|pod| pod.run_as_group));
        let number = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let folder = container.working_dir.clone();
        ContainerProgram {
            line,
            environment: environment.into_iter().collect(),
            user: number(user),
            group: number(group),
            folder,
        }
    }
}
