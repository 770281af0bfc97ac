//! The sizes of a problem, and those that an exercise is checked at.

/// Row-major, contiguous. An elementwise shape is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
}

impl Shape {
    pub const fn flat(elements: usize) -> Self {
        Self { rows: 1, columns: elements }
    }

    pub const fn elements(self) -> usize {
        self.rows * self.columns
    }

    /// The part of a large shape after which its inputs may repeat, so that the reference need be computed for no more. It
    /// divides no power of two, so that a wrong index still shows.
    pub fn period(self) -> Self {
        /// Elements: a prime.
        const PERIOD: usize = 1_000_003;
        if self.rows == 1 {
            Self::flat(self.columns.min(PERIOD))
        } else {
            // An odd number of rows divides no power of two either.
            let rows = (PERIOD / self.columns.max(1)).max(1) | 1;
            Self { rows: rows.min(self.rows), columns: self.columns }
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.rows == 1 { write!(f, "N = {}", self.columns) } else { write!(f, "{} x {}", self.rows, self.columns) }
    }
}

/// The shapes an exercise is checked at.
#[derive(Clone, Copy, Debug)]
pub enum Shapes {
    /// Any N >= 0.
    Elementwise,
    /// M rows of length D, for the listed D. Bytes and speed are judged at each D of `timed`.
    Rows { columns: &'static [usize], timed: &'static [usize] },
    /// A matrix of M rows of length D whose rows are not worked on one by one: either edge may be no multiple of a tile's.
    /// Bytes and speed are judged at each D of `timed`.
    Matrix { timed: &'static [usize] },
}

impl Shapes {
    /// A shape in words: `N = 1000` of elements, `1 x 1000` of rows and columns.
    pub fn describe(self, shape: Shape) -> String {
        match self {
            Shapes::Elementwise => shape.to_string(),
            Shapes::Rows { .. } | Shapes::Matrix { .. } => format!("{} x {}", shape.rows, shape.columns),
        }
    }

    /// Every fixed shape, smallest first, and one drawn from the run's seed.
    pub fn all(self, seed: u64) -> Vec<Shape> {
        // The sizes after 1024 have every remainder by 4, and multiples of 2 and 4 that are none of the next power of two: whoever takes
        // packs of one size where only smaller ones fit is told from all others.
        const SIZES: [usize; 18] =
            [0, 1, 2, 3, 31, 32, 33, 255, 257, 1023, 1024, 1025, 1026, 1028, 1029, 1030, 4099, 1_000_003];
        const ROWS: [usize; 5] = [1, 2, 3, 33, 257];
        // The same for rows, whose second one begins where the first one ends.
        const LENGTHS: [usize; 3] = [17, 34, 36];
        let mut rng = fastrand::Rng::with_seed(seed);
        match self {
            Shapes::Elementwise => {
                let mut shapes: Vec<_> = SIZES.into_iter().map(Shape::flat).collect();
                shapes.push(Shape::flat(rng.usize(2..200_000)));
                shapes
            }
            Shapes::Rows { columns, .. } => {
                let mut shapes: Vec<_> = ROWS
                    .into_iter()
                    .flat_map(|rows| columns.iter().map(move |&columns| Shape { rows, columns }))
                    .collect();
                shapes.extend(LENGTHS.map(|columns| Shape { rows: 3, columns }));
                let column = columns.get(rng.usize(0..columns.len().max(1))).copied().unwrap_or(1);
                shapes.push(Shape { rows: rng.usize(1..300), columns: column });
                // Eight rows of no multiple of four: whoever takes rows for columns takes vectors where there are none.
                let ragged = columns.iter().find(|columns| **columns > 4 && !columns.is_multiple_of(4));
                shapes.extend(ragged.map(|&columns| Shape { rows: 8, columns }));
                shapes.extend(EXTREMES);
                shapes
            }
            Shapes::Matrix { .. } => {
                let mut shapes: Vec<_> = MATRICES.into_iter().map(|(rows, columns)| Shape { rows, columns }).collect();
                shapes.push(Shape { rows: rng.usize(2..300), columns: rng.usize(2..300) });
                shapes.extend(EXTREMES);
                // The same for a launch that has the columns there.
                shapes.push(Shape { rows: 1, columns: 65_539 });
                shapes
            }
        }
    }
}

/// Rows and columns of matrices: a whole tile first, where nothing is wrong with an edge; single ones, one less and one more than
/// a tile has, and multiples of 2 and 4 in either or both.
const MATRICES: [(usize, usize); 19] = [
    (32, 32),
    (1, 1),
    (1, 33),
    (33, 1),
    (3, 2),
    (31, 32),
    (32, 31),
    (33, 35),
    (34, 36),
    (36, 34),
    (64, 96),
    (68, 132),
    (132, 68),
    (127, 65),
    (100, 257),
    (257, 100),
    (260, 1028),
    (1, 5003),
    (5003, 1),
];

/// Shapes of rows and columns at which a launch goes wrong, not a kernel.
const EXTREMES: [Shape; 4] = [
    // No rows, and rows of nothing: a grid of no blocks is an error.
    Shape { rows: 0, columns: 128 },
    Shape { rows: 3, columns: 0 },
    // Longer than 1024 threads of 16 elements. The second row begins where the first one ends.
    Shape { rows: 2, columns: 16_388 },
    // More than a grid's second and third dimensions hold.
    Shape { rows: 65_539, columns: 1 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_fit_and_do_not_divide_powers_of_two() {
        assert_eq!(Shape::flat(100).period(), Shape::flat(100));
        assert_eq!(Shape::flat(1 << 26).period(), Shape::flat(1_000_003));
        let rows = Shape { rows: 1 << 14, columns: 4096 }.period();
        assert_eq!((rows.columns, rows.rows % 2), (4096, 1));
        assert_eq!(Shape { rows: 2, columns: 1 << 21 }.period(), Shape { rows: 1, columns: 1 << 21 });
    }
}
