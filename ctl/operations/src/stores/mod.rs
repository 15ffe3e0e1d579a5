//! What is kept of releases in the cluster: records with their seals, keys, Leases.
//!
//! ```text
//! record_store      one sealed ConfigMap for each release          Record -> ConfigMap
//! stored_record     a record that may be obeyed, and its object    ConfigMap -> StoredRecord
//! sealed_record     whether seals are genuine                      ConfigMap -> FoundRecord
//! record_key_store  the Secrets of its seals                       namespaces -> RecordKeys
//! key_store         the Secrets of signing keys                    namespaces -> SigningKeys
//! lease_manager     one operator at a time                         places -> Lease
//! releases          the releases of a cluster, by their records    namespaces -> Record
//! first_record      the record of a release that is not installed  Release -> Record
//! ```

pub(crate) mod first_record;
pub(crate) mod key_store;
pub(crate) mod lease_manager;
pub(crate) mod record_key_store;
pub(crate) mod record_store;
pub(crate) mod releases;
pub(crate) mod sealed_record;
pub(crate) mod stored_record;
