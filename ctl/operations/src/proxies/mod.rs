//! What the proxies run, and waits until they run it.
//!
//! ```text
//! observed         what the proxies report: generations, requests        Record -> ProxyStatus, Traffic
//! subsets          clusters that the proxies were given                  Desired -> counts
//! runtimes         V8 in the proxies                                     pods -> ProxyRuntimes
//! unseen_proxies   proxies that cannot be asked: refused, or waited for  Record -> CheckFailed
//! wait             until every proxy runs a generation                   Record -> Arrival
//! remote_clusters  clusters of a multi-cluster mesh                      Secrets -> names
//! ```

pub(crate) mod observed;
pub(crate) mod remote_clusters;
pub(crate) mod runtimes;
pub(crate) mod subsets;
pub(crate) mod unseen_proxies;
pub(crate) mod wait;
