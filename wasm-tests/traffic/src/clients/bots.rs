//! Single clients that send much, at one rate. Where sessions are sticky they begin a new one each 15 minutes.

use crate::scenario::{Population, Scenario};
use crate::service::{Client, Service};

/// Seconds of a bot's session.
const SESSION: f64 = 900.0;
const BUCKETS: f64 = 1e4;
const GROUPS: u8 = 16;
const LATER: u32 = u32::MAX;

struct Bot {
    client: Client,
    /// Requests a second.
    rate: f64,
    bucket: f64,
    /// When its session began. The first one begins with the rollout.
    since: u32,
    /// The second in which its next session begins.
    renewed_at: f64,
}

/// All bots of a scenario.
pub(crate) struct BotClients {
    bots: Vec<Bot>,
    has_sessions: bool,
}

impl BotClients {
    pub(crate) fn new(scenario: &Scenario, service: &mut Service<'_>) -> Self {
        let has_sessions = matches!(scenario.population, Population::Sessions { .. });
        let each = scenario.bots.iter().flat_map(|bots| (0..bots.count).map(move |_| bots));
        let bots = each.map(|bots| Bot {
            client: Client { rate: Some(bots.rate), ..service.client(GROUPS) },
            rate: bots.share * scenario.rate,
            bucket: (service.random.unit() * BUCKETS).floor(),
            since: 0,
            renewed_at: service.random.between(0.0, SESSION),
        });
        Self { bots: bots.collect(), has_sessions }
    }

    pub(crate) fn second(&mut self, second: u32, service: &mut Service<'_>) {
        for bot in &mut self.bots {
            if self.has_sessions {
                bot.renew(second, service);
                bot.client.is_counted = bot.since >= service.counted_since;
            } else {
                bot.client.is_canary = bot.bucket < f64::from(service.weight);
            }
            let sent = service.random.poisson(bot.rate * service.scenario.load(second));
            for _ in 0..sent {
                let at = f64::from(second) + service.random.unit();
                service.request(&mut bot.client, LATER, at);
            }
        }
    }
}

impl Bot {
    /// Begins a session, if it is time.
    fn renew(&mut self, second: u32, service: &mut Service<'_>) {
        if f64::from(second) < self.renewed_at {
            return;
        }
        self.client = Client { rate: self.client.rate, ..service.client(GROUPS) };
        self.since = second;
        self.renewed_at += SESSION;
    }
}
