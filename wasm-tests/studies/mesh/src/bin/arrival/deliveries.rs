//! What a weight costs istiod, with the module in the configuration and with the URL of a registry: 1, 20 and 200 simulated gateways,
//! one release and many.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use mesh_lab::Lab;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::Status;
use wasm_tests::mesh::ShopEnv;
use wasm_tests::scenario::Document;

use crate::Error;
use crate::istiod::Usage;
use crate::proxy::{Identity, Received, connect};

/// How many simulated gateways there are.
pub(crate) const PROXIES: [usize; 3] = [1, 20, 200];
/// How many releases their one configuration has.
pub(crate) const RELEASES: [usize; 2] = [1, 500];
/// Weights that are set for a row.
pub(crate) const CHANGES: usize = 11;
/// A registry that nobody asks: the simulated gateways have no agent.
const REGISTRY: &str = "oci://registry.example.com/canary/filter:0.1.0";
/// No weight takes that long.
const TIMEOUT: Duration = Duration::from_mins(1);
/// After the last response of a push, for what follows it.
const SETTLE: Duration = Duration::from_millis(500);

/// Medians over the changes of a row.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryCost {
    pub(crate) embedded: bool,
    pub(crate) releases: usize,
    pub(crate) proxies: usize,
    /// From the write until the last proxy has the configuration.
    pub(crate) arrival: Duration,
    /// What istiod sends to all proxies.
    pub(crate) bytes: usize,
    /// Processor time of istiod, in seconds.
    pub(crate) seconds: f64,
    /// The most that istiod had, in bytes.
    pub(crate) memory: f64,
    /// From the first connection until the last of the proxies has its configuration, all at once.
    pub(crate) connected: Duration,
}

