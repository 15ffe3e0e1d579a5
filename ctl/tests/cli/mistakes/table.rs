//! The table: 62 mistakes that were tried by hand, some of them with several verbs, and others like them.

use super::api_server::{ETCD, Server, UNAUTHORIZED};
use super::{Folder, Mistake, typed};

pub(super) fn table() -> Vec<Mistake> {
    [
        release(),
        invalid_file(),
        cluster(),
        kubeconfig(),
        file(),
        init(),
        words(),
        synonyms(),
        other_arguments(),
        requests(),
        for_programs(),
    ]
    .concat()
}

/// With `-o json` an error is one line of JSON with an identifier.
fn for_programs() -> Vec<Mistake> {
    vec![
        typed(63, "rollback -o json").names(&["{\"error\":{\"id\":\"usage\"", "\"hint\":\""]),
        typed(63, "lint -o json").within(Folder::File("a: [")).names(&["{\"error\":{\"id\":\"spec\""]),
        typed(63, "status shop/shop -o json").with(Server::Empty).names(&["{\"error\":{\"id\":\"unknown\""]),
        typed(63, "weight 20 shop/shop -o json")
            .with(Server::Answers(401, UNAUTHORIZED))
            .names(&["{\"error\":{\"id\":\"unauthorized\""]),
        typed(63, "status blog -o json").within(Folder::Local).names(&["{\"error\":{\"id\":\"", "blog"]),
    ]
}

const NAME: &[&str] = &["-r NAMESPACE/NAME", "canary-ctl list"];
/// Advice that harms in the wrong cluster, or without a file.
const ELSEWHERE: &[&str] = &["canary-ctl init", "canary-ctl apply", "generate"];

fn release() -> Vec<Mistake> {
    let elsewhere =
        |number, line| typed(number, line).within(Folder::Release).with(Server::Empty).never(ELSEWHERE);
    let place: &[&str] = &["shop/shop", "staging", "http://127.0.0.1", "--context"];
    let contradiction = |line| typed(5, line).within(Folder::Release).names(&["`shop`", "-n other"]);
    vec![
        typed(1, "rollback").names(NAME).never(ELSEWHERE),
        typed(1, "weight 0").names(NAME).never(ELSEWHERE),
        typed(1, "promote").names(NAME).never(ELSEWHERE),
        typed(1, "uninstall").names(NAME).never(ELSEWHERE),
        typed(1, "pause").names(NAME).never(ELSEWHERE),
        typed(1, "status").names(NAME).never(ELSEWHERE),
        typed(1, "rollout abort").names(NAME).never(ELSEWHERE),
        typed(1, "rollback -f gone.yaml").names(&["gone.yaml"]).never(ELSEWHERE),
        typed(2, "rollback shop").with(Server::Empty).names(&["default/shop", "staging"]).never(ELSEWHERE),
        typed(2, "rollback shop --context dev").with(Server::Empty).names(&["dev/shop"]).never(ELSEWHERE),
        elsewhere(2, "rollback shop --context dev").names(&["`shop/shop`", "`dev/shop`"]),
        elsewhere(2, "rollback blog").names(&["default/blog"]),
        elsewhere(2, "rollback blog -f canary.yaml -n shop").names(&["shop/blog"]),
        elsewhere(2, "rollout start blog").names(&["`default/blog`", "`shop/shop`"]),
        elsewhere(2, "rollback shop").names(place),
        typed(2, "rollback shop/shop").with(Server::Empty).names(place).never(ELSEWHERE),
        typed(2, "rollback shop -n shop").with(Server::Empty).names(place).never(ELSEWHERE),
        typed(2, "weight 0 shop/shop").with(Server::Empty).names(place).never(ELSEWHERE),
        typed(2, "rollback shop -r blog").names(&["cannot be used with"]),
        typed(2, "rollback canary.yaml").within(Folder::Release).names(&["-f canary.yaml"]),
        elsewhere(3, "rollback").names(place),
        elsewhere(3, "weight 20").names(place),
        elsewhere(3, "promote").names(place),
        elsewhere(3, "rollback --context dev").names(&["context `dev`"]),
        elsewhere(4, "uninstall").names(place),
        contradiction("apply -n other"),
        contradiction("diff -n other"),
        contradiction("doctor -n other"),
        contradiction("prepare -n other"),
        contradiction("rotate-keys -n other"),
        contradiction("rollback -n other"),
        contradiction("explain --cookie JSESSIONID=1 -n other"),
        typed(6, "rollback -r shop/shop -n other").names(&["`shop`", "-n other"]),
        typed(6, "rollback shop/shop -n other").names(&["`shop`", "-n other"]),
    ]
}

