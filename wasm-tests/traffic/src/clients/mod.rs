//! The clients: when each of them sends a request.
//!
//! ```text
//! sessions   sessions that begin, go on and end          `stickiness: session`
//! users      the same users all the time                 `stickiness: user`
//! bots       single clients that send much               both
//! ```

mod bots;
mod sessions;
mod users;

use crate::scenario::{Population, Scenario};
use crate::service::Service;
use bots::BotClients;
use sessions::Sessions;
use users::Users;

/// All clients of a scenario.
pub(crate) struct Clients {
    people: People,
    bots: BotClients,
}

enum People {
    Sessions(Box<Sessions>),
    Users(Users),
}

impl Clients {
    pub(crate) fn new(scenario: &Scenario, service: &mut Service<'_>) -> Self {
        let rate = scenario.rate * scenario.share_of_people();
        let people = match scenario.population {
            Population::Sessions { length, gap } => {
                People::Sessions(Box::new(Sessions::new(rate, length, gap)))
            }
            Population::Users { count, groups, activity } => {
                let mut users = Users::new(rate, groups);
                users.add(count, activity, service);
                People::Users(users)
            }
        };
        Self { people, bots: BotClients::new(scenario, service) }
    }

    /// What they send in a second.
    pub(crate) fn second(&mut self, second: u32, service: &mut Service<'_>) {
        match &mut self.people {
            People::Sessions(sessions) => sessions.second(second, service),
            People::Users(users) => users.second(second, service),
        }
        self.bots.second(second, service);
    }
}
