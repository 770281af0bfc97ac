//! The kernels around the measured ones: moving bytes, summing outputs up; and the clock.

#![allow(unsafe_code)] // Launches.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use fusion_baseline::{Clock, memory};
use fusion_course::DeviceBuffer;
use fusion_device::{CompileError, Options};

use crate::session::Session;
use crate::trouble::Trouble;

const SOURCE: &str = include_str!("helpers.cu");
const THREADS: u32 = 256;

/// Blocks of kernels that loop: enough to fill any device.
const BLOCKS: u32 = 2048;

/// Slots for checksums: one for each launch of a batch.
pub(super) const SLOTS: usize = 64;

pub(super) struct Helpers<'a> {
    session: &'a Session,
    pub(super) clock: Clock,
    pub(super) movers: Movers,
    checksum: CudaFunction,
    sums: CudaSlice<u64>,
}

/// Kernels that only move bytes.
pub(super) struct Movers {
    stream: Arc<CudaStream>,
    /// With how many groups a thread of each takes.
    kernels: Vec<(CudaFunction, usize)>,
    /// Vectors that they read and write for a group.
    pub(super) reads: usize,
    pub(super) writes: usize,
}

impl<'a> Helpers<'a> {
    /// `reads` and `writes` are the mix of bytes that the movers move.
    pub(super) fn new(session: &'a Session, (reads, writes): (usize, usize)) -> Result<Self, Trouble> {
        let options =
            Options { define: vec![format!("READS={reads}"), format!("WRITES={writes}")], ..Options::default() };
        let program = session
            .compile_source("helpers.cu", SOURCE, &options)
            .map_err(|error: CompileError| Trouble::Unable(error.to_string()))?;
        let kernel = |name| program.kernel(name).map_err(|missing| Trouble::Unable(missing.to_string()));
        let ours = || Trouble::driver("making buffers for the measurement");
        let stream = &session.device.stream;
        Ok(Self {
            session,
            clock: Clock::new(&session.device, Some(&session.timing()?)).map_err(ours())?,
            movers: Movers {
                stream: stream.clone(),
                kernels: vec![(kernel("move1")?, 1), (kernel("move2")?, 2), (kernel("move4")?, 4)],
                reads,
                writes,
            },
            checksum: kernel("checksum")?,
            sums: stream.alloc_zeros(SLOTS).map_err(ours())?,
        })
    }

    /// Queues setting all checksums to zero.
    pub(super) fn clear_sums(&mut self) -> Result<(), DriverError> {
        self.session.device.stream.memset_zeros(&mut self.sums)
    }

    /// Queues adding the checksum of these buffers to a slot.
    pub(super) fn sum(&mut self, buffers: &[DeviceBuffer], slot: usize) -> Result<(), DriverError> {
        let stream = &self.session.device.stream;
        for buffer in buffers {
            let (address, count) = (buffer.address(stream), memory::bytes(buffer));
            let mut slot = self.sums.slice_mut(slot % SLOTS..slot % SLOTS + 1);
            let mut launch = stream.launch_builder(&self.checksum);
            launch.arg(&address).arg(&count).arg(&mut slot);
            // SAFETY: the arguments are the kernel's parameters; it reads `count` bytes, which the buffer holds, and
            // buffers begin at multiples of 256.
            unsafe { launch.launch(config(BLOCKS)) }?;
        }
        Ok(())
    }

    /// Waits for the stream and reads the checksums.
    pub(super) fn sums(&self) -> Result<Vec<u64>, DriverError> {
        self.session.device.stream.clone_dtoh(&self.sums)
    }
}

impl Movers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Queues moving `groups * (reads + writes)` vectors of 16 bytes with one of the movers. Both buffers must hold
    /// their part.
    pub(super) fn run(
        &self,
        mover: usize,
        from: &CudaSlice<u8>,
        to: &mut CudaSlice<u8>,
        groups: usize,
    ) -> Result<(), DriverError> {
        let fits = from.len() >= 16 * groups * self.reads && to.len() >= 16 * groups * self.writes;
        let Some((kernel, step)) = self.kernels.get(mover).filter(|_| fits) else {
            return Err(DriverError(cudarc::driver::sys::CUresult::CUDA_ERROR_INVALID_VALUE));
        };
        let blocks = u32::try_from(groups.div_ceil(THREADS as usize * step)).unwrap_or(u32::MAX).max(1);
        let mut launch = self.stream.launch_builder(kernel);
        launch.arg(from).arg(to).arg(&groups);
        // SAFETY: the arguments are the kernel's parameters; the buffers were checked to hold what it touches.
        unsafe { launch.launch(config(blocks)) }?;
        Ok(())
    }
}

fn config(blocks: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

#[cfg(test)]
mod tests {
    use fusion_device::compiler::{Compiler, Options, Source};

    /// Where there is a compiler; tests fetch none.
    #[test]
    fn our_kernels_compile_for_every_architecture() {
        let Ok(toolchain) = fusion_toolchain::find() else { return };
        let compiler = Compiler::open(&toolchain).unwrap();
        let options = Options { define: vec!["READS=3".to_owned(), "WRITES=1".to_owned()], ..Options::default() };
        for text in [super::SOURCE, &fusion_baseline::timing().text] {
            for capability in [75, 90] {
                let compiled =
                    compiler.machine_code(&Source { name: "x.cu", text }, &[], capability, &options).unwrap();
                assert!(compiled.diagnostics.is_empty(), "{}", compiled.log);
            }
        }
    }
}
