//! Names the library as the CUDA driver names itself.
//!
//! A process that has opened this library by its path then finds it again when it asks the loader
//! for `libcuda.so`. The file keeps another name, so that it never hides a real driver.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so");
    }
}
