//! Two clusters, each with a control plane of its own: the recipe of `docs/reference/several-clusters.md` gives a user the same version in both.

use browser::load::ServedBy;
use browser::{Connection, Protocol, User};
use mesh_lab::{Lab, Options};
use tokio::task::block_in_place;
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

use crate::support::cli::Cli;
use crate::support::in_the_mesh;

const NAME: &str = "clusters";
const SESSIONS: usize = 40;

/// A cluster with the shop, and its operator.
struct Site {
    env: ShopEnv,
    cli: Cli,
}

impl Site {
    async fn set_up(lab: &Lab) -> Self {
        let env = ShopEnv::set_up(lab, NAME, &ShopEnvOptions::gateway()).await.unwrap();
        let release = env.release().unwrap().with("/spec/weight", "0").with("/spec/maxStep", "100");
        let cli = Cli::new(lab, &release);
        Self { env, cli }
    }

    async fn run(&self, line: &str) {
        self.cli.expect(line, 0, &[]).await;
    }

    /// New sessions at this gateway, each with its version.
    async fn open(&self) -> Vec<(User, String)> {
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            let mut user = self.env.user();
            let version = version(&mut user, "/cart/add?item=tea").await;
            sessions.push((user, version));
        }
        sessions
    }

    /// The sessions are presented at this gateway, as after a failover. Returns those that have another version there.
    async fn moved(&self, sessions: &mut [(User, String)]) -> Vec<String> {
        let mut moved = Vec::new();
        for (user, before) in sessions {
            user.swap_connection(&mut Connection::new(self.env.gateway, Protocol::Http1));
            // Twice: the application may begin another session with the first, and the pin is written with it.
            for _ in 0..2 {
                let after = version(user, "/cart").await;
                if after != *before {
                    moved.push(format!("{before} to {after}"));
                }
            }
        }
        moved
    }
}

async fn version(user: &mut User, path: &str) -> String {
    let response = user.navigate(path).await.unwrap();
    assert_eq!(response.status, 200, "{path}");
    ServedBy::by_shop(&response).version.expect("the shop says its version")
}

fn on_canary(sessions: &[(User, String)]) -> usize {
    sessions.iter().filter(|(_, version)| version == "v2").count()
}

/// What the recipe copies of an object, by its own commands.
async fn read(lab: &Lab, namespace: &str, resource: &str, name: &str) -> String {
    let object = lab.kubectl(&["get", resource, name, "-n", namespace, "-o", "json"]).await.unwrap();
    let recipe = include_str!("../../../docs/reference/several-clusters.md");
    let patch = recipe.lines().find_map(|line| line.trim().strip_prefix("kubectl patch --local "));
    let patch = patch.and_then(|line| line.strip_suffix(" |")).expect("the recipe of several clusters");
    let (options, change) = patch.split_once(" -p ").expect("a patch");
    let mut arguments = vec!["patch", "--local"];
    arguments.extend(options.split(' '));
    arguments.extend(["-p", change.trim_matches('\'')]);
    lab.kubectl_as("admin", &arguments, &object).await.unwrap()
}

async fn create(lab: &Lab, object: &str) {
    lab.kubectl_as("admin", &["create", "-f", "-"], object).await.unwrap();
}

#[test]
fn a_session_keeps_its_version_at_the_gateway_of_another_cluster_with_the_same_keys_and_record() {
    let other = Lab::start(Options::default()).map_err(|error| error.to_string()).expect("another lab");
    in_the_mesh(async |lab| {
        let first = Site::set_up(lab).await;
        // A canary that comes again has another epoch than in a cluster where it comes for the first time.
        for line in ["apply --wait", "weight 30 --wait", "rollback --now --skip-check moves-users"] {
            first.run(line).await;
        }
        first.run("apply --allow-rolled-back --skip-check moves-users --wait").await;
        let mut stable = first.open().await;
        assert_eq!(on_canary(&stable), 0, "at weight 0");
        first.run("weight 30 --wait").await;
        let mut sessions = first.open().await;
        assert_ne!(on_canary(&sessions), 0, "at weight 30");
        sessions.append(&mut stable);

        let keys = read(lab, &first.env.ingress, "secret", "canary-ctl-keys").await;
        let record = read(lab, NAME, "configmap", "shop-canary").await;
        let in_other = |steps: &mut (dyn FnMut(&Lab) + Send)| block_in_place(|| steps(&other));
        let mut second = None;
        in_other(&mut |other| {
            second = Some(other.run(async |lab| {
                let second = Site::set_up(lab).await;
                create(lab, &keys).await;
                create(lab, &record).await;
                second.run("recover --accept-record").await;
                second.run("apply --skip-check moves-users --wait").await;
                assert_eq!(second.moved(&mut sessions).await, [] as [String; 0], "after the recipe");
                let mut begun = second.open().await;
                assert_ne!(on_canary(&begun), 0, "the weight of the record");
                sessions.append(&mut begun);
                second
            }));
        });
        let second = second.expect("it was set up");
        assert_eq!(first.moved(&mut sessions).await, [] as [String; 0], "back at the first");

        first.run("weight 60 --wait").await;
        assert_eq!(first.moved(&mut sessions).await, [] as [String; 0], "the first is raised");
        sessions.append(&mut first.open().await);
        in_other(&mut |other| {
            other.run(async |_| {
                assert_eq!(second.moved(&mut sessions).await, [] as [String; 0], "the second is not yet");
                second.run("weight 60 --wait").await;
                assert_eq!(second.moved(&mut sessions).await, [] as [String; 0], "both are raised");
            });
        });
    });
}
