use fusion_ptx::ast::{AtomicOp, Binary, Mode, PrmtMode, Quaternary, Redux, ReduxOp, ScalarType, Ternary, Unary};

use super::Random;
use crate::arith::{add_carry, atomic, binary, mad_carry, quaternary, redux, sub_carry, ternary, unary};

use ScalarType::*;

const INTEGERS: [ScalarType; 6] = [U16, U32, U64, S16, S32, S64];

fn one(op: Unary, ty: ScalarType, a: u64) -> u64 {
    unary(op, ty, Mode::plain()).unwrap()(a)
}

fn two(op: Binary, ty: ScalarType, a: u64, b: u64) -> u64 {
    binary(op, ty, Mode::plain()).unwrap()(a, b)
}

fn three(op: Ternary, ty: ScalarType, a: u64, b: u64, c: u64) -> u64 {
    ternary(op, ty, Mode::plain()).unwrap()(a, b, c)
}

/// The exact value of a register, and the register of an exact value.
fn value(ty: ScalarType, bits: u64) -> i128 {
    let unused = 128 - ty.bits();
    let top = i128::from(bits) << unused;
    if ty.is_signed() { top >> unused } else { (top as u128 >> unused) as i128 }
}

fn register(width: u32, value: i128) -> u64 {
    value as u64 & (u64::MAX >> (64 - width.min(64)))
}

#[test]
fn arithmetic_is_exact_modulo_the_width() {
    let mut random = Random(31);
    for ty in INTEGERS {
        let bits = ty.bits();
        let ones = u64::MAX >> (64 - bits);
        for _ in 0..2_000 {
            let mut operand = || match random.next() {
                x if x % 4 == 0 => [0, 1, ones, ones >> 1, (ones >> 1) + 1][(x >> 8) as usize % 5],
                x if x % 4 == 1 => x >> 32 & 0xff & ones,
                x => x & ones,
            };
            let (a, b, c) = (operand(), operand(), operand());
            let (x, y, z) = (value(ty, a), value(ty, b), value(ty, c));
            let product = x.wrapping_mul(y);
            let expected = [
                (Binary::Add, x + y),
                (Binary::Sub, x - y),
                (Binary::Mul, product),
                (Binary::MulHi, product >> bits),
                (Binary::Min, x.min(y)),
                (Binary::Max, x.max(y)),
                (Binary::Div, if y == 0 { -1 } else { x / y }),
                (Binary::Rem, if y == 0 { -1 } else { x % y }),
            ];
            for (op, exact) in expected {
                assert_eq!(two(op, ty, a, b), register(bits, exact), "{op:?} {ty:?} {x} {y}");
            }
            let expected = [
                (Ternary::Mad, product.wrapping_add(z)),
                (Ternary::MadHi, (product >> bits) + z),
                (Ternary::Sad, z + (x - y).abs()),
            ];
            for (op, exact) in expected {
                assert_eq!(three(op, ty, a, b, c), register(bits, exact), "{op:?} {ty:?} {x} {y} {z}");
            }
            if bits < 64 {
                assert_eq!(two(Binary::MulWide, ty, a, b), register(2 * bits, product), "mul.wide {ty:?} {x} {y}");
                let wide = random.next() & (u64::MAX >> (64 - 2 * bits));
                let exact = product + i128::from(wide);
                assert_eq!(three(Ternary::MadWide, ty, a, b, wide), register(2 * bits, exact), "mad.wide {ty:?}");
            }
            if ty.is_signed() {
                assert_eq!(one(Unary::Abs, ty, a), register(bits, x.abs()));
                assert_eq!(one(Unary::Neg, ty, a), register(bits, -x));
            }
            let amount = random.next() as u32 % 80;
            let shifted = |op| two(op, ty, a, u64::from(amount));
            assert_eq!(shifted(Binary::Shl), register(bits, if amount < bits { x << amount } else { 0 }));
            assert_eq!(shifted(Binary::Shr), register(bits, x >> amount.min(bits)), "shr {ty:?} {x} {amount}");
        }
    }
}

