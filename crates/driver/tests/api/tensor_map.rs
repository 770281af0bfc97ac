use std::sync::Arc;

use cudarc::driver::sys::CUtensorMapDataType::{self, *};
use cudarc::driver::sys::CUtensorMapFloatOOBfill as Fill;
use cudarc::driver::sys::CUtensorMapInterleave::{self, *};
use cudarc::driver::sys::CUtensorMapSwizzle::{self, *};
use cudarc::driver::sys::{self, CUresult, CUresult::*, CUtensorMap};
use cudarc::driver::{CudaContext, CudaSlice, DevicePtr, DeviceRepr, LaunchConfig, PushKernelArg};

use crate::support::{answers, context, module, own_context};

/// What `cuTensorMapEncodeTiled` is asked for.
#[derive(Clone)]
struct Asked {
    element: CUtensorMapDataType,
    rank: u32,
    address: u64,
    dims: Vec<u64>,
    strides: Vec<u64>,
    box_dims: Vec<u32>,
    steps: Vec<u32>,
    interleave: CUtensorMapInterleave,
    swizzle: CUtensorMapSwizzle,
    fill: Fill,
}

/// A plane of 8 by 4 floats, whole.
fn plane(address: u64) -> Asked {
    Asked {
        element: CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        rank: 2,
        address,
        dims: vec![8, 4],
        strides: vec![32],
        box_dims: vec![8, 4],
        steps: vec![1, 1],
        interleave: CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle: CU_TENSOR_MAP_SWIZZLE_NONE,
        fill: Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    }
}

fn encode_at(map: *mut CUtensorMap, asked: &Asked) -> CUresult {
    // SAFETY: the lists are as long as the rank says, or null.
    unsafe {
        sys::cuTensorMapEncodeTiled(
            map,
            asked.element,
            asked.rank,
            asked.address as *mut _,
            asked.dims.as_ptr(),
            asked.strides.as_ptr(),
            asked.box_dims.as_ptr(),
            asked.steps.as_ptr(),
            asked.interleave,
            asked.swizzle,
            sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            asked.fill,
        )
    }
}

fn encode(asked: &Asked) -> Result<CUtensorMap, CUresult> {
    let mut map = CUtensorMap { opaque: [0; 16] };
    match encode_at(&raw mut map, asked) {
        CUDA_SUCCESS => Ok(map),
        error => Err(error),
    }
}

#[test]
fn what_the_manual_rules_out_is_an_invalid_value() {
    let _context = context();
    let right = plane(4096);
    assert!(encode(&right).is_ok());
    let wrong: [fn(&mut Asked); 12] = [
        |asked| asked.rank = 0,
        |asked| asked.rank = 6,
        |asked| asked.address += 8,
        |asked| asked.dims[1] = 0,
        |asked| asked.dims[0] = (1 << 32) + 1,
        |asked| asked.strides[0] = 40,
        |asked| asked.strides[0] = 1 << 40,
        |asked| asked.box_dims[1] = 257,
        |asked| asked.box_dims[0] = 7,
        |asked| asked.steps[1] = 9,
        |asked| asked.interleave = CU_TENSOR_MAP_INTERLEAVE_16B,
        |asked| {
            asked.element = CU_TENSOR_MAP_DATA_TYPE_INT32;
            asked.fill = Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
        },
    ];
    for (index, spoil) in wrong.into_iter().enumerate() {
        // Longer lists than the rank asks for do no harm.
        let mut asked = Asked { dims: vec![8, 4, 1, 1, 1, 1], steps: vec![1; 6], ..right.clone() };
        asked.strides.resize(6, 32);
        asked.box_dims.resize(6, 1);
        spoil(&mut asked);
        assert_eq!(encode(&asked).err(), Some(CUDA_ERROR_INVALID_VALUE), "{index}");
    }
    let wide = Asked { swizzle: CU_TENSOR_MAP_SWIZZLE_32B, box_dims: vec![16, 4], dims: vec![16, 4], ..right.clone() };
    assert_eq!(encode(&wide).err(), Some(CUDA_ERROR_INVALID_VALUE));
    assert!(encode(&Asked { swizzle: CU_TENSOR_MAP_SWIZZLE_64B, ..wide }).is_ok());
    answers(encode_at(std::ptr::null_mut(), &right), CUDA_ERROR_INVALID_VALUE);
    let mut maps = [CUtensorMap { opaque: [0; 16] }; 2];
    answers(encode_at(maps.as_mut_ptr().wrapping_byte_add(8), &right), CUDA_ERROR_INVALID_VALUE);
}

