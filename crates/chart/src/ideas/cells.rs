//! A matrix of places with a word in each: which lane holds which element, which chunk lies where.

use super::{Colour, Panel, SIDE, Sketch, TEXT, WIDTH};
use crate::svg::{Anchor, Area, text_width};

/// A panel with a place for each element of a matrix.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What its file is called.
    pub name: String,
    pub title: String,
    /// What the numbers of rows and columns are.
    pub corner: String,
    /// A label for each column.
    pub columns: Vec<String>,
    /// A label for each row, and its places.
    pub rows: Vec<(String, Vec<Cell>)>,
    /// What to see in it.
    pub says: String,
    /// The command that draws it.
    pub source: String,
}

/// A place.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    colour: Colour,
}

impl Cell {
    /// A place that the panel is about.
    pub fn used(text: &str) -> Cell {
        Cell { text: text.to_owned(), colour: Colour::Used }
    }

    /// Any other place.
    pub fn plain(text: &str) -> Cell {
        Cell { text: text.to_owned(), colour: Colour::Plain }
    }
}

impl Grid {
    /// The panel as SVG.
    pub fn panel(&self) -> Panel {
        let mut sketch = Sketch::new(&self.title);
        let (left, height) = (SIDE + 46.0, 19.0);
        let width = (WIDTH - SIDE - left) / self.columns.len().max(1) as f64;
        sketch.text(SIDE, sketch.y + 14.0, Anchor::Start, &self.corner);
        // Labels that would touch each other stand in two rows.
        let rows = if self.columns.iter().any(|label| text_width(label, TEXT) + 4.0 > width) { 2 } else { 1 };
        let heads = sketch.y + 31.0 + 15.0 * (rows - 1) as f64;
        for (column, label) in self.columns.iter().enumerate() {
            let y = heads - 15.0 * (column % rows) as f64;
            sketch.text(left + width * (column as f64 + 0.5), y, Anchor::Middle, label);
        }
        let top = heads + 7.0;
        for (row, (label, cells)) in self.rows.iter().enumerate() {
            let y = top + height * row as f64;
            sketch.text(SIDE, y + 13.0, Anchor::Start, label);
            for (column, cell) in cells.iter().enumerate() {
                let area = Area { x: left + width * column as f64, y, width: width - 2.0, height: height - 2.0 };
                sketch.cell(area, cell.colour, &cell.text);
            }
        }
        sketch.y = top + height * self.rows.len() as f64 + 2.0;
        sketch.say(&self.says);
        let words = format!(
            "A table of {} rows and {} columns, named by {}. {}",
            self.rows.len(),
            self.columns.len(),
            self.corner,
            self.says
        );
        sketch.finish_from(&self.name, &words, &self.source)
    }
}