#[test]
fn saturation() {
    let sat = Mode { sat: true, ..Mode::plain() };
    let max = i32::MAX as u64;
    let min = u64::from(i32::MIN as u32);
    let add = binary(Binary::Add, S32, sat).unwrap();
    let sub = binary(Binary::Sub, S32, sat).unwrap();
    assert_eq!([add(max, 1), add(min, 0xffff_ffff), add(1, 2)], [max, min, 3]);
    assert_eq!([sub(min, 1), sub(max, 0xffff_ffff), sub(1, 2)], [min, max, 0xffff_ffff]);
    let mad = ternary(Ternary::MadHi, S32, sat).unwrap();
    assert_eq!(mad(max, max, max), max);
    assert_eq!(mad(min, max, min), min);
    let mad24 = ternary(Ternary::Mad24Hi, S32, sat).unwrap();
    assert_eq!(mad24(0x7f_ffff, 0x7f_ffff, max), max);
}

#[test]
fn twenty_four_bits() {
    // Only the low 24 bits count, signed or not.
    assert_eq!(two(Binary::Mul24, U32, 0xff00_0003, 5), 15);
    assert_eq!(two(Binary::Mul24, S32, 0x00ff_ffff, 5), u64::from(-5i32 as u32));
    assert_eq!(two(Binary::Mul24Hi, U32, 0xff_ffff, 0xff_ffff), (0xff_ffffu64 * 0xff_ffff) >> 16);
    assert_eq!(two(Binary::Mul24Hi, S32, 0xff_ffff, 0x7f_ffff), u64::from((-0x7f_ffffi64 >> 16) as u32));
    assert_eq!(three(Ternary::Mad24, U32, 3, 5, 0xffff_ffff), 14);
}

#[test]
fn packed_halves_do_not_carry() {
    assert_eq!(two(Binary::Add, U16x2, 0x0001_ffff, 0x0001_0001), 0x0002_0000);
    assert_eq!(two(Binary::Min, S16x2, 0x0001_ffff, 0xffff_0001), 0xffff_ffff);
    assert_eq!(two(Binary::Max, U16x2, 0x0001_ffff, 0xffff_0001), 0xffff_ffff);
    let relu = Mode { relu: true, ..Mode::plain() };
    assert_eq!(binary(Binary::Max, S16x2, relu).unwrap()(0xfffe_0005, 0xffff_0003), 0x0000_0005);
    assert_eq!(binary(Binary::Min, S32, relu).unwrap()(0xffff_fffe, 3), 0);
}

#[test]
fn counting_bits() {
    assert_eq!(one(Unary::Popc, B32, 0xf0f0_0001), 9);
    assert_eq!(one(Unary::Popc, B64, u64::MAX), 64);
    assert_eq!([one(Unary::Clz, B32, 0), one(Unary::Clz, B32, 1), one(Unary::Clz, B64, 1)], [32, 31, 63]);
    assert_eq!(one(Unary::Brev, B32, 1), 0x8000_0000);
    assert_eq!(one(Unary::Brev, B64, 2), 1 << 62);
    assert_eq!(one(Unary::Not, B16, 0x00ff), 0xff00);
    assert_eq!(one(Unary::Not, Pred, 1), 0);
    assert_eq!([one(Unary::Cnot, B32, 0), one(Unary::Cnot, B32, 7)], [1, 0]);
    let find = |shiftamt, ty, a| one(Unary::Bfind { shiftamt }, ty, a);
    assert_eq!(find(false, U32, 0x0001_0000), 16);
    assert_eq!(find(true, U32, 0x0001_0000), 15);
    assert_eq!(find(false, U32, 0), 0xffff_ffff);
    assert_eq!(find(true, S32, 0xffff_ffff), 0xffff_ffff);
    assert_eq!(find(false, S32, 0xffff_0000), 15);
    assert_eq!(find(false, S64, 1 << 40), 40);
}

