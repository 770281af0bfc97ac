//! The examples that the cudarc crate ships, taken from its source and compiled as they are.
//!
//! They are programs that nobody wrote with the emulated device in mind, so they show whether it is
//! the driver that it claims to be. Nothing of them is copied into this repository.

/// One of cudarc's examples.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The file's name without its extension.
    pub name: &'static str,
    /// Whether it compiles CUDA C++, which takes NVRTC.
    pub compiles: bool,
    /// Its `main`. An error comes back as its debug form.
    pub run: fn() -> Result<(), String>,
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));
