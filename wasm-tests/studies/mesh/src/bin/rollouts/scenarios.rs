//! The rollouts of this study.

use mesh_studies::{Addition, Scenario};

pub(crate) const SCENARIOS: [Scenario; 14] = [
    Scenario::GOOD,
    Scenario::FAILS_1,
    Scenario::FAILS_5,
    Scenario::FAILS_50,
    Scenario::HANGS,
    Scenario::SLOW,
    Scenario {
        name: "the canary's pods end every two seconds",
        variables: [&[], &[]],
        addition: Addition::Crashes,
        expected: "rolledBack",
    },
    Scenario {
        name: "the canary fails every page of one user, who tries again at once",
        variables: [&[], &["SHOP_FAIL_USER=bob"]],
        addition: Addition::RetryLoop,
        expected: "promoted",
    },
    Scenario {
        name: "the canary fails 5 % of its pages; stable fails every page of one user, who tries again at once",
        variables: [&["SHOP_FAIL_USER=bob"], &["SHOP_FAIL_PERCENT=5"]],
        addition: Addition::RetryLoopOnStable,
        expected: "rolledBack",
    },
    Scenario::LOSES_SESSIONS_5,
    Scenario::LOSES_SESSIONS_1,
    Scenario::BOTH_HANG_1,
    Scenario::BOTH_FAIL_5,
    Scenario::AGE_BIAS,
];
