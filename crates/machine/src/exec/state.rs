//! What a launch, a block and a warp are made of: data, and what can be said of it without looking further.

pub(crate) mod address;
pub(crate) mod banks;
pub(crate) mod barrier;
pub(crate) mod cluster;
pub(crate) mod lanes;
pub(crate) mod local;
pub(crate) mod paged;
pub(crate) mod reach;
pub(crate) mod run;
pub(crate) mod shared;
pub(crate) mod stack;
pub(crate) mod stores;
pub(crate) mod warp;
pub(crate) mod window;
