//! Waiting for others: barriers, warp operations, and who goes around them.

pub(crate) mod aligned;
pub(crate) mod barrier;
pub(crate) mod bulk;
pub(crate) mod bypass;
pub(crate) mod cluster;
pub(crate) mod collective;
pub(crate) mod exit;
pub(crate) mod mbarrier;
pub(crate) mod standstill;
pub(crate) mod tensor;
