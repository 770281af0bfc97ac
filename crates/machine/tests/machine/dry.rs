//! Single blocks of launches that are too large to run, on memory that repeats itself.

use fusion_machine::report::Code;
use fusion_machine::{Fault, Footprint};

use crate::support::{Device, config};

/// `copy`: out[i] = in[i], one element per thread, with no guard. `signal` has an atomic.
const PTX: &str = r"
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mul.wide.u32 %d3, %r1, %r2;
    cvt.u64.u32 %d4, %r3;
    add.u64 %d3, %d3, %d4;
    shl.b64 %d3, %d3, 2;
    add.u64 %d1, %d1, %d3;
    add.u64 %d2, %d2, %d3;
    ld.global.u32 %r1, [%d1];
    st.global.u32 [%d2], %r1;
    ret;
}
.visible .entry signal(.param .u64 in)
{
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [in];
    red.global.add.u32 [%d1], 1;
    ret;
}
";

/// Elements of a period, and of the buffers.
const PERIOD: u64 = 1000;
const LEN: u64 = (1 << 32) + 512;

/// Executes one block of as many as the buffers have room for.
fn run(device: &Device, addresses: [u64; 2], block: u64) -> Result<Footprint, Box<Fault>> {
    let params: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    let kernel = device.loaded.kernel("copy").unwrap();
    device.machine.launch_block(&device.loaded, kernel, &config(1 << 25, 256), &params, (block, 1 << 14))
}

#[test]
fn a_block_reads_and_writes_where_the_whole_launch_would() {
    let device = Device::new(PTX);
    let memory = device.machine.memory();
    let buffers = [(); 2].map(|()| memory.alloc_repeating(4 * LEN, 4 * PERIOD).unwrap());
    let values: Vec<u8> = (0..PERIOD as u32).flat_map(u32::to_le_bytes).collect();
    memory.write(buffers[0], &values).unwrap();
    for block in [0, 3, 1 << 24] {
        memory.fill(buffers[1], &[0xff], 4 * LEN).unwrap();
        let footprint = run(&device, buffers, block).unwrap();
        let start = buffers[1] + 4 * 256 * block;
        let written: Vec<_> = footprint.written.iter().map(|span| (span.start, span.end)).collect();
        assert_eq!((written, footprint.complete), (vec![(start, start + 1024)], true), "{block}");
        let copied = device.read_ints(start, 256);
        let expected: Vec<i32> = (0..256).map(|i| ((256 * block + i) % PERIOD) as i32).collect();
        assert_eq!(copied, expected, "{block}");
        // The other blocks have not run.
        assert_eq!(device.read_ints(start + 1024, 1), [-1], "{block}");
    }
}

#[test]
fn the_end_of_memory_that_repeats_is_an_end() {
    let device = Device::new(PTX);
    let buffers = [(); 2].map(|()| device.machine.memory().alloc_repeating(4 * LEN, 4 * PERIOD).unwrap());
    let fault = run(&device, buffers, (1 << 24) + 2).unwrap_err();
    assert_eq!((fault.code(), fault.block), (Code::OobGlobal, Some([(1 << 24) + 2, 0, 0])));
}

#[test]
fn kernels_whose_blocks_communicate_are_known() {
    let device = Device::new(PTX);
    let communicates = |name| device.loaded.communicates(device.loaded.kernel(name).unwrap());
    assert_eq!((communicates("copy"), communicates("signal")), (false, true));
}
