//! The course's own matrix product, for devices without a library.

#![allow(unsafe_code)] // Launches.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::{Gemm, GemmSizes};
use fusion_device::{CompileError, Compiled, Device, Options, Program, Source as Text};

/// A kernel of `gemm/`: on a GPU `tiled.cu`, on the emulated device `by_warps.cu`.
#[derive(Debug)]
pub struct TiledGemm {
    program: Program,
    tile: Tile,
}

/// What a block does.
#[derive(Clone, Copy, Debug)]
struct Tile {
    /// Of the result.
    rows: usize,
    columns: usize,
    threads: u32,
}

const BY_WARPS: Tile = Tile { rows: 8, columns: 128, threads: 128 };

pub(super) const KERNEL: &str = "gemm_f16";

impl TiledGemm {
    /// The kernel that keeps its tiles in shared memory.
    ///
    /// # Errors
    /// As [`Device::compile`]'s.
    pub fn new(device: &Device) -> Result<Self, CompileError> {
        let tile = Tile { rows: 64, columns: 64, threads: 256 };
        Self::with(device, "kernels/gemm/tiled.cu", include_str!("../../../../kernels/gemm/tiled.cu"), tile)
    }

    /// The kernel that keeps them in registers, which the emulated device executes in a fraction of the time.
    ///
    /// # Errors
    /// As [`Device::compile`]'s.
    pub fn by_warps(device: &Device) -> Result<Self, CompileError> {
        Self::with(device, "kernels/gemm/by_warps.cu", include_str!("../../../../kernels/gemm/by_warps.cu"), BY_WARPS)
    }

    /// [`TiledGemm::by_warps`], compiled before.
    ///
    /// # Errors
    /// As [`Device::load`]'s.
    pub fn by_warps_again(device: &Device, compiled: Compiled) -> Result<Self, CompileError> {
        Ok(Self { program: device.load(compiled).map_err(CompileError::Load)?, tile: BY_WARPS })
    }

    /// What it was compiled to.
    pub fn compiled(&self) -> &Compiled {
        &self.program.compiled
    }

    fn with(device: &Device, name: &str, text: &str, tile: Tile) -> Result<Self, CompileError> {
        let program = device.compile(&Text { name, text }, &crate::includes(), &Options::default())?;
        Ok(Self { program, tile })
    }
}

impl Gemm for TiledGemm {
    unsafe fn queue(
        &self,
        stream: &Arc<CudaStream>,
        addresses: [u64; 3],
        GemmSizes { m, n, k }: GemmSizes,
    ) -> Result<(), DriverError> {
        if m * n == 0 {
            return Ok(());
        }
        let Tile { rows, columns, threads } = self.tile;
        let grid_dim = (n.div_ceil(columns) as u32, m.div_ceil(rows) as u32, 1);
        let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        let kernel = self.program.module.load_function(KERNEL)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&addresses[0]).arg(&addresses[1]).arg(&addresses[2]).arg(&m).arg(&n).arg(&k);
        // SAFETY: the arguments are the kernel's parameters; the caller answers for the addresses.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}