/// A file that is not valid: an emergency that names the release goes on without it, and other verbs name its fault.
fn invalid_file() -> Vec<Mistake> {
    let place: &[&str] = &["shop/shop", "staging", "goes on without the file: canary.yaml:1:4"];
    let fault: &[&str] = &["error: ", "canary.yaml:1:4"];
    let file = Folder::File("a: [1, 2\n");
    let row = |line, names| typed(35, line).within(file).with(Server::Empty).names(names).never(ELSEWHERE);
    let emergencies = [
        "rollback shop/shop",
        "rollback -r shop/shop",
        "rollback shop -n shop",
        "weight 0 shop/shop",
        "pause shop/shop",
        "status shop/shop",
        "uninstall shop/shop",
        "recover shop/shop",
        "rollout abort shop/shop",
        "rollout pause shop/shop",
        "rollout status shop/shop",
        "dashboard shop/shop",
    ];
    let others = [
        "rollback",
        "status",
        "rollback shop/shop -f ./canary.yaml",
        "weight 20 shop/shop",
        "promote shop/shop",
        "resume shop/shop",
        "rollout start shop/shop",
        "rollout run shop/shop",
        "rollout approve shop/shop",
        "recover shop/shop --accept-record",
    ];
    let emergencies = emergencies.map(|line| row(line, place).never(&["error: canary.yaml"]));
    let unreadable = |line, names| row(line, names).within(Folder::Unreadable);
    let unreadable = [
        unreadable("rollback shop/shop", &["shop/shop", "staging", "goes on without the file: cannot read"]),
        unreadable("promote shop/shop", &["error: cannot read canary.yaml"]),
    ];
    emergencies.into_iter().chain(others.map(|line| row(line, fault))).chain(unreadable).collect()
}

/// An API server that does not do what is expected of it.
fn cluster() -> Vec<Mistake> {
    let status = |number, server| typed(number, "status shop/shop").with(server);
    let page = "<!DOCTYPE html><html><body><form action=\"/login\">Log in</form></body></html>";
    let long = concat!(
        "\u{1b}[31mno route\u{1b}[0m ",
        "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
        "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz",
        " END"
    );
    vec![
        status(9, Server::Closed)
            .names(&["http://127.0.0.1:9", "staging", "Connection refused"])
            .never(&["does not respond"]),
        status(10, Server::Answers(500, ETCD))
            .names(&["the API server http://127.0.0.1", "answered 500: etcdserver: request timed out"])
            .never(&["unreachable", "canary-ctl apply", "authenticate", "does not respond"]),
        status(11, Server::Nowhere).names(&["nowhere.invalid"]).never(&["os error"]),
        status(12, Server::Plain).names(&["TLS"]),
        status(13, Server::Answers(200, page))
            .names(&["did not answer as a Kubernetes API", "expected JSON", "login page"])
            .never(&["line 1", "unreachable"]),
        status(14, Server::Answers(401, UNAUTHORIZED)).names(&[
            "rejects the credentials",
            "staging",
            "log in",
        ]),
        typed(15, "rollback shop/shop").with(Server::Denies).names(&[
            "not allowed to",
            "`shop`",
            "add to a Role",
            "canary-ctl generate rbac",
            "kubectl -n shop patch destinationrule shop-canary",
        ]),
        typed(15, "weight 0 shop/shop")
            .with(Server::Denies)
            .names(&["add to a Role", "kubectl -n shop patch destinationrule shop-canary"]),
        typed(15, "pause shop/shop")
            .with(Server::Denies)
            .names(&["add to a Role"])
            .never(&["patch destinationrule"]),
        status(10, Server::Answers(429, "{}")).names(&["answered 429: Too Many Requests"]),
        status(10, Server::Answers(503, "")).names(&["answered 503: Service Unavailable"]),
        typed(16, "list")
            .with(Server::Denies)
            .names(&["ClusterRole", "-n NAMESPACE"])
            .never(&["Role in `*`"]),
        status(31, Server::Answers(502, long))
            .names(&["502", "\\u{1b}[31mno route"])
            .never(&["END", "unreachable"]),
    ]
}

