//! The specification of one exercise.

use crate::{DType, Data, Inputs, Step};

/// Everything that is fixed about an exercise.
#[derive(Debug)]
pub struct Exercise {
    /// Name of the exercise, its files, its launch function and its kernel.
    pub name: &'static str,
    pub day: u32,
    /// The operation in one line, for tables.
    pub definition: &'static str,
    /// Buffers that the kernel reads, in the order of the signature.
    pub inputs: &'static [Param],
    /// Buffers that it writes.
    pub outputs: &'static [Param],
    /// Buffers that the unfused chain needs and the fused kernel does without.
    pub intermediates: &'static [Param],
    /// Scalars after the buffers, by name, as [`Case::scalars`] holds them.
    pub scalars: &'static [&'static str],
    /// One kernel a step: the baseline, and the model of its bytes.
    pub unfused: &'static [Step],
    pub shapes: Shapes,
    /// Fills inputs and scalars for a shape.
    pub make: fn(Shape, &mut Inputs) -> Case,
    /// The right outputs, computed in f64 from the case's inputs.
    pub reference: fn(&Case) -> Vec<Reference>,
    /// One for each output.
    pub tolerances: &'static [Tolerance],
    /// Launches allowed.
    pub launches: u32,
    /// The speedup over the unfused chain that passes, as a fraction of the ideal byte ratio.
    pub bar: f64,
    /// From a nudge to nearly the answer.
    pub hints: &'static [&'static str],
}

/// A buffer of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub dtype: DType,
    pub extent: Extent,
}

impl Param {
    /// A buffer with one element for each element of the shape.
    pub const fn elements(name: &'static str, dtype: DType) -> Self {
        Self { name, dtype, extent: Extent::Elements }
    }

    /// A buffer with one element a row.
    pub const fn rows(name: &'static str, dtype: DType) -> Self {
        Self { name, dtype, extent: Extent::Rows }
    }

    /// A buffer with one element a column, shared by all rows.
    pub const fn columns(name: &'static str, dtype: DType) -> Self {
        Self { name, dtype, extent: Extent::Columns }
    }

    /// Elements for a shape.
    pub fn len(&self, shape: Shape) -> usize {
        match self.extent {
            Extent::Elements => shape.elements(),
            Extent::Rows => shape.rows,
            Extent::Columns => shape.columns,
        }
    }

    pub fn bytes(&self, shape: Shape) -> usize {
        self.len(shape) * self.dtype.bytes()
    }
}

/// How many elements a buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Elements,
    Rows,
    Columns,
}

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
    /// M rows of length D, for the listed D.
    Rows { columns: &'static [usize] },
}

impl Shapes {
    /// Every fixed shape, smallest first, and one drawn from the run's seed.
    pub fn all(self, seed: u64) -> Vec<Shape> {
        const SIZES: [usize; 14] = [0, 1, 2, 3, 31, 32, 33, 255, 257, 1023, 1024, 1025, 4099, 1_000_003];
        const ROWS: [usize; 5] = [1, 2, 3, 33, 257];
        let mut rng = fastrand::Rng::with_seed(seed);
        match self {
            Shapes::Elementwise => {
                let mut shapes: Vec<_> = SIZES.into_iter().map(Shape::flat).collect();
                shapes.push(Shape::flat(rng.usize(2..200_000)));
                shapes
            }
            Shapes::Rows { columns } => {
                let mut shapes: Vec<_> = ROWS
                    .into_iter()
                    .flat_map(|rows| columns.iter().map(move |&columns| Shape { rows, columns }))
                    .collect();
                let column = columns.get(rng.usize(0..columns.len().max(1))).copied().unwrap_or(1);
                shapes.push(Shape { rows: rng.usize(1..300), columns: column });
                shapes
            }
        }
    }
}

/// One concrete problem: a shape with host inputs and scalars.
#[derive(Clone, Debug)]
pub struct Case {
    pub shape: Shape,
    /// As [`Exercise::inputs`].
    pub inputs: Vec<Data>,
    /// As [`Exercise::scalars`].
    pub scalars: Vec<Scalar>,
    /// For an output that the kernel also reads: what it holds before. Empty when there is none.
    pub initial: Vec<Option<Data>>,
}

impl Case {
    pub fn new(shape: Shape, inputs: Vec<Data>) -> Self {
        Self { shape, inputs, scalars: Vec::new(), initial: Vec::new() }
    }

    /// The n-th input's f32 values.
    pub fn f32s(&self, input: usize) -> &[f32] {
        self.inputs.get(input).map_or(&[], Data::f32s)
    }

    /// The n-th scalar; 0 when there is none.
    pub fn scalar(&self, index: usize) -> f64 {
        self.scalars.get(index).map_or(0.0, |s| s.to_f64())
    }
}

/// A scalar argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    F32(f32),
    I32(i32),
}

impl Scalar {
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::F32(x) => f64::from(x),
            Scalar::I32(x) => f64::from(x),
        }
    }
}

/// The right values of one output.
#[derive(Clone, Debug)]
pub enum Reference {
    /// Within the output's [`Tolerance`]. `magnitudes` holds, for each element, the largest
    /// absolute value among the terms that it was summed from, which is what a rounding error
    /// scales with where terms cancel; `None` where nothing cancels.
    Close { values: Vec<f64>, magnitudes: Option<Vec<f64>> },
    /// Exactly one of two values: quantizers near a tie. Both are the same away from ties.
    OneOf(Vec<[f64; 2]>),
}

impl Reference {
    pub fn len(&self) -> usize {
        match self {
            Reference::Close { values, .. } => values.len(),
            Reference::OneOf(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A value passes when |actual - ref| <= absolute + relative * max(|ref|, magnitude).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

impl Tolerance {
    pub const EXACT: Self = Self { absolute: 0.0, relative: 0.0 };
}

impl Exercise {
    /// Bytes that any kernel must move: each input read once, each output written once.
    pub fn minimum_bytes(&self, shape: Shape) -> u64 {
        self.inputs.iter().chain(self.outputs).map(|p| p.bytes(shape) as u64).sum()
    }

    /// Bytes that the unfused chain must move.
    pub fn unfused_bytes(&self, shape: Shape) -> u64 {
        self.unfused.iter().map(|step| step.bytes(self, shape)).sum()
    }

    /// The ideal speedup of fusing, by bytes, for a large shape.
    pub fn ideal_speedup(&self, shape: Shape) -> f64 {
        self.unfused_bytes(shape) as f64 / self.minimum_bytes(shape).max(1) as f64
    }

    /// A buffer by name, among inputs, outputs and intermediates.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.inputs.iter().chain(self.outputs).chain(self.intermediates).find(|p| p.name == name)
    }
}
