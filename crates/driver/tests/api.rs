//! The driver as a program sees it: the built library, opened as a driver, and driven through cudarc.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/callback.rs"]
mod callback;
#[path = "api/capture.rs"]
mod capture;
#[path = "api/context.rs"]
mod context;
#[path = "api/device.rs"]
mod device;
#[path = "api/event.rs"]
mod event;
#[path = "api/function.rs"]
mod function;
#[path = "api/graph.rs"]
mod graph;
#[path = "api/host.rs"]
mod host;
#[path = "api/launch.rs"]
mod launch;
#[path = "api/link.rs"]
mod link;
#[path = "api/memory.rs"]
mod memory;
#[path = "api/module.rs"]
mod module;
#[path = "api/stream.rs"]
mod stream;
#[path = "api/support.rs"]
mod support;
#[path = "api/symbols.rs"]
mod symbols;
#[path = "api/tensor_map.rs"]
mod tensor_map;
