//! `docs/pictures/terminal.svg`: a terminal in which the tool is used. The text is what the tool prints today; `./x recording` writes it again.

use crate::cli_fixture::{CliFixture, repository};
use std::fmt::Write as _;

/// What is typed, and the fixture's line for it.
const TYPED: [(&str, &str); 4] = [
    ("canary-ctl generate", "generate"),
    ("canary-ctl weight 20", "weight 20"),
    ("canary-ctl weight 80", "weight 80"),
    ("canary-ctl weight 0", "weight 0"),
];
const SIMULATED: &str = "seq 100000 | canary-ctl simulate --salt shop/shop/v2 --weights 10,20,10";

/// A line, and whether it is typed.
type Line = (String, bool);

fn recorded() -> Vec<Line> {
    let cli = CliFixture::new();
    cli.write("canary.yaml", &crate::local::release());
    let mut lines = Vec::new();
    for (typed, line) in TYPED {
        let ran = cli.run(line);
        lines.push((format!("$ {typed}"), true));
        lines.extend(format!("{}{}", ran.stdout, ran.stderr).lines().map(|line| (line.to_owned(), false)));
    }
    lines.push((format!("$ {SIMULATED}"), true));
    let ids: String = (1..=100_000).fold(String::new(), |ids, id| ids + &format!("{id}\n"));
    let ran = cli.run_with_stdin("simulate --salt shop/shop/v2 --weights 10,20,10", &ids);
    let table = ran.stdout.lines().filter(|line| line.contains("weight  ") || line.contains("%  "));
    lines.extend(table.map(|line| (line.trim_end().to_owned(), false)));
    lines
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An animated picture: each line appears after those before it, what is typed after a pause. Where motion is not wanted, all lines are there.
fn picture(lines: &[Line]) -> String {
    let height = 44 + 20 * lines.len();
    let transcript: Vec<String> = lines.iter().map(|(line, _)| escaped(line)).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 {height}\" width=\"900\" height=\"{height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n  <title id=\"title\">canary-ctl in a terminal</title>\n  <desc id=\"desc\">{}</desc>\n{STYLE}",
        transcript.join("\n")
    );
    let _ = writeln!(svg, "  <rect class=\"ground\" width=\"900\" height=\"{height}\" rx=\"8\"/>");
    let mut tenths = 0;
    for (index, (line, is_typed)) in lines.iter().enumerate() {
        tenths += if *is_typed { 12 } else { 3 };
        let class = match line {
            _ if *is_typed => "line typed",
            line if line.starts_with("error:") => "line error",
            _ => "line",
        };
        let _ = writeln!(
            svg,
            "  <text class=\"{class}\" style=\"animation-delay: {}.{}s\" x=\"20\" y=\"{}\">{}</text>",
            tenths / 10,
            tenths % 10,
            36 + 20 * index,
            escaped(line)
        );
    }
    svg + "</svg>\n"
}

const STYLE: &str = "  <style>
    .ground { fill: #f4f6f8; }
    text { fill: #1c2733; font: 13px ui-monospace, \"SFMono-Regular\", \"DejaVu Sans Mono\", monospace; white-space: pre; }
    .line { animation: appear 0.1s both; }
    .typed { fill: #0072b2; font-weight: 600; }
    .error { fill: #b3261e; }
    @keyframes appear { from { opacity: 0; } to { opacity: 1; } }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; }
      text { fill: #e6edf3; }
      .typed { fill: #58a6e0; }
      .error { fill: #ff8a80; }
    }
    @media (prefers-reduced-motion: reduce) { .line { animation: none; } }
  </style>
";

#[test]
fn the_recording_shows_what_the_tool_prints_today() {
    let expected = picture(&recorded());
    assert!(expected.contains("shop/shop: v2 0% -&gt; 20% (generation 2)"), "{expected}");
    let path = repository("docs/pictures/terminal.svg");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == expected, "docs/pictures/terminal.svg differs from the tool: `./x recording` writes it");
}
