//! Registries of images: reads and writes blobs and manifests, as whom the registry asks for.
//!
//! ```text
//! credential   Docker's configuration, or a name and a password   -> whom to be
//! challenge    a refused request                                  -> how to prove it
//! call         a request, redirects, errors                       -> a response
//! client       blobs and manifests                                <-> the registry
//! web_file     a file of a web server                             -> its bytes
//! ```
//!
//! # Source
//! OCI distribution specification 1.1; Docker, *Token Authentication Specification*, with passwords and refresh tokens.
//!
//! Ours and not `oci-client`: that brings forty crates with a second HTTP client, reads responses without a limit, and lets a redirect
//! decide where it goes. What is needed here are six kinds of requests.

mod call;
mod challenge;
mod client;
mod credential;
mod error;
mod web_file;

pub(crate) use client::{RegistryAccess, RegistryClient};
pub(crate) use credential::{CredentialSource, RegistryCredential};
pub(crate) use error::RegistryError;
pub(crate) use web_file::read_url;