/// A kubeconfig that leads nowhere.
fn kubeconfig() -> Vec<Mistake> {
    vec![
        typed(17, "list").names(&[".kube/config", "No such file", "--kubeconfig"]),
        typed(18, "list --kubeconfig .").names(&["`.`", "Is a directory"]),
        typed(19, "list").with(Server::Kubeconfig("a: [")).names(&["cannot use the kubeconfig", "line"]),
        typed(20, "list")
            .with(Server::Kubeconfig("contexts: []\n"))
            .names(&["`current-context`", "--context"]),
        typed(21, "list --context prod").with(Server::Empty).names(&[
            "`prod`",
            "`dev`",
            "`staging`",
            "--context",
        ]),
        typed(22, "list --kubeconfig /nope").names(&["/nope", "No such file"]),
    ]
}

/// A file that is no release.
fn file() -> Vec<Mistake> {
    let edited = |number, from, to| typed(number, "lint").within(Folder::Edited(from, to));
    let text = |number, text| typed(number, "lint").within(Folder::File(text));
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {replicas: 1}\n";
    vec![
        edited(23, "\n  stickiness:", "\n  stickyness:").names(&["stickyness", "did you mean `stickiness`"]),
        edited(24, "stickiness: session", "stickiness: sesion")
            .names(&["`sesion`", "did you mean `session`"]),
        edited(32, "  weight: 0", "\tweight: 0").names(&["tab"]),
        edited(34, "[shop.example.com]", "\n    - *.example.com").names(&["`\"*.example.com\"`"]),
        edited(33, "    port: 80", "   port: 80").names(&["canary.yaml:12:", "indent"]),
        edited(34, "  weight: 0", "  weight 0").names(&["`name: value`"]).never(&["simple key"]),
        edited(35, "  weight: 0", "  weight: 0\n  weight: 1").names(&["`weight` is given twice"]),
        edited(36, "kind: Release", "kind: Canary").names(&["expected `Release`, found `Canary`"]),
        text(
            36,
            "apiVersion: flagger.app/v1beta1\nkind: Canary\nmetadata: {name: shop}\nspec: {analysis: {}}\n",
        )
        .names(&["found `Canary`", "canary-ctl init --from-flagger FILE"])
        .never(&["analysis", "required"]),
        text(36, "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: shop}\nspec: {}\n")
            .names(&["canary-ctl init --from-argo FILE"]),
        text(37, deployment).names(&["expected `Release`, found `Deployment`"]).never(&["replicas"]),
        text(38, "").names(&["found an empty file"]),
        edited(23, "    port: 80", "    port: http").names(&["expected a port, 1 to 65535, found `http`"]),
        edited(23, "    port: 80", "    port: -1").names(&["expected a port, 1 to 65535, found `-1`"]),
        edited(23, "    port: 80", "    port: 0").names(&["expected a port, 1 to 65535, found `0`"]),
        edited(23, "    port: 80", "    port: 99999").names(&["expected a port, 1 to 65535, found `99999`"]),
        typed(43, "generate --signing-keys canary.yaml")
            .within(Folder::Release)
            .names(&["expected keys as JSON", "signing-keys.json"])
            .never(&["line 1 column 1"]),
        typed(39, "lint -f .").names(&["cannot read .", "Is a directory"]),
        typed(40, "lint -f /dev/zero").names(&["8 MiB"]),
        text(41, "a: 1\n---\nb: 2\n").names(&["expected one document", "each needs a file of its own"]),
        typed(42, "lint -f -").names(&["stdin"]).never(&["No such file", "canary-ctl init"]),
        typed(43, "lint -f /proc/1/mem").names(&["cannot read /proc/1/mem"]),
        typed(43, "lint").names(&["cannot read canary.yaml", "canary-ctl init", "-f FILE"]),
        typed(43, "lint shop.yaml").names(&["-f shop.yaml"]),
        typed(43, "apply shop.yaml").names(&["-f shop.yaml"]),
    ]
}

