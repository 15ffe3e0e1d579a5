//! Services' names for programs, in the place of a cluster's DNS: a file `/etc/hosts` for each namespace, kept up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Service;
use kube::api::Api;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Client, ResourceExt as _};

/// Namespace and name of a service, and its address.
type Table = BTreeMap<(String, String), String>;

/// The files, and what is in them.
#[derive(Debug)]
pub(super) struct Hosts {
    folder: PathBuf,
    known: Mutex<(Table, BTreeSet<String>)>,
}

impl Hosts {
    /// No files yet, in this folder.
    pub(super) fn create(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self { folder, known: Mutex::default() })
    }

    /// The file for pods of this namespace; it is kept up to date while it is mounted.
    pub(super) fn of(&self, namespace: &str) -> io::Result<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.1.insert(namespace.to_owned());
        let path = self.folder.join(namespace);
        overwrite(&path, &text(&known.0, namespace))?;
        Ok(path)
    }

    /// Watches the services for ever.
    pub(super) async fn follow(self: Arc<Self>, client: Client) {
        let services: Api<Service> = Api::all(client);
        let mut events = Box::pin(watcher(services, Config::default()).default_backoff());
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Apply(service) | Event::InitApply(service)) => {
                    let spec = service.spec.as_ref();
                    let address = spec.and_then(|spec| spec.cluster_ip.clone()).filter(|ip| ip != "None");
                    self.change(&service, address.filter(|address| !address.is_empty()));
                }
                Ok(Event::Delete(service)) => self.change(&service, None),
                Ok(Event::Init | Event::InitDone) | Err(_) => {}
            }
        }
    }

    fn change(&self, service: &Service, address: Option<String>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (service.namespace().unwrap_or_default(), service.name_any());
        let before = known.0.get(&key).cloned();
        if before == address {
            return;
        }
        match address {
            Some(address) => drop(known.0.insert(key, address)),
            None => drop(known.0.remove(&key)),
        }
        let (table, namespaces) = &*known;
        for namespace in namespaces {
            // Fails only if the lab's folder is deleted, at the end of the lab.
            drop(overwrite(&self.folder.join(namespace), &text(table, namespace)));
        }
    }
}

/// The services' names as pods of this namespace may say them.
fn text(table: &Table, namespace: &str) -> String {
    let mut text = "127.0.0.1 localhost\n".to_owned();
    for ((of, name), address) in table {
        let short = if of == namespace { name.as_str() } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{address} {name}.{of}.svc.cluster.local {name}.{of}.svc {name}.{of} {short}");
    }
    text
}

/// Keeps the file itself, which is mounted elsewhere. Readers see the old text or the new one: it is one write, and a rest of
/// the old is cut off after it.
fn overwrite(path: &PathBuf, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().create(true).write(true).truncate(false).open(path)?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_namespace_may_leave_out_its_name() {
        let table = Table::from([(("shop".to_owned(), "web".to_owned()), "10.96.0.7".to_owned())]);
        let last = |namespace| text(&table, namespace).split_whitespace().last().unwrap().to_owned();
        assert_eq!(last("shop"), "web");
        assert_eq!(last("other"), "web.shop");
    }

    #[test]
    fn a_shorter_text_leaves_nothing_of_the_longer_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        overwrite(&path, "a longer text").unwrap();
        overwrite(&path, "short").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short");
    }
}
