//! The messages of Envoy's incremental discovery service (`envoy/service/discovery/v3/discovery.proto`), with the fields that are used.

use std::collections::HashMap;

use bytes::Bytes;

/// The method that Istio's agent calls.
pub(crate) const METHOD: &str =
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
pub(crate) const CLUSTERS: &str = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
pub(crate) const LISTENERS: &str = "type.googleapis.com/envoy.config.listener.v3.Listener";
pub(crate) const ROUTES: &str = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
pub(crate) const EXTENSIONS: &str = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeltaDiscoveryRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) node: Option<Node>,
    #[prost(string, tag = "2")]
    pub(crate) type_url: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) resource_names_subscribe: Vec<String>,
    #[prost(string, tag = "6")]
    pub(crate) response_nonce: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeltaDiscoveryResponse {
    #[prost(message, repeated, tag = "2")]
    pub(crate) resources: Vec<Resource>,
    #[prost(string, tag = "4")]
    pub(crate) type_url: String,
    #[prost(string, tag = "5")]
    pub(crate) nonce: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Resource {
    #[prost(message, optional, tag = "2")]
    pub(crate) resource: Option<Any>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) value: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Node {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(message, optional, tag = "3")]
    pub(crate) metadata: Option<Struct>,
}

/// `google.protobuf.Struct`, as far as a node's metadata need it.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Struct {
    #[prost(map = "string, message", tag = "1")]
    pub(crate) fields: HashMap<String, Value>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Value {
    #[prost(oneof = "Kind", tags = "3, 5")]
    pub(crate) kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Kind {
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(message, tag = "5")]
    Struct(Struct),
}

impl Struct {
    /// Fields with these values.
    pub(crate) fn of<const N: usize>(fields: [(&str, Kind); N]) -> Self {
        let field = |(name, kind): (&str, Kind)| (name.to_owned(), Value { kind: Some(kind) });
        Self { fields: fields.map(field).into() }
    }
}
