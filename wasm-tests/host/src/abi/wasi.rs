//! The few WASI calls that Envoy offers and a Rust module may use: randomness, time, standard output, an empty environment.

use wasmtime::{Caller, Linker};

use super::{Status, Stop, answer};
use crate::state::{LogLevel, LogLine, State};

const WASI: &str = "wasi_snapshot_preview1";

/// `errno` "function not supported", as a host without the call would answer.
const NOT_SUPPORTED: i32 = 52;

type Host<'a> = Caller<'a, State>;

pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(WASI, "random_get", |mut c: Host<'_>, buffer, length: i32| {
        let Some(random) = &mut c.data_mut().random else { return Ok(NOT_SUPPORTED) };
        let mut bytes = vec![0; usize::try_from(length.cast_unsigned()).unwrap_or_default()];
        random.fill(&mut bytes);
        answer(c, "random_get", |call| call.write(buffer, &bytes))
    })?;
    linker.func_wrap(WASI, "clock_time_get", |c: Host<'_>, _clock: i32, _precision: i64, out| {
        answer(c, "clock_time_get", |call| {
            let now = call.state().proxy.now();
            call.write_u64(out, now)
        })
    })?;
    for name in ["environ_sizes_get", "args_sizes_get"] {
        linker.func_wrap(WASI, name, move |c: Host<'_>, count, size| {
            answer(c, name, |call| {
                call.write_u32(count, 0)?;
                call.write_u32(size, 0)
            })
        })?;
    }
    for name in ["environ_get", "args_get"] {
        linker
            .func_wrap(WASI, name, move |c: Host<'_>, _list: i32, _bytes: i32| answer(c, name, |_| Ok(())))?;
    }
    linker.func_wrap(WASI, "proc_exit", |c: Host<'_>, code: i32| -> wasmtime::Result<()> {
        answer(c, "proc_exit", |_| Err(Stop::Trap(wasmtime::Error::msg(format!("proc_exit({code})")))))
            .map(drop)
    })?;
    link_output(linker)
}

/// Standard output and error become log lines, as in Envoy.
fn link_output(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.func_wrap(WASI, "fd_write", |c: Host<'_>, fd: i32, vectors: i32, count: i32, out| {
        answer(c, "fd_write", |call| {
            let level = match fd {
                1 => LogLevel::Info,
                2 => LogLevel::Error,
                _ => return Err(Status::BadArgument.into()),
            };
            let table = call.read(vectors, count.saturating_mul(8))?;
            let mut text = Vec::new();
            for vector in table.chunks_exact(8) {
                let (address, length) = vector.split_at(4);
                let number = |bytes: &[u8]| bytes.try_into().map(i32::from_le_bytes).unwrap_or_default();
                text.extend(call.read(number(address), number(length))?);
            }
            call.write_u32(out, u32::try_from(text.len()).map_err(|_| Status::InternalFailure)?)?;
            let message = String::from_utf8_lossy(&text).into_owned();
            call.state().logs.push(LogLine { level, message });
            Ok(())
        })
    })?;
    Ok(())
}