/// A first file.
fn init() -> Vec<Mistake> {
    vec![
        typed(
            44,
            "init --name shop --host shop.example.com --session-cookie SID --canary v2 -f /proc/canary.yaml",
        )
        .names(&["/proc"])
        .never(&[".canary.yaml."]),
        typed(44, "init --name shop --host a.example.com --session-cookie SID --canary v2 -f nodir/x")
            .names(&["the folder nodir does not exist"]),
        typed(45, "init").names(&["--session-cookie", "--jwt-claim", "--from-cluster", "--name"]),
        typed(45, "init --name shop --host a.example.com --canary v2").names(&[
            "--session-cookie",
            "--jwt-claim",
            "--from-cluster",
        ]),
        typed(46, "init --name shop --host https://shop.example.com --session-cookie SID --canary v2")
            .names(&["`--host`", "https://shop.example.com"])
            .never(&["canary.yaml:"]),
        typed(47, "init --name shop --host shop.example.com --session-cookie SID --canary v1")
            .names(&["`--canary`", "expected two versions"])
            .never(&["canary.yaml:"]),
        typed(48, "init --name shop --host shop.example.com --session-cookie SID --canary 1.2.3+build")
            .names(&["`--canary`", "1.2.3+build", "`-`, `_`, `.`"])
            .never(&["canary.yaml:"]),
        typed(49, "init --name shop --host shop.example.com --session-cookie SID --canary v2 --gateway gw")
            .names(&["expected NAMESPACE/NAME, found `gw`"])
            .never(&["1 to 63"]),
        typed(50, "init --name shop --host shop.example.com --session-cookie SID --canary v2")
            .within(Folder::Release)
            .names(&["there already", "--force", "-f FILE"]),
        typed(44, "init --name shop --host a.example.com --session-cookie SID --canary v2 -f 'my shop.yaml'")
            .exits(0)
            .names(&[
                "`canary-ctl prepare -f 'my shop.yaml'`, `canary-ctl doctor -f 'my shop.yaml'`",
                "`canary-ctl apply --wait -f 'my shop.yaml'`",
            ]),
    ]
}

/// The first request of each call, as `-v` prints it.
const TRACED: [&str; 2] = ["POST /apis/authentication.k8s.io/v1/selfsubjectreviews? 201 ", " ms\n"];

