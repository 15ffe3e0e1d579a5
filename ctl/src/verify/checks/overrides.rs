//! Whether testers reach the version that they choose, and are on their own version again afterwards.

use super::{Check, CheckContext};
use crate::token;
use crate::verify::client::{ClientError, Lines};
use crate::verify::jar::{cookie_line, with_cookie};
use crate::verify::population::{User, navigation};
use assignment::contract::OverrideMode;

const NAME: &str = "override";

/// The life of the token that is signed for this check, in seconds.
const TOKEN_LIFE: u64 = 300;

pub(super) async fn check(context: &CheckContext<'_>) -> Result<Vec<Check>, ClientError> {
    let Some(release) = context.expected.release() else { return Ok(Vec::new()) };
    let Some((tester, target)) = tester(context) else {
        return Ok(vec![Check::skipped(NAME, "needs a canary, and a user whose version is known")]);
    };
    let carriers = match release.override_mode {
        OverrideMode::Off => {
            return Ok(vec![Check::skipped(NAME, "`override: off`; that it is off is tried below")]);
        }
        OverrideMode::Open => {
            vec![OverrideCarrier::header(&context.expected.policy().headers.overrides, target)]
        }
        OverrideMode::Token if !context.expected.has_keys => {
            return Ok(vec![Check::skipped(
                NAME,
                "needs the proxies' keys to sign a token: `--signing-keys FILE`",
            )]);
        }
        OverrideMode::Token => match by_token(context, target) {
            Ok(carriers) => carriers,
            Err(error) => return Ok(vec![Check::skipped(NAME, error.to_string())]),
        },
    };
    let mut checks = Vec::new();
    for carrier in carriers {
        checks.push(carrier.check(context, tester, target).await?);
    }
    Ok(checks)
}

/// A user, and the version that is not theirs.
fn tester<'a>(context: &CheckContext<'a>) -> Option<(&'a User, &'a str)> {
    let (canary, _) = context.expected.canary()?;
    let stable = context.expected.stable();
    let on_stable = context.users_on(stable).next().map(|user| (user, canary));
    on_stable.or_else(|| context.users_on(canary).next().map(|user| (user, stable)))
}

/// One kind of override.
struct OverrideCarrier {
    name: String,
    lines: Lines,
    cookie: Option<(String, String)>,
    query: Option<String>,
}

impl OverrideCarrier {
    fn header(name: &str, value: &str) -> Self {
        let lines = vec![(name.to_owned(), value.to_owned())];
        Self { name: format!("{NAME} by header"), lines, cookie: None, query: None }
    }

    async fn check(
        &self,
        context: &CheckContext<'_>,
        tester: &User,
        target: &str,
    ) -> Result<Check, ClientError> {
        let mut pairs = tester.jar.pairs();
        if let Some((name, value)) = &self.cookie {
            pairs = with_cookie(&pairs, name, value);
        }
        let mut lines = navigation();
        lines.extend(self.lines.clone());
        lines.extend(cookie_line(&pairs));
        let path = self.query.as_ref().map(|query| {
            let own = context.client.path_and_query();
            format!("{own}{}{query}", if own.contains('?') { '&' } else { '?' })
        });
        let response = context.client.ask(&lines, path.as_deref()).await?;
        if response.version.as_deref() != Some(target) {
            return Ok(Check::of(&self.name, false, format!("asked for {target}, got {}", response.seen())));
        }
        // What a browser would have kept of it must not keep the tester there.
        let mut after = tester.clone();
        let token = context.expected.release().and_then(|release| release.token.as_ref());
        let is_token =
            |line: &&String| token.is_some_and(|token| line.starts_with(&format!("{}=", token.cookie.name)));
        let others: Vec<String> =
            response.set_cookies.iter().filter(|line| !is_token(line)).cloned().collect();
        after.jar.keep(&others);
        let back = after.visit(context.client).await?;
        let (own, then) = (tester.version().unwrap_or("?"), back.seen());
        if after.jar.pairs().is_empty() {
            return Ok(Check::of(&self.name, true, format!("{target} when asked for")));
        }
        Ok(Check::of(
            &self.name,
            then == own,
            format!("{target} when asked for, {then} again without (own: {own})"),
        ))
    }
}

fn by_token(context: &CheckContext<'_>, target: &str) -> Result<Vec<OverrideCarrier>, token::IssueError> {
    let (policy, now) = (context.expected.policy(), context.expected.now);
    let Some(release) = context.expected.release() else { return Ok(Vec::new()) };
    let issued = token::issue(policy, release, target, TOKEN_LIFE, (now, now))?;
    let parameter = release.token.as_ref().map_or("", |token| token.query.as_str());
    let by = |carrier: &str| format!("{NAME} by token {carrier}");
    Ok(vec![
        OverrideCarrier { name: by("header"), ..OverrideCarrier::header(&issued.header, &issued.token) },
        OverrideCarrier {
            name: by("cookie"),
            lines: Vec::new(),
            cookie: Some((issued.cookie.clone(), issued.token.clone())),
            query: None,
        },
        OverrideCarrier {
            name: by("link"),
            lines: Vec::new(),
            cookie: None,
            query: Some(format!("{parameter}={}", issued.token)),
        },
    ])
}
