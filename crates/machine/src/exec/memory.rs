//! How loads, stores, atomics and copies reach memory.
//!
//! Each finds the bytes, or the fault of lanes that have none; then it is shown to the checks, counted, and takes effect.

pub(crate) mod atomic;
pub(crate) mod bulk;
pub(crate) mod cluster;
pub(crate) mod copy;
pub(crate) mod descriptor;
mod generic;
pub(crate) mod global;
pub(crate) mod heap;
mod local;
pub(crate) mod matrix;
pub(crate) mod param;
pub(crate) mod shared;
mod way;

pub(crate) use generic::access;
pub(crate) use way::{Load, Request, Store};

use crate::report::Traffic;

#[inline(always)]
pub(crate) fn count(traffic: &mut Traffic, sectors: u64, bytes: u64) {
    traffic.requests += 1;
    traffic.sectors += sectors;
    traffic.bytes += bytes;
}

/// A loaded element as its register wants it: sign-extended if the type is signed.
#[inline(always)]
pub(crate) fn extend(value: u64, element: u32, signed: bool) -> u64 {
    if signed && element < 8 {
        let shift = 64 - 8 * element;
        return ((value << shift) as i64 >> shift) as u64;
    }
    value
}
