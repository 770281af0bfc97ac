//! `wgmma` beside products on the host: every number of columns, all types, layouts and sources of A, at random.

use fusion_machine::{Checks, Options};

use crate::support::{Arg, Device, config};

/// Columns of a 16-byte piece, by the width of an element.
fn per(bits: u32) -> u32 {
    128 / bits
}

#[derive(Clone, Copy, Debug)]
struct Type {
    name: &'static str,
    bits: u32,
    /// Of the values that are drawn, each with its bits: exact in every sum.
    values: &'static [(i64, u32)],
}

const F16: Type =
    Type { name: "f16", bits: 16, values: &[(0, 0), (1, 0x3c00), (-1, 0xbc00), (2, 0x4000), (-3, 0xc200)] };
const BF16: Type =
    Type { name: "bf16", bits: 16, values: &[(0, 0), (1, 0x3f80), (-1, 0xbf80), (2, 0x4000), (-3, 0xc040)] };
const TF32: Type = Type {
    name: "tf32",
    bits: 32,
    // The lower bits do not count.
    values: &[(0, 0x1fff), (1, 0x3f80_0000), (-1, 0xbf80_1000), (2, 0x4000_0001), (-3, 0xc040_0000)],
};
const E4M3: Type = Type { name: "e4m3", bits: 8, values: &[(0, 0), (1, 0x38), (-1, 0xb8), (2, 0x40), (-3, 0xc4)] };
const E5M2: Type = Type { name: "e5m2", bits: 8, values: &[(0, 0), (1, 0x3c), (-1, 0xbc), (2, 0x40), (-3, 0xc2)] };
const S8: Type = Type { name: "s8", bits: 8, values: &[(0, 0), (127, 0x7f), (-128, 0x80), (5, 5), (-1, 0xff)] };
const U8: Type = Type { name: "u8", bits: 8, values: &[(0, 0), (255, 0xff), (128, 0x80), (5, 5), (1, 1)] };

#[derive(Clone, Copy, Debug)]
struct Form {
    n: u32,
    a: Type,
    b: Type,
    d: &'static str,
    /// A comes from registers; and what is transposed.
    held: bool,
    transposed: [bool; 2],
    /// Of the pattern: 16 for none, 32, 64 or 128.
    width: [u32; 2],
    negated: [bool; 2],
    adds: bool,
}

/// A matrix in shared memory: where its elements lie, by the layouts of the manual in its own notation (PTX ISA
/// 9.7.15.5.1.2.1.3).
struct Layout {
    transposed: bool,
    width: u32,
    bits: u32,
    leading: u32,
    stride: u32,
}

impl Layout {
    /// With room between the parts, so that offsets are told apart.
    fn new(transposed: bool, width: u32, bits: u32, rows: u32, k: u32) -> (Self, u32) {
        let pattern = 8 * width;
        let (leading, stride, bytes) = match (transposed, width) {
            (false, 16) => (pattern * (rows / 8) + 256, pattern, 2 * (pattern * (rows / 8) + 256)),
            (false, _) => (16, pattern + 1024, (rows / 8) * (pattern + 1024)),
            (true, 16) => (pattern * (rows / 8) + 128, pattern, (k / 8) * (pattern * (rows / 8) + 128)),
            (true, _) => {
                let across = rows.div_ceil(8 * width / bits);
                (2 * pattern, 2 * pattern * across, 2 * pattern * across * (k / 8))
            }
        };
        (Self { transposed, width, bits, leading, stride }, bytes.next_multiple_of(1024))
    }

    fn place(&self, row: u32, k: u32) -> u32 {
        let (t, bytes, wide) = (per(self.bits), self.bits / 8, self.width / 16);
        let offset = match (self.transposed, self.width) {
            (false, 16) => row % 8 * 16 + row / 8 * self.stride + k % t * bytes + k / t * self.leading,
            (false, width) => row % 8 * width + row / 8 * self.stride + k * bytes,
            (true, 16) => row % t * bytes + row / t * self.stride + k % 8 * 16 + k / 8 * self.leading,
            (true, width) => {
                row % t * bytes
                    + row / t % wide * 16
                    + row / t / wide * self.leading
                    + k % 8 * width
                    + k / 8 * self.stride
            }
        };
        offset ^ (offset >> 3 & (wide - 1) << 4)
    }

