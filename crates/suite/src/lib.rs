//! What suites of small files have in common, whatever is in the files: instructions in PTX, kernels in CUDA C++.
//!
//! The files are compiled into a program, which runs on a machine with a GPU and nothing else. Cases run one after another
//! on one device ([`Runner`]), each as a test of its own ([`tests`]) or from a command line ([`main`]).

mod command;
mod files;
mod runner;
mod tests;

pub use command::main;
pub use files::{Files, NothingFound};
pub use runner::Runner;
pub use tests::{Check, Test, tests};
