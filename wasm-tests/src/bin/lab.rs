//! `./x lab`: a real Kubernetes with Istio and the demo shop on this machine, until Ctrl-C.

use std::process::ExitCode;

use clap::Parser;
use mesh_lab::{Kubernetes, Lab, LabError, Options};
use wasm_tests::mesh::{ShopEnv, ShopEnvOptions};

/// Run a real Kubernetes and a real Istio with the demo shop on this machine, until Ctrl-C
#[derive(Debug, Parser)]
struct Arguments {
    /// Envoy of the gateway, by its minor version
    #[arg(long, default_value = "1.40", value_name = "MINOR")]
    envoy: String,
    /// Leave the shop's pods without sidecars
    #[arg(long)]
    no_sidecars: bool,
    /// Port on 127.0.0.1 that leads to the gateway
    #[arg(long, default_value_t = 8080, value_name = "PORT")]
    port: u16,
    /// Port on 127.0.0.1 that leads to the API server
    #[arg(long, default_value_t = 6443, value_name = "PORT")]
    api_port: u16,
    /// Further values of Istio's charts, e.g. meshConfig.enableAutoMtls=false
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<(), LabError> {
    let lab = Lab::start(Options { settings: arguments.settings, ..Options::default() })?;
    let options = ShopEnvOptions {
        envoy: arguments.envoy,
        sidecars: !arguments.no_sidecars,
        ..ShopEnvOptions::default()
    };
    let env = lab.run(async |lab| ShopEnv::of_the_examples(lab, &options).await)?;
    let gateway = lab.forward(arguments.port, env.gateway)?;
    let kubeconfig = lab.forward_api(arguments.api_port)?;
    let kubectl = Kubernetes::kubectl_path()?;
    let kubectl = kubectl.display();
    say(&format!(
        "the shop has no route yet: canary-ctl makes one\n\n\
         export KUBECONFIG={}\n\
         {kubectl} get pods --all-namespaces\n\
         curl -i http://{gateway}/ -H 'host: shop.example.com'\n\
         nsenter --net --target {} curl -s http://{}/     # from inside the lab's network\n\n\
         file://{} is the filter, for delivery.module; the logs are in {}\n\
         A program of your own needs no image but a `command` and a ConfigMap: examples/own-program/app.yaml\n\
         Ctrl-C ends it.",
        kubeconfig.display(),
        lab.process(),
        env.gateway,
        Lab::FILTER,
        lab.logs().display(),
    ));
    lab.run(async |_| wait().await);
    say("ending the lab");
    Ok(())
}

/// Waits for Ctrl-C or SIGTERM.
async fn wait() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[expect(clippy::print_stderr, reason = "what a person needs to know, beside what kubectl prints")]
fn say(text: &str) {
    eprintln!("{text}");
}
