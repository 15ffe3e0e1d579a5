//! A developer who wants to know what their application has to do: `docs/your-application.md`, with the file of the release.

use super::{Page, Terminal, cluster, run, start};

#[test]
fn the_page_answers_which_version_a_browser_gets_and_why() {
    run(async {
        let api = cluster("checkout", &["v7"]);
        let terminal = Terminal::new(&api).await;
        terminal.write("canary.yaml", &Page::open("guides/testers.md").block("The file", "yaml"));
        terminal.types("canary-ctl apply --wait");
        start(&api, "checkout", "v8-rc1");
        terminal.types("canary-ctl weight 20 --wait");

        let cells = Page::open("your-application.md").cells("Check it");
        let [lint, explain, verify, status] = cells.as_slice() else {
            panic!("expected four commands: {cells:?}")
        };
        assert!(terminal.types(lint).contains("0 errors"));
        let browser = "curl 'https://checkout.example.com/cart' -H 'Cookie: SESSION=4b1d7c0e5f'";
        let explained = terminal.types(&explain.replace('…', browser));
        let answers =
            ["v7 (stable)", "the session predates the filter", "begins now gets v8-rc1 with 20.00%"];
        assert!(answers.iter().all(|answer| explained.contains(answer)), "{explained}");
        // Both need users: `wasm-tests/tests/mesh` has them.
        assert!(
            verify.starts_with("canary-ctl verify https://")
                && status.starts_with("canary-ctl status --window ")
        );
    });
}
