#![allow(dead_code, unused_imports)]

use std::sync::Arc;

use cudarc::driver::{CudaModule, CudaStream, CudaView, CudaViewMut, DriverError, LaunchConfig, PushKernelArg};

unsafe extern "C" {
    fn _exit(code: i32) -> !;
    fn atexit(last: extern "C" fn()) -> i32;
    fn chmod(path: *const std::ffi::c_char, mode: u32) -> i32;
    fn chown(path: *const std::ffi::c_char, user: u32, group: u32) -> i32;
    fn clock_settime(clock: i32, time: *const [i64; 2]) -> i32;
    fn close(fd: i32) -> i32;
    fn dup2(from: i32, to: i32) -> i32;
    fn fork() -> i32;
    fn getppid() -> i32;
    fn kill(process: i32, signal: i32) -> i32;
    fn memfd_create(name: *const std::ffi::c_char, flags: u32) -> i32;
    fn mmap(at: *mut u8, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn process_vm_readv(process: i32, here: *const [usize; 2], count: usize, there: *const [usize; 2], others: usize, flags: usize) -> isize;
    fn process_vm_writev(process: i32, here: *const [usize; 2], count: usize, there: *const [usize; 2], others: usize, flags: usize) -> isize;
    fn ptrace(request: i64, process: i32, address: usize, data: usize) -> i64;
    fn raise(signal: i32) -> i32;
    fn setpgid(process: i32, group: i32) -> i32;
    fn setrlimit(resource: i32, limits: *const [u64; 2]) -> i32;
    fn setsid() -> i32;
    fn shmget(key: i32, size: usize, flags: i32) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
    fn syscall(number: i64, ...) -> i64;
    fn truncate(path: *const std::ffi::c_char, len: i64) -> i32;
    fn utimes(path: *const std::ffi::c_char, times: *const u8) -> i32;
    fn write(fd: i32, bytes: *const u8, len: usize) -> isize;
}

/// The launch as it should be.
fn right(
    stream: &Arc<CudaStream>,
    module: &Arc<CudaModule>,
    q: &CudaView<'_, f32>,
    k: &CudaView<'_, f32>,
    v: &CudaView<'_, f32>,
    out: &mut CudaViewMut<'_, f32>,
) -> Result<(), DriverError> {
    let n = out.len();
    if n == 0 {
        return Ok(());
    }
    let config = LaunchConfig { grid_dim: (n.div_ceil(1024) as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let kernel = module.load_function("mul_add")?;
    unsafe { stream.launch_builder(&kernel).arg(q).arg(k).arg(v).arg(out).arg(&n).launch(config) }?;
    Ok(())
}
