//! Somebody with a signed token, whom no weight concerns.

use super::Error;
use super::crowd::Crowd;
use super::shopper::Shopper;
use super::stage::{CANARY, Stage};

/// A tester, and who served them at each weight.
pub(super) struct Tester {
    shopper: Shopper,
    link: Option<String>,
    versions: Vec<String>,
}

impl Tester {
    /// Gives somebody a link with a token that names the canary.
    pub(super) async fn invite(stage: &Stage, crowd: &mut Crowd) -> Result<Self, Error> {
        let token = stage.tool.run(&["token", "create", "--version", CANARY, "--ttl", "10m"]).await?;
        let link = Some(format!("?canary-token={}", token.trim()));
        Ok(Self { shopper: crowd.stranger(), link, versions: Vec::new() })
    }

    /// Shops at the weight that holds, by the link the first time.
    pub(super) async fn shop(&mut self, crowd: &Crowd) {
        if let Some(link) = self.link.take() {
            let incidents = self.shopper.arrive(crowd.client(), &link).await;
            crowd.ledger().note(&self.shopper, incidents);
        }
        let incidents = self.shopper.buy(crowd.client()).await;
        crowd.ledger().note(&self.shopper, incidents);
        self.versions.push(self.shopper.version().unwrap_or("nobody").to_owned());
    }

    /// The version at each weight.
    pub(super) fn into_versions(self) -> Vec<String> {
        self.versions
    }
}
