//! Extended-precision arithmetic (PTX ISA 9.7.2): results with a carry flag.

use fusion_ptx::ast::ScalarType;

/// `add.cc` (carry in false), `addc`: the sum and its carry.
#[inline(always)]
pub fn add_carry(ty: ScalarType, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    split(sum, ty.bits())
}

/// `sub.cc`, `subc`: the difference and its borrow.
#[inline(always)]
pub fn sub_borrow(ty: ScalarType, a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let difference = u128::from(a).wrapping_sub(u128::from(b)).wrapping_sub(u128::from(borrow));
    let (bits, _) = split(difference, ty.bits());
    (bits, u128::from(a) < u128::from(b) + u128::from(borrow))
}

/// `mad.cc`, `madc`: half of the product (`high`: the upper) plus c plus the carry, with its carry.
#[inline(always)]
pub fn mad_carry(ty: ScalarType, high: bool, a: u64, b: u64, c: u64, carry: bool) -> (u64, bool) {
    let width = ty.bits();
    let extend = |x: u64| {
        if ty.is_signed() { i128::from((x << (64 - width)) as i64 >> (64 - width)) } else { i128::from(x) }
    };
    let product = extend(a).wrapping_mul(extend(b)) as u128;
    let (part, _) = split(if high { product >> width } else { product }, width);
    add_carry(ty, part, c, carry)
}

/// The low `width` bits, and the bit above them.
#[inline(always)]
fn split(value: u128, width: u32) -> (u64, bool) {
    let mask = u64::MAX >> (64 - width);
    (value as u64 & mask, value >> width & 1 == 1)
}
