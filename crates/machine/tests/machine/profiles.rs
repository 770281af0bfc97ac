//! What profiles let the clock predict.

use fusion_machine::{AllocationKind, Launch, Machine, Options, Profile};

/// Each thread copies 16 bytes, and multiplies a double a few times if it is told to.
const COPY: &str = r#"
.version 7.5
.target sm_75
.address_size 64
.visible .entry copy(.param .u64 copy_param_0, .param .u64 copy_param_1, .param .u32 copy_param_2)
{
    .reg .f32 %f<5>;
    .reg .f64 %fd<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [copy_param_0];
    ld.param.u64 %rd2, [copy_param_1];
    ld.param.u32 %r5, [copy_param_2];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd3, %r4, 16;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];
    cvt.f64.f32 %fd1, %f1;
LOOP:
    setp.eq.s32 %p1, %r5, 0;
    @%p1 bra DONE;
    mul.f64 %fd1, %fd1, %fd1;
    add.s32 %r5, %r5, -1;
    bra LOOP;
DONE:
    cvt.rn.f32.f64 %f1, %fd1;
    st.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};
    ret;
}
"#;

const PERIOD: u64 = 1 << 20;

/// Nanoseconds of a copy of so many bytes, with so many products of doubles by each thread.
fn predicted(profile: &Profile, bytes: u64, products: u32) -> f64 {
    let machine = Machine::new(profile.clone(), Options::default());
    let loaded = machine.load(fusion_ptx::parse(COPY).module, COPY).unwrap();
    let kernel = loaded.kernel("copy").unwrap();
    let memory = machine.memory();
    let buffer = || match bytes > PERIOD {
        true => memory.alloc_repeating(bytes, PERIOD).unwrap(),
        false => memory.alloc(bytes, AllocationKind::Device).unwrap(),
    };
    let (from, to) = (buffer(), buffer());
    memory.write(from, &vec![0; bytes.min(PERIOD) as usize]).unwrap();
    let mut params = [from.to_le_bytes(), to.to_le_bytes()].concat();
    params.extend(products.to_le_bytes());
    let launch = Launch {
        grid: [(bytes / 16 / 256) as u32, 1, 1],
        block: [256, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
    };
    machine.estimate(&loaded, kernel, &launch, &params).unwrap().unwrap().ns
}

#[test]
fn a_large_copy_reaches_the_bandwidth_of_every_gpu() {
    let bytes = 1 << 30;
    for profile in Profile::all() {
        let reached = 2e9 * bytes as f64 / predicted(profile, bytes, 0) / profile.dram_bandwidth;
        assert!((0.85..1.15).contains(&reached), "{}: {reached}", profile.id);
    }
}

#[test]
fn small_launches_take_microseconds_and_more_work_more_time() {
    for profile in Profile::all() {
        let times = [1 << 14, 1 << 20, 1 << 26, 1 << 28].map(|bytes| predicted(profile, bytes, 0));
        assert!((2e3..1e4).contains(&times[0]) && times.is_sorted(), "{}: {times:?}", profile.id);
    }
}

#[test]
fn gpus_differ_as_their_data_do() {
    let copy = |id, bytes, products| predicted(Profile::named(id).unwrap(), bytes, products);
    let time = |id, products| copy(id, 1 << 26, products);
    let by_bandwidth =
        ["h200", "h100", "a100", "rtxpro6000", "rtx4090", "rtx3070", "l4"].map(|id| copy(id, 1 << 29, 0));
    // L2s do not keep so much of what is written.
    assert!(by_bandwidth.is_sorted() && time("t4", 0) > 3.0 * time("a100", 0), "{by_bandwidth:?}");
    // Doubles are slow where there are two of them per clock.
    let by_doubles = ["h200", "a100", "rtxpro6000", "rtx4090", "t4"].map(|id| time(id, 64) / time(id, 0));
    assert!(by_doubles[..2].iter().all(|times| *times < 3.0), "{by_doubles:?}");
    assert!(by_doubles[2..].iter().all(|times| *times > 3.0), "{by_doubles:?}");
}
