//! Names the library as NVIDIA names its runtime. Under which other names it is found is decided by whoever runs a program with it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.13");
    }
}
