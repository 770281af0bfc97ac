//! Input values that make wrong kernels fail.

use crate::{DType, Data, Shape};

/// A deterministic source of test values.
///
/// Uniform inputs let wrong indexing pass, so values vary with position, have mixed signs and an
/// offset, and include zeros, large (1e4) and small (1e-6) magnitudes.
#[derive(Debug)]
pub struct Inputs {
    rng: fastrand::Rng,
}

impl Inputs {
    pub fn new(seed: u64) -> Self {
        Self { rng: fastrand::Rng::with_seed(seed) }
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.rng.f32()
    }

    /// One integer in `0..end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.rng.usize(0..end.max(1))
    }

    /// A value of ordinary magnitude around 0.25, in (-`range`, `range`) and a little more.
    fn ordinary(&mut self, index: usize, range: f32) -> f32 {
        let drift = 0.25 * ((index % 1021) as f32 / 1021.0);
        self.uniform(-range, range) + drift
    }

    /// `len` values of ordinary magnitude with zeros, large and small ones strewn in.
    pub fn mixed(&mut self, len: usize) -> Vec<f32> {
        (0..len)
            .map(|i| match self.rng.u32(0..64) {
                0 => 0.0,
                1 => self.uniform(-1e4, 1e4),
                2 => self.uniform(-1e-6, 1e-6),
                3 => -0.0,
                _ => self.ordinary(i, 4.0),
            })
            .collect()
    }

    /// As [`Inputs::mixed`], but without large values: for operations that would overflow.
    pub fn moderate(&mut self, len: usize, range: f32) -> Vec<f32> {
        (0..len)
            .map(|i| match self.rng.u32(0..64) {
                0 => 0.0,
                2 => self.uniform(-1e-6, 1e-6),
                _ => self.ordinary(i, range),
            })
            .collect()
    }

    /// Rows that differ from each other in offset and spread, so that a result of the wrong row shows. Of three rows or
    /// more one is all zeros and one is constant; a single row is either now and then.
    pub fn rows(&mut self, shape: Shape) -> Vec<f32> {
        let mut values = Vec::with_capacity(shape.elements());
        for row in 0..shape.rows {
            let kind = if shape.rows > 2 { row } else { self.below(16) };
            let (offset, spread) = match kind {
                1 => (0.0, 0.0),
                2 => (self.uniform(0.5, 3.0), 0.0),
                _ => (self.uniform(-2.0, 2.0), self.uniform(0.25, 4.0)),
            };
            values.extend((0..shape.columns).map(|column| match self.rng.u32(0..64) {
                0 if spread > 0.0 => 0.0,
                1 if spread > 0.0 => self.uniform(-1e-6, 1e-6),
                _ if spread > 0.0 => offset + spread * self.ordinary(column, 1.0),
                _ => offset,
            }));
        }
        values
    }

    /// [`Inputs::mixed`] as a buffer.
    pub fn mixed_f32(&mut self, len: usize) -> Data {
        Data::F32(self.mixed(len))
    }

    /// [`Inputs::rows`] as a buffer of a float type, each value rounded to it.
    pub fn rows_of(&mut self, dtype: DType, shape: Shape) -> Data {
        Data::rounded(dtype, self.rows(shape))
    }

    /// Factors that a normalisation's row is multiplied with: around 1, none of them 0 and some negative.
    pub fn gains(&mut self, dtype: DType, len: usize) -> Data {
        let values = (0..len).map(|_| self.uniform(0.5, 1.5) * if self.below(8) == 0 { -1.0 } else { 1.0 });
        Data::rounded(dtype, values.collect())
    }

    /// What is added to each row: mixed signs, of ordinary magnitude.
    pub fn offsets(&mut self, dtype: DType, len: usize) -> Data {
        let values = (0..len).map(|i| self.ordinary(i, 1.0));
        Data::rounded(dtype, values.collect())
    }
}