/// A parameter that is a map.
#[repr(transparent)]
struct Map(CUtensorMap);

// SAFETY: plain bytes.
unsafe impl DeviceRepr for Map {}

/// Copies a box to shared memory, and from there to `out`.
const COPY: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 out)
{
    .shared .align 128 .b8 box[128];
    .shared .align 8 .b64 bar;
    .reg .pred %first, %done;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    mov.b64 %rd0, map;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [out];
    mov.u32 %r0, %tid.x;
    setp.eq.u32 %first, %r0, 0;
    @!%first bra BEGUN;
    mbarrier.init.shared.b64 [bar], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%rd0, {0, 0}], [bar];
BEGUN:
    bar.sync 0;
LOOK:
    mbarrier.try_wait.parity.shared.b64 %done, [bar], 0;
    @!%done bra LOOK;
    mov.u32 %r1, box;
    mad.lo.u32 %r1, %r0, 4, %r1;
    ld.shared.b32 %r2, [%r1];
    mul.wide.u32 %rd2, %r0, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.b32 [%rd1], %r2;
    ret;
}";

fn address(memory: &CudaSlice<f32>) -> u64 {
    memory.device_ptr(memory.stream()).0
}

fn copied(context: &Arc<CudaContext>, map: CUtensorMap) -> Result<Vec<f32>, cudarc::driver::DriverError> {
    let stream = context.default_stream();
    let kernel = module(context, COPY).load_function("copy")?;
    let mut out = stream.alloc_zeros::<f32>(32)?;
    let map = Map(map);
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&map).arg(&mut out);
    // SAFETY: the parameters are those of the kernel.
    unsafe { launch.launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 }) }?;
    stream.clone_dtoh(&out)
}

#[test]
fn a_kernel_copies_by_a_map_that_the_driver_made() {
    let context = context();
    let stream = context.default_stream();
    let numbers: Vec<f32> = (0..32u8).map(f32::from).collect();
    let x = stream.clone_htod(&numbers).unwrap();
    let y = stream.clone_htod(&numbers.iter().map(|number| -number).collect::<Vec<_>>()).unwrap();
    let mut map = encode(&plane(address(&x))).unwrap();
    assert_eq!(copied(&context, map).unwrap(), numbers);
    // SAFETY: the map is one of the driver's.
    answers(unsafe { sys::cuTensorMapReplaceAddress(&raw mut map, address(&y) as *mut _) }, CUDA_SUCCESS);
    assert_eq!(copied(&context, map).unwrap()[1..], numbers.iter().map(|number| -number).collect::<Vec<_>>()[1..]);
    // SAFETY: as above.
    let unaligned = unsafe { sys::cuTensorMapReplaceAddress(&raw mut map, (address(&y) + 4) as *mut _) };
    answers(unaligned, CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn what_is_no_map_is_a_fault() {
    let context = own_context();
    let garbage = CUtensorMap { opaque: std::array::from_fn(|word| word as u64 * 0x0123_4567_89ab_cdef) };
    let failed = copied(&context, garbage).err().map(|error| error.0);
    assert_eq!(failed, Some(CUDA_ERROR_ILLEGAL_INSTRUCTION));
}
