//! The numbers that our module and the proxy must agree about, compared with those of the reference SDK (crate `proxy-wasm`).

use proxy_wasm::types as sdk;

#[path = "../../../filter/module/src/types.rs"]
mod types;

#[test]
fn the_numbers_of_the_module_are_those_of_the_reference_sdk() {
    let numbers = [
        ("map of request headers", types::Map::Request as u32, sdk::MapType::HttpRequestHeaders as u32),
        ("map of response headers", types::Map::Response as u32, sdk::MapType::HttpResponseHeaders as u32),
        (
            "map of response trailers",
            types::Map::ResponseTrailers as u32,
            sdk::MapType::HttpResponseTrailers as u32,
        ),
        ("counter", types::Metric::Counter as u32, sdk::MetricType::Counter as u32),
        ("gauge", types::Metric::Gauge as u32, sdk::MetricType::Gauge as u32),
        ("histogram", types::Metric::Histogram as u32, sdk::MetricType::Histogram as u32),
        ("log level", types::Level::Warn as u32, sdk::LogLevel::Warn as u32),
        ("log level", types::Level::Error as u32, sdk::LogLevel::Error as u32),
        ("status", types::OK, sdk::Status::Ok as u32),
        ("buffer", types::PLUGIN_CONFIGURATION, sdk::BufferType::PluginConfiguration as u32),
    ];
    for (what, ours, theirs) in numbers {
        assert_eq!(ours, theirs, "{what}: the module's number, and the SDK's");
    }
}
