//! A first release: `docs/five-minutes.md`, with what each command prints there, and the recording of it,
//! `docs/pictures/terminal.svg`. `./x recording` writes both again.

use super::{Terminal, cluster, run, start};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A line, and whether it is typed.
type Line = (String, bool);

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

/// The commands of the page that have their output below them: block by block, each with its output.
struct Steps {
    /// The page with the output of today.
    page: String,
    commands: Vec<(String, String)>,
}

const SHOWN: &str = "```\n\n```text\n";

/// Types the commands of the page, and puts in what they print.
fn typed(page: &str, terminal: &Terminal, mut before: impl FnMut(&str)) -> Steps {
    let mut steps = Steps { page: String::new(), commands: Vec::new() };
    let mut rest = page;
    while let Some((text, behind)) = rest.split_once(SHOWN) {
        let (_, block) = text.rsplit_once("```sh\n").unwrap();
        let (_, after) = behind.split_once("```\n").unwrap();
        let mut shown = String::new();
        for line in block.lines() {
            before(line);
            let printed = constant(&terminal.types(line));
            shown.push_str(&printed);
            steps.commands.push((line.to_owned(), printed));
        }
        let _ = writeln!(steps.page, "{text}{SHOWN}{shown}```");
        rest = after;
    }
    steps.page.push_str(rest);
    steps
}

/// What is printed, with `…` in the place of times and durations.
fn constant(printed: &str) -> String {
    let is_time = |word: &str| {
        let is_duration = word.trim_end_matches([',', ')']).strip_suffix('s');
        word.starts_with("20") && word.contains('T') && word.ends_with('Z')
            || is_duration.is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let mut text = String::new();
    for line in printed.lines() {
        let words = line.split(' ').map(|word| match word {
            _ if !is_time(word) => word.to_owned(),
            _ => word.trim_start_matches(|end: char| !",)".contains(end)).replacen("", "…", 1),
        });
        text.push_str(words.collect::<Vec<_>>().join(" ").trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn each_command_of_the_page_prints_what_stands_below_it_and_the_recording_shows_it() {
    run(async {
        let api = cluster("shop", &["v1"]);
        let terminal = Terminal::new(&api).await;
        let page = std::fs::read_to_string(docs("five-minutes.md")).unwrap();
        let steps = typed(&page, &terminal, |line| {
            if line.starts_with("canary-ctl weight") {
                start(&api, "shop", "v2");
            }
        });
        assert_eq!(steps.commands.len(), 6, "{:?}", steps.commands);
        let refused = terminal.refused("canary-ctl weight 90");
        assert_kept("five-minutes.md", &steps.page);
        assert_kept("pictures/terminal.svg", &picture(&recorded(&steps.commands, &refused)));
    });
}

/// Compares with a file of `docs`; `UPDATE_GOLDEN=1` writes it.
fn assert_kept(name: &str, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(docs(name), text).unwrap();
    }
    let kept = std::fs::read_to_string(docs(name)).unwrap_or_default();
    assert!(kept == text, "docs/{name} differs from the tool: `./x recording` writes it");
}

/// The lines of the recording: the commands without flags that the page explains, and the last lines of what each prints.
fn recorded(commands: &[(String, String)], refused: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let further = [("canary-ctl weight 90".to_owned(), refused.to_owned())];
    for (typed, printed) in commands.iter().chain(&further).filter(|(typed, _)| *typed != "canary-ctl status")
    {
        let typed = typed.split(" --host").next().unwrap_or_default();
        lines.push((format!("$ {typed}"), true));
        let shown: Vec<&str> = printed.lines().collect();
        let from = shown.len().saturating_sub(LINES);
        lines.extend(shown.iter().skip(from).map(|line| ((*line).to_owned(), false)));
    }
    lines
}

/// The lines of output that the picture shows of a command.
const LINES: usize = 6;

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
