//! The page with the figures.

use std::time::Duration;

use crate::deliveries::{self, DeliveryCost};
use crate::gateways;
use canary_release::status::EmbeddedAtScale;

pub(crate) fn page(gateways: &[(usize, Vec<Duration>)], deliveries: &[DeliveryCost]) -> String {
    format!(
        "# From `weight` to active\n\n<!-- Written by `./x bench-arrival`; do not edit. -->\n\n{}\n{}",
        of_gateways(gateways),
        of_deliveries(deliveries)
    )
}

fn of_gateways(rows: &[(usize, Vec<Duration>)]) -> String {
    let mut text = format!(
        "`canary-ctl weight N --wait` in a real mesh, from Enter until every gateway runs it and the program has ended: {} \
         changes each, no traffic. API server, istiod, gateways (Envoy 1.40 with its agent) and `canary-ctl` share one machine; each gateway is \
         asked through the API server.\n\n\
         | gateways | median | fastest | slowest |\n| ---: | ---: | ---: | ---: |\n",
        gateways::CHANGES
    );
    text.extend(rows.iter().map(|(gateways, took)| {
        let at = |place: usize| took.get(place).copied().unwrap_or_default().as_secs_f64();
        let last = took.len().saturating_sub(1);
        format!("| {gateways} | {:.2} s | {:.2} s | {:.2} s |\n", at(last / 2), at(0), at(last))
    }));
    text
}

fn of_deliveries(rows: &[DeliveryCost]) -> String {
    let mut text = format!(
        "## The module in the configuration, or in a registry\n\n\
         With `delivery.module: embedded` istiod sends the module with each weight to each proxy, with the URL of a registry \
         it does not. What that costs, with gateways that are simulated: each is a stream of istiod's (incremental xDS, without TLS), subscribes to \
         clusters, listeners, routes and the filter's configuration as a gateway does, and accepts what it gets. istiod, API server \
         and all gateways share two processors. {} changes a row, medians; istiod begins anew for each row, and admits few new streams a second, which is most of the last column. The releases of a row share one object.\n\n\
         | releases | gateways | module | to the last gateway | istiod sends | processor time of istiod | memory of istiod, at most | all \
         connect at once |\n| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n",
        deliveries::CHANGES
    );
    text.extend(rows.iter().map(|row| {
        format!(
            "| {} | {} | {} | {:.2} s | {} | {:.2} s | {:.0} MB | {:.2} s |\n",
            row.releases,
            row.proxies,
            if row.embedded { "embedded" } else { "registry" },
            row.arrival.as_secs_f64(),
            size(row.bytes),
            row.seconds,
            row.memory / 1e6,
            row.connected.as_secs_f64(),
        )
    }));
    text + &format!(
        "\nMost of what an embedded module costs is memory of istiod while it sends. `canary-ctl status` and `canary-ctl doctor` advise a registry from \
         {} proxies on, gateways and sidecars together: between 20, where it gains little, and 200. A registry has a price, too: it has to \
         respond when a new proxy starts ([the module in a registry](operations.md#the-module-in-a-registry)).\n",
        EmbeddedAtScale::PROXIES
    )
}

/// Bytes for people.
#[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
fn size(bytes: usize) -> String {
    let kilobytes = bytes as f64 / 1e3;
    if kilobytes < 1e3 { format!("{kilobytes:.0} kB") } else { format!("{:.1} MB", kilobytes / 1e3) }
}
