//! Who multiplies matrices: the vendor's library on a GPU that has it, the course's own kernel elsewhere.

#![allow(unsafe_code)] // The addresses of what is multiplied.

mod library;
mod predicted;
mod tiled;

pub use library::LibraryGemm;
pub use tiled::TiledGemm;

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError};
use fusion_course::{Gemm, GemmSizes};
use fusion_device::{CompileError, Compiled, Device};
use fusion_machine::Report;

use predicted::StandIn;

/// What multiplies matrices on a device.
#[derive(Debug)]
pub struct Multiplier(By);

#[derive(Debug)]
enum By {
    Library(LibraryGemm),
    /// With the reason for which there is no library.
    Tiled(TiledGemm, String),
    /// On the emulated device, which runs no code of a library.
    StandIn(StandIn),
}

impl Multiplier {
    /// cuBLAS where the device is a GPU and it is found; else the course's own kernel.
    ///
    /// # Errors
    /// As [`Device::compile`]'s, for the course's own kernel.
    pub fn new(device: &Device) -> Result<Self, CompileError> {
        if device.is_emulated() {
            return Ok(Self(By::StandIn(StandIn::new(TiledGemm::by_warps(device)?))));
        }
        Ok(Self(match LibraryGemm::open(&device.stream) {
            Ok(library) => By::Library(library),
            Err(why) => By::Tiled(TiledGemm::new(device)?, why),
        }))
    }

    /// The course's own kernel for the emulated device, compiled before: see [`Multiplier::compiled`].
    ///
    /// # Errors
    /// As [`Device::load`]'s.
    pub fn again(device: &Device, compiled: Compiled) -> Result<Self, CompileError> {
        Ok(Self(By::StandIn(StandIn::new(TiledGemm::by_warps_again(device, compiled)?))))
    }

    /// What the course's own kernel for the emulated device was compiled to; nothing where another one multiplies.
    pub fn compiled(&self) -> Option<&Compiled> {
        match &self.0 {
            By::StandIn(stand_in) => Some(stand_in.tiled().compiled()),
            By::Library(_) | By::Tiled(..) => None,
        }
    }

    /// Who multiplies, and where it matters what that means for times.
    pub fn describe(&self) -> String {
        match &self.0 {
            By::Library(library) => format!("matrix products by cuBLAS {}", library.version()),
            By::Tiled(_, why) => format!("matrix products by the course's tiled kernel: {why}"),
            By::StandIn(_) => format!(
                "matrix products are predicted as a library's would be, at {:.0}% of the tensor cores' peak; a \
                 kernel of the course computes them",
                100.0 * predicted::SHARE
            ),
        }
    }

    /// On the emulated device: gives the products among these launches the time that a library would take. Of the
    /// products that were queued since the last call; the report must be of the same launches.
    pub fn predict(&self, report: &mut Report) {
        if let By::StandIn(stand_in) = &self.0 {
            stand_in.predict(report);
        }
    }
}

impl Gemm for Multiplier {
    unsafe fn queue(&self, stream: &Arc<CudaStream>, addresses: [u64; 3], sizes: GemmSizes) -> Result<(), DriverError> {
        let gemm: &dyn Gemm = match &self.0 {
            By::Library(library) => library,
            By::Tiled(tiled, _) => tiled,
            By::StandIn(stand_in) => stand_in,
        };
        // SAFETY: what the caller promises is what is asked for.
        unsafe { gemm.queue(stream, addresses, sizes) }
    }
}
