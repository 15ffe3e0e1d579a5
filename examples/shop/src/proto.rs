//! Messages, server and client of `proto/pod.proto`, as `build.rs` makes them.

#![expect(
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]

tonic::include_proto!("demo.shop.v1");
