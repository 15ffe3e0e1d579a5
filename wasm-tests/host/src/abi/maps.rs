//! Header maps: get, add, replace, remove, all pairs, size.

use wasmtime::{Caller, Linker};

use super::{Answer, Status, Stop, answer};
use crate::guest::Call;
use crate::headers::Headers;
use crate::state::{Phase, State, Stream};
use crate::wire;

const REQUEST_HEADERS: i32 = 0;
const RESPONSE_HEADERS: i32 = 2;
const RESPONSE_TRAILERS: i32 = 3;

type Host<'a> = Caller<'a, State>;

pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_header_map_value",
        |c: Host<'_>, map, key, key_len, out, out_len| {
            answer(c, "proxy_get_header_map_value", |call| {
                let key = call.read(key, key_len)?;
                let value = read(call, map)?.get(key).ok_or(Status::NotFound)?.to_vec();
                call.hand_over(&value, out, out_len)
            })
        },
    )?;
    linker.func_wrap("env", "proxy_get_header_map_pairs", |c: Host<'_>, map, out, out_len| {
        answer(c, "proxy_get_header_map_pairs", |call| {
            // A map that is not there has no pairs (`headerMapToPairs`).
            let headers = read(call, map).ok().filter(|headers| !headers.is_empty());
            let bytes = headers.map(Headers::encode).unwrap_or_default();
            call.hand_over(&bytes, out, out_len)
        })
    })?;
    linker.func_wrap("env", "proxy_get_header_map_size", |c: Host<'_>, map, out| {
        answer(c, "proxy_get_header_map_size", |call| {
            let size = u32::try_from(read(call, map)?.byte_size()).map_err(|_| Status::InternalFailure)?;
            call.write_u32(out, size)
        })
    })?;
    link_changes(linker)
}

fn link_changes(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_add_header_map_value", |c: Host<'_>, map, key, key_len, value, len| {
        answer(c, "proxy_add_header_map_value", |call| {
            let (key, value) = (call.read(key, key_len)?, call.read(value, len)?);
            change(call, map, |headers| headers.add(key, value))
        })
    })?;
    linker.func_wrap(
        "env",
        "proxy_replace_header_map_value",
        |c: Host<'_>, map, key, key_len, value, len| {
            answer(c, "proxy_replace_header_map_value", |call| {
                let (key, value) = (call.read(key, key_len)?, call.read(value, len)?);
                change(call, map, |headers| headers.replace(key, value))
            })
        },
    )?;
    linker.func_wrap("env", "proxy_remove_header_map_value", |c: Host<'_>, map, key, key_len| {
        answer(c, "proxy_remove_header_map_value", |call| {
            let key = call.read(key, key_len)?;
            change(call, map, |headers| headers.remove(key))
        })
    })?;
    linker.func_wrap("env", "proxy_set_header_map_pairs", |c: Host<'_>, map, bytes, len| {
        answer(c, "proxy_set_header_map_pairs", |call| {
            let bytes = call.read(bytes, len)?;
            let pairs = wire::decode_pairs(&bytes).ok_or(Status::BadArgument)?;
            change(call, map, |headers| {
                headers.clear();
                for (name, value) in pairs {
                    headers.add(name, value);
                }
            })
        })
    })?;
    Ok(())
}

fn read<'a>(call: &'a mut Call<'_, '_>, map: i32) -> Result<&'a Headers, Stop> {
    Ok(find(call.state().stream()?, map)?)
}

/// Headers can be changed until the stream is logged.
fn change(call: &mut Call<'_, '_>, map: i32, edit: impl FnOnce(&mut Headers)) -> Answer {
    let stream = call.state().stream()?;
    if matches!(stream.phase, Phase::Log | Phase::Done) {
        return Err(Status::BadArgument.into());
    }
    edit(find(stream, map)?);
    Ok(())
}

/// A map that the stream does not have (yet) is a bad argument, in the log phase not found (`Context::getConstMap`).
/// This host sends no trailers of requests.
fn find(stream: &mut Stream, map: i32) -> Result<&mut Headers, Status> {
    if stream.phase == Phase::Done {
        return Err(Status::BadArgument);
    }
    let missing = if stream.phase == Phase::Log { Status::NotFound } else { Status::BadArgument };
    match map {
        REQUEST_HEADERS => Ok(&mut stream.request),
        RESPONSE_HEADERS => stream.response.as_mut().ok_or(missing),
        RESPONSE_TRAILERS => stream.trailers.as_mut().ok_or(missing),
        _ => Err(missing),
    }
}
