//! One HTTP exchange through the guest: request in, headers out, response in, headers out, end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::HostError;
use super::head::{RequestHead, ResponseHead};
use super::headers::Headers;
use super::instance::Instance;
use super::limits::Fuel;
use super::properties;
use super::state::{LocalResponse, Phase, Stream};
use super::vm::int;
use super::wire;

/// What the guest's headers callback decided; the numbers are the ABI's (`FilterHeadersStatus`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// On to the next filter.
    Continue,
    /// Wait; `proxy_continue_stream` resumes.
    StopIteration,
    /// On, but end the stream here.
    ContinueAndEndStream,
    /// Wait, and buffer the body.
    StopAllIterationAndBuffer,
    /// Wait, and push back on the body.
    StopAllIterationAndWatermark,
    /// None of the ABI's responses.
    Unknown(i32),
}

impl Action {
    fn from_abi(number: Option<i32>) -> Self {
        match number {
            None | Some(0) => Self::Continue,
            Some(1) => Self::StopIteration,
            Some(2) => Self::ContinueAndEndStream,
            Some(3) => Self::StopAllIterationAndBuffer,
            Some(4) => Self::StopAllIterationAndWatermark,
            Some(other) => Self::Unknown(other),
        }
    }
}

/// An exchange after its request callback; dropping it ends it as [`Exchange::end`] does, errors unseen.
///
/// Bodies and a request's trailers are not part of this host.
pub struct Exchange {
    instance: Rc<RefCell<Instance>>,
    id: u32,
    action: Action,
    fuel: Fuel,
    ended: bool,
}

/// What is left of an exchange.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Instructions by part.
    pub fuel: Fuel,
    /// Filter state by full name (`wasm.…`), as access logs can read it.
    pub filter_state: BTreeMap<String, Vec<u8>>,
    /// Request headers as the access log saw them.
    pub request: Headers,
    /// Response headers as the access log saw them; `None` when there was no response.
    pub response: Option<Headers>,
}

impl Exchange {
    pub(crate) fn open(
        instance: Rc<RefCell<Instance>>,
        root: u32,
        head: RequestHead,
    ) -> Result<Self, HostError> {
        let mut fuel = Fuel::default();
        let mut inner = instance.borrow_mut();
        let id = inner.next_id();
        let (lines, end) = (count(&head.headers), i32::from(head.end_of_stream));
        inner.state().streams.insert(id, stream(root, head));
        fuel.create =
            metered(&mut inner, |vm| vm.enter(id, "proxy_on_context_create", (int(id), int(root))))?.1;
        let (action, request) =
            metered(&mut inner, |vm| vm.number(id, "proxy_on_request_headers", (int(id), lines, end)))?;
        fuel.request = request;
        drop(inner);
        Ok(Self { instance, id, action: Action::from_abi(action), fuel, ended: false })
    }

    /// What the last headers callback decided.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The request headers as they are now.
    pub fn headers(&self) -> Headers {
        self.read(|stream| stream.request.clone()).unwrap_or_else(Headers::request)
    }

    /// The response headers as they are now; `None` before [`Exchange::respond`].
    pub fn response(&self) -> Option<Headers> {
        self.read(|stream| stream.response.clone()).flatten()
    }

    /// The response that the guest gave itself, if it did.
    pub fn local_response(&self) -> Option<LocalResponse> {
        self.read(|stream| stream.local_response.clone()).flatten()
    }

    /// Streams that the guest asked to continue, by the ABI's number (0 request, 1 response).
    pub fn continued(&self) -> Vec<u32> {
        self.read(|stream| stream.continued.clone()).unwrap_or_default()
    }

    /// Filter state under this name, without the `wasm.` prefix.
    pub fn filter_state(&self, name: &str) -> Option<Vec<u8>> {
        let name = properties::filter_state_name(name.as_bytes());
        self.read(|stream| stream.filter_state.get(&name).cloned()).flatten()
    }

    /// Instructions so far.
    pub fn fuel(&self) -> Fuel {
        self.fuel
    }

