//! Colours, markers and dashes: the same place in a list always looks the same.

/// Colours as CSS: a variable that the book sets for its themes, and the value for a page that does not. The values can be told
/// apart with any of the common colour vision deficiencies, and stand out against white by 4.5 to 1.
const COLOURS: [&str; 6] = [
    "var(--chart-1,#0072b2)",
    "var(--chart-2,#c24e00)",
    "var(--chart-3,#00795a)",
    "var(--chart-4,#a0377f)",
    "var(--chart-5,#806400)",
    "var(--chart-6,#575757)",
];

/// Ink for text.
pub(crate) const TEXT: &str = "var(--chart-text,#1f2328)";
/// Ink for lines behind the data.
pub(crate) const GRID: &str = "var(--chart-grid,#d5d8dc)";
/// Ink for axes and ceilings.
pub(crate) const AXIS: &str = "var(--chart-axis,#57606a)";
/// What is behind everything.
pub(crate) const BACKGROUND: &str = "var(--chart-background,#ffffff)";

const DASHES: [&str; 6] = ["", "8 4", "2 3", "10 3 2 3", "5 3", "12 4"];

/// Of lines that nothing but this and their colour tells apart.
const THICKNESSES: [f64; 6] = [5.0, 1.2, 2.6, 3.8, 1.6, 3.2];

/// How the series at this place in its list looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    place: usize,
}

impl Style {
    pub(crate) fn of(place: usize) -> Style {
        Style { place }
    }

    /// After all colours are used they come again with other markers.
    pub(crate) fn colour(self) -> &'static str {
        COLOURS[(self.place + self.place / COLOURS.len()) % COLOURS.len()]
    }

    pub(crate) fn dash(self) -> &'static str {
        DASHES[self.place % DASHES.len()]
    }

    pub(crate) fn thickness(self) -> f64 {
        THICKNESSES[self.place % THICKNESSES.len()]
    }

    /// The outline of the marker about a point, as a path of about 10 units.
    pub(crate) fn marker(self, x: f64, y: f64) -> String {
        let polygon = |corners: &[(f64, f64)]| {
            let mut path = String::new();
            for (at, (dx, dy)) in corners.iter().enumerate() {
                path.push_str(&format!("{}{:.1} {:.1}", if at == 0 { "M" } else { "L" }, x + dx, y + dy));
            }
            path + "Z"
        };
        match self.place % 6 {
            0 => format!("M{:.1} {y:.1}a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0Z", x - 4.6),
            1 => polygon(&[(-4.2, -4.2), (4.2, -4.2), (4.2, 4.2), (-4.2, 4.2)]),
            2 => polygon(&[(0.0, -5.4), (5.2, 4.2), (-5.2, 4.2)]),
            3 => polygon(&[(0.0, -5.8), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)]),
            4 => polygon(&[(0.0, 5.4), (5.2, -4.2), (-5.2, -4.2)]),
            _ => polygon(&[
                (-1.7, -5.0),
                (1.7, -5.0),
                (1.7, -1.7),
                (5.0, -1.7),
                (5.0, 1.7),
                (1.7, 1.7),
                (1.7, 5.0),
                (-1.7, 5.0),
                (-1.7, 1.7),
                (-5.0, 1.7),
                (-5.0, -1.7),
                (-1.7, -1.7),
            ]),
        }
    }
}
