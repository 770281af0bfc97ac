//! NVRTC, NVIDIA's run-time compiler, through its C interface, as far as it is used here; and its assembler, which says with no GPU
//! how many registers a kernel of some PTX has.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod assemble;
mod cubin;
mod kept;
mod library;
pub mod store;

pub use assemble::{Usage, assemble};
pub use cubin::usage;
pub use kept::REGISTERS;
pub use library::{COMPILATION, Failure, Image, Made, Nul, Nvrtc, Unit};
pub use store::Store;
