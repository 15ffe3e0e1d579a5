//! From host and path to a release, as Envoy goes from host and path to a route.
//!
//! # Source
//! Envoy `route_components.proto`, `VirtualHost.domains`: exact, then longest `*.suffix`, then `*`; one virtual host is
//! chosen and there is no falling through to another. Istio sets `ignore_port_in_host_matching`, so ports do not count.

use super::Release;
use crate::contract::{ContractError, ReleaseConfig};
use crate::position_of;
use fnv::FnvHashMap;

/// Releases by host and path. (FNV: the keys of these maps come only from configurations, so a client cannot cause
/// collisions.)
#[derive(Debug, Default)]
pub(super) struct HostIndex {
    /// Indices into `paths` by host: exact names, and suffixes with their leading dot (`*.example.com` is `.example.com`,
    /// which is no host), both in lower case.
    hosts: FnvHashMap<Box<[u8]>, usize>,
    has_suffixes: bool,
    /// `*`.
    any: Option<usize>,
    paths: Vec<PathIndex>,
}

/// Releases of one host by path prefix.
#[derive(Debug, Default)]
struct PathIndex {
    by_prefix: FnvHashMap<Box<[u8]>, usize>,
    /// The lengths that prefixes have, longest first: one look-up for each, however many prefixes there are.
    lengths: Vec<usize>,
}

/// The longest host that is matched, RFC 1035 §2.3.4; longer ones match no release.
const MAX_HOST_LEN: usize = 255;

impl HostIndex {
    /// Adds a release after `others`. Fails if one of those has the same host and path already.
    pub(super) fn insert(
        &mut self,
        name: &str,
        config: &ReleaseConfig,
        others: &[Release],
    ) -> Result<(), ContractError> {
        for host in &config.hosts {
            let index = self.index_for(host);
            for path in &config.paths {
                let held = self.paths.get_mut(index).and_then(|paths| paths.insert(path, others.len()));
                if let Some(other) = held {
                    let other = others.get(other).map_or(name, |release| release.name.as_str()).to_owned();
                    let host = format!("{host}{path}");
                    return Err(ContractError::HostTaken { release: name.to_owned(), host, other });
                }
            }
        }
        Ok(())
    }

    /// The index of a configured host's paths, made where they are not there yet.
    fn index_for(&mut self, host: &str) -> usize {
        let next = self.paths.len();
        let index = match host.strip_prefix('*') {
            Some("") => *self.any.get_or_insert(next),
            suffix => {
                self.has_suffixes |= suffix.is_some();
                *self.hosts.entry(suffix.unwrap_or(host).as_bytes().into()).or_insert(next)
            }
        };
        if index == next {
            self.paths.push(PathIndex::default());
        }
        index
    }

    /// The release for a request's `:authority` and `:path`.
    pub(super) fn find(&self, authority: &[u8], path: &[u8]) -> Option<usize> {
        // Nearly always it is written as the configuration has it.
        let index = self.exact(authority).or_else(|| self.by_any_spelling(authority))?;
        self.paths.get(index)?.find(without_query(path))
    }

    fn exact(&self, host: &[u8]) -> Option<usize> {
        let is_suffix = host.first() == Some(&b'.');
        self.hosts.get(host).copied().filter(|_| !is_suffix)
    }

    fn by_any_spelling(&self, authority: &[u8]) -> Option<usize> {
        let mut buffer = [0; MAX_HOST_LEN];
        let host = lower_case(without_port(authority), &mut buffer)?;
        if let Some(index) = self.exact(host) {
            return Some(index);
        }
        if self.has_suffixes {
            let dots = host.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'.');
            for (dot, _) in dots {
                if let Some(index) = host.get(dot..).and_then(|suffix| self.hosts.get(suffix)) {
                    return Some(*index);
                }
            }
        }
        self.any
    }
}

impl PathIndex {
    fn insert(&mut self, prefix: &str, index: usize) -> Option<usize> {
        if let Err(place) = self.lengths.binary_search_by(|length| prefix.len().cmp(length)) {
            self.lengths.insert(place, prefix.len());
        }
        self.by_prefix.insert(prefix.as_bytes().into(), index)
    }

    fn find(&self, path: &[u8]) -> Option<usize> {
        self.lengths.iter().find_map(|length| self.by_prefix.get(path.get(..*length)?)).copied()
    }
}

/// The host without `:port`; brackets of an IPv6 address stay.
fn without_port(authority: &[u8]) -> &[u8] {
    match authority.iter().rposition(|byte| *byte == b':') {
        Some(colon) if authority.last() != Some(&b']') => authority.get(..colon).unwrap_or(authority),
        _ => authority,
    }
}

/// The path proper: neither query nor fragment, and nothing decoded.
fn without_query(path: &[u8]) -> &[u8] {
    let before = |path, mark| position_of(mark, path).and_then(|end| path.get(..end)).unwrap_or(path);
    before(before(path, b'?'), b'#')
}

/// The host in lower case; copied only when it is not that already.
fn lower_case<'a>(host: &'a [u8], buffer: &'a mut [u8; MAX_HOST_LEN]) -> Option<&'a [u8]> {
    if !host.iter().any(u8::is_ascii_uppercase) {
        return (host.len() <= MAX_HOST_LEN).then_some(host);
    }
    let copy = buffer.get_mut(..host.len())?;
    copy.copy_from_slice(host);
    copy.make_ascii_lowercase();
    Some(copy)
}
