//! Mutations of the examples: whatever a document says, the import ends with a release that the reader accepts, or with an error.

use super::{PEERS, examples_of, options};
use canary_release::file;
use canary_release::import::{Import, SourceText};
use std::path::Path;

/// Texts that break what they are put into, or change its meaning.
const TEXTS: [&str; 24] = [
    "",
    "{}",
    "[]",
    "null",
    "~",
    "-1",
    "0",
    "99999999999999999999",
    "1e400",
    "NaN",
    "\"\\n# x\"",
    "'{{ version }}'",
    "{{",
    "&a [*a]",
    "<<: {}",
    "é\u{2028}x",
    "a/b/c",
    "- ",
    "? x",
    "\"--- \"",
    "true",
    "1.5",
    "http://u:p@h/?q#f",
    "mesh",
];

#[test]
fn no_mutation_panics_and_each_release_is_accepted() {
    let mut random = fastrand::Rng::with_seed(43);
    let (mut accepted, mut refused) = (0_u32, 0_u32);
    for (peer, name) in PEERS {
        for (example, text) in examples_of(name) {
            for _ in 0..200 {
                let mutated = mutate(&text, &mut random);
                let source = SourceText { name: "mutated.yaml", text: &mutated, has_lines: true };
                match Import::of(peer, &[source], &options()) {
                    Ok(import) => {
                        accepted += 1;
                        file::parse(Path::new("canary.yaml"), &import.release).unwrap_or_else(|error| {
                            panic!("{name}/{example}: {error}\n{}\nof\n{mutated}", import.release)
                        });
                    }
                    Err(canary_release::import::Error::Draft(reason)) => {
                        panic!("{name}/{example}: no release: {reason}\nof\n{mutated}")
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(accepted > 3000 && refused > 200, "both are tried: {accepted} accepted, {refused} refused");
}

/// Replaces a value or a word, removes or repeats a line, or moves one to another depth.
fn mutate(text: &str, random: &mut fastrand::Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..lines.len());
        let replacement = TEXTS[random.usize(0..TEXTS.len())];
        match random.u8(0..6) {
            0 => lines[at] = replaced(&lines[at], ": ", replacement, random),
            1 => lines[at] = replaced(&lines[at], ", ", replacement, random),
            2 => {
                lines.remove(at);
                if lines.is_empty() {
                    lines.push(String::new());
                }
            }
            3 => {
                let line = lines[at].clone();
                lines.insert(random.usize(0..lines.len()), line);
            }
            4 => lines[at] = format!("  {}", lines[at]),
            _ => lines[at] = replaced(&lines[at], "{", replacement, random),
        }
    }
    lines.join("\n")
}

/// The text behind one of the separators becomes another one, to the next sign of YAML.
fn replaced(line: &str, separator: &str, by: &str, random: &mut fastrand::Rng) -> String {
    let places: Vec<usize> = line.match_indices(separator).map(|(at, _)| at + separator.len()).collect();
    if places.is_empty() {
        return line.to_owned();
    }
    let start = places[random.usize(0..places.len())];
    let rest = &line[start..];
    let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
    format!("{}{by}{}", &line[..start], &rest[end..])
}
