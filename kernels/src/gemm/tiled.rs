//! The course's own matrix product, for devices without a library.

#![allow(unsafe_code)] // Launches.

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use fusion_course::{Gemm, GemmSizes, Source};
use fusion_device::{CompileError, Device};

/// A kernel of `gemm/`: on a GPU `tiled.cu`, on the emulated device `by_warps.cu`.
#[derive(Debug)]
pub struct TiledGemm {
    module: Arc<CudaModule>,
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

pub(super) const KERNEL: &str = "gemm_f16";

impl TiledGemm {
    /// The kernel that keeps its tiles in shared memory.
    ///
    /// # Errors
    /// As [`Device::compile`]'s.
    pub fn new(device: &Device) -> Result<Self, CompileError> {
        let tile = Tile { rows: 64, columns: 64, threads: 256 };
        Self::with(device, "kernels/gemm/tiled.cu", include_str!("../../gemm/tiled.cu"), tile)
    }

    /// The kernel that keeps them in registers, which the emulated device executes in a fraction of the time.
    ///
    /// # Errors
    /// As [`Device::compile`]'s.
    pub fn by_warps(device: &Device) -> Result<Self, CompileError> {
        let tile = Tile { rows: 8, columns: 128, threads: 128 };
        Self::with(device, "kernels/gemm/by_warps.cu", include_str!("../../gemm/by_warps.cu"), tile)
    }

    fn with(device: &Device, path: &str, text: &str, tile: Tile) -> Result<Self, CompileError> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        Ok(Self { module: crate::load(device, &source)?, tile })
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
        let kernel = self.module.load_function(KERNEL)?;
        let mut launch = stream.launch_builder(&kernel);
        launch.arg(&addresses[0]).arg(&addresses[1]).arg(&addresses[2]).arg(&m).arg(&n).arg(&k);
        // SAFETY: the arguments are the kernel's parameters; the caller answers for the addresses.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}
