use super::*;

#[test]
fn what_makes_no_code_is_left_out() {
    let ptx = "//\n.version 9.0\n.target sm_90a, debug\n\t.file 1 \"a.cu\"\n.entry k()\n{\n\t.loc\t1 2 3\n\t.local .b8 x[4];\n}\n\t.section .debug_str\n{ }";
    assert_eq!(lines(ptx).collect::<Vec<_>>(), [".entry k()", "{", "\t.local .b8 x[4];", "}"]);
    assert_eq!(suffix(ptx), "a");
    assert_eq!([suffix(".target sm_120f"), suffix(".target\tsm_75\n"), suffix("")], ["f", "", ""]);
}

#[test]
fn spills_are_read_from_the_log() {
    let log = "ptxas info    : 0 bytes gmem\nptxas info    : Function properties for k\n\
               ptxas         .     1128 bytes stack frame, 1064 bytes spill stores, 1112 bytes spill loads\n\
               ptxas info    : Used 32 registers\nptxas info    : Function properties for l\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";
    assert_eq!(spills(log).collect::<Vec<_>>(), [("k", 1064, 1112), ("l", 0, 0)]);
}

/// Kernels of many kinds: names that are mangled, variables and functions of the module, arrays, spilling, launch bounds.
const KERNELS: &str = r#"
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter;
struct Pair { double a; float b[3]; };
__device__ __noinline__ float deep(float x, int n) { return n ? deep(x * x, n - 1) + 1.0f : x; }
template <typename T> __global__ void sum(T* x, const T* y) { x[threadIdx.x] += y[threadIdx.x] / x[0]; }
template __global__ void sum<double>(double*, const double*);
extern "C" __global__ void constants(Pair p, float* out) { out[threadIdx.x] = table[threadIdx.x % 4] + p.b[threadIdx.x % 3]; }
extern "C" __global__ void counts() { atomicAdd(&counter, 1); }
extern "C" __global__ void calls(float* x, int n) { x[0] = deep(x[1], n); }
extern "C" __global__ void array(float* x, int n) {
    float a[64];
    for (int i = 0; i < 64; i++) a[i] = x[i];
    x[0] = a[n];
}
extern "C" __global__ void __launch_bounds__(1024, 1) spills(float* x) {
    float a[100];
    for (int i = 0; i < 100; i++) a[i] = x[i * threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 100; i++) x[i * threadIdx.x] = a[i] * a[99 - i];
}
extern "C" __global__ void tile(float* x) {
    __shared__ float tile[256];
    extern __shared__ float more[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tanhf(tile[255 - threadIdx.x]) + more[3];
}
"#;

/// NVRTC itself, from the same source, for each architecture that is emulated.
#[test]
fn the_numbers_are_those_of_the_compiler() {
    let Ok(toolchain) = fusion_toolchain::find() else {
        eprintln!("there is no NVRTC here: this test tests nothing");
        return;
    };
    let nvrtc = Nvrtc::open(&toolchain.nvrtc, &toolchain.builtins).unwrap();
    let source = Unit::new("kernels.cu", KERNELS).unwrap();
    for capability in [75, 86, 90, 120].into_iter().filter(|it| nvrtc.architectures.contains(it)) {
        let compile = |target: String| {
            let options = [format!("-arch={target}"), "-lineinfo".to_owned()].map(|it| CString::new(it).unwrap());
            nvrtc.compile(&source, &[], &options).image.unwrap()
        };
        let mut direct = cubin::usage(&compile(format!("sm_{capability}")).machine_code.unwrap()).unwrap();
        let found = assemble(&nvrtc, &compile(format!("compute_{capability}")).ptx, (capability / 10, capability % 10));
        let mut found = found.unwrap();
        assert!(found["spills"].spill_stores > 0 && found["array"].spill_loads == 0, "{found:?}");
        assert!(found["spills"].local_bytes >= found["spills"].spill_stores / 2, "{found:?}");
        assert!(found["calls"].registers > 0 && found["counts"].local_bytes == 0, "{found:?}");
        found.values_mut().chain(direct.values_mut()).for_each(|it| (it.spill_stores, it.spill_loads) = (0, 0));
        assert_eq!(found, direct, "sm_{capability}");
    }
    // Who has opened it is found, and what is no PTX has no numbers.
    let again = Nvrtc::already_open().unwrap();
    assert_eq!(again.version, nvrtc.version);
    assert_eq!(assemble(&again, ".visible .entry k() { nonsense; }", (9, 0)), None);
    assert_eq!(assemble(&again, ".visible .entry k() { ret; }", (1, 0)), None);
}
