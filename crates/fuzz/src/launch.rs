//! A machine with some memory, and launches on it.

use fastrand::Rng;
use fusion_machine::{AllocationKind, KernelInfo, Launch, LoadError, Loaded, Machine, Options, Profile};

use crate::Input;

/// Bytes that each thread of the grid has for itself in `out`.
const OWN: u64 = 64;
/// Bytes of the large buffers.
const LARGE: u64 = 4096 * OWN;

/// A machine with a module loaded, and the buffers that launches are given.
pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) loaded: Loaded,
    out: u64,
    input: u64,
    odd: u64,
    managed: u64,
    freed: u64,
    variables: Vec<(u64, u64)>,
}

impl World {
    /// The same every time.
    pub(crate) fn new(input: &Input, text: &str, options: Options) -> Result<Self, LoadError> {
        let mut rng = Rng::with_seed(input.seed);
        // As much memory as the largest has, now and then; little for most, so that running out of it is tried too.
        let profile = match rng.u32(0..8) {
            0 => Profile::default(),
            _ => Profile { memory_bytes: 64 << 20, ..Profile::all()[rng.usize(..Profile::all().len())].clone() },
        };
        let machine = Machine::new(profile, options);
        let memory = machine.memory();
        let mut buffer = |size: u64, kind: AllocationKind, filled: bool| {
            let base = memory.alloc(size, kind).unwrap_or(0);
            if filled {
                let mut bytes = vec![0; size as usize];
                rng.fill(&mut bytes);
                // Only what was allocated is written; nothing is left to do when the memory was used up.
                let _ = memory.write(base, &bytes);
            }
            base
        };
        let out = buffer(LARGE, AllocationKind::Device, !input.seed.is_multiple_of(3));
        let source = buffer(LARGE, AllocationKind::Device, true);
        let odd = buffer(37, AllocationKind::Device, true);
        let managed = buffer(256, AllocationKind::Managed, true);
        let freed = buffer(128, AllocationKind::Device, true);
        let _ = memory.free(freed);
        let parsed = fusion_ptx::parse_bytes(&input.ptx);
        let names: Vec<String> = parsed.module.variables.iter().map(|v| v.name.clone()).collect();
        let loaded = machine.load(parsed.module, text)?;
        let mut variables: Vec<_> = names.iter().filter_map(|name| loaded.global(name)).collect();
        variables.retain(|(_, size)| *size <= 1 << 20);
        Ok(Self { machine, loaded, out, input: source, odd, managed, freed, variables })
    }

    /// Everything that kernels may have written, in one piece.
    pub(crate) fn contents(&self) -> Vec<u8> {
        let buffers = [(self.out, LARGE), (self.input, LARGE), (self.odd, 37), (self.managed, 256)];
        let mut all = Vec::new();
        for &(base, size) in buffers.iter().chain(&self.variables) {
            let mut bytes = vec![0; size as usize];
            // A buffer that is not there stays zero.
            let _ = self.machine.memory().read(base, &mut bytes);
            all.append(&mut bytes);
        }
        all
    }

    /// A launch of a kernel: mostly one that a GPU would make.
    pub(crate) fn plan(&self, rng: &mut Rng, info: &KernelInfo, private: bool) -> (Launch, Vec<u8>) {
        let launch = Launch {
            grid: grid(rng, private),
            block: info
                .required_threads
                .filter(|_| private || rng.u32(0..10) != 0)
                .unwrap_or_else(|| block(rng, private)),
            dynamic_shared: if private {
                4096
            } else {
                rng.choice([0, 0, 64, 100, 4096, 48 << 10, u32::MAX]).unwrap_or(0)
            },
            cooperative: !private && rng.u32(0..6) == 0,
            cluster: (!private && rng.u32(0..6) == 0).then(|| [rng.u32(1..4), 1, 1]),
        };
        let mut params = vec![0; (info.param_bytes as usize).min(1 << 16)];
        for (i, param) in info.params.iter().enumerate() {
            let value = match (param.size, i) {
                (8, 0) if private || rng.u32(0..4) != 0 => self.out,
                (8, 1) if private || rng.u32(0..4) != 0 => self.input,
                (8, _) => self.pointer(rng),
                _ if rng.bool() => rng.u64(..),
                _ => rng.choice([0, 1, 7, 64, 1000, u64::MAX, 0x7ff0_0000_0000_0000]).unwrap_or(0),
            };
            let start = (param.offset as usize).min(params.len());
            let end = (start + param.size as usize).min(params.len());
            params[start..end].iter_mut().zip(value.to_le_bytes().iter().cycle()).for_each(|(p, v)| *p = *v);
        }
        if !private && rng.u32(0..20) == 0 {
            params.truncate(rng.usize(0..=params.len()));
        }
        (launch, params)
    }

    fn pointer(&self, rng: &mut Rng) -> u64 {
        let buffer = rng.choice([self.out, self.input, self.odd, self.managed]).unwrap_or(0);
        match rng.u32(0..12) {
            0 => 0,
            1 => self.freed,
            2 => buffer + rng.u64(1..16),
            3 => buffer + LARGE - 16,
            4 => buffer.wrapping_sub(16),
            5 => rng.u64(..),
            6 => rng.choice([1 << 56, 2 << 56, 3 << 56, 4 << 56, u64::MAX, 0x7ffd_1234_5678, 1 << 47]).unwrap_or(0),
            7 => self.variables.first().map_or(0, |(base, _)| *base),
            _ => buffer,
        }
    }
}

/// Blocks: with threads of [`block`] never more than 4096 in a private launch. Only the larger ones are worth a second worker.
fn grid(rng: &mut Rng, private: bool) -> [u32; 3] {
    if !private && rng.u32(0..25) == 0 {
        return [[0, 1, 1], [1, 0, 1], [65536, 1, 1], [1, 65536, 1], [3, 1, u32::MAX]][rng.usize(..5)];
    }
    let grids = [[1, 1, 1], [1, 1, 1], [2, 1, 1], [3, 1, 1], [1, 2, 2], [2, 2, 2], [4, 2, 4], [27, 1, 1]];
    grids[rng.usize(..grids.len())]
}

fn block(rng: &mut Rng, private: bool) -> [u32; 3] {
    if !private && rng.u32(0..15) == 0 {
        return [[0, 1, 1], [1024, 1, 1], [1025, 1, 1], [1, 1, 65], [32, 32, 1], [u32::MAX; 3], [1, 1, 64]]
            [rng.usize(..7)];
    }
    [[1, 1, 1], [32, 1, 1], [31, 1, 1], [33, 1, 1], [64, 1, 1], [16, 4, 2], [3, 5, 7], [96, 1, 1], [128, 1, 1]]
        [rng.usize(..9)]
}
