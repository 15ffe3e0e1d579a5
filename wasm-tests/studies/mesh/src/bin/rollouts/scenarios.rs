//! The rollouts of this study.

use mesh_studies::{Addition, Scenario};

/// Pages open a session in the place of one that their pod does not know, in both versions.
const REOPENS: &str = "SHOP_REOPEN_SESSIONS=true";

pub(crate) const SCENARIOS: [Scenario; 20] = [
    Scenario::GOOD,
    Scenario::FAILS_1,
    Scenario::FAILS_5,
    Scenario::FAILS_50,
    Scenario::HANGS,
    Scenario::SLOW,
    Scenario {
        expected: "rolledBack",
        ..Scenario::alike("the canary's pods end every two seconds", [&[], &[]])
    }
    .and(Addition::Crashes),
    Scenario {
        expected: "promoted",
        ..Scenario::broken(
            "the canary fails every page of one user, who tries again at once",
            &["SHOP_FAIL_USER=bob"],
        )
    }
    .and(Addition::RetryLoop),
    Scenario {
        variables: [&["SHOP_FAIL_USER=bob"], &["SHOP_FAIL_PERCENT=5"]],
        ..Scenario::broken(
            "the canary fails 5 % of its pages; stable fails every page of one user, who tries again at once",
            &[],
        )
    }
    .and(Addition::RetryLoopOnStable),
    Scenario::LOSES_SESSIONS_5,
    Scenario::LOSES_SESSIONS_1,
    Scenario {
        variables: [&[REOPENS], &[REOPENS, "SHOP_LINGER=3"]],
        ..Scenario::broken(
            "the canary's pods are replaced every six seconds, and have their sessions in memory",
            &[],
        )
    }
    .and(Addition::Restarts),
    Scenario {
        variables: [&[REOPENS], &[REOPENS]],
        has_moving_users: true,
        ..Scenario::broken(
            "the canary takes no session of stable, as with another sign key (`stickiness: user`)",
            &[],
        )
    }
    .and(Addition::ReturningUsers),
    Scenario::broken("the canary only logs users out after one second", &["SHOP_SESSION_SECONDS=1"])
        .and(Addition::Regulars),
    Scenario::alike("users of the canary log in twice as often", [&[], &[]]).and(Addition::Logins),
    Scenario::alike("clients leave pages of both versions before a response comes", [&[], &[]])
        .and(Addition::LeavingClients),
    Scenario::alike("clients of both versions wait for responses that take six seconds", [&[], &[]])
        .and(Addition::LongPolls),
    Scenario::alike("one of nine pods of the canary stops for three seconds of each thirty", [&[], &[]])
        .and(Addition::PausingPod),
    Scenario::BOTH_FAIL_5,
    Scenario::AGE_BIAS,
];
