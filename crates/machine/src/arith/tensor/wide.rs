//! A warp's part of a product of `wgmma`: 16 rows, and up to 256 columns.
//!
//! What is computed is what [`super`] says. Here it is computed for all columns of a row at once, in loops that a
//! host's vector instructions can do.

use fusion_ptx::ast::{MatrixType, Wgmma};

use super::{Adder, Term, add, layout, round, shifted, special, term};

/// D = A * B + C. All are given row by row: A as 16 by k, B as k by n, C and D as 16 by n.
#[inline(always)]
pub(crate) fn multiply(form: &Wgmma, a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
    if form.a.is_integer() { integers(form, a, b, c, d) } else { floats(form, a, b, c, d) }
}

#[inline(always)]
fn integers(form: &Wgmma, a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
    let (k, n) = (form.k() as usize, form.n as usize);
    let extend =
        |ty: MatrixType, bits: &u32| if ty.is_signed() { i32::from(*bits as i8) } else { i32::from(*bits as u8) };
    let b: Vec<i32> = b.iter().map(|bits| extend(form.b, bits)).collect();
    let mut sums = vec![0i32; n];
    for (row, (c, d)) in a.chunks(k).zip(c.chunks(n).zip(d.chunks_mut(n))) {
        sums.fill(0);
        for (x, column) in row.iter().zip(b.chunks(n)) {
            let x = extend(form.a, x);
            sums.iter_mut().zip(column).for_each(|(sum, y)| *sum += x * y);
        }
        for ((d, c), sum) in d.iter_mut().zip(c).zip(&sums) {
            *d = match form.satfinite {
                true => (*c as i32).saturating_add(*sum) as u32,
                false => c.wrapping_add(*sum as u32),
            };
        }
    }
}

#[inline(always)]
fn floats(form: &Wgmma, a: &[u32], b: &[u32], c: &[u32], d: &mut [u32]) {
    let adder = Adder::of_warpgroup(form.a);
    let (k, n) = (form.k() as usize, form.n as usize);
    let decode = |ty: MatrixType, bits: &[u32]| -> Vec<Term> { bits.iter().map(|x| term(ty, (*x).into())).collect() };
    let mut a = decode(form.a, a);
    if form.negated {
        a.iter_mut().for_each(|x| x.significand = -x.significand);
    }
    let b = decode(form.b, b);
    let numbers = a.iter().chain(&b).all(|term| term.is_number());
    let fraction = layout(form.a).0 + layout(form.b).0;
    let c_fraction = layout(form.d).0;
    let (significands, exponents): (Vec<i32>, Vec<i32>) = b.iter().map(|y| (y.significand, y.exponent)).unzip();
    let mut sums = Sums { largest: vec![0; n], products: vec![0; n] };
    for (row, (c, d)) in a.chunks(k).zip(c.chunks(n).zip(d.chunks_mut(n))) {
        let c = decode(form.d, c);
        if numbers {
            sums.add(row, &significands, &exponents, &c, adder.fraction.saturating_sub(fraction));
        }
        for (column, (d, c)) in d.iter_mut().zip(c).enumerate() {
            let bits = match numbers && c.is_number() {
                true => {
                    let largest = sums.largest[column];
                    let sum = i64::from(sums.products[column]) + shifted(adder, c, c_fraction, largest);
                    rounded(adder, sum, largest - adder.fraction as i32, form.d)
                }
                false => {
                    let y: Vec<Term> = b.iter().skip(column).step_by(n).copied().collect();
                    let of = if numbers { special } else { any };
                    of(adder, row, &y, fraction, (c, c_fraction), form.d)
                }
            };
            *d = bits as u32;
        }
    }
}

/// The sum of one element, where some factor of the matrices is no number.
fn any(adder: Adder, x: &[Term], y: &[Term], fraction: u32, c: (Term, u32), d: MatrixType) -> u64 {
    let numbers = x.iter().chain(y).all(|term| term.is_number()) && c.0.is_number();
    if numbers { add(adder, x, y, fraction, c, d) } else { special(adder, x, y, fraction, c, d) }
}

/// Of each column of a row: the largest exponent of its addends, and its products, shifted to that, together.
struct Sums {
    largest: Vec<i32>,
    products: Vec<i32>,
}

