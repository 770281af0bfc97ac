//! Images and launches at random: every call answers. A program of its own, so that what the driver
//! records of them is in nobody's way.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{self, CUresult};

use support::{ADD_ONE, WRONG, answers, own_context, raw_add_one};

/// xorshift64: the same calls on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Bytes that end with a NUL, as the driver's contract for text demands.
fn image(random: &mut Random) -> Vec<u8> {
    let mut bytes = random.one_of(&[ADD_ONE, WRONG]).as_bytes().to_vec();
    match random.below(4) {
        0 => bytes = (0..random.below(300)).map(|_| random.below(256) as u8).collect(),
        1 => bytes.truncate(random.below(bytes.len())),
        _ => {
            for _ in 0..random.below(8) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
        }
    }
    // A cubin says by itself how long it is, and these would lie.
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(&[0x50, 0xed, 0x55, 0xba]) {
        bytes[0] = b'x';
    }
    bytes.push(0);
    bytes
}

#[test]
fn whatever_comes_is_answered() {
    // SAFETY: this is the program's only test, and nothing else runs yet that reads the environment.
    unsafe { std::env::set_var("FUSION_EMULATOR_QUIET", "1") };
    images_at_random_are_refused_or_loaded();
    launches_at_random_answer();
}

fn images_at_random_are_refused_or_loaded() {
    let _context = own_context();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut loaded = 0;
    for _ in 0..400 {
        let image = image(&mut random);
        let mut module = null_mut();
        // SAFETY: the image ends with a NUL, and the module is unloaded once.
        let code = unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        if code == CUresult::CUDA_SUCCESS {
            loaded += 1;
            // SAFETY: as above.
            answers(unsafe { sys::cuModuleUnload(module) }, CUresult::CUDA_SUCCESS);
        } else {
            assert!(module.is_null());
        }
    }
    assert!((1..400).contains(&loaded), "{loaded}");
}

fn launches_at_random_answer() {
    let context = own_context();
    let function = raw_add_one();
    let mut random = Random(42);
    let sizes = [0, 1, 2, 3, 31, 32, 33, 64, 1024, 1025, 65535, 65536, 0x7fff_ffff, u32::MAX];
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..500 {
        let mut size = || if random.below(3) == 0 { random.one_of(&sizes) } else { random.one_of(&[1, 1, 1, 2, 32]) };
        let (grid, block) = ([size(), size(), size()], [size(), size(), size()]);
        // A large grid that is allowed would run for hours.
        if grid[1] <= 65535 && grid[2] <= 65535 && grid.iter().map(|&n| u64::from(n)).product::<u64>() > 1 << 12 {
            continue;
        }
        let shared = random.one_of(&[0, 0, 16, 48 << 10, 300 << 10, u32::MAX]);
        let (mut out, mut x, mut n) = (0u64, 0u64, 0u32);
        let mut params: [*mut c_void; 3] = [(&raw mut out).cast(), (&raw mut x).cast(), (&raw mut n).cast()];
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: there are three parameters of the kernel's types; with n zero it touches nothing.
        let code = unsafe {
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, null_mut(), params.as_mut_ptr(), null_mut())
        };
        match code {
            CUresult::CUDA_SUCCESS => ran += 1,
            _ => refused += 1,
        }
    }
    assert!(ran > 0 && refused > 0, "{ran} ran, {refused} were refused");
    context.synchronize().unwrap();
}
