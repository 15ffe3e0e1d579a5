//! Columns of text, as wide as they have to be.

use super::escape;
use std::fmt;

/// A text table: left-aligned columns, two spaces between them.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    /// Adds a row. What is not printable in a cell is escaped here, before the widths are known.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.map(|cell| escape::line(&cell).into_owned()).into());
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                let missing = self.width(column).saturating_sub(cell.chars().count());
                line.push_str(&" ".repeat(missing + 2));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