/// All rows. The gateway of `env` is asked for nothing, and is best scaled to 0.
pub(crate) async fn measured(lab: &Lab, env: &ShopEnv) -> Result<Vec<DeliveryCost>, Error> {
    // Routes, subsets and the place of the filter stay; the configuration is written for each row.
    let first = Scenario { lab, env, embedded: false, releases: 1, proxies: 1 }.release(0)?;
    lab.apply(&env.generate(&[&first], 1)?).await?;
    let mut rows = Vec::new();
    for releases in RELEASES {
        for embedded in [false, true] {
            for proxies in PROXIES {
                // Else it would have the memory of the row before.
                lab.stop_istiod().await?;
                lab.start_istiod().await?;
                let row = Scenario { lab, env, embedded, releases, proxies }.measure().await?;
                crate::say(&format!("{row:?}"));
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

struct Scenario<'a> {
    lab: &'a Lab,
    env: &'a ShopEnv,
    embedded: bool,
    releases: usize,
    proxies: usize,
}

impl Scenario<'_> {
    async fn measure(&self) -> Result<DeliveryCost, Error> {
        let mut generation = 1;
        let mut configuration = self.configuration()?;
        configuration.write(self.lab, generation).await?;
        let istiod = self.lab.service("istio-system", "istiod", 15_010).await?;
        let begun = Instant::now();
        let mut fleet = Fleet::connect(istiod, self.proxies, &configuration.identity(self.env)).await?;
        fleet.wait_for(generation).await?;
        let connected = begun.elapsed();
        fleet.settle().await;

        let (mut arrivals, mut bytes, mut seconds, mut memory) = (Vec::new(), Vec::new(), Vec::new(), 0_f64);
        for _ in 0..CHANGES {
            generation += 1;
            let before = Usage::read()?;
            let begun = Instant::now();
            configuration.write(self.lab, generation).await?;
            let arrived = fleet.wait_for(generation).await?;
            arrivals.push(arrived.last.duration_since(begun));
            bytes.push(arrived.bytes + fleet.settle().await);
            let after = Usage::read()?;
            seconds.push(after.seconds - before.seconds);
            memory = memory.max(after.memory);
        }
        seconds.sort_by(f64::total_cmp);
        Ok(DeliveryCost {
            embedded: self.embedded,
            releases: self.releases,
            proxies: self.proxies,
            arrival: median(arrivals),
            bytes: median(bytes),
            seconds: seconds.get(CHANGES / 2).copied().unwrap_or_default(),
            memory,
            connected,
        })
    }

    fn release(&self, number: usize) -> Result<Document, Error> {
        let release = self.env.release()?.with("/metadata/name", format!("shop-{number}"));
        let release = release.with("/spec/hosts", json!([format!("shop-{number}.example.com")]));
        let release = Document::from_value(release.get("").clone());
        Ok(release.with("/spec/delivery/module", if self.embedded { "embedded" } else { REGISTRY }))
    }

    /// The object with the configuration of all releases.
    fn configuration(&self) -> Result<Configuration, Error> {
        let releases: Result<Vec<_>, _> = (0..self.releases).map(|number| self.release(number)).collect();
        let releases = releases?;
        let manifests = self.env.generate(&releases.iter().collect::<Vec<_>>(), 1)?;
        let documents =
            manifests.split("---\n").filter_map(|text| serde_saphyr::from_str::<Value>(text).ok());
        let is_ours = |object: &Value| text(object, "/metadata/name").ends_with("-config");
        let object = { documents }.find(is_ours).ok_or(Error::NoConfiguration)?;
        Ok(Configuration { object })
    }
}

/// The object that a weight changes.
struct Configuration {
    object: Value,
}

impl Configuration {
    /// Writes it at this generation and, by turns, at one of two weights, as `canary-ctl weight` does.
    async fn write(&mut self, lab: &Lab, generation: u64) -> Result<(), Error> {
        let configured = self
            .object
            .pointer_mut("/spec/configPatches/0/patch/value/typed_config/config/configuration/value");
        let configured = configured.ok_or(Error::NoConfiguration)?;
        let mut config: Value = serde_json::from_str(configured.as_str().unwrap_or_default())?;
        let releases = config.get_mut("releases").and_then(Value::as_object_mut);
        for release in releases.into_iter().flat_map(|all| all.values_mut()).filter_map(Value::as_object_mut)
        {
            release.insert("generation".to_owned(), generation.into());
            release.insert("weight".to_owned(), (2_000 + generation % 2 * 100).into());
        }
        *configured = config.to_string().into();
        let kind = GroupVersionKind::gvk("networking.istio.io", "v1alpha3", "EnvoyFilter");
        let kind = ApiResource::from_gvk(&kind);
        let [namespace, name] =
            ["/metadata/namespace", "/metadata/name"].map(|pointer| text(&self.object, pointer));
        let api: Api<DynamicObject> = Api::namespaced_with(lab.client()?, namespace, &kind);
        let params = PatchParams::apply("bench").force();
        api.patch(name, &params, &Patch::Apply(&self.object)).await?;
        Ok(())
    }

    fn identity(&self, env: &ShopEnv) -> Identity {
        Identity {
            namespace: env.ingress.clone(),
            selector: env.selector.clone(),
            extension: text(&self.object, "/spec/configPatches/0/patch/value/name").to_owned(),
        }
    }
}

/// The simulated gateways.
struct Fleet {
    received: UnboundedReceiver<Received>,
    proxies: Vec<JoinHandle<Result<(), Status>>>,
}

/// A generation that all of them have.
struct Arrived {
    last: Instant,
    bytes: usize,
}

impl Fleet {
    /// All at once, as after a restart of istiod.
    async fn connect(istiod: SocketAddr, size: usize, identity: &Identity) -> Result<Self, Error> {
        let (sender, received) = unbounded_channel();
        let proxies = (0..size).map(|number| connect(istiod, number, identity.clone(), sender.clone()));
        let proxies = futures_util::future::try_join_all(proxies).await?;
        Ok(Self { received, proxies })
    }

    async fn wait_for(&mut self, generation: u64) -> Result<Arrived, Error> {
        let (mut missing, mut bytes) = (vec![true; self.proxies.len()], 0);
        loop {
            let next = timeout(TIMEOUT, self.received.recv()).await.ok().flatten();
            let found = missing.iter().filter(|missing| !**missing).count();
            let received = next.ok_or(Error::Late { generation, found, of: missing.len() })?;
            bytes += received.bytes;
            if received.generation == Some(generation)
                && let Some(missing) = missing.get_mut(received.proxy)
            {
                *missing = false;
            }
            if !missing.contains(&true) {
                return Ok(Arrived { last: received.at, bytes });
            }
        }
    }

    /// Waits until nothing more comes; the bytes that still came.
    async fn settle(&mut self) -> usize {
        let mut bytes = 0;
        while let Ok(Some(received)) = timeout(SETTLE, self.received.recv()).await {
            bytes += received.bytes;
        }
        bytes
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.proxies.iter().for_each(JoinHandle::abort);
    }
}

/// A text in an object; empty where there is none.
fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn median<T: Ord + Copy + Default>(mut values: Vec<T>) -> T {
    values.sort();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