    fn descriptor(&self) -> u64 {
        let mode = match self.width {
            16 => 0,
            32 => 3,
            64 => 2,
            _ => 1,
        };
        u64::from(self.leading >> 4) << 16 | u64::from(self.stride >> 4) << 32 | mode << 62
    }
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn module(form: &Form, bytes: [u32; 2], descriptors: [u64; 2], registers: usize) -> String {
    let Form { n, a, b, d, .. } = form;
    let k = 256 / a.bits;
    let words = (bytes[0] + bytes[1]) / 4;
    let held: Vec<String> = (0..registers).map(|i| format!("%d{i}")).collect();
    let at = |text: &dyn Fn(usize) -> String| (0..registers).map(text).collect::<String>();
    let loads = at(&|i| format!("ld.global.b32 %d{i}, [%c+{}];\n", 512 * i));
    let stores = at(&|i| format!("st.global.b32 [%c+{}], %d{i};\n", 512 * i));
    let first = if form.held { "{%a0, %a1, %a2, %a3}" } else { "%at" };
    let sign = |negated: bool| if negated { -1 } else { 1 };
    let mut rest = String::new();
    if *d != "s32" {
        rest = format!(", {}, {}", sign(form.negated[0]), sign(form.negated[1]));
        if a.bits == 16 {
            rest += if form.held {
                ""
            } else if form.transposed[0] {
                ", 1"
            } else {
                ", 0"
            };
            rest += if form.transposed[1] { ", 1" } else { ", 0" };
        }
    }
    let adds = u8::from(form.adds);
    format!(
        ".version 8.4\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 c, .param .u64 h) {{\n\
         .shared .align 1024 .b8 tiles[{}];\n\
         .reg .b32 %d<{}>; .reg .b32 %a<4>; .reg .b32 %r<9>; .reg .b64 %x, %c, %h, %at, %bt, %o; .reg .pred %p;\n\
         ld.param.u64 %x, [x]; ld.param.u64 %c, [c]; ld.param.u64 %h, [h];\n\
         mov.u32 %r0, %tid.x; mul.wide.u32 %o, %r0, 4; add.u64 %c, %c, %o; add.u64 %h, %h, %o;\n\
         add.u64 %x, %x, %o; mov.u32 %r1, tiles; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;\n\
         more: ld.global.u32 %r3, [%x]; st.shared.u32 [%r1], %r3;\n\
         add.u64 %x, %x, 512; add.u32 %r1, %r1, 512; add.u32 %r0, %r0, 128; setp.lt.u32 %p, %r0, {words}; @%p bra more;\n\
         ld.global.u32 %a0, [%h]; ld.global.u32 %a1, [%h+512]; ld.global.u32 %a2, [%h+1024]; ld.global.u32 %a3, [%h+1536];\n\
         {loads}\
         mov.u32 %r4, tiles; shr.u32 %r4, %r4, 4; cvt.u64.u32 %at, %r4; add.u64 %at, %at, {:#x};\n\
         add.u32 %r4, %r4, {}; cvt.u64.u32 %bt, %r4; add.u64 %bt, %bt, {:#x};\n\
         fence.proxy.async.shared::cta; bar.sync 0;\nwgmma.fence.sync.aligned;\n\
         wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{}.{} {{{}}}, {first}, %bt, {adds}{rest};\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n{stores}ret;\n}}\n",
        bytes[0] + bytes[1],
        registers,
        descriptors[0],
        bytes[0] >> 4,
        descriptors[1],
        a.name,
        b.name,
        held.join(", "),
    )
}

/// The bits of a small integer as an element of D.
fn element(d: &str, value: i64) -> u32 {
    match d {
        "s32" => value as u32,
        "f32" => (value as f32).to_bits(),
        // Integers up to 2048 are exact.
        _ if value == 0 => 0,
        _ => {
            let top = value.unsigned_abs().ilog2();
            let fraction = (value.unsigned_abs() << (10 - top)) as u32 & 0x3ff;
            u32::from(value < 0) << 15 | (top + 15) << 10 | fraction
        }
    }
}

fn check(form: &Form, draw: &mut Draw) {
    let (n, k) = (form.n, 256 / form.a.bits);
    let mut matrix = |ty: &Type, rows: u32| -> Vec<(i64, u32)> {
        (0..rows * k).map(|_| ty.values[draw.below(ty.values.len())]).collect()
    };
    let (a, b) = (matrix(&form.a, 64), matrix(&form.b, n));
    let half = form.d == "f16";
    let c: Vec<i64> = (0..64 * n).map(|_| draw.below(41) as i64 - 20).collect();

    let (a_layout, a_bytes) = Layout::new(form.transposed[0], form.width[0], form.a.bits, 64, k);
    let (b_layout, b_bytes) = Layout::new(form.transposed[1], form.width[1], form.b.bits, n, k);
    let mut image = vec![0u8; (a_bytes + b_bytes) as usize];
    for (elements, layout, rows, from) in [(&a, &a_layout, 64, 0), (&b, &b_layout, n, a_bytes)] {
        for row in 0..rows {
            for at in 0..k {
                let bits = elements[(row * k + at) as usize].1.to_le_bytes();
                let place = (from + layout.place(row, at)) as usize;
                let bytes = layout.bits as usize / 8;
                image[place..place + bytes].copy_from_slice(&bits[..bytes]);
            }
        }
    }
    let image: Vec<i32> =
        image.chunks(4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();

    // Registers of a thread as the manual has them (figures of D and of A, PTX ISA 9.7.15.5.1.1).
    let per_register = if half { 2 } else { 1 };
    let registers = (n / 2) as usize / per_register;
    let place = |thread: u32, i: u32| {
        let (warp, lane) = (thread / 32, thread % 32);
        (16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2)
    };
    let packed = |of: &dyn Fn(u32, u32) -> u32| -> Vec<i32> {
        let mut words = Vec::new();
        for register in 0..registers as u32 {
            for thread in 0..128 {
                let part = |inside: u32| {
                    let (row, column) = place(thread, register * per_register as u32 + inside);
                    of(row, column) << (16 * inside)
                };
                words.push((0..per_register as u32).fold(0, |word, inside| word | part(inside)) as i32);
            }
        }
        words
    };
    let mut held = Vec::new();
    for register in 0..4 {
        for thread in 0..128u32 {
            let (warp, lane, wide) = (thread / 32, thread % 32, 32 / form.a.bits);
            let row = 16 * warp + lane / 4 + 8 * (register % 2);
            let first = (register / 2 * 4 + lane % 4) * wide;
            let part = |inside: u32| a[(row * k + first + inside) as usize].1 << (inside * form.a.bits);
            held.push((0..wide).fold(0, |word, inside| word | part(inside)) as i32);
        }
    }

    let ptx = module(form, [a_bytes, b_bytes], [a_layout.descriptor(), b_layout.descriptor()], registers);
    let device = Device::with(&ptx, Options { checks: Checks::ALL, ..Options::default() });
    let sums = device.ints(&packed(&|row, column| element(form.d, c[(row * n + column) as usize])));
    let arguments = [device.ints(&image), sums, device.ints(&held)].map(Arg::Pointer);
    let report =
        device.try_launch("k", config(1, 128), &arguments).unwrap_or_else(|fault| panic!("{form:?}: {fault:#?}"));
    assert!(report.findings.is_empty(), "{form:?}: {:#?}", report.findings);
    assert_eq!(report.counters.tensor_operations, u64::from(2 * 64 * n * k), "{form:?}");
    let negated = form.d != "s32" && form.negated[0] != form.negated[1];
    let expected = packed(&|row, column| {
        let product = |at: u32| a[(row * k + at) as usize].0 * b[(column * k + at) as usize].0;
        let sum: i64 = (0..k).map(product).sum();
        let before = if form.adds { c[(row * n + column) as usize] } else { 0 };
        element(form.d, before + if negated { -sum } else { sum })
    });
    assert_eq!(device.read_ints(sums, expected.len()), expected, "{form:?}");
}

#[test]
fn products_are_those_of_the_host() {
    let mut draw = Draw(1);
    let floats: [(Type, Type, &[&str]); 5] = [
        (F16, F16, &["f32", "f16"]),
        (BF16, BF16, &["f32"]),
        (TF32, TF32, &["f32"]),
        (E4M3, E5M2, &["f32", "f16"]),
        (E5M2, E4M3, &["f16", "f32"]),
    ];
    for (number, n) in (8..=256).step_by(8).enumerate() {
        let (a, b, sums) = floats[number % floats.len()];
        let widths = [16, 32, 64, 128];
        // Each row of elements of 16 bits gets all layouts in time; of the others none is transposed.
        let transposed = [0, 1].map(|of| a.bits == 16 && (number / 5) >> of & 1 == 1);
        let form = Form {
            n,
            a,
            b,
            d: sums[number / 5 % sums.len()],
            held: number % 3 == 2,
            transposed,
            width: [widths[draw.below(4)], widths[draw.below(4)]],
            negated: [draw.below(2) == 1, draw.below(2) == 1],
            adds: number % 4 != 3,
        };
        check(&form, &mut draw);
    }
    for (number, n) in [8, 16, 24, 32, 48, 64, 96, 160, 240, 256].into_iter().enumerate() {
        let (a, b) = [(S8, S8), (U8, U8), (S8, U8), (U8, S8)][number % 4];
        let width = [16, 32, 64, 128][number % 4];
        let (held, adds) = (number % 3 == 1, number % 4 != 2);
        let form =
            Form { n, a, b, d: "s32", held, transposed: [false; 2], width: [width; 2], negated: [false; 2], adds };
        check(&form, &mut draw);
    }
}

/// Every layout of both factors.
#[test]
fn layouts_are_those_of_the_manual() {
    let mut draw = Draw(2);
    for a_width in [16, 32, 64, 128] {
        for transposed in [[true, false], [false, true], [true, true], [false, false]] {
            let b_width = [16, 32, 64, 128][draw.below(4)];
            let width = [a_width, b_width];
            let (held, adds, negated) = (false, true, [false; 2]);
            check(&Form { n: 72, a: BF16, b: BF16, d: "f32", held, transposed, width, negated, adds }, &mut draw);
            check(
                &Form { n: 64, a: F16, b: F16, d: "f16", held, transposed, width: [b_width, a_width], negated, adds },
                &mut draw,
            );
        }
        for ty in [TF32, E4M3] {
            let (held, adds, negated, transposed) = (false, true, [true, false], [false; 2]);
            check(
                &Form { n: 40, a: ty, b: ty, d: "f32", held, transposed, width: [a_width; 2], negated, adds },
                &mut draw,
            );
        }
    }
}
