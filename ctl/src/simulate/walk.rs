//! The plan, step by step, from the histogram alone.

use super::{Census, WeightSchedule};
use assignment::Weight;
use assignment::contract::Stickiness;
use canary_release::stats::{Verdict, as_f64, wilson};

/// The effect of one weight on these users.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The weight that is set.
    pub weight: Weight,
    /// Users on the canary who are assigned at this weight.
    pub canary: u64,
    /// Their share, `0.0..=1.0`.
    pub share: f64,
    /// The share's 95 % interval.
    pub interval: (f64, f64),
    /// The users who move when it is set.
    pub movement: Movement,
    /// Whether the share fits the weight.
    pub verdict: Verdict,
}

/// Users whom a step moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Movement {
    /// From stable to the canary.
    pub to_canary: u64,
    /// From the canary back to stable.
    pub to_stable: u64,
}

/// Walks the plan, from weight 0: before the first step all users are on stable.
///
/// With `stickiness: session` no user moves: the share is that of the sessions which begin at that weight.
pub fn walk(census: &Census, plan: &WeightSchedule, stickiness: Stickiness) -> Vec<Step> {
    let mut before = 0;
    let step = |weight: &Weight| {
        let (canary, users) = (census.on_canary(*weight), census.users());
        // The canary is an interval of buckets that grows and shrinks at one end, so a difference of counts is the
        // number of movers.
        let movement = match stickiness {
            Stickiness::Session => Movement::default(),
            Stickiness::User => Movement {
                to_canary: canary.saturating_sub(before),
                to_stable: before.saturating_sub(canary),
            },
        };
        before = canary;
        Step {
            weight: *weight,
            canary,
            share: if users == 0 { 0.0 } else { as_f64(canary) / as_f64(users) },
            interval: wilson(canary, users),
            movement,
            verdict: Verdict::of_share(canary, users, weight.as_fraction()),
        }
    };
    plan.weights().iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Progress, Rules};
    use super::*;

    fn steps(plan: &str, stickiness: Stickiness) -> Vec<Step> {
        let keys: Vec<String> = (0..10_000).map(|number| format!("user-{number}")).collect();
        let rules = Rules::of_lines("shop/shop/v2");
        let census = Census::take(
            keys.join(
                "
",
            )
            .as_bytes(),
            &rules,
            &mut Progress::hidden(),
        )
        .unwrap();
        walk(&census, &plan.parse().unwrap(), stickiness)
    }

    #[test]
    fn the_users_who_move_up_are_those_who_move_back_down() {
        let steps = steps("0,10,50,10,0", Stickiness::User);
        let counts: Vec<u64> = steps.iter().map(|step| step.canary).collect();
        assert_eq!((counts[0], counts[4]), (0, 0));
        assert_eq!(counts[1], counts[3]);
        assert_eq!(steps[2].movement, Movement { to_canary: counts[2] - counts[1], to_stable: 0 });
        assert_eq!(steps[3].movement, Movement { to_canary: 0, to_stable: counts[2] - counts[3] });
        for step in &steps {
            assert!(!step.verdict.is_deviation(), "{step:?}");
            assert!(step.interval.0 <= step.share, "{step:?}");
            assert!(step.share <= step.interval.1, "{step:?}");
        }
    }

    #[test]
    fn sessions_never_move() {
        let steps = steps("0,100,0", Stickiness::Session);
        for step in &steps {
            assert_eq!(step.movement, Movement::default(), "{step:?}");
        }
        assert_eq!(steps[1].canary, 10_000);
    }

    #[test]
    fn the_first_step_starts_from_stable() {
        let steps = steps("100", Stickiness::User);
        assert_eq!(steps[0].movement, Movement { to_canary: 10_000, to_stable: 0 });
    }
}
