//! A kernel that goes wrong is reported at its own source line. Needs NVRTC, and passes without a word where there is
//! none.

#![allow(clippy::unwrap_used, unsafe_code, reason = "a test, which launches a kernel")]

use cudarc::driver::{LaunchConfig, PushKernelArg};
use fusion_device::{Choice, Device, Options, Source, describe};

#[test]
fn a_fault_is_at_the_line_of_the_source() {
    let Ok(toolchain) = fusion_toolchain::find() else { return };
    let device = Device::open(Choice::Emulated).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    let source = Source {
        name: "exercises/day22/src/add_gelu.cu",
        text: "#include \"one.cuh\"\n\
               extern \"C\" __global__ void add_gelu(float* out, int n) {\n    \
                   int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                   out[i] = one();\n\
               }\n",
    };
    let headers = [Source { name: "one.cuh", text: "__device__ float one() { return 1.0f; }\n" }];
    let program = device.compile(&source, &headers, &Options::default()).unwrap();
    let kernel = program.kernel("add_gelu").unwrap();
    let mut out = device.stream.alloc_zeros::<f32>(100).unwrap();
    let n = 100_i32;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the kernel writes past the end of `out`, which on the emulated device is a fault and nothing more.
    let launched = unsafe { device.stream.launch_builder(&kernel).arg(&mut out).arg(&n).launch(config) };
    let error = launched.map(|_| ()).and_then(|()| device.stream.synchronize()).unwrap_err();
    assert_eq!(describe(&error), "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)");

    let report = device.emulator().unwrap().take_report().unwrap();
    let place = &report.faults[0].source[0];
    assert_eq!((place.file.as_str(), place.line), ("exercises/day22/src/add_gelu.cu", 4), "{report:?}");
    assert_eq!((report.faults[0].block, report.faults[0].thread), (Some([0, 0, 0]), Some([100, 0, 0])));
}
