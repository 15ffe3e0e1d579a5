//! Metrics: define, increment, record, read.

use wasmtime::{Caller, Linker};

use super::{Status, Stop, answer};
use crate::guest::Call;
use crate::metrics::MetricKind;
use crate::state::State;

type Host<'a> = Caller<'a, State>;

pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_define_metric", |c: Host<'_>, kind: i32, name, len, out| {
        answer(c, "proxy_define_metric", |call| {
            let kind = MetricKind::from_abi(kind.cast_unsigned())?;
            let name = call.read_text(name, len)?;
            let state = call.state();
            state.proxy.held().metrics.define(kind, &name);
            state.metrics.push((kind, name));
            // Ids start at 1: a guest that forgot to define gets `NotFound` for 0.
            let id = u32::try_from(state.metrics.len()).map_err(|_| Status::InternalFailure)?;
            call.write_u32(out, id)
        })
    })?;
    linker.func_wrap("env", "proxy_increment_metric", |c: Host<'_>, id: i32, offset: i64| {
        answer(c, "proxy_increment_metric", |call| {
            let (kind, name) = defined(call, id)?;
            Ok(call.state().proxy.held().metrics.increment(kind, &name, offset)?)
        })
    })?;
    linker.func_wrap("env", "proxy_record_metric", |c: Host<'_>, id: i32, value: i64| {
        answer(c, "proxy_record_metric", |call| {
            let (kind, name) = defined(call, id)?;
            call.state().proxy.held().metrics.record(kind, &name, value.cast_unsigned());
            Ok(())
        })
    })?;
    linker.func_wrap("env", "proxy_get_metric", |c: Host<'_>, id: i32, out| {
        answer(c, "proxy_get_metric", |call| {
            let (kind, name) = defined(call, id)?;
            let value = call.state().proxy.held().metrics.read(kind, &name)?;
            call.write_u64(out, value)
        })
    })?;
    Ok(())
}

fn defined(call: &mut Call<'_, '_>, id: i32) -> Result<(MetricKind, String), Stop> {
    let index = usize::try_from(id.cast_unsigned()).ok().and_then(|id| id.checked_sub(1));
    let metric = index.and_then(|index| call.state().metrics.get(index).cloned());
    metric.ok_or_else(|| Status::NotFound.into())
}
