# The recipes. `./x RECIPE` gets `just` itself and runs them; the logic is in tools/.

# List the recipes.
default:
    @just --list --unsorted

# Run the whole tool on this machine: Envoy, a shop in two versions, shoppers (--once: all weights and checks, then end).
[group('use')]
demo *ARGS:
    @tools/demo.sh {{ ARGS }}

# Start a real Kubernetes and Istio with the demo shop, for kubectl, curl and canary-ctl, until Ctrl-C.
[group('use')]
lab *ARGS:
    @tools/lab-run.sh {{ ARGS }}

# Build the filter to target/wasm/canary_filter.wasm.
[group('build')]
wasm:
    @tools/wasm.sh

# Build the filter and what is published of this commit twice, in two folders, and compare: one commit, the same bytes (many minutes).
[group('build')]
reproduce *FLAGS:
    @tools/reproduce.sh {{ FLAGS }}

# Build the command-line tool, with the filter in it, and the demo shop.
[group('build')]
build: wasm
    cargo build --locked -p canary-ctl -p demo-shop

# Build what is published of canary-ctl, static and small, into dist/, and try it (minutes; --quick: what ./x test tries).
[group('build')]
dist *ARGS:
    @tools/dist.sh {{ ARGS }}

# Build the real Kubernetes and Istio that the mesh tests and the lab run, into .tools/lab (long, once).
[group('build')]
lab-tools:
    @tools/lab.sh

# Build the documentation site from the pages of the repository, into target/site/book (minutes the first time).
[group('build')]
site:
    @tools/site.sh

# Install every Envoy that the tests use, into .tools/envoy.
[group('build')]
envoys:
    @EVERY_ENVOY=1 tools/envoy.sh

# Unpack Debian's nginx, a cache of the tests, into .tools/nginx.
[group('build')]
nginx:
    @tools/nginx.sh

# Install Debian's headless Chromium, in which the dashboard is tested.
[group('build')]
chromium:
    @tools/chromium.sh

# Unpack Debian's Prometheus, for the tests of alerts and dashboards, into .tools/prometheus.
[group('build')]
prometheus:
    @tools/prometheus.sh

# Unpack Debian's registry of images, for the lab and the test of saved images, into .tools/docker-registry.
[group('build')]
registry:
    @tools/registry.sh

# Run everything that has to pass: check, then all tests; or a part of it, `quick` or `mesh`; or `long`, variants of tests of the mesh.
[group('test')]
test PART='all':
    @tools/test.sh {{ PART }}

# Check format, lints and documentation.
[group('test')]
check:
    @tools/check.sh

# Run the quick tests: those without Envoy.
[group('test')]
unit: wasm
    cargo test --locked -p assignment -p contract -p canary-filter -p canary-release -p canary-operations -p cookie-jar -p canary-dashboard -p canary-ctl -p demo-shop -p demo

# Check the studies behind the ./x bench-… commands, and run their tests.
[group('test')]
studies:
    cargo clippy --manifest-path wasm-tests/studies/Cargo.toml --all-targets --locked -- -D warnings
    cargo test --manifest-path wasm-tests/studies/Cargo.toml --locked --target-dir target

# Feed the filter with random configurations, cookies, tokens and pins.
[group('test')]
fuzz SECONDS='60': wasm
    FUZZ_SECONDS={{ SECONDS }} cargo test --locked -p wasm-tests --test fuzz -- --nocapture

# Change the code one expression at a time and list what no unit test notices (hours; --shard 0/20 for a part).
[group('test')]
mutants *ARGS:
    @tools/mutants.sh {{ ARGS }}

# Compare the filter's cost with its alternatives and write docs/benchmarks.md.
[group('test')]
bench *ARGS:
    @tools/bench.sh {{ ARGS }}

# Measure from `canary-ctl weight` to active, and what an embedded module costs istiod, in a real mesh, and write docs/arrival.md.
[group('test')]
bench-arrival:
    @tools/bench-arrival.sh

# Take the pictures of the dashboard, docs/dashboard.png and docs/dashboard-dark.png, from the demo's page.
[group('test')]
dashboard-pictures:
    @tools/dashboard-pictures.sh

# Write the output in docs/five-minutes.md and the recording, docs/pictures/terminal.svg, from what the tool prints.
[group('test')]
recording:
    @tools/recording.sh

# Simulate rollouts, good ones and bad ones, and write docs/evidence.md.
[group('test')]
bench-evidence *ARGS:
    @tools/bench-evidence.sh {{ ARGS }}

# Measure what planning two versions of a Helm chart costs, and print the table of docs/helm.md.
[group('test')]
bench-twins:
    @tools/bench-twins.sh

# Roll out good canaries and broken ones in a real mesh under load, and write docs/rollouts-under-load.md.
[group('test')]
bench-rollouts *ARGS:
    @tools/bench-rollouts.sh {{ ARGS }}

# Roll out the same canaries by Flagger and by canary-ctl in a real mesh, and write docs/flagger-side-by-side.md (an hour).
[group('test')]
bench-flagger *ARGS:
    @tools/bench-flagger.sh {{ ARGS }}
