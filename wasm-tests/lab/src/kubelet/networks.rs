//! Which pod has which network, so that a test can act from inside a pod.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::super::space::Network;

/// The networks of all existing pods, by namespace and name. It keeps none alive.
#[derive(Debug, Default)]
pub(crate) struct Networks(Mutex<HashMap<(String, String), Weak<Network>>>);

impl Networks {
    /// Remembers a pod's.
    pub(super) fn add(&self, namespace: &str, pod: &str, network: &Arc<Network>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, network| network.strong_count() > 0);
        all.insert((namespace.to_owned(), pod.to_owned()), Arc::downgrade(network));
    }

    /// The network of this pod, while it exists.
    pub(crate) fn find(&self, namespace: &str, pod: &str) -> Option<Arc<Network>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&(namespace.to_owned(), pod.to_owned())).and_then(Weak::upgrade)
    }
}