/// The manual's own loops, bit by bit.
#[test]
fn bit_fields_follow_the_manual() {
    fn extract(ty: ScalarType, a: u64, position: u64, length: u64) -> u64 {
        let msb = u64::from(ty.bits()) - 1;
        let bit = |i: u64| a >> i & 1;
        let sign = if !ty.is_signed() || length == 0 { 0 } else { bit((position + length - 1).min(msb)) };
        (0..=msb).fold(0, |d, i| d | (if i < length && position + i <= msb { bit(position + i) } else { sign }) << i)
    }
    fn insert(width: u64, a: u64, mut b: u64, position: u64, length: u64) -> u64 {
        for i in (0..length).take_while(|i| position + i < width) {
            b = b & !(1 << (position + i)) | (a >> i & 1) << (position + i);
        }
        b
    }
    let mut random = Random(32);
    for ty in [U32, S32, U64, S64] {
        let width = u64::from(ty.bits());
        let ones = u64::MAX >> (64 - width);
        let bfe = ternary(Ternary::Bfe, ty, Mode::plain()).unwrap();
        let bfi = quaternary(Quaternary::Bfi, if width == 32 { B32 } else { B64 }).unwrap();
        for position in (0..70).chain([255]) {
            for length in (0..70).chain([255]) {
                let (a, b) = (random.next() & ones, random.next() & ones);
                // Only the low byte counts.
                let expected = extract(ty, a, position, length);
                assert_eq!(bfe(a, position | 0x100, length | 0xff00), expected, "{ty:?} {a:x} {position} {length}");
                let expected = insert(width, a, b, position, length);
                assert_eq!(bfi(a, b, position, length), expected, "{ty:?} {a:x} {b:x} {position} {length}");
            }
        }
    }
}

#[test]
fn masks_and_extensions() {
    let bmsk = |wrap, a, b| two(Binary::Bmsk { wrap }, B32, a, b);
    assert_eq!(bmsk(true, 1, 2), 6);
    assert_eq!([bmsk(false, 4, 40), bmsk(false, 32, 1), bmsk(false, 30, 8)], [0xffff_fff0, 0, 0xc000_0000]);
    assert_eq!([bmsk(true, 33, 2), bmsk(true, 0, 32), bmsk(false, 0, 32)], [6, 0, 0xffff_ffff]);
    let szext = |wrap, ty, a, b| two(Binary::Szext { wrap }, ty, a, b);
    assert_eq!(szext(false, S32, 0x80, 8), 0xffff_ff80);
    assert_eq!(szext(false, U32, 0x1_ff80 & 0xffff_ffff, 8), 0x80);
    assert_eq!([szext(true, U32, 0xffff_ffff, 0), szext(true, U32, 0xffff_ffff, 32)], [0, 0]);
    assert_eq!(szext(false, S32, 0x8765_4321, 32), 0x8765_4321);
}

#[test]
fn finding_the_nth_bit() {
    let fns = |mask, base, offset: i32| three(Ternary::Fns, B32, mask, base, u64::from(offset as u32));
    assert_eq!(fns(0xaaaa_aaaa, 3, 1), 3);
    assert_eq!(fns(0xaaaa_aaaa, 3, -1), 3);
    assert_eq!(fns(0xaaaa_aaaa, 2, 1), 3);
    assert_eq!(fns(0xaaaa_aaaa, 2, -1), 1);
    assert_eq!(fns(0xaaaa_aaaa, 3, 0), 3);
    assert_eq!(fns(0xaaaa_aaaa, 2, 0), 0xffff_ffff);
    assert_eq!(fns(0xaaaa_aaaa, 0, 16), 31);
    assert_eq!(fns(0xaaaa_aaaa, 0, 17), 0xffff_ffff);
    assert_eq!(fns(0, 0, i32::MIN + 1), 0xffff_ffff);
    assert_eq!(fns(0, 0, i32::MIN), 0);
}

