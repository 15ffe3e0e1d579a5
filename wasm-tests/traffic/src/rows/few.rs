//! Few users who differ much, and little traffic. Both versions are alike.

use super::Expected::Few;
use super::{Row, at, each};
use crate::scenario::{Population, Scenario};

pub(super) fn rows() -> Vec<Row> {
    [differing(), little()].concat()
}

/// Users of whom a part fails more, whatever their version.
fn users(count: u32, share: f64, rate_of_those: f64) -> impl Fn(f64) -> Scenario {
    move |rate| {
        Scenario::users_of(rate, count).failing(0.003).with_unlucky(share, rate_of_those).with_hours(2)
    }
}

/// The same, a quarter of them on the canary from the first step on.
fn large_steps(count: u32, share: f64, rate_of_those: f64) -> impl Fn(f64) -> Scenario {
    let users = users(count, share, rate_of_those);
    move |rate| users(rate).with_plan(&[(25, 600), (50, 600)])
}

fn differing() -> Vec<Row> {
    let none = [at(5.0, 0.0), at(20.0, 0.0)];
    [
        each("few: 12 users, 30% of them fail 10%", Few, &none, users(12, 0.3, 0.1)),
        each("few: 60 users, 20% of them fail 10%", Few, &none, users(60, 0.2, 0.1)),
        each("few: 200 users, 10% of them fail 10%", Few, &none, users(200, 0.1, 0.1)),
        each("few: 1000 users, 5% of them fail 10%", Few, &none, users(1_000, 0.05, 0.1)),
        each("few: 12 users, 30% fail 10%, 25 and 50%", Few, &[at(5.0, 2.2)], large_steps(12, 0.3, 0.1)),
        each("few: 12 users, 30% fail 50%, 25 and 50%", Few, &[at(5.0, 2.6)], large_steps(12, 0.3, 0.5)),
        each("few: 30 users, 20% fail 10%, 25 and 50%", Few, &[at(5.0, 2.2)], large_steps(30, 0.2, 0.1)),
        each("few: 60 users, 20% fail 10%, 25 and 50%", Few, &[at(5.0, 1.2)], large_steps(60, 0.2, 0.1)),
        each("few: 200 users, 10% fail 10%, 25 and 50%", Few, &[at(5.0, 1.0)], large_steps(200, 0.1, 0.1)),
    ]
    .concat()
}

fn little() -> Vec<Row> {
    let day = |scenario: Scenario| scenario.with_hours(25);
    let users = move |count| move |rate| day(Scenario::users_of(rate, count).failing(0.003));
    [
        each("few: 12 users", Few, &[at(5.0, 0.0)], users(12)),
        each("few: 60 users", Few, &[at(5.0, 0.0)], users(60)),
        each("few: 60 users in 5 groups", Few, &[at(5.0, 0.0)], move |rate| {
            users(60)(rate).with(|scenario| {
                if let Population::Users { groups, .. } = &mut scenario.population {
                    *groups = 5;
                }
            })
        }),
        each("few: little traffic", Few, &[at(1.0 / 60.0, 0.0), at(0.3, 0.0)], move |rate| {
            day(Scenario::sessions(rate).failing(0.003))
        }),
    ]
    .concat()
}
