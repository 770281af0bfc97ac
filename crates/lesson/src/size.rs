//! Sizes as they are asked for.

use std::str::FromStr;

use fusion_course::Shape;

/// The most elements that may be asked for.
const MOST: usize = 1 << 31;

/// A number of elements, of which each operation makes rows of its own lengths, or the rows themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Elements(usize),
    Rows { rows: usize, columns: usize },
}

impl Size {
    pub fn elements(&self) -> usize {
        match *self {
            Size::Elements(elements) => elements,
            Size::Rows { rows, columns } => rows * columns,
        }
    }

    /// As rows: those that were asked for, or rows of so many columns.
    pub fn rows_of(&self, columns: usize) -> Shape {
        match *self {
            Size::Elements(elements) => Shape::of((elements / columns.max(1)).max(1), columns),
            Size::Rows { rows, columns } => Shape::of(rows, columns),
        }
    }

    /// By what sizes ascend.
    pub(crate) fn order(&self) -> (usize, usize) {
        match *self {
            Size::Elements(elements) => (elements, 0),
            Size::Rows { columns, .. } => (self.elements(), columns),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    /// Accepts `1048576`, `1_048_576`, `2^20`, and two of them as `128x4096`.
    fn from_str(text: &str) -> Result<Self, String> {
        let size = match text.split_once('x') {
            None => number(text).map(Size::Elements),
            Some((rows, columns)) => {
                let both = number(rows).zip(number(columns));
                both.filter(|(rows, columns)| rows.checked_mul(*columns).is_some_and(|elements| elements <= MOST))
                    .map(|(rows, columns)| Size::Rows { rows, columns })
            }
        };
        let wanted = "a size is a number of elements from 1 to 2^31, such as 1048576 or 2^20, or rows and columns, such as 128x4096";
        size.ok_or_else(|| wanted.to_owned())
    }
}

fn number(text: &str) -> Option<usize> {
    let plain = text.replace('_', "");
    let number = match plain.split_once('^') {
        Some(("2", exponent)) => exponent.parse().ok().and_then(|e| 1usize.checked_shl(e))?,
        _ => plain.parse().ok()?,
    };
    (1..=MOST).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        let elements = |n| Some(Size::Elements(n));
        let rows = |rows, columns| Some(Size::Rows { rows, columns });
        for (text, expected) in [
            ("4096", elements(4096)),
            ("1_000", elements(1000)),
            ("2^20", elements(1 << 20)),
            ("128x4096", rows(128, 4096)),
            ("2^4x1_000", rows(16, 1000)),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
        for text in ["", "0", "-1", "2^", "2^40", "3^2", "many", "x", "0x5", "5x", "2^20x2^20", "1x2x3"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
