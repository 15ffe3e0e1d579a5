//! Whether cookies count wherever they stand: HTTP/1.1 clients and proxies may split them over several lines.

use super::{Check, CheckContext};
use crate::verify::client::{ClientError, Lines};
use crate::verify::population::{User, navigation};

const NAME: &str = "two cookie lines";

/// The number of users of each version that are asked.
const SAMPLE: usize = 5;

pub(super) async fn check(context: &CheckContext<'_>) -> Result<Check, ClientError> {
    let Some((canary, _)) = context.expected.canary() else {
        return Ok(Check::skipped(NAME, "no version is the canary"));
    };
    let has_cookies = |user: &&User| !user.jar.pairs().is_empty();
    let stable = context.users_on(context.expected.stable()).filter(has_cookies).take(SAMPLE);
    let canary_users = context.users_on(canary).filter(has_cookies).take(SAMPLE);
    let users: Vec<&User> = canary_users.chain(stable).collect();
    let mut seen: Vec<&str> = users.iter().filter_map(|user| user.version()).collect();
    seen.dedup();
    if seen.len() < 2 {
        let weight = context.expected.weight();
        return Ok(Check::skipped(
            NAME,
            format!("needs users with cookies on both versions; the weight is {weight}"),
        ));
    }
    for user in &users {
        for lines in spellings(user) {
            let response = context.client.ask(&lines, None).await?;
            if response.version.as_deref() != user.version() {
                let (own, got) = (user.version().unwrap_or("?"), response.seen());
                return Ok(Check::of(NAME, false, format!("a user of {own} got {got} with split cookies")));
            }
        }
    }
    Ok(Check::of(NAME, true, format!("{} users kept their version with split cookies", users.len())))
}

/// Our cookies after a line with a foreign cookie, and every cookie on a line of its own.
fn spellings(user: &User) -> [Lines; 2] {
    let pairs = user.jar.pairs();
    let line = |name: &str, value: &str| ("cookie".to_owned(), format!("{name}={value}"));
    let mut behind = navigation();
    behind.push(line("theme", "dark"));
    behind.extend(crate::verify::jar::cookie_line(&pairs));
    let mut apart = navigation();
    apart.extend(pairs.iter().map(|(name, value)| line(name, value)));
    [behind, apart]
}