#[test]
fn every_truth_table() {
    for lut in 0..=255u8 {
        assert_eq!(three(Ternary::Lop3(lut), B32, 0xf0, 0xcc, 0xaa) as u8, lut);
        let (a, b, c) = (0x1234_5678, 0x9abc_def0, 0x0f1e_2d3c);
        let result = three(Ternary::Lop3(lut), B32, a, b, c);
        for bit in 0..32 {
            let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
            assert_eq!(result >> bit & 1, u64::from(lut >> row & 1));
        }
        assert_eq!(result >> 32, 0);
    }
}

#[test]
fn funnel_shifts() {
    let l = |wrap, c| three(Ternary::ShfL { wrap }, B32, 0x89ab_cdef, 0x0123_4567, c);
    let r = |wrap, c| three(Ternary::ShfR { wrap }, B32, 0x89ab_cdef, 0x0123_4567, c);
    assert_eq!(
        [l(false, 0), l(false, 8), l(false, 32), l(false, 99)],
        [0x0123_4567, 0x2345_6789, 0x89ab_cdef, 0x89ab_cdef]
    );
    assert_eq!(
        [r(false, 0), r(false, 8), r(false, 32), r(false, 99)],
        [0x89ab_cdef, 0x6789_abcd, 0x0123_4567, 0x0123_4567]
    );
    assert_eq!([l(true, 32), l(true, 40), r(true, 40)], [0x0123_4567, 0x2345_6789, 0x6789_abcd]);
}

/// The manual's tables, bytes most significant first.
#[test]
fn byte_permutations() {
    let (a, b) = (0x0302_0100, 0x0706_0504);
    let of = |mode, c| three(Ternary::Prmt(mode), B32, a, b, c);
    for (mode, expected) in [
        (PrmtMode::F4e, [0x0302_0100, 0x0403_0201, 0x0504_0302, 0x0605_0403]),
        (PrmtMode::B4e, [0x0506_0700, 0x0607_0001, 0x0700_0102, 0x0001_0203]),
        (PrmtMode::Rc8, [0x0000_0000, 0x0101_0101, 0x0202_0202, 0x0303_0303]),
        (PrmtMode::Ecl, [0x0302_0100, 0x0302_0101, 0x0302_0202, 0x0303_0303]),
        (PrmtMode::Ecr, [0x0000_0000, 0x0101_0100, 0x0202_0100, 0x0302_0100]),
        (PrmtMode::Rc16, [0x0100_0100, 0x0302_0302, 0x0100_0100, 0x0302_0302]),
    ] {
        assert_eq!([0, 1, 2, 3].map(|c| of(mode, c)), expected, "{mode:?}");
    }
    assert_eq!(of(PrmtMode::Generic, 0x7531), 0x0705_0301);
    // From the least significant: byte 3 of a as it is, the signs of its bytes 0 and 3, byte 0 of b.
    assert_eq!(three(Ternary::Prmt(PrmtMode::Generic), B32, 0x8000_0080, 0, 0x4b83), 0x00ff_ff80);
}

#[test]
fn dot_products() {
    let dp4a = |a_signed, b_signed, a, b, c| three(Ternary::Dp4a { a_signed, b_signed }, U32, a, b, c);
    assert_eq!(dp4a(false, false, 0x0102_03ff, 0x0101_0101, 10), 10 + 1 + 2 + 3 + 255);
    assert_eq!(dp4a(true, true, 0x0102_03ff, 0x0101_0101, 10), 10 + 1 + 2 + 3 - 1);
    assert_eq!(dp4a(false, true, 0xff, 0xff, 0), u64::from(-255i32 as u32));
    let dp2a = |high, a, b| three(Ternary::Dp2a { a_signed: true, b_signed: false, high }, S32, a, b, 0);
    assert_eq!(dp2a(false, 0x0002_ffff, 0x0403_0201), 4 - 1);
    assert_eq!(dp2a(true, 0x0002_ffff, 0x0403_0201), 8 - 3);
}

