//! A shopper with a signed token, who gets the canary at every weight.

use crate::crowd::Crowd;
use crate::environment::{CANARY, DemoEnv};
use crate::error::Error;
use crate::shopper::Shopper;

/// A tester, and the version that served them at each weight.
#[derive(Debug)]
pub(crate) struct Tester {
    shopper: Shopper,
    /// The query of the link with the token, until it is used.
    link: Option<String>,
    versions: Vec<String>,
}

impl Tester {
    /// A tester with a token for the canary.
    pub(crate) async fn with_token(env: &DemoEnv, crowd: &mut Crowd) -> Result<Self, Error> {
        let token = env.ctl.run(&["token", "create", "--version", CANARY, "--ttl", "10m"]).await?;
        let link = Some(format!("?canary-token={}", token.trim()));
        Ok(Self { shopper: crowd.new_shopper(), link, versions: Vec::new() })
    }

    /// Shops at the current weight, by the link the first time.
    pub(crate) async fn shop(&mut self, crowd: &Crowd) {
        if let Some(link) = self.link.take() {
            let incidents = self.shopper.load_page(crowd.pool(), &link).await;
            crowd.stats().count_request(&self.shopper, incidents);
        }
        let incidents = self.shopper.add_item(crowd.pool()).await;
        crowd.stats().count_request(&self.shopper, incidents);
        self.versions.push(self.shopper.version().unwrap_or("none").to_owned());
    }

    /// The version at each weight.
    pub(crate) fn into_versions(self) -> Vec<String> {
        self.versions
    }
}
