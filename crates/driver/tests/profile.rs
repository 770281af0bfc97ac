//! Choosing a GPU: programs of their own, because a process has one.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)]

#[path = "api/support.rs"]
mod support;

use std::process::Command;

use cudarc::driver::CudaContext;

/// Run by the tests below, as another process.
#[test]
#[ignore = "is run by the others"]
fn say_the_name() {
    support::library();
    match CudaContext::new(0) {
        Ok(context) => println!("name: {}", context.name().unwrap()),
        Err(error) => println!("name: {error}"),
    }
}

fn name_of(gpu: &str) -> (String, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "say_the_name", "--nocapture"])
        .env("FUSION_EMULATED_GPU", gpu)
        .env_remove("FUSION_EMULATOR_QUIET")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_environment_chooses_the_gpu() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../machine/profiles/l4.toml");
    for (gpu, name) in [("", "Emulated H200"), ("t4", "Emulated T4"), ("a100", "Emulated A100"), (file, "Emulated L4")]
    {
        let (stdout, _) = name_of(gpu);
        assert!(stdout.contains(&format!("name: {name}")), "{stdout}");
    }
}

#[test]
fn an_unknown_gpu_is_refused_with_the_names_that_are_known() {
    let (stdout, stderr) = name_of("voodoo2");
    assert!(stdout.contains("CUDA_ERROR_INVALID_VALUE"), "{stdout}");
    let names = fusion_profile::find("voodoo2").unwrap_err();
    assert!(stderr.contains(&format!("FUSION_EMULATED_GPU=voodoo2: {names}")), "{stderr}");
}

#[test]
fn a_file_that_is_no_profile_is_refused_with_the_line() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (stdout, stderr) = name_of(file);
    assert!(stdout.contains("CUDA_ERROR_INVALID_VALUE"), "{stdout}");
    assert!(stderr.contains("Cargo.toml: line ") && stderr.contains("unknown field"), "{stderr}");
}
