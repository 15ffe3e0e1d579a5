//! Charts of one feature each and the scaffold of `helm create`, side by side behind two gateways, each a release of its own: installed by
//! Helm alone, adopted, a canary at weight 0, 20 %, promoted, finished, the next version; and that one rolled back, and all of it
//! uninstalled. No request fails, no cart is lost, no pod that stays is replaced, and no object is left.
//!
//! They take each step at the same time: most of it is waiting.

mod charts;
mod walk;

use super::running_chart::nothing_is_lost;
use crate::support::in_the_mesh;
use crate::support::metrics_api::MetricsApi;
use charts::{AUTOSCALED, CHARTS, ChartCase, LOAD};
use futures_util::future::join_all;
use mesh_lab::Lab;
use std::ops::RangeInclusive;
use std::time::Instant;
use walk::{Place, Walk};
use wasm_tests::scenario::{Faults, LoadHandle, Sessions};

pub(crate) use charts::images;

/// Of all charts, at a time: enough that some are on the canary at 20 %, and some are not.
const SESSIONS: usize = 44;
/// What `canary-ctl uninstall` leaves: the signing keys, with which sessions go on if the release is applied again.
const KEYS: [&str; 2] = ["secret/canary-ctl-keys", "secret/canary-ctl-record-keys"];

/// Both Helms: twinned objects, pods that an autoscaler counts, a hook.
const IN_THE_GATE: [&str; 3] = ["configuration", AUTOSCALED, "migration"];

#[test]
fn three_charts_go_to_the_next_version_and_back_without_a_lost_cart() {
    walk_in_the_mesh("walks", |chart| IN_THE_GATE.contains(&chart.name));
}

#[test]
#[ignore = "a variant of another test: ./x test long"]
fn charts_of_one_feature_each_go_to_the_next_version_and_back_without_a_lost_cart() {
    walk_in_the_mesh("all-walks", |_| true);
}

fn walk_in_the_mesh(namespace: &str, takes_part: fn(&ChartCase) -> bool) {
    in_the_mesh(async |lab| {
        let metrics = MetricsApi::serve(lab, AUTOSCALED, &LOAD).await;
        let charts: Vec<_> = CHARTS.iter().filter(|chart| takes_part(chart)).collect();
        tokio::select! {
            () = Box::pin(walk_all(lab, namespace, &charts)) => {}
            () = metrics.measure() => {}
        }
    });
}

async fn walk_all(lab: &Lab, namespace: &str, charts: &[&'static ChartCase]) {
    let other = format!("{namespace}-too");
    let (one, other) = tokio::join!(Place::set_up(lab, namespace), Place::set_up(lab, &other));
    let places = [one, other];
    let mut charts = AllCharts::install(&places, charts).await;
    charts.shop("installed", 0..=0).await;
    charts.under_load("adopted", async |walk| walk.adopts().await).await;
    charts.under_load("applied", async |walk| walk.applies().await).await;
    charts.under_load("the canary came", async |walk| walk.deploys_beside("v1", "v2").await).await;
    charts.under_load("20%", async |walk| walk.runs("weight 20 --wait").await).await;
    charts.shop("at 20%", 1..=charts.per_shopping() - 1).await;
    charts.under_load("promoted", async |walk| walk.runs("promote --wait").await).await;
    charts.shop("promoted", charts.per_shopping()..=charts.per_shopping()).await;
    charts.end("v1");
    charts.under_load("finished", async |walk| walk.finishes("v2").await).await;

    charts.under_load("the next is applied", async |walk| walk.begins_next("v2", "v3").await).await;
    charts.under_load("the next came", async |walk| walk.deploys_beside("v2", "v3").await).await;
    charts.under_load("20% of the next", async |walk| walk.runs("weight 20 --wait").await).await;
    charts.shop("at 20% of the next", 1..=charts.per_shopping() - 1).await;
    charts.end("v3");
    charts.under_load("rolled back", async |walk| walk.goes_back("v2", "v3").await).await;
    charts.end_releases().await;
    charts.each(async |walk| walk.uninstalls().await).await;
    for place in &places {
        place.is_clean_but_for(&KEYS).await;
    }
}

/// All charts, and the users of all of them, by gateway: those of one take turns on connections.
struct AllCharts<'p> {
    walks: Vec<Walk<'p>>,
    sessions: [Sessions; 2],
    begun: Instant,
}

impl<'p> AllCharts<'p> {
    async fn install(places: &'p [Place<'p>; 2], charts: &[&'static ChartCase]) -> Self {
        let charts = charts.iter().zip(places.iter().cycle());
        let walks = join_all(charts.map(|(chart, place)| Walk::install(place, chart))).await;
        Self { walks, sessions: Default::default(), begun: Instant::now() }
    }

    fn behind(&self, gateway: usize) -> impl Iterator<Item = &Walk<'p>> {
        self.walks.iter().skip(gateway).step_by(2)
    }

    fn sessions_of_each(&self) -> usize {
        SESSIONS / self.walks.len()
    }

    fn per_shopping(&self) -> u64 {
        (self.walks.len() * self.sessions_of_each()) as u64
    }

    async fn each(&mut self, step: impl AsyncFn(&mut Walk<'p>)) {
        join_all(self.walks.iter_mut().map(|walk| step(walk))).await;
    }

    /// A step of each, while users of each ask for their carts.
    async fn under_load(&mut self, when: &str, step: impl AsyncFn(&mut Walk<'p>)) {
        let moving = self.start_load();
        self.each(step).await;
        self.lose_nothing(moving, when).await;
    }

    /// One after the other behind each gateway: each takes seconds, and the last would not wait for all.
    async fn end_releases(&mut self) {
        let moving = self.start_load();
        let end = async |gateway: usize| {
            for walk in self.behind(gateway) {
                walk.runs("uninstall --skip-check moves-users").await;
            }
        };
        tokio::join!(end(0), end(1));
        self.lose_nothing(moving, "released no more").await;
    }

    fn start_load(&mut self) -> [LoadHandle; 2] {
        let some = SESSIONS / 4;
        self.sessions.each_mut().map(|sessions| sessions.start_load(some))
    }

    async fn lose_nothing(&mut self, moving: [LoadHandle; 2], when: &str) {
        for (sessions, moving) in self.sessions.iter_mut().zip(moving) {
            nothing_is_lost(sessions, moving, when).await;
        }
        println!("{:>5.1} s: {when}", self.begun.elapsed().as_secs_f32());
    }

    /// New users of each put something into carts; so many of them are on the canary.
    async fn shop(&mut self, when: &str, on_canary: RangeInclusive<u64>) {
        let mut found = 0;
        for gateway in [0, 1] {
            let users =
                (0..self.sessions_of_each()).flat_map(|_| self.behind(gateway).map(Walk::user)).collect();
            let (some, faults) = self.sessions[gateway].open(users).await;
            assert_eq!(faults.but_closed(), Faults::default(), "{when}");
            found += some;
        }
        assert!(on_canary.contains(&found), "{when}: {found} on the canary, expected {on_canary:?}");
    }

    /// The sessions of a version end.
    fn end(&mut self, version: &str) {
        let ended: usize =
            self.sessions.iter_mut().map(|sessions| sessions.remove_version(version).count()).sum();
        let live: usize = self.sessions.iter().map(Sessions::count).sum();
        println!("{ended} sessions ended on {version}, {live} live");
    }
}
