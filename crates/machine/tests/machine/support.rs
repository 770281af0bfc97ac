//! A machine with a module, and buffers by name.

use fusion_machine::{AllocationKind, Checks, Fault, Launch, LaunchReport, Loaded, Machine, Options, Profile};

pub(crate) const KERNELS: &str = include_str!("../ptx/kernels.ptx");
pub(crate) const FAULTS: &str = include_str!("../ptx/faults.ptx");
pub(crate) const ARITHMETIC: &str = include_str!("../ptx/arithmetic.ptx");
pub(crate) const ADVICE: &str = include_str!("../ptx/advice.ptx");

pub(crate) struct Device {
    pub(crate) machine: Machine,
    pub(crate) loaded: Loaded,
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    Pointer(u64),
    I32(i32),
    F32(f32),
    /// Bytes of a struct, as f32.
    Floats([f32; 8]),
}

impl Device {
    pub(crate) fn new(ptx: &str) -> Self {
        Self::with(ptx, Options::default())
    }

    pub(crate) fn with(ptx: &str, options: Options) -> Self {
        let parsed = fusion_ptx::parse(ptx);
        let errors: Vec<_> = parsed.diagnostics.iter().filter(|d| d.severity == fusion_ptx::Severity::Error).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let machine = Machine::new(Profile::default(), options);
        let loaded = machine.load(parsed.module, ptx).unwrap();
        Self { machine, loaded }
    }

    pub(crate) fn buffer(&self, bytes: u64) -> u64 {
        self.machine.memory().alloc(bytes, AllocationKind::Device).unwrap()
    }

    pub(crate) fn ints(&self, values: &[i32]) -> u64 {
        let base = self.buffer(4 * values.len() as u64);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.machine.memory().write(base, &bytes).unwrap();
        base
    }

    pub(crate) fn floats(&self, values: &[f32]) -> u64 {
        self.ints(&values.iter().map(|v| v.to_bits() as i32).collect::<Vec<_>>())
    }

    pub(crate) fn read_ints(&self, base: u64, n: usize) -> Vec<i32> {
        let mut bytes = vec![0; 4 * n];
        self.machine.memory().read(base, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }

    pub(crate) fn read_floats(&self, base: u64, n: usize) -> Vec<f32> {
        self.read_ints(base, n).into_iter().map(|v| f32::from_bits(v as u32)).collect()
    }

    pub(crate) fn try_launch(&self, kernel: &str, config: Launch, args: &[Arg]) -> Result<LaunchReport, Box<Fault>> {
        let handle = self.loaded.kernel(kernel).unwrap();
        let info = self.loaded.info(handle);
        let mut params = vec![0; info.param_bytes as usize];
        for (arg, param) in args.iter().zip(&info.params) {
            let bytes = match arg {
                Arg::Pointer(p) => p.to_le_bytes().to_vec(),
                Arg::I32(v) => v.to_le_bytes().to_vec(),
                Arg::F32(v) => v.to_le_bytes().to_vec(),
                Arg::Floats(v) => v.iter().flat_map(|v| v.to_le_bytes()).collect(),
            };
            let at = param.offset as usize;
            params[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        self.machine.launch(&self.loaded, handle, &config, &params)
    }

    #[track_caller]
    pub(crate) fn launch(&self, kernel: &str, grid: u32, block: u32, args: &[Arg]) -> LaunchReport {
        self.try_launch(kernel, config(grid, block), args).unwrap_or_else(|fault| panic!("{fault:#?}"))
    }

    #[track_caller]
    pub(crate) fn fault(&self, kernel: &str, grid: u32, block: u32, args: &[Arg]) -> Fault {
        match self.try_launch(kernel, config(grid, block), args) {
            Ok(_) => panic!("{kernel} ran to its end"),
            Err(fault) => *fault,
        }
    }
}

/// What a kernel is found to do wrong by the search for races alone, given three buffers of zeros.
pub(crate) fn races(ptx: &str, kernel: &str, launch: Launch) -> Vec<Fault> {
    let checks = Checks { races: true, ..Checks::NONE };
    let device = Device::with(ptx, Options { checks, ..Options::default() });
    let buffers = [(); 3].map(|()| Arg::Pointer(device.buffer(1 << 16)));
    device.try_launch(kernel, launch, &buffers).unwrap_or_else(|fault| panic!("{fault:#?}")).findings
}

/// The line of a source that holds a text, within a kernel.
pub(crate) fn line_within(source: &str, kernel: &str, text: &str) -> u32 {
    let mut lines = source.lines().enumerate().skip_while(|(_, l)| !l.contains(&format!(" {kernel}(")));
    lines.find(|(_, l)| l.contains(text)).unwrap_or_else(|| panic!("{kernel} has no `{text}`")).0 as u32 + 1
}

pub(crate) fn config(grid: u32, block: u32) -> Launch {
    Launch { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: 0, cooperative: false, cluster: None }
}
