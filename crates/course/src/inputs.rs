//! Input values that make wrong kernels fail.

use crate::Data;

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

    /// [`Inputs::mixed`] as a buffer.
    pub fn mixed_f32(&mut self, len: usize) -> Data {
        Data::F32(self.mixed(len))
    }
}
