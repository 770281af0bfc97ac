//! The emulated device knows how many registers a kernel has: the compiler that made its PTX says so. Needs NVRTC, and passes without
//! a word where there is none.

#![allow(clippy::unwrap_used, unsafe_code, reason = "a test, which launches kernels")]

use cudarc::driver::sys::CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use fusion_device::{Choice, Device, Options, Source};
use fusion_machine::report::kind::Kind;
use fusion_machine::report::kind::Refusal;

/// `holds` needs 100 registers and more; `bounded` is the same, and has to do with 64; `small` needs few.
const TEXT: &str = r#"
__device__ void hold(float* x) {
    float a[100];
#pragma unroll
    for (int i = 0; i < 100; i++) a[i] = ((volatile float*)x)[i];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 99; i >= 0; i--) sum = sum * a[i] + 1.0f;
    x[0] = sum;
}
extern "C" __global__ void holds(float* x) { hold(x); }
extern "C" __global__ void __launch_bounds__(1024) bounded(float* x) { hold(x); }
extern "C" __global__ void small(float* x) { x[0] = 1.0f; }
"#;

#[test]
fn a_launch_is_refused_by_the_registers_that_the_compiler_gave() {
    let Ok(toolchain) = fusion_toolchain::find() else { return };
    let device = Device::open(Choice::Emulated).unwrap();
    device.use_toolchain(&toolchain).unwrap();
    let source = Source { name: "registers.cu", text: TEXT };
    let program = device.compile(&source, &[], &Options::default()).unwrap();
    let (major, minor) = device.properties.compute_capability;
    let compiler = device.compiler().unwrap();
    let code = compiler.machine_code(&source, &[], 10 * major + minor, &Options::default()).unwrap();
    let direct = fusion_nvrtc::usage(&code.machine_code.unwrap()).unwrap();
    let mut x = device.stream.alloc_zeros::<f32>(100).unwrap();
    let mut launch = |name: &str, threads| {
        let kernel = program.kernel(name).unwrap();
        let registers = kernel.num_regs().unwrap();
        assert_eq!(registers, direct[name].registers as i32, "{name}");
        assert_eq!(kernel.local_size_bytes().unwrap(), direct[name].local_bytes as i32, "{name}");
        let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: `x` has the elements that the kernels read and write.
        let launched = unsafe { device.stream.launch_builder(&kernel).arg(&mut x).launch(config) };
        (registers, kernel.max_threads_per_block().unwrap(), launched.map(drop).map_err(|error| error.0))
    };
    let (registers, most, launched) = launch("holds", 1024);
    assert!(registers > 100 && (256..=576).contains(&most), "{registers}, {most}");
    assert_eq!(launched, Err(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
    assert_eq!(launch("holds", most as u32).2, Ok(()));
    let (registers_of_bounded, most, launched) = launch("bounded", 1024);
    assert!(registers_of_bounded <= 64, "{registers_of_bounded}");
    assert_eq!((most, launched), (1024, Ok(())));
    assert_eq!(launch("small", 1024).1, 1024);
    device.stream.synchronize().unwrap();
    let report = device.emulator().unwrap().take_report().unwrap();
    let refused = matches!(report.faults[0].kind, Kind::Refusal(Refusal::TooManyForKernel { registers: Some(known), .. })
        if known == registers as u32);
    assert!(refused, "{report:?}");
    assert_eq!(report.faults.len(), 1, "{report:?}");
}
