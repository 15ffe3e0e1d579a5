//! Objects of others, and the state that objects say.
//!
//! ```text
//! secret_reader     single keys of Secrets                       namespace -> text
//! rules             DestinationRules in force                    Record -> HostRules
//! callers           Services and Sidecars of callers             Record -> JSON
//! routes            whether the routes of a release exist        Record -> MissingObject
//! exposure          Gateways of a release, their pods and hosts  Release -> Exposure
//! gateway_api       what routes beside others follow from        Record -> GatewayApiObjects
//! effective_config  the configuration that the proxies have      Record -> EffectiveSettings
//! discover          the objects for a first canary.yaml          Service -> Objects
//! peer              objects of Flagger and Argo Rollouts          name -> PeerObjects
//! rights            the rights that the user lacks               Release -> Right
//! recover           a record that was deleted, from the objects  ReleaseName -> StoredRecord
//! ```

pub(crate) mod callers;
pub(crate) mod discover;
pub(crate) mod effective_config;
pub(crate) mod exposure;
pub(crate) mod gateway_api;
pub(crate) mod peer;
pub(crate) mod recover;
pub(crate) mod rights;
pub(crate) mod routes;
pub(crate) mod rules;
pub(crate) mod secret_reader;
