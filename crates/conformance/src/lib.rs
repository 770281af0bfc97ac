//! A suite of small PTX files, one an instruction form, that runs on the emulated device and on a real GPU.
//!
//! Each file under `ptx/` holds its inputs and the results that the *PTX ISA* manual asks for, so that
//! the emulated device and the hardware are judged by the same yardstick, and neither by the other.
//! [`Case`] says what a file may contain, [`Session`] executes one after another.
//!
//! The files are compiled into the program: it runs on a machine with a GPU and nothing else.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod approx;
mod case;
mod expand;
mod mix;
mod runner;
mod session;
mod suite;
pub mod sweep;
mod value;

pub use case::{Buffer, BufferKind, Case, Geometry, ParseError};
pub use expand::module_text;
pub use runner::{Failure, Mismatch, run};
pub use session::Session;
pub use suite::SUITE;
pub use value::{Expected, Tolerance, Type};