impl Sums {
    /// No sum overflows: 16 products of f16 are below 2^31 - 2^21 in units of the last bit, and what has fewer bits is
    /// below that.
    #[inline(always)]
    fn add(&mut self, row: &[Term], significands: &[i32], exponents: &[i32], c: &[Term], left: u32) {
        let n = c.len();
        let Self { largest, products } = self;
        largest.iter_mut().zip(c).for_each(|(largest, c)| *largest = c.exponent);
        for (x, exponents) in row.iter().zip(exponents.chunks(n)) {
            let own = x.exponent;
            largest.iter_mut().zip(exponents).for_each(|(largest, y)| *largest = (*largest).max(own + y));
        }
        products.fill(0);
        for (x, (significands, exponents)) in row.iter().zip(significands.chunks(n).zip(exponents.chunks(n))) {
            if x.significand == 0 {
                continue;
            }
            let columns = products.iter_mut().zip(largest.iter()).zip(significands.iter().zip(exponents));
            for ((sum, largest), (significand, exponent)) in columns {
                let product = x.significand * significand;
                let down = (largest - (x.exponent + exponent)).min(31) as u32;
                let magnitude = ((product.unsigned_abs() << left) >> (down & 31)) as i32;
                let sign = product >> 31;
                *sum += (magnitude ^ sign) - sign;
            }
        }
    }
}

/// [`round`], with a short way for normal numbers of f32.
#[inline(always)]
fn rounded(adder: Adder, sum: i64, exponent: i32, d: MatrixType) -> u64 {
    let magnitude = sum.unsigned_abs();
    let top = 63 - magnitude.leading_zeros() as i32;
    let leading = exponent + top;
    if d == MatrixType::F16 || sum == 0 || !(-126..=127).contains(&leading) {
        return round(adder, sum, exponent, d);
    }
    let fraction = if top >= 23 { magnitude >> (top - 23) } else { magnitude << (23 - top) };
    let keep = if adder.narrow { 0x7f_fc00 } else { 0x7f_ffff };
    u64::from(sum < 0) << 31 | ((leading + 127) as u64) << 23 | fraction & keep
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_ptx::ast::MatrixType::*;

    /// Each element is what the adder for single elements gives, special values and subnormal numbers among them.
    #[test]
    fn columns_together_are_columns_alone() {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32
        };
        let forms = [
            (F16, F16, F32),
            (F16, F16, F16),
            (Bf16, Bf16, F32),
            (Tf32, Tf32, F32),
            (E4m3, E5m2, F32),
            (E5m2, E5m2, F16),
        ];
        for (a, b, d) in forms {
            for round in 0..6 {
                let form = Wgmma {
                    n: 24,
                    a,
                    b,
                    d,
                    satfinite: false,
                    negated: round % 2 == 1,
                    a_transposed: false,
                    b_transposed: false,
                };
                let (k, n) = (form.k() as usize, 24);
                // The first rounds have numbers of like size and nothing else, the last ones any bits.
                let mut element = |ty: MatrixType| {
                    let (fraction, width) = layout(ty);
                    let bits = draw() >> (31 - fraction - width);
                    let near = 1 << (fraction + width) >> 1;
                    let like = bits & !((1 << (fraction + width)) - (1 << (fraction + 2))) | (near - (near >> 3));
                    let bits = if round < 3 { like } else { bits };
                    if ty == Tf32 { bits << 13 | draw() & 0x1fff } else { bits }
                };
                let x: Vec<u32> = (0..16 * k).map(|_| element(a)).collect();
                let y: Vec<u32> = (0..k * n).map(|_| element(b)).collect();
                let c: Vec<u32> = (0..16 * n).map(|_| element(d)).collect();
                let mut together = vec![0; 16 * n];
                multiply(&form, &x, &y, &c, &mut together);
                let adder = Adder::of_warpgroup(a);
                for (at, found) in together.iter().enumerate() {
                    let (row, column) = (at / n, at % n);
                    let mut row: Vec<Term> = x[row * k..][..k].iter().map(|x| term(a, (*x).into())).collect();
                    if form.negated {
                        row.iter_mut().for_each(|x| x.significand = -x.significand);
                    }
                    let column: Vec<Term> = (0..k).map(|k| term(b, y[k * n + column].into())).collect();
                    let before = (term(d, c[at].into()), layout(d).0);
                    let alone = any(adder, &row, &column, layout(a).0 + layout(b).0, before, d);
                    assert_eq!(u64::from(*found), alone, "{form:?} {at}");
                }
            }
        }
    }

    #[test]
    fn integers_wrap_or_saturate() {
        let form = |satfinite| Wgmma {
            n: 8,
            a: U8,
            b: S8,
            d: S32,
            satfinite,
            negated: false,
            a_transposed: false,
            b_transposed: false,
        };
        let (a, b, c) = (vec![0xff; 16 * 32], vec![0x80; 32 * 8], vec![i32::MIN as u32; 16 * 8]);
        let mut d = vec![0; 16 * 8];
        multiply(&form(true), &a, &b, &c, &mut d);
        assert!(d.iter().all(|d| *d == i32::MIN as u32));
        multiply(&form(false), &a, &b, &c, &mut d);
        assert!(d.iter().all(|d| *d == (i32::MIN as u32).wrapping_sub(255 * 128 * 32)));
    }
}
