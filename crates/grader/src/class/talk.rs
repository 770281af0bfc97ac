//! What a worker and the host of a submission say to each other: a line of JSON each, in turn.

use std::io::{self, BufRead, Read as _, Write};

use fusion_course::Scalar;
use fusion_device::recording::Work;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::judgement::Failure;

/// Bytes of a line at most.
const LONGEST: u64 = 16 << 20;

/// What the worker wants.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Load this, and say that all is ready.
    Load { name: String, ptx: String, architecture: u32, version: (u32, u32) },
    /// Call the launch function.
    Call(Call),
}

/// What a launch function is called with: buffers by the address of their first element and their number of elements.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) inputs: Vec<(u64, usize)>,
    pub(super) outputs: Vec<(u64, usize)>,
    pub(super) scratch: Vec<(u64, usize)>,
    pub(super) scalars: Vec<Number>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) depth: Option<usize>,
    pub(super) heads: Option<[usize; 2]>,
    pub(super) experts: Option<usize>,
    pub(super) pages: Option<usize>,
}

/// A scalar by its bits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Number {
    F32(u32),
    I32(i32),
}

impl From<Scalar> for Number {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::F32(value) => Self::F32(value.to_bits()),
            Scalar::I32(value) => Self::I32(value),
        }
    }
}

impl From<Number> for Scalar {
    fn from(number: Number) -> Self {
        match number {
            Number::F32(bits) => Self::F32(f32::from_bits(bits)),
            Number::I32(value) => Self::I32(value),
        }
    }
}

/// What the launch function did.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// It is loaded, and nothing of the submission was called.
    Ready,
    Queued(Vec<Step>),
    Refused(Box<Failure>),
    /// The device lacks something.
    Unable(String),
}

/// One thing that it queued.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Step {
    Work(Work),
    /// A product of matrices: three addresses, and m, n, k.
    Product([u64; 3], [usize; 3]),
}

pub(super) fn send<T: Serialize>(to: &mut impl Write, what: &T) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    to.write_all(line.as_bytes())?;
    to.flush()
}

/// The next line; an error too where it is not what was expected, and where there is none.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    match from.by_ref().take(LONGEST).read_until(b'\n', &mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(serde_json::from_slice(&line)?),
    }
}
