//! Bit manipulation (PTX ISA 9.7.1 and 9.7.8), on registers as bits.

use fusion_ptx::ast::PrmtMode;

#[inline(always)]
pub fn popc(a: u64) -> u64 {
    u64::from(a.count_ones())
}

/// Leading zeros of a value of that width.
#[inline(always)]
pub fn clz(a: u64, width: u32) -> u64 {
    u64::from(a.leading_zeros() - (64 - width))
}

#[inline(always)]
pub fn brev(a: u64, width: u32) -> u64 {
    a.reverse_bits() >> (64 - width)
}

/// Position of the most significant non-sign bit, or the left shift that brings it to the top;
/// 0xffffffff when there is none.
#[inline(always)]
pub fn bfind(a: u64, width: u32, signed: bool, shiftamt: bool) -> u64 {
    let ones = u64::MAX >> (64 - width);
    let negative = signed && a >> (width - 1) & 1 == 1;
    let a = if negative { !a & ones } else { a & ones };
    match a.checked_ilog2() {
        None => 0xffff_ffff,
        Some(position) if shiftamt => u64::from(width - 1 - position),
        Some(position) => u64::from(position),
    }
}

/// Extracts `length` bits at `position`, zero- or sign-extended; both operands count modulo 256.
#[inline(always)]
pub fn bfe(a: u64, position: u64, length: u64, width: u32, signed: bool) -> u64 {
    let ones = u64::MAX >> (64 - width);
    let a = a & ones;
    let (position, length) = (position as u32 & 0xff, length as u32 & 0xff);
    if length == 0 {
        return 0;
    }
    let sign = signed && a >> (position + length - 1).min(width - 1) & 1 == 1;
    // Bits from the field's end on, which the sign replaces: beyond `length`, or beyond what `a` has.
    let available = length.min(width.saturating_sub(position));
    let field = if position < width { a >> position } else { 0 };
    let mask = if available >= width { ones } else { (1 << available) - 1 };
    field & mask | if sign { ones & !mask } else { 0 }
}

/// Inserts the low `length` bits of a into b at `position`; both operands count modulo 256.
#[inline(always)]
pub fn bfi(a: u64, b: u64, position: u64, length: u64, width: u32) -> u64 {
    let (position, length) = (position as u32 & 0xff, length as u32 & 0xff);
    if length == 0 || position >= width {
        return b;
    }
    let ones = u64::MAX >> (64 - width);
    let mask = (if length >= 64 { u64::MAX } else { (1 << length) - 1 }) << position & ones;
    b & !mask | a << position & mask
}

/// A mask of `b` ones from bit `a` on.
#[inline(always)]
pub fn bmsk(a: u64, b: u64, wrap: bool) -> u64 {
    let (mut a, mut b) = (u64::from(a as u32), u64::from(b as u32));
    if wrap {
        (a, b) = (a & 31, b & 31);
    }
    if a >= 32 { 0 } else { ((1 << b.min(32)) - 1) << a & 0xffff_ffff }
}

/// Extends the low `b` bits of a.
#[inline(always)]
pub fn szext(a: u64, b: u64, signed: bool, wrap: bool) -> u64 {
    let (a, b) = (a as u32, b as u32);
    if b >= 32 && !wrap {
        return u64::from(a);
    }
    let unused = 32 - (b & 31);
    if unused == 32 {
        return 0;
    }
    let top = a << unused;
    u64::from(if signed { (top as i32 >> unused) as u32 } else { top >> unused })
}

/// The `offset`-th set bit of `mask` counted from `base`, upwards or (negative) downwards.
pub fn fns(mask: u64, base: u64, offset: u64) -> u64 {
    let (mask, base, offset) = (mask as u32, base as u32, offset as i32);
    // No offset that the manual has a meaning for; an H200's code gives 0.
    if offset == i32::MIN {
        return 0;
    }
    let mut position = i64::from(base);
    let step = if offset < 0 { -1 } else { 1 };
    // Offset 0 asks about the base alone.
    let mut left = offset.unsigned_abs().max(1);
    while (0..32).contains(&position) {
        if mask >> position & 1 == 1 {
            left -= 1;
            if left == 0 {
                return position as u64;
            }
        }
        if offset == 0 {
            break;
        }
        position += step;
    }
    0xffff_ffff
}

/// The bitwise function whose truth table is `lut`: bit 4a+2b+c of it is the result.
#[inline(always)]
pub fn lop3(a: u64, b: u64, c: u64, lut: u8) -> u64 {
    let mut result = 0;
    for row in 0..8 {
        if lut >> row & 1 == 1 {
            let pick = |x: u64, bit: u8| if row & bit != 0 { x } else { !x };
            result |= pick(a, 4) & pick(b, 2) & pick(c, 1);
        }
    }
    result & 0xffff_ffff
}

/// The upper word of b:a shifted left; `wrap` takes the amount modulo 32, else it stops at 32.
#[inline(always)]
pub fn shf_l(a: u64, b: u64, amount: u64, wrap: bool) -> u64 {
    (b << 32 | a & 0xffff_ffff) << funnel_amount(amount, wrap) >> 32
}

/// The lower word of b:a shifted right.
#[inline(always)]
pub fn shf_r(a: u64, b: u64, amount: u64, wrap: bool) -> u64 {
    (b << 32 | a & 0xffff_ffff) >> funnel_amount(amount, wrap) & 0xffff_ffff
}

#[inline(always)]
fn funnel_amount(amount: u64, wrap: bool) -> u32 {
    let amount = amount as u32;
    if wrap { amount & 31 } else { amount.min(32) }
}

/// Byte permutation (PTX ISA 9.7.9.7).
#[inline(always)]
pub fn prmt(a: u64, b: u64, c: u64, mode: PrmtMode) -> u64 {
    let bytes = (b << 32 | a & 0xffff_ffff).to_le_bytes();
    let n = (c & 3) as usize;
    let select = |s: [usize; 4]| u64::from(u32::from_le_bytes(s.map(|i| bytes[i & 7])));
    match mode {
        PrmtMode::Generic => {
            let byte = |i: u32| {
                let selector = c >> (4 * i);
                let byte = bytes[(selector & 7) as usize];
                if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
            };
            u64::from(u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]))
        }
        PrmtMode::F4e => select([n, n + 1, n + 2, n + 3]),
        // Backwards: n, n-1, n-2, n-3 modulo 8.
        PrmtMode::B4e => select([n, n + 7, n + 6, n + 5]),
        PrmtMode::Rc8 => select([n; 4]),
        PrmtMode::Ecl => select([n, n.max(1), n.max(2), 3]),
        PrmtMode::Ecr => select([0, n.min(1), n.min(2), n]),
        PrmtMode::Rc16 => {
            let low = 2 * (n & 1);
            select([low, low + 1, low, low + 1])
        }
    }
}
