//! A cudarc program on the emulated device, end to end. Hand-written PTX, so that no compiler is needed.

#![allow(clippy::unwrap_used, unsafe_code, reason = "a test, which launches a kernel")]

use cudarc::driver::{LaunchConfig, PushKernelArg};
use fusion_device::{Checks, Choice, Compiled, Device, EmulatorOptions, KernelError, Kind, OpenError, Timer};

const PTX: &str = r#"
.version 7.5
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra done;
    cvta.to.global.u64 %d2, %d1;
    mul.wide.u32 %d3, %r5, 4;
    add.u64 %d2, %d2, %d3;
    ld.global.f32 %f, [%d2];
    add.f32 %f, %f, %f;
    st.global.f32 [%d2], %f;
done:
    ret;
}
.visible .entry _Z6othersPf() { ret; }
"#;

fn compiled(ptx: &str) -> Compiled {
    Compiled {
        name: "twice.ptx".to_owned(),
        ptx: ptx.to_owned(),
        machine_code: None,
        architecture: 75,
        version: (12, 0),
        diagnostics: Vec::new(),
        log: String::new(),
    }
}

/// One test: the report belongs to the process, and options come before the device is opened.
#[test]
fn a_program_runs_and_is_reported() {
    let checks = Some(Checks { performance: false, ..Checks::ALL });
    let options = EmulatorOptions { workers: Some(2), record: Some(true), checks, ..EmulatorOptions::default() };
    let device = Device::open_with(Choice::Emulated, &options).unwrap();
    assert_eq!(device.kind, Kind::Emulated);
    assert!(device.properties.name.starts_with("Emulated "), "{:?}", device.properties);
    assert!(device.properties.multiprocessors > 0 && device.properties.l2_bytes > 0, "{:?}", device.properties);

    let program = device.load(compiled(PTX)).unwrap();
    let kernel = program.kernel("twice").unwrap();
    let host: Vec<f32> = (0_u16..1000).map(f32::from).collect();
    let mut x = device.stream.clone_htod(&host).unwrap();
    let n = 1000_u32;
    let timer = Timer::new(&device.stream).unwrap();
    timer.start().unwrap();
    // SAFETY: the parameters are those of the kernel, and `x` has `n` elements.
    unsafe { device.stream.launch_builder(&kernel).arg(&mut x).arg(&n).launch(LaunchConfig::for_num_elems(n)) }
        .unwrap();
    timer.stop().unwrap();
    assert!(timer.elapsed_ms().unwrap() > 0.0);
    let doubled = device.stream.clone_dtoh(&x).unwrap();
    assert!(doubled.iter().zip(&host).all(|(doubled, x)| *doubled == 2.0 * x));

    let emulator = device.emulator().unwrap();
    let report = emulator.take_report().unwrap();
    assert_eq!((report.launches.len(), report.faults.len()), (1, 0));
    assert_eq!((report.launches[0].kernel.as_str(), report.launches[0].counters.global_load.bytes), ("twice", 4000));
    assert_eq!(emulator.take_report().unwrap().launches.len(), 0);

    // Opening again gives the same device; the other kind is refused; late settings are refused.
    assert_eq!(Device::open(Choice::Auto).unwrap().kind, Kind::Emulated);
    assert!(matches!(Device::open(Choice::Gpu), Err(OpenError::OtherKind { open: Kind::Emulated })));
    let late = Device::open_with(Choice::Emulated, &options).unwrap_err().to_string();
    assert!(late.contains("too late"), "{late}");

    let missing = program.kernel("others").unwrap_err().to_string();
    assert!(missing.contains("it has: twice, _Z6othersPf.") && missing.contains("extern \"C\""), "{missing}");
    assert!(matches!(program.kernel("thrice\0"), Err(KernelError::Missing(_))));

    let refused = device.load(compiled("this is no PTX")).unwrap_err();
    assert!(!refused.log.is_empty() && refused.to_string().contains(&refused.log), "{refused}");
}
