use std::collections::BTreeSet;
use std::ffi::c_void;
use std::path::PathBuf;

use cudarc::driver::sys::{self, CUresult::*};

use crate::support::{answers, context, library, symbol};

/// The functions that cudarc's sources may load, over all versions of CUDA. None when the sources are not at hand.
fn loaded_by_cudarc() -> Option<BTreeSet<String>> {
    let home =
        std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    let sources = registries.flatten().find_map(|registry| {
        let packages = std::fs::read_dir(registry.path()).ok()?;
        let mut packages = packages.flatten().filter(|p| p.file_name().to_string_lossy().starts_with("cudarc-0.19."));
        std::fs::read_to_string(packages.next()?.path().join("src/driver/sys/mod.rs")).ok()
    })?;
    let names = sources.lines().filter_map(|line| line.trim().strip_prefix("pub unsafe fn cu"));
    let names = names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    Some(names.filter_map(|name| Some(format!("cu{}", name.split_once('(')?.0))).collect())
}

#[test]
fn every_function_that_cudarc_may_load_exists() {
    let Some(names) = loaded_by_cudarc() else {
        return;
    };
    assert!(names.len() > 500, "only {} names found", names.len());
    // SAFETY: the symbols are looked up, not called.
    let missing = names.iter().filter(|name| unsafe { library().get::<*const c_void>(name.as_bytes()) }.is_err());
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn what_is_not_supported_says_so() {
    let _context = context();
    let unsupported: unsafe extern "C" fn() -> sys::CUresult = symbol("cuTexRefCreate");
    // SAFETY: it looks at no arguments.
    answers(unsafe { unsupported() }, CUDA_ERROR_NOT_SUPPORTED);
}

#[test]
fn functions_by_name() {
    library();
    let (mut function, mut status) =
        (std::ptr::null_mut(), sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: the pointers are valid.
    unsafe {
        answers(sys::cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut function, 12000, 0, &mut status), CUDA_SUCCESS);
        let alloc: *mut c_void = symbol::<*mut c_void>("cuMemAlloc_v2");
        assert_eq!(function, alloc);
        answers(
            sys::cuGetProcAddress_v2(c"cuNot".as_ptr(), &mut function, 12000, 0, &mut status),
            CUDA_ERROR_NOT_FOUND,
        );
    }
    assert_eq!(status, sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}