#[test]
fn extended_precision_is_128_bit_arithmetic() {
    let mut random = Random(33);
    for ty in [U32, U64, S32, S64] {
        let bits = ty.bits();
        let ones = u64::MAX >> (64 - bits);
        for _ in 0..2_000 {
            let [a, b, c] = std::array::from_fn(|_| random.next() & ones);
            for carry in [false, true] {
                let sum = u128::from(a) + u128::from(b) + u128::from(carry);
                assert_eq!(add_carry(ty, a, b, carry), (sum as u64 & ones, sum >> bits != 0));
                // A clear flag is a borrow.
                let difference = i128::from(a) - i128::from(b) - i128::from(!carry);
                assert_eq!(sub_carry(ty, a, b, carry), (difference as u64 & ones, difference >= 0));
                let product = value(ty, a).wrapping_mul(value(ty, b));
                for (high, part) in [(false, product as u64 & ones), (true, (product >> bits) as u64 & ones)] {
                    let sum = u128::from(part) + u128::from(c) + u128::from(carry);
                    assert_eq!(mad_carry(ty, high, a, b, c, carry), (sum as u64 & ones, sum >> bits != 0));
                }
            }
        }
    }
}

#[test]
fn atomics() {
    let of = |op, ty, old, b| atomic(op, ty, Mode::plain()).unwrap()(old, b);
    assert_eq!([of(AtomicOp::Inc, U32, 4, 5), of(AtomicOp::Inc, U32, 5, 5), of(AtomicOp::Inc, U32, 9, 5)], [5, 0, 0]);
    assert_eq!([of(AtomicOp::Dec, U32, 4, 5), of(AtomicOp::Dec, U32, 0, 5), of(AtomicOp::Dec, U32, 9, 5)], [3, 5, 5]);
    assert_eq!(of(AtomicOp::Add, U32, 0xffff_ffff, 2), 1);
    assert_eq!(of(AtomicOp::Min, S32, 0xffff_ffff, 1), 0xffff_ffff);
    assert_eq!(of(AtomicOp::Min, U32, 0xffff_ffff, 1), 1);
    assert_eq!(of(AtomicOp::Max, S64, u64::MAX, 1), 1);
    assert_eq!(of(AtomicOp::Exch, B64, 1, 2), 2);
    assert_eq!(of(AtomicOp::Add, F16x2, 0x3c00_4000, 0x3c00_3c00), 0x4000_4200);
    assert_eq!(of(AtomicOp::Add, Bf16, 0x3f80, 0x3f80), 0x4000);
    assert_eq!(of(AtomicOp::Max, F16, 0x3c00, 0x4000), 0x4000);
    assert_eq!(f64::from_bits(of(AtomicOp::Add, F64, 0.5f64.to_bits(), 0.25f64.to_bits())), 0.75);
    // Subnormals: kept, or flushed where the caller says that memory is global.
    assert_eq!(of(AtomicOp::Add, F32, 1, 1), 2);
    assert_eq!(atomic(AtomicOp::Add, F32, Mode { ftz: true, ..Mode::plain() }).unwrap()(1, 1), 0);
    assert!(atomic(AtomicOp::Cas, B32, Mode::plain()).is_none());
    assert!(atomic(AtomicOp::Inc, S32, Mode::plain()).is_none());
}

#[test]
fn reductions() {
    let of = |op, ty, a, b| {
        let reduction = redux(Redux { op, abs: false, ty, mode: Mode::plain() }).unwrap();
        assert_eq!(
            (reduction.step)(reduction.start, a),
            a,
            "{op:?} of {ty:?} does not start from what changes nothing"
        );
        (reduction.step)(a, b)
    };
    assert_eq!(of(ReduxOp::Add, S32, 0xffff_ffff, 2), 1);
    assert_eq!(of(ReduxOp::Max, S32, 0xffff_ffff, 0), 0);
    assert_eq!(of(ReduxOp::Max, U32, 0xffff_ffff, 0), 0xffff_ffff);
    assert_eq!(of(ReduxOp::Xor, B32, 6, 3), 5);
    assert_eq!(of(ReduxOp::Min, F32, 0x7fff_ffff, 0x3f80_0000), 0x3f80_0000);
}
