//! A tester who wants to see a canary that no user has: `docs/guides/testers.md`.

use super::{Page, Terminal, cluster, run, start};

#[test]
fn the_page_leads_from_its_file_to_a_link_that_gives_its_holder_the_canary_and_then_to_users() {
    run(async {
        let api = cluster("checkout", &["v7"]);
        let (page, terminal) = (Page::open("guides/testers.md"), Terminal::new(&api).await);
        terminal.write("canary.yaml", &page.block("The file", "yaml"));
        let block = page.block("A link for a tester", "sh");
        let (apply, rest) = block.split_once('\n').unwrap();
        terminal.types(apply);
        assert!(rest.starts_with("kubectl -n shop apply -f checkout-v8-rc1.yaml\n"), "{rest}");
        start(&api, "checkout", "v8-rc1");

        let printed = terminal.types_all(rest);
        let link = printed[0].lines().find(|line| line.starts_with("https://")).unwrap();
        let inspected = terminal.types(&format!("canary-ctl token inspect '{link}'"));
        assert!(inspected.contains("v8-rc1"), "{inspected}");
        let explain = |address: &str| format!("canary-ctl explain --live --curl \"curl '{address}'\"");
        let with_link = terminal.types(&explain(link));
        assert!(
            with_link.contains("v8-rc1 (canary)") && with_link.contains("tester: a valid token"),
            "{with_link}"
        );
        let without = terminal.types(&explain("https://checkout.example.com/"));
        assert!(!without.contains("v8-rc1"), "at weight 0: {without}");

        let weights = terminal.types_all(&page.block("Then users", "sh"));
        assert!(weights.len() == 2 && weights[1].contains("20%"), "{weights:#?}");
        let again = terminal.types(&explain(link));
        assert!(again.contains("v8-rc1 (canary)") && again.contains("tester: a valid token"), "{again}");
    });
}
