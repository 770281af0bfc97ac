//! Judging code of people whom one does not trust.
//!
//! The Rust code of a submission is in a process of its own, the *host* ([`host`]). It has no inputs, no outputs, no reference
//! and no device that runs anything: it is given sizes and addresses, and what its launch function queues is taken down. The worker
//! that judges ([`crate::worker::contained`]) queues the same on its own device. So whatever becomes of the host's process, all that it
//! can say is which kernels of its `.cu` are to be launched with which arguments, and the worker looks at what these do.

mod host;
mod remote;
mod talk;

pub use host::host;
pub use remote::Remote;
