//! The stream and the VM around it: continue, answer locally, log, time, ticks, contexts.

use wasmtime::{Caller, Linker};

use super::{Status, answer};
use crate::headers::Headers;
use crate::state::{LocalResponse, LogLevel, LogLine, State};
use crate::wire;

type Host<'a> = Caller<'a, State>;

pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    link_stream(linker)?;
    link_logs(linker)?;
    link_contexts(linker)
}

fn link_stream(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_continue_stream", |c: Host<'_>, kind: i32| {
        answer(c, "proxy_continue_stream", |call| {
            call.state().stream()?.continued.push(kind.cast_unsigned());
            Ok(())
        })
    })?;
    linker.func_wrap(
        "env",
        "proxy_send_local_response",
        |c: Host<'_>, status: i32, details, details_len, body, body_len, headers, headers_len, _grpc: i32| {
            answer(c, "proxy_send_local_response", |call| {
                let details = call.read_text(details, details_len)?;
                let body = call.read(body, body_len)?;
                let headers = call.read(headers, headers_len)?;
                // No bytes at all are no headers, besides the regular empty map.
                let pairs = if headers.is_empty() { Some(Vec::new()) } else { wire::decode_pairs(&headers) };
                let headers = Headers::response().with(pairs.ok_or(Status::BadArgument)?);
                let status = status.cast_unsigned();
                call.state().stream()?.local_response =
                    Some(LocalResponse { status, details, headers, body });
                Ok(())
            })
        },
    )?;
    Ok(())
}

fn link_logs(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_log", |c: Host<'_>, level: i32, message, len| {
        answer(c, "proxy_log", |call| {
            let level = LogLevel::from_abi(level.cast_unsigned())?;
            let message = call.read_text(message, len)?;
            call.state().logs.push(LogLine { level, message });
            Ok(())
        })
    })?;
    linker.func_wrap("env", "proxy_get_log_level", |c: Host<'_>, out| {
        answer(c, "proxy_get_log_level", |call| {
            let level = call.state().log_level as u32;
            call.write_u32(out, level)
        })
    })?;
    Ok(())
}

fn link_contexts(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_get_current_time_nanoseconds", |c: Host<'_>, out| {
        answer(c, "proxy_get_current_time_nanoseconds", |call| {
            let now = call.state().proxy.now();
            call.write_u64(out, now)
        })
    })?;
    linker.func_wrap("env", "proxy_set_tick_period_milliseconds", |c: Host<'_>, period: i32| {
        answer(c, "proxy_set_tick_period_milliseconds", |call| {
            call.state().root()?.tick_milliseconds = period.cast_unsigned();
            Ok(())
        })
    })?;
    linker.func_wrap("env", "proxy_set_effective_context", |c: Host<'_>, id: i32| {
        answer(c, "proxy_set_effective_context", |call| {
            let state = call.state();
            let id = id.cast_unsigned();
            if !state.roots.contains_key(&id) && !state.streams.contains_key(&id) {
                return Err(Status::BadArgument.into());
            }
            state.current = id;
            Ok(())
        })
    })?;
    linker.func_wrap("env", "proxy_done", |c: Host<'_>| answer(c, "proxy_done", |_| Ok(())))?;
    Ok(())
}