    /// What Envoy answers for this property path from now on, e.g. `["response", "code_details"]`.
    pub fn set_property(&self, path: &[&str], value: impl AsRef<[u8]>) {
        if let Some(stream) = self.instance.borrow_mut().state().streams.get_mut(&self.id) {
            stream.properties.insert(wire::encode_path(path), value.as_ref().to_vec());
        }
    }

    /// Runs the response callback; answers the headers after it.
    pub fn respond(&mut self, head: ResponseHead) -> Result<Headers, HostError> {
        let mut instance = self.instance.borrow_mut();
        let arguments = (int(self.id), count(&head.headers), i32::from(head.end_of_stream));
        if let Some(stream) = instance.state().streams.get_mut(&self.id) {
            stream.phase = Phase::Response;
            stream.properties.extend(head.properties);
            stream.response = Some(head.headers);
        }
        let (action, fuel) =
            metered(&mut instance, |vm| vm.number(self.id, "proxy_on_response_headers", arguments))?;
        drop(instance);
        self.action = Action::from_abi(action);
        self.fuel.response += fuel;
        Ok(self.response().unwrap_or_else(Headers::response))
    }

    /// Runs the callback of the response's trailers.
    pub fn trailers(&mut self, trailers: Headers) -> Result<(), HostError> {
        let mut instance = self.instance.borrow_mut();
        let arguments = (int(self.id), count(&trailers));
        if let Some(stream) = instance.state().streams.get_mut(&self.id) {
            stream.trailers = Some(trailers);
        }
        let (_, fuel) =
            metered(&mut instance, |vm| vm.number(self.id, "proxy_on_response_trailers", arguments))?;
        self.fuel.response += fuel;
        Ok(())
    }

    /// Ends the stream in Envoy's order: log, done, delete; callbacks that are not exported are skipped.
    pub fn end(mut self) -> Result<Ended, HostError> {
        self.finish()?;
        let stream = self.instance.borrow_mut().state().streams.remove(&self.id);
        let stream = stream.ok_or(HostError::Dead)?;
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        Ok(Ended {
            fuel: self.fuel,
            filter_state: stream
                .filter_state
                .iter()
                .map(|(name, value)| (text(name), value.clone()))
                .collect(),
            request: stream.request,
            response: stream.response,
        })
    }

    fn finish(&mut self) -> Result<(), HostError> {
        self.ended = true;
        let id = self.id;
        let mut instance = self.instance.borrow_mut();
        let ((), fuel) = metered(&mut instance, |vm| {
            vm.enter_phase(id, Phase::Log);
            vm.enter(id, "proxy_on_log", int(id))?;
            vm.enter_phase(id, Phase::Done);
            vm.ask(id, "proxy_on_done", int(id))?;
            vm.enter(id, "proxy_on_delete", int(id)).map(drop)
        })?;
        self.fuel.end += fuel;
        Ok(())
    }

    fn read<T>(&self, of: impl FnOnce(&Stream) -> T) -> Option<T> {
        self.instance.borrow().state_ref().streams.get(&self.id).map(of)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.ended {
            // The result is ignored here; `end` returns it.
            drop(self.finish());
            self.instance.borrow_mut().state().streams.remove(&self.id);
        }
    }
}

fn stream(root: u32, head: RequestHead) -> Stream {
    Stream {
        root,
        phase: Phase::Request,
        request: head.headers,
        response: None,
        trailers: None,
        properties: head.properties,
        filter_state: BTreeMap::new(),
        local_response: None,
        continued: Vec::new(),
    }
}

/// The result of an entry and the instructions it took.
fn metered<T>(
    instance: &mut Instance,
    entry: impl FnOnce(&mut Instance) -> Result<T, HostError>,
) -> Result<(T, u64), HostError> {
    let before = instance.fuel;
    let result = entry(instance)?;
    Ok((result, instance.fuel - before))
}

fn count(headers: &Headers) -> i32 {
    i32::try_from(headers.len()).unwrap_or(i32::MAX)
}
