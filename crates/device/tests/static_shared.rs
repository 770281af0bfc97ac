//! What the compiler's assembler refuses on the way to a GPU, the emulated device refuses in the same words. Needs NVRTC, and passes
//! without a word where there is none.

#![allow(clippy::unwrap_used, reason = "a test")]

use fusion_device::compiler::CompileError;
use fusion_device::{Choice, Device, Options, Source};

fn text(bytes: u32) -> String {
    format!(
        "extern \"C\" __global__ void k(char* x) {{\n    __shared__ char a[{bytes}];\n    \
         a[threadIdx.x] = *x;\n    __syncthreads();\n    *x = a[threadIdx.x ^ 1];\n}}\n"
    )
}

#[test]
fn static_shared_memory_beyond_48_kib_is_refused() {
    let Ok(toolchain) = fusion_toolchain::find() else { return };
    let device = Device::open(Choice::Emulated).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    let options = Options::default();
    let (fits, beyond) = (text(49152), text(49153));
    device.compile(&Source { name: "k.cu", text: &fits }, &[], &options).unwrap();

    let source = Source { name: "k.cu", text: &beyond };
    let (major, minor) = device.properties.compute_capability;
    let real = device.compiler().unwrap().machine_code(&source, &[], 10 * major + minor, &options).unwrap_err();
    let emulated = device.compile(&source, &[], &options).map(drop).unwrap_err();
    let words = |error: &CompileError| error.diagnostics().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(words(&emulated), ["error: Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)"]);
    assert_eq!(words(&emulated), words(&real));
}
