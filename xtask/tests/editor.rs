//! What an editor shows of a kernel: clangd, set up by `doctor --editor`, finds nothing wrong in a starter or a solution, and a mistake in
//! a wrong kernel.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{Checkout, code};

fn set_up(checkout: &Checkout) -> Output {
    // The compiler of the other tests is none.
    checkout.command(&["doctor", "--editor"]).env_remove("FUSION_NVRTC").output().expect("xtask runs")
}

/// Whether clangd finds nothing, and what it says.
fn checked(checkout: &Checkout, file: &str) -> (bool, String) {
    let mut clangd = Command::new("clangd");
    clangd.args([&format!("--check={file}"), "--enable-config", "--check-locations=false", "--log=error"]);
    let output = clangd.current_dir(checkout.root()).output().expect("clangd runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn clangd_reads_kernels_as_nvrtc_does() {
    if fusion_toolchain::find().is_err() {
        eprintln!("skipped: there is no NVRTC, whose headers clangd reads");
        return;
    }
    let checkout = Checkout::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let copy = |from: &str, to: &str| {
        let to = checkout.root().join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(source.join(from), to).expect("a file");
    };
    for header in HEADERS {
        copy(header, header);
    }
    let output = set_up(&checkout);
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("Written: .clangd and .course/editor."));
    if Command::new("clangd").arg("--version").output().is_err() {
        eprintln!("skipped: clangd is not installed");
        return;
    }
    fs::write(checkout.root().join("exercises/day22/src/mine.cu"), MINE).expect("a file");
    for file in [
        "exercises/day22/src/mul_add.cu",
        "solutions/day22/src/add_gelu.cu",
        "solutions/day22/src/quantize_int8.cu",
        "exercises/day22/src/mine.cu",
    ] {
        let (well, said) = checked(&checkout, file);
        assert!(well, "{file}: {said}");
    }
    for (file, solution) in SOLUTIONS {
        copy(solution, file);
        let (well, said) = checked(&checkout, file);
        assert!(well, "{solution}: {said}");
    }
    fs::write(checkout.root().join("exercises/day22/src/wrong.cu"), MINE.replace("x[i] =", "z[i] =")).expect("a file");
    let (well, said) = checked(&checkout, "exercises/day22/src/wrong.cu");
    assert!(!well && said.contains("undeclared identifier 'z'"), "{said}");
}

const HEADERS: [&str; 5] = [
    "kernels/include/activation.cuh",
    "kernels/include/divide.cuh",
    "kernels/include/pack.cuh",
    "kernels/include/reduce.cuh",
    "kernels/include/row.cuh",
];

/// Those with headers of the course's and of NVIDIA's.
const SOLUTIONS: [(&str, &str); 2] = [
    ("exercises/day22/src/a.cu", "solutions/day23/src/softmax.cu"),
    ("exercises/day22/src/b.cu", "solutions/day24/src/add_residual_act.cu"),
];

/// What a learner may write that no solution has.
const MINE: &str = r#"#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <cuda_fp16.h>

extern "C" __global__ void mine(float* x, const float4* y, uint32_t n) {
    __shared__ float shared[32];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32) shared[threadIdx.x] = __shfl_down_sync(0xffffffff, y[0].x, 1);
    __syncthreads();
    if (i < n) {
        x[i] = __expf(shared[0]) + tanhf(M_PI) + __half2float(__float2half(1.0f)) + __ldg(x);
        atomicAdd(x, fmaxf(x[i], INFINITY));
        assert(i < n);
        printf("%u\n", i);
    }
}
"#;

#[test]
fn settings_of_the_learners_own_are_kept() {
    if fusion_toolchain::find().is_err() {
        eprintln!("skipped: there is no NVRTC, whose headers clangd reads");
        return;
    }
    let checkout = Checkout::new();
    let path = checkout.root().join(".clangd");
    fs::write(&path, "Diagnostics: {}\n").expect("a file");
    let output = set_up(&checkout);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a .clangd that the course did not write"), "{output:?}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "Diagnostics: {}\n");
}
