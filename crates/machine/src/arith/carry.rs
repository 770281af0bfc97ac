//! Extended-precision arithmetic (PTX ISA 9.7.2): results with a carry flag.

use fusion_ptx::ast::ScalarType;

/// `add.cc` (carry in false), `addc`: the sum and its carry.
#[inline(always)]
pub fn add_carry(ty: ScalarType, a: u64, b: u64, carry: bool) -> (u64, bool) {
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    split(sum, ty.bits())
}

/// `sub.cc` (carry in true), `subc`: the difference, computed as `a + !b + carry`, and the carry of that sum.
///
/// The flag is the adder's, so a subtraction leaves it *clear* where it had to borrow. Between `sub.cc` and `subc`
/// nobody can tell; an `addc` or `madc` after a subtraction, and a `subc` after an addition, can.
#[inline(always)]
pub fn sub_carry(ty: ScalarType, a: u64, b: u64, carry: bool) -> (u64, bool) {
    add_carry(ty, a, !b & (u64::MAX >> (64 - ty.bits())), carry)
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