/// Words, numbers and flags.
fn words() -> Vec<Mistake> {
    let local = |number, line| typed(number, line).within(Folder::Local);
    vec![
        local(25, "weight ten").names(&["expected a share like `20`", "`ten`"]),
        local(25, "weight 20,5").names(&["expected a share like `20`", "`20,5`"]),
        local(25, "weight shop 20").names(&["expected a share like `20`", "`shop`"]),
        local(26, "weight 150").names(&["0% to 100%", "`150`"]),
        local(27, "weight 0.2 --dry-run").exits(0).names(&["0.2%", "`weight 20`"]),
        local(28, "weight '20 %' --dry-run").exits(0).names(&["20%"]),
        local(29, "weight 90").names(&["expected a step of at most 50%", "--skip-check max-step"]),
        local(30, "weight 20 --expires-in 1day").names(&["expected a duration like", "1day"]),
        typed(51, "lint -o jsn").names(&["jsn", "json"]),
        typed(52, "weight 20 --skip-check no-pods").names(&["no-pods", "no-ready-pods"]),
        typed(53, "wieght 20").names(&["'weight'"]),
        typed(53, "ls").names(&["list"]),
        typed(53, "set-weight 20").names(&["canary-ctl weight"]),
        typed(25, "weight shop/shop 20").names(&["the percentage comes first"]),
        typed(28, "weight 20 %").with(Server::Empty).names(&["write `20%` or `20`"]),
        typed(54, "list -n shop,blog").with(Server::Empty).names(&["`shop,blog`"]),
        typed(54, "list -n Shop_X").with(Server::Empty).names(&["`Shop_X`"]),
        typed(54, "version").exits(0).names(&["canary-ctl", "module"]),
        typed(54, "version -n shop").names(&["`-n`", "canary-ctl version NAMESPACE/NAME"]),
        typed(54, "version shop/shop").with(Server::Empty).names(&["shop/shop", "staging"]),
        typed(54, "-v status shop/shop").with(Server::Empty).names(&TRACED),
        typed(54, "status shop/shop --verbose").with(Server::Empty).names(&TRACED),
        typed(54, "rollback shop/shop -v").with(Server::Denies).names(&["403", " ms"]),
        typed(54, "-A list").with(Server::Empty).exits(0).names(&["no releases found"]),
    ]
}

/// Verbs of other tools.
fn synonyms() -> Vec<Mistake> {
    let tip = |line, names| typed(54, line).names(names).never(&["similar subcommand exists"]);
    vec![
        tip("delete", &["canary-ctl uninstall"]),
        tip("remove", &["canary-ctl uninstall"]),
        tip("undo", &["canary-ctl rollback"]),
        tip("abort", &["canary-ctl rollout abort"]),
        tip("validate", &["canary-ctl lint"]),
        tip("check", &["canary-ctl doctor"]),
        tip("describe", &["canary-ctl status"]),
        tip("history", &["canary-ctl status"]),
        tip("logs", &["canary-ctl status"]),
        tip("metrics", &["canary-ctl status"]),
        tip("get", &["canary-ctl list"]),
        tip("ui", &["canary-ctl dashboard"]),
        tip("scale", &["canary-ctl weight"]),
        tip("lock", &["canary-ctl pause"]),
        tip("unlock", &["canary-ctl resume"]),
        tip("freeze", &["canary-ctl pause"]),
        tip("stop", &["canary-ctl rollback"]),
        tip("cancel", &["canary-ctl rollback"]),
        tip("start", &["canary-ctl rollout start"]),
        tip("edit", &["canary.yaml", "canary-ctl apply"]),
        tip("update", &["canary-ctl apply"]),
        tip("test", &["canary-ctl verify"]),
        tip("info", &["canary-ctl status"]),
        tip("top", &["canary-ctl status"]),
        tip("login", &["kubeconfig"]),
        tip("shift", &["canary-ctl weight"]),
        tip("traffic", &["canary-ctl weight"]),
        tip("set weight 20", &["canary-ctl weight"]),
        tip("retry", &["canary-ctl rollout retry"]),
        tip("rollout rollback", &["canary-ctl rollback"]),
        tip("rollout stop", &["canary-ctl rollout abort"]),
        tip("token list", &["canary-ctl token inspect"]),
        tip("token delete", &["canary-ctl token revoke"]).never(&["uninstall"]),
        tip("rollout undo", &["canary-ctl rollback"]),
        tip("rollout history", &["canary-ctl rollout status"]),
    ]
}

