//! What the processor has to do with Envoy's V8.

/// Whether the processor has memory protection keys, and the kernel gives them out.
pub fn has_protection_keys() -> bool {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = processors.lines().find_map(|line| line.strip_prefix("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "ospke"))
}
