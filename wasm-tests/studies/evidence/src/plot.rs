//! Shares of rollouts over time, as SVG.

use crate::rollouts::Alarms;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
/// Left, top, right and bottom of the area of the lines.
const FRAME: [f64; 4] = [56.0, 36.0, 500.0, 316.0];
/// Colours that stay apart for those who see few: Okabe and Ito.
const COLOURS: [&str; 5] = ["#d55e00", "#e69f00", "#56b4e9", "#009e73", "#0072b2"];

/// Ground, words and grid, for light and dark pages.
const STYLE: &str = "<style>.ground { fill: white; } text { fill: black; } line { stroke: #ddd; } \
                     @media (prefers-color-scheme: dark) { .ground { fill: #0d1117; } text { fill: #e6edf3; } \
                     line { stroke: #3d4650; } }</style>";

/// A line of the plot: its name and its rollouts.
pub type Line<'a> = (&'a str, &'a Alarms);

/// The share of rollouts with an alarm by each minute, a line for each method.
pub fn shares_over_time(title: &str, lines: &[Line<'_>], seconds: u32) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n{STYLE}\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
    );
    text(&mut svg, [56.0, 20.0], "start", title);
    axes(&mut svg, seconds);
    for (index, (name, alarms)) in lines.iter().enumerate() {
        let colour = COLOURS.get(index % COLOURS.len()).copied().unwrap_or("black");
        let minutes = (0..=seconds).step_by(60);
        let points = minutes.map(|second| {
            let [x, y] = place(second, seconds, alarms.share_by(second));
            format!("{x:.1},{y:.1}")
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{points}\"/>"
        );
        #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
        let y = 60.0 + 22.0 * index as f64;
        let _ =
            writeln!(svg, "<rect x=\"512\" y=\"{}\" width=\"12\" height=\"3\" fill=\"{colour}\"/>", y - 5.0);
        text(&mut svg, [530.0, y], "start", name);
    }
    svg + "</svg>\n"
}

fn axes(svg: &mut String, seconds: u32) {
    let [left, top, right, bottom] = FRAME;
    for percent in [0_u32, 25, 50, 75, 100] {
        let [_, y] = place(0, seconds, f64::from(percent) / 100.0);
        let _ = writeln!(svg, "<line x1=\"{left}\" x2=\"{right}\" y1=\"{y}\" y2=\"{y}\"/>");
        text(svg, [left - 6.0, y + 4.0], "end", &format!("{percent} %"));
    }
    let quarter = (seconds / 4).max(1);
    for second in (0..=seconds).step_by(quarter as usize) {
        let [x, _] = place(second, seconds, 0.0);
        let _ = writeln!(svg, "<line x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{bottom}\"/>");
        text(svg, [x, bottom + 16.0], "middle", &format!("{} min", second / 60));
    }
}

/// Where a share at a time lies.
fn place(second: u32, seconds: u32, share: f64) -> [f64; 2] {
    let [left, top, right, bottom] = FRAME;
    let x = left + (right - left) * f64::from(second) / f64::from(seconds.max(1));
    [x, bottom - (bottom - top) * share]
}

fn text(svg: &mut String, [x, y]: [f64; 2], anchor: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{words}</text>");
}
