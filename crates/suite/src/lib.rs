//! What suites of small files have in common, whatever is in the files: instructions in PTX, kernels in CUDA C++.
//!
//! A launch is written as text in a file ([`Launch`]).
//! The files are compiled into a program, which runs on a machine with a GPU and nothing else. Cases run one after another
//! on one device ([`Runner`]), each as a test of its own ([`tests`]) or from a command line ([`main`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod argument;
mod command;
mod files;
mod launch;
mod runner;
mod tensor;
mod tests;

pub use argument::{Argument, Fill, Type};
pub use command::main;
pub use files::{Files, NothingFound};
pub use launch::{Launch, Parameter, stream};
pub use runner::Runner;
pub use tensor::Tensor;
pub use tests::{Check, Test, tests};