/// Flags and arguments of other tools.
fn other_arguments() -> Vec<Mistake> {
    // `-- --yes` names a release `--yes`.
    let flag = |line, names| typed(54, line).names(names).never(&["as a value, use"]);
    let asks_nothing = |line| flag(line, &["asks nothing"]);
    vec![
        asks_nothing("rollback --yes shop/shop"),
        asks_nothing("rollback -y shop/shop"),
        asks_nothing("rollback --force shop/shop"),
        asks_nothing("uninstall --yes shop/shop"),
        flag("rollback --to-revision=2", &["has no revisions"]),
        flag("status -A", &["canary-ctl list"]),
        flag("weight --set 20", &["canary-ctl weight 20"]),
        flag("pause -o json shop/shop", &["'-o'"]),
        flag("list shop", &["canary-ctl status shop"]),
        flag("apply shop/shop", &["canary-ctl apply -f FILE"]),
        flag("token create v2", &["canary-ctl token create --version v2"]),
        flag("explain https://shop.example.com/", &["--host HOST --path PATH"]),
    ]
}

/// Tokens, URLs and requests.
fn requests() -> Vec<Mistake> {
    let local = |number, line| typed(number, line).within(Folder::Local);
    vec![
        local(55, "token create --version v3").names(&["v1", "v2", "`v3`"]),
        local(56, "token create --version v2 --ttl 30d").names(&["7 days"]),
        local(57, "token create --version v2 --url https://other.example.com/")
            .exits(0)
            .names(&["`other.example.com`", "shop.example.com"]),
        local(58, "token inspect abc").exits(1).names(&["not genuine"]),
        local(59, "verify shop.example.com").names(&["expected a URL like `https://shop.example.com/`"]),
        local(60, "verify http://shop.example.com/").names(&["--version-header"]),
        local(60, "verify http://127.0.0.1:9/ --version-header x-app-version")
            .names(&["no response from http://127.0.0.1:9/: Connection refused"])
            .never(&["client error", "tcp connect"]),
        local(61, "explain --cookie 4b1d7c0e5f").names(&["expected `NAME=VALUE`", "`4b1d7c0e5f`"]),
        local(61, "explain --cookie 'Cookie: JSESSIONID=1'").exits(0).names(&["older session"]),
        local(61, "explain --cookie 'Set-Cookie: JSESSIONID=1; Path=/'")
            .names(&["`Set-Cookie`", "`NAME=VALUE`"]),
        local(61, "explain --host https://shop.example.com/cart --cookie JSESSIONID=1").names(&[
            "`https://shop.example.com/cart`",
            "`--host shop.example.com`",
            "`--path`",
        ]),
        local(61, "explain --host shop.example.com/cart").names(&["`--host shop.example.com`"]),
        local(61, "explain --curl 'curl https://shop.example.com/ -b JSESSIONID=$SID'")
            .names(&["`$SID`, which a shell replaces", "put in its value"]),
        typed(61, "simulate canary.yaml --salt s")
            .within(Folder::File("4b1d 10.0.0.1 GET /cart 200\n"))
            .names(&["found `4b1d 10.0.0.1 GET /cart 200`", "give `--log`"]),
        typed(61, "simulate canary.yaml --salt s --log --key field:2")
            .within(Folder::File("4b1d 10.0.0.1 GET\n4b1e 10.0.0.1 GET\n"))
            .exits(0)
            .names(&["all lines have the same user", "`--key cookie:NAME`"]),
        local(62, "explain --cookie JSESSIONID=1 --at yesterday")
            .names(&["expected a time like `2026-11-21T18:00:00Z`", "`yesterday`"]),
        local(62, "promote").names(&["canary-ctl weight 0"]).never(&["generate"]),
        local(62, "rollback").names(&["canary-ctl weight 0"]).never(&["generate"]),
    ]
}
