//! Data beside the headers: configurations, properties, shared data, foreign functions.

use wasmtime::{Caller, Linker};

use super::{Status, answer};
use crate::properties;
use crate::state::State;

const VM_CONFIGURATION: i32 = 6;
const PLUGIN_CONFIGURATION: i32 = 7;

type Host<'a> = Caller<'a, State>;

pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    link_buffers(linker)?;
    link_properties(linker)?;
    link_shared_data(linker)?;
    linker.func_wrap(
        "env",
        "proxy_call_foreign_function",
        |c: Host<'_>, name, name_len, _arguments: i32, _len: i32, out, out_len| {
            answer(c, "proxy_call_foreign_function", |call| {
                match call.read(name, name_len)?.as_slice() {
                    // Changing a header does that already; Envoy has it and it answers nothing.
                    b"clear_route_cache" => call.hand_over(&[], out, out_len),
                    _ => Err(Status::NotFound.into()),
                }
            })
        },
    )?;
    Ok(())
}

fn link_buffers(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_buffer_bytes",
        |c: Host<'_>, kind: i32, start, max, out, out_len| {
            answer(c, "proxy_get_buffer_bytes", |call| {
                let state = call.state();
                let bytes = match kind {
                    VM_CONFIGURATION => state.vm_configuration.clone(),
                    PLUGIN_CONFIGURATION => state.root()?.configuration.clone().ok_or(Status::NotFound)?,
                    _ => return Err(Status::NotFound.into()),
                };
                let part = slice(&bytes, start, max).ok_or(Status::BadArgument)?;
                call.hand_over(part, out, out_len)
            })
        },
    )?;
    linker.func_wrap("env", "proxy_get_buffer_status", |c: Host<'_>, kind: i32, out_len, out_flags| {
        answer(c, "proxy_get_buffer_status", |call| {
            let state = call.state();
            let length = match kind {
                VM_CONFIGURATION => state.vm_configuration.len(),
                PLUGIN_CONFIGURATION => state.root()?.configuration.as_ref().ok_or(Status::NotFound)?.len(),
                _ => return Err(Status::NotFound.into()),
            };
            call.write_u32(out_len, u32::try_from(length).map_err(|_| Status::InternalFailure)?)?;
            call.write_u32(out_flags, 0)
        })
    })?;
    Ok(())
}

fn link_properties(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_get_property", |c: Host<'_>, path, path_len, out, out_len| {
        answer(c, "proxy_get_property", |call| {
            let path = call.read(path, path_len)?;
            let value = properties::find(call.state(), &path).ok_or(Status::NotFound)?;
            call.hand_over(&value, out, out_len)
        })
    })?;
    linker.func_wrap("env", "proxy_set_property", |c: Host<'_>, path, path_len, value, len| {
        answer(c, "proxy_set_property", |call| {
            let name = properties::filter_state_name(&call.read(path, path_len)?);
            let value = call.read(value, len)?;
            // Without a stream there is no filter state (`Context::setProperty`).
            let stream = call.state().stream().map_err(|_| Status::NotFound)?;
            stream.filter_state.insert(name, value);
            Ok(())
        })
    })?;
    Ok(())
}

fn link_shared_data(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_shared_data",
        |c: Host<'_>, key, key_len, out, out_len, out_cas| {
            answer(c, "proxy_get_shared_data", |call| {
                let key = call.read(key, key_len)?;
                let found = call.state().proxy.held().shared_data.get(&key).map(|(v, cas)| (v.to_vec(), cas));
                let (value, cas) = found.ok_or(Status::NotFound)?;
                call.hand_over(&value, out, out_len)?;
                call.write_u32(out_cas, cas)
            })
        },
    )?;
    linker.func_wrap("env", "proxy_set_shared_data", |c: Host<'_>, key, key_len, value, len, cas: i32| {
        answer(c, "proxy_set_shared_data", |call| {
            let (key, value) = (call.read(key, key_len)?, call.read(value, len)?);
            Ok(call.state().proxy.held().shared_data.set(&key, &value, cas.cast_unsigned())?)
        })
    })?;
    Ok(())
}

/// At most `max` bytes from `start`; `None` when `start` lies past the end.
fn slice(bytes: &[u8], start: i32, max: i32) -> Option<&[u8]> {
    let start = usize::try_from(start.cast_unsigned()).ok()?;
    let max = usize::try_from(max.cast_unsigned()).ok()?;
    let rest = bytes.get(start..)?;
    rest.get(..max.min(rest.len()))
}
