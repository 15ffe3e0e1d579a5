//! `canary.yaml`: what a release is, as its owner writes it.
//!
//! `load` reads the file and collects every fault with line and column; `release` is what comes out, with types that
//! cannot hold an impossible value; `read` goes from one to the other, a file for each part.

mod duration;
mod load;
mod names;
mod read;
mod release;

pub use duration::{Seconds, SecondsError};
pub use load::{Document, Error, Origin, load, parse};
pub use names::{Label, LabelError, ReleaseName, names_service, version_subset};
pub use release::{
    Cookies, Delivery, Endpoint, Gateway, Local, Mode, Module, Overrides, Release, Routes, Selector, Service,
    Session, Versions, service_host,
};
