//! `./x bench-twins`: what reading, planning and writing two versions of a chart costs, as a Markdown table.
//!
//! Every ConfigMap differs and is named by the pods, which is the most that there is to do. Peak memory is that of the process so far,
//! so the charts come in the order of their size.
#![allow(clippy::print_stdout, reason = "its output is the table")]

use helm_twins::{HookAnswer, ManifestError, Phase, Rules, plan, read_manifest, write_manifest};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Each row is the quickest of so many runs.
const RUNS: usize = 5;

fn main() {
    println!("| input | text | time | peak memory |\n| --- | --- | --- | --- |");
    for objects in [30, 300, 3_000] {
        let (deployed, rendered) = (chart(objects, 1), chart(objects, 2));
        let row = format!("two versions of {objects} objects");
        measure(&row, deployed.len() + rendered.len(), || plan_texts(&deployed, &rendered));
    }
    let bomb = alias_bomb();
    measure("aliases of aliases, refused", bomb.len(), || read_manifest(&bomb).map(|objects| objects.len()));
    let many = "---\n{apiVersion: v1, kind: A, metadata: {name: x}}\n".repeat(160_000);
    measure("8 MiB of smallest objects, refused", many.len(), || read_manifest(&many).map(|all| all.len()));
    let values = format!("---\n{HEAD}a: [{}1]\n", "1, ".repeat(490_000));
    let (deployed, rendered) = (chart(30, 1), chart(30, 2) + &values);
    measure("30 objects, one of 490,000 values", rendered.len(), || plan_texts(&deployed, &rendered));
}

const HEAD: &str = "apiVersion: v1\nkind: A\nmetadata: {name: x}\n";

/// The output's length.
fn plan_texts(deployed: &str, rendered: &str) -> Result<usize, ManifestError> {
    let (deployed, rendered) = (read_manifest(deployed)?, read_manifest(rendered)?);
    Ok(write_manifest(&plan(&deployed, &rendered, &rules()).objects)?.len())
}

fn measure(input: &str, bytes: usize, run: impl Fn() -> Result<usize, ManifestError>) {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let begin = Instant::now();
        std::hint::black_box(run().unwrap_or_default());
        best = best.min(begin.elapsed());
    }
    let text = if bytes < 1 << 20 {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    } else {
        format!("{:.1} MiB", megabytes(bytes))
    };
    let memory = peak_kilobytes().map_or_else(|| "unknown".to_owned(), |kb| format!("{} MiB", kb >> 10));
    println!("| {input} | {text} | {:.1} ms | {memory} |", best.as_secs_f64() * 1e3);
}

#[expect(clippy::cast_precision_loss, reason = "a size to print")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The most memory that this process has had (`VmHWM` of proc(5)).
fn peak_kilobytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn rules() -> Rules {
    Rules {
        service: "shop".to_owned(),
        namespace: "shop".to_owned(),
        version_label: "version".to_owned(),
        phase: Phase::Beside { stable: "v1".to_owned(), candidate: "v2".to_owned() },
        replicas: None,
        hooks: HookAnswer::Run,
        shared: BTreeSet::new(),
        twinned: BTreeSet::new(),
        skip: BTreeSet::new(),
    }
}

/// A Service and its Deployment; of ten other objects four are ConfigMaps of 2 KiB that the pods name, one is another Deployment.
fn chart(objects: usize, version: usize) -> String {
    let mut text = String::new();
    let mut volumes = String::new();
    for number in 2..objects {
        let document = match number % 10 {
            0..4 => {
                let _infallible =
                    write!(volumes, "\n        - {{name: v{number}, configMap: {{name: o{number}}}}}");
                let lines = "    a line of a file, as long as most lines of files are\n".repeat(38);
                format!(
                    "{}data:\n  version: 'v{version}'\n  file: |\n{lines}",
                    head("v1", "ConfigMap", number)
                )
            }
            4 => format!(
                "{}spec:\n  selector: {{matchLabels: {{app: o{number}}}}}\n  template:\n    metadata: {{labels: {{app: o{number}}}}}\n    spec: {{containers: [{{name: c, image: 'o:{version}'}}]}}\n",
                head("apps/v1", "Deployment", number)
            ),
            5 | 6 => format!("{}data: {{password: c2VjcmV0}}\n", head("v1", "Secret", number)),
            7 => format!(
                "{}spec: {{selector: {{app: o{number}}}, ports: [{{port: 80}}]}}\n",
                head("v1", "Service", number)
            ),
            _ => head("v1", "ServiceAccount", number),
        };
        text.push_str(&document);
    }
    let released = format!(
        "---\napiVersion: v1\nkind: Service\nmetadata: {{name: shop}}\nspec: {{selector: {{app: shop}}, ports: [{{port: 80}}]}}
---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: shop}}\nspec:
  selector: {{matchLabels: {{app: shop}}}}\n  template:\n    metadata: {{labels: {{app: shop}}}}
    spec:\n      containers: [{{name: shop, image: 'shop:{version}'}}]\n      volumes:{volumes}\n"
    );
    released + &text
}

fn head(api_version: &str, kind: &str, number: usize) -> String {
    format!(
        "---\napiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: o{number}\n  labels: {{helm.sh/chart: shop-1, app: o{number}}}\n"
    )
}

/// Nine aliases of nine aliases, and so on: a few lines that stand for 10^18 values.
fn alias_bomb() -> String {
    let mut text = format!("{HEAD}l0: &l0 x\n");
    for level in 1..20 {
        let aliases = vec![format!("*l{}", level - 1); 9].join(", ");
        let _infallible = writeln!(text, "l{level}: &l{level} [{aliases}]");
    }
    text
}
