//! Everything one VM's host functions can see or change; wasmtime hands it to each of them.

use std::collections::BTreeMap;

use super::abi::Status;
use super::guest::GuestExports;
use super::head::Properties;
use super::headers::Headers;
use super::metrics::MetricKind;
use super::proxy::Proxy;

/// Severity of a log line; the numbers are the ABI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Critical,
}

impl LogLevel {
    pub(crate) fn from_abi(number: u32) -> Result<Self, Status> {
        use LogLevel::{Critical, Debug, Error, Info, Trace, Warn};
        let levels = [Trace, Debug, Info, Warn, Error, Critical];
        usize::try_from(number).ok().and_then(|i| levels.get(i).copied()).ok_or(Status::BadArgument)
    }
}

/// What the guest logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Severity.
    pub level: LogLevel,
    /// The message; bytes that are not UTF-8 become U+FFFD.
    pub message: String,
}

/// A response that the guest gave itself instead of letting the request go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// HTTP status.
    pub status: u32,
    /// Shown in access logs as `%RESPONSE_CODE_DETAILS%`.
    pub details: String,
    /// Headers besides `:status`.
    pub headers: Headers,
    pub body: Vec<u8>,
}

/// Where a stream is: which headers exist and may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Request,
    Response,
    /// Headers can be read, not changed.
    Log,
    /// No headers any more.
    Done,
}

/// One HTTP exchange as the guest sees it.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) root: u32,
    pub(crate) phase: Phase,
    pub(crate) request: Headers,
    pub(crate) response: Option<Headers>,
    /// Of the response.
    pub(crate) trailers: Option<Headers>,
    pub(crate) properties: Properties,
    /// By full name: `wasm.` and the path that the guest gave.
    pub(crate) filter_state: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) local_response: Option<LocalResponse>,
    /// Continuations that the guest requested, by the ABI's stream number.
    pub(crate) continued: Vec<u32>,
}

/// One plugin instance: Envoy makes a new one for each configuration.
#[derive(Debug)]
pub(crate) struct Root {
    /// Readable while the guest is configured, and only then.
    pub(crate) configuration: Option<Vec<u8>>,
    /// 0 is off.
    pub(crate) tick_milliseconds: u32,
}

/// The host's side of one VM.
pub(crate) struct State {
    pub(crate) proxy: Proxy,
    pub(crate) vm_configuration: Vec<u8>,
    pub(crate) properties: Properties,
    pub(crate) roots: BTreeMap<u32, Root>,
    pub(crate) streams: BTreeMap<u32, Stream>,
    /// The context that host calls act on.
    pub(crate) current: u32,
    pub(crate) log_level: LogLevel,
    pub(crate) logs: Vec<LogLine>,
    /// `None`: `random_get` fails.
    pub(crate) random: Option<fastrand::Rng>,
    /// By metric id: kinds and names that this VM has defined.
    pub(crate) metrics: Vec<(MetricKind, String)>,
    /// How often each import was called.
    pub(crate) host_calls: BTreeMap<&'static str, u64>,
    pub(crate) guest: Option<GuestExports>,
    pub(crate) limits: wasmtime::StoreLimits,
}

impl State {
    /// The stream that host calls act on; a root context has none.
    pub(crate) fn stream(&mut self) -> Result<&mut Stream, Status> {
        self.streams.get_mut(&self.current).ok_or(Status::BadArgument)
    }

    /// The root that host calls act on: the current context itself, or the one its stream belongs to.
    pub(crate) fn root(&mut self) -> Result<&mut Root, Status> {
        let id = self.streams.get(&self.current).map_or(self.current, |stream| stream.root);
        self.roots.get_mut(&id).ok_or(Status::BadArgument)
    }
}
