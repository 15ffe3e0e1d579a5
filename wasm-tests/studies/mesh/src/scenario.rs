//! What is wrong with a version, and how its rollout has to end.

#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// What is wrong, for the page.
    pub name: &'static str,
    /// The environment of the pods of v1 and of v2, besides what it is without a fault.
    pub variables: [&'static [&'static str]; 2],
    /// Who comes besides the shoppers, and what happens meanwhile.
    pub addition: Addition,
    /// Whether users move with the weight (`stickiness: user`), and lost sessions are failures all the same.
    pub has_moving_users: bool,
    /// The result that it has to have: `promoted`, `rolledBack`.
    pub expected: &'static str,
}

/// Who comes besides the shoppers, and what happens meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {
    None,
    /// A user of the canary whose pages all fail, and who tries again at once.
    RetryLoop,
    /// A user of stable whose pages all fail, and who tries again at once.
    RetryLoopOnStable,
    /// Sessions that began before the rollout and go on.
    OlderSessions,
    /// The pods of the canary end one after the other, again and again.
    Crashes,
    /// The pods of the canary are replaced in good order, again and again, while users come who stay for some seconds.
    Restarts,
    /// Users who stay for some seconds, in place of those who are quick.
    Regulars,
    /// Users who began before the rollout, and come back each few seconds, in place of those who are quick.
    ReturningUsers,
    /// Clients who leave before a response that takes long.
    LeavingClients,
    /// Clients who wait for a response that takes six seconds.
    LongPolls,
    /// Users who log in, twice where they are on the canary.
    Logins,
    /// One of nine pods of the canary stops for three seconds of each thirty.
    PausingPod,
}

/// The name of the user whom a page fails for.
pub const FAILING_USER: &str = "bob";

impl Scenario {
    /// A good canary.
    pub const GOOD: Self = Self::alike("nothing", [&[], &[]]);
    /// Both versions fail one page of a hundred.
    pub const BOTH_FAIL_1: Self = Self::alike(
        "both versions fail 1 % of their pages (a database that they share)",
        [&["SHOP_FAIL_PERCENT=1"], &["SHOP_FAIL_PERCENT=1"]],
    );
    /// Both versions fail five pages of a hundred.
    pub const BOTH_FAIL_5: Self = Self::alike(
        "both versions fail 5 % of their pages (a database that they share)",
        [&["SHOP_FAIL_PERCENT=5"], &["SHOP_FAIL_PERCENT=5"]],
    );
    /// First pages fail more often than later ones, and stable has users whose first page was long ago.
    pub const AGE_BIAS: Self = Self {
        name: "both versions fail 10 % of first pages, and sessions from before the rollout go on",
        variables: [&["SHOP_FAIL_NEW_PERCENT=10"], &["SHOP_FAIL_NEW_PERCENT=10"]],
        addition: Addition::OlderSessions,
        has_moving_users: false,
        expected: "promoted",
    };
    /// The canary fails one page of a hundred.
    pub const FAILS_1: Self = Self::broken("the canary fails 1 % of its pages", &["SHOP_FAIL_PERCENT=1"]);
    /// The canary fails five pages of a hundred.
    pub const FAILS_5: Self = Self::broken("the canary fails 5 % of its pages", &["SHOP_FAIL_PERCENT=5"]);
    /// The canary fails every second page.
    pub const FAILS_50: Self = Self::broken("the canary fails 50 % of its pages", &["SHOP_FAIL_PERCENT=50"]);
    /// The canary hangs with every fifth page.
    pub const HANGS: Self =
        Self::broken("the canary does not respond to 20 % of its pages", &["SHOP_HANG_PERCENT=20"]);

    /// The canary forgets the session with every twentieth page.
    pub const LOSES_SESSIONS_5: Self =
        Self::broken("the canary loses the session with 5 % of its pages", &["SHOP_FORGET_PERCENT=5"]);
    /// The canary forgets the session with every hundredth page.
    pub const LOSES_SESSIONS_1: Self =
        Self::broken("the canary loses the session with 1 % of its pages", &["SHOP_FORGET_PERCENT=1"]);

    /// The canary takes half a second longer for every tenth page.
    pub const SLOW: Self = Self::broken(
        "the canary takes half a second longer for 10 % of its pages",
        &["SHOP_SLOW_PERCENT=10"],
    );

    /// The same with what comes besides.
    #[must_use]
    pub const fn and(self, addition: Addition) -> Self {
        Self { addition, ..self }
    }

    /// Nothing is wrong with the canary.
    pub const fn alike(name: &'static str, variables: [&'static [&'static str]; 2]) -> Self {
        Self { name, variables, addition: Addition::None, has_moving_users: false, expected: "promoted" }
    }

    /// The canary is broken by these variables.
    pub const fn broken(name: &'static str, v2: &'static [&'static str]) -> Self {
        Self {
            name,
            variables: [&[], v2],
            addition: Addition::None,
            has_moving_users: false,
            expected: "rolledBack",
        }
    }
}
