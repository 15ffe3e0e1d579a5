//! What is wrong with a version, and how its rollout has to end.

/// A rollout.
pub(crate) struct Scenario {
    /// What is wrong, for the page.
    pub(crate) name: &'static str,
    /// The environment of the pods of v1 and of v2, besides what it is without a fault.
    pub(crate) variables: [&'static [&'static str]; 2],
    /// Who comes besides the shoppers, and what happens meanwhile.
    pub(crate) addition: Addition,
    /// The result that it has to have: `promoted`, `rolledBack`.
    pub(crate) expected: &'static str,
}

/// Who comes besides the shoppers, and what happens meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addition {
    /// Nothing.
    None,
    /// A user of the canary whose pages all fail, and who tries again at once.
    RetryLoop,
    /// Sessions that began before the rollout and go on.
    OlderSessions,
    /// The pods of the canary end one after the other, again and again.
    Crashes,
}

/// The name of the user whom a page fails for.
pub(crate) const FAILING_USER: &str = "bob";

const fn broken(name: &'static str, v2: &'static [&'static str]) -> Scenario {
    Scenario { name, variables: [&[], v2], addition: Addition::None, expected: "rolledBack" }
}

pub(crate) const SCENARIOS: [Scenario; 9] = [
    Scenario { name: "nothing", variables: [&[], &[]], addition: Addition::None, expected: "promoted" },
    broken("the canary fails 1 % of its pages", &["SHOP_FAIL_PERCENT=1"]),
    broken("the canary fails 5 % of its pages", &["SHOP_FAIL_PERCENT=5"]),
    broken("the canary fails 50 % of its pages", &["SHOP_FAIL_PERCENT=50"]),
    broken("the canary does not respond to 20 % of its pages", &["SHOP_HANG_PERCENT=20"]),
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
        name: "both versions fail 5 % of their pages (a database that they share)",
        variables: [&["SHOP_FAIL_PERCENT=5"], &["SHOP_FAIL_PERCENT=5"]],
        addition: Addition::None,
        expected: "promoted",
    },
    Scenario {
        name: "both versions fail 10 % of first pages, and sessions from before the rollout go on",
        variables: [&["SHOP_FAIL_NEW_PERCENT=10"], &["SHOP_FAIL_NEW_PERCENT=10"]],
        addition: Addition::OlderSessions,
        expected: "promoted",
    },
];
