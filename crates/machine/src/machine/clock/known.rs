//! Launches that are alike take as long as each other: programs launch the same kernel again and again.

use std::collections::HashMap;

use crate::machine::{Kernel, Launch, Loaded};
use crate::timing::{Estimate, Left};

/// How often a launch is simulated before others like it take its time: the second one may find what the first left in L2.
const OFTEN: usize = 2;

/// Launches that are kept.
const MOST: usize = 1 << 12;

/// What alike launches have in common: all but where their buffers lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Where the module is, and the kernel's name.
    kernel: (usize, String),
    shape: ([u32; 3], [u32; 3], u32, bool, Option<[u32; 3]>),
    /// Parameters; of one that points into an allocation, where in it and how large that is.
    params: Vec<(u64, u64)>,
}

/// What a launch took and left.
type Took = (Estimate, Left);

#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Key, (usize, Took)>);

impl Key {
    /// `place` says of an address where in its allocation it lies, and how large that is.
    pub(super) fn new(
        loaded: &Loaded,
        kernel: Kernel,
        launch: &Launch,
        params: &[u8],
        place: impl Fn(u64) -> Option<(u64, u64)>,
    ) -> Self {
        let info = loaded.info(kernel);
        let value = |from: usize, bytes: usize| {
            let mut value = [0; 8];
            let given = params.get(from..).and_then(|rest| rest.get(..bytes));
            value[..bytes].copy_from_slice(given.unwrap_or(&[0; 8][..bytes]));
            u64::from_le_bytes(value)
        };
        let mut values = Vec::new();
        for param in &info.params {
            let (offset, size) = (param.offset as usize, param.size as usize);
            for at in (0..size).step_by(8) {
                let value = value(offset + at, (size - at).min(8));
                values.push(place(value).filter(|_| size - at >= 8).unwrap_or((value, 0)));
            }
        }
        let &Launch { grid, block, dynamic_shared, cooperative, cluster } = launch;
        let module = std::ptr::from_ref(loaded) as usize;
        Self { kernel: (module, info.name), shape: (grid, block, dynamic_shared, cooperative, cluster), params: values }
    }
}

impl Known {
    pub(super) fn get(&self, key: &Key) -> Option<Took> {
        let (times, took) = self.0.get(key)?;
        (*times >= OFTEN).then(|| took.clone())
    }

    pub(super) fn add(&mut self, key: Key, took: Took) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        let times = self.0.get(&key).map_or(0, |(times, _)| *times);
        self.0.insert(key, (times + 1, took));
    }
}
