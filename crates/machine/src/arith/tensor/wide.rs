//! Products of floats, 32 elements at once.
//!
//! What is computed is what [`super`] says. Here it is computed in loops over tiles of 4 rows by 8 columns, which every instruction's product consists of. A
//! host's vector instructions can do such a loop. (Of 8 elements, the compiler takes the loop apart before it looks for vectors.)

use std::ops::Range;

use fusion_ptx::ast::MatrixType;
use pulp::WithSimd;

use super::{Adder, INFINITE, NAN, NOTHING, Term, any, layout, round, term};

/// A tile.
const ROWS: usize = 4;
const COLUMNS: usize = 8;
const LANES: usize = ROWS * COLUMNS;
type Lanes<T> = [T; LANES];

/// What is multiplied: A of any number of rows, with `k` columns; B with `n`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) a: MatrixType,
    pub(super) b: MatrixType,
    pub(super) c: MatrixType,
    pub(super) d: MatrixType,
    pub(super) k: usize,
    pub(super) n: usize,
    /// Products are subtracted.
    pub(super) negated: bool,
}

/// D = A * B + C. A, C and D are given row by row, and B column by column.
pub(super) struct Product<'a> {
    pub(super) form: Form,
    pub(super) adder: Adder,
    pub(super) a: &'a [u32],
    pub(super) b: &'a [u32],
    pub(super) c: &'a [u32],
    pub(super) d: &'a mut [u32],
}

/// A closure in its place would be a function of its own, and not be compiled for what the host has.
impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        multiply(self);
    }
}

#[inline(always)]
fn multiply(product: Product<'_>) {
    let Product { form, adder, a, b, c, d } = product;
    let Form { k, n, .. } = form;
    let (mut x, y) = (Terms::of(form.a, a), Terms::of(form.b, b));
    if form.negated {
        x.significands.iter_mut().for_each(|significand| *significand = -*significand);
    }
    let numbers = x.numbers && y.numbers;
    let fraction = layout(form.a).0 + layout(form.b).0;
    let left = adder.fraction.saturating_sub(fraction);
    let rows = Factors::of_rows(&x, k);
    let mut columns = Factors::with_room_for(k);
    for column in (0..n).step_by(COLUMNS) {
        columns.hold_columns(&y, column, k);
        for row in (0..a.len() / k).step_by(ROWS) {
            let place = |lane: usize| (row + lane / COLUMNS, column + lane % COLUMNS);
            let mut sum = [0; LANES];
            for (sum, row) in sum.chunks_mut(COLUMNS).zip(row..) {
                sum.copy_from_slice(&c[row * n + column..][..COLUMNS]);
            }
            let mut ty = form.c;
            for from in (0..k).step_by(adder.products) {
                let group = from..k.min(from + adder.products);
                let before = Addends::of(ty, &sum);
                sum = match numbers && before.numbers {
                    true => {
                        let (x, y) = (rows.of_tile(row / ROWS, k, &group), columns.of_tile(0, k, &group));
                        let sums = Sums::of(x, y, &before.exponents, left);
                        sums.rounded(adder, &before.shifted(adder, layout(ty).0, &sums.largest), form.d)
                    }
                    false => std::array::from_fn(|lane| {
                        let (row, column) = place(lane);
                        let [x, y] = [(&x, row), (&y, column)].map(|(terms, line)| -> Vec<Term> {
                            group.clone().map(|at| terms.term(line * k + at)).collect()
                        });
                        any(adder, &x, &y, fraction, (term(ty, sum[lane].into()), layout(ty).0), form.d) as u32
                    }),
                };
                ty = form.d;
            }
            for (sum, row) in sum.chunks(COLUMNS).zip(row..) {
                d[row * n + column..][..COLUMNS].copy_from_slice(sum);
            }
        }
    }
}

/// A matrix's elements.
struct Terms {
    significands: Vec<i32>,
    exponents: Vec<i32>,
    /// All of them are.
    numbers: bool,
}

impl Terms {
    #[inline(always)]
    fn of(ty: MatrixType, bits: &[u32]) -> Self {
        let mut terms = Self { significands: vec![0; bits.len()], exponents: vec![0; bits.len()], numbers: true };
        let (significands, exponents) = (terms.significands.chunks_mut(LANES), terms.exponents.chunks_mut(LANES));
        for (bits, (significands, exponents)) in bits.chunks(LANES).zip(significands.zip(exponents)) {
            let mut lanes = [0; LANES];
            lanes[..bits.len()].copy_from_slice(bits);
            let lanes = Addends::of(ty, &lanes);
            significands.copy_from_slice(&lanes.significands[..bits.len()]);
            exponents.copy_from_slice(&lanes.exponents[..bits.len()]);
            terms.numbers &= lanes.numbers;
        }
        terms
    }

    fn term(&self, at: usize) -> Term {
        Term { significand: self.significands[at], exponent: self.exponents[at] }
    }
}

/// A factor of each element of a tile: `k` of them for each four rows of A, or for eight columns of B.
struct Factors {
    significands: Vec<Lanes<i32>>,
    exponents: Vec<Lanes<i32>>,
}

/// Their significands and exponents, for each k.
type Tiles<'a> = (&'a [Lanes<i32>], &'a [Lanes<i32>]);

impl Factors {
    fn with_room_for(count: usize) -> Self {
        Self { significands: Vec::with_capacity(count), exponents: Vec::with_capacity(count) }
    }

    /// Of all rows of A, `k` elements each.
    #[inline(always)]
    fn of_rows(terms: &Terms, k: usize) -> Self {
        let tiles = terms.significands.len() / (k * ROWS);
        let mut factors = Self::with_room_for(tiles * k);
        for tile in 0..tiles {
            for at in 0..k {
                let first = tile * ROWS * k + at;
                factors.significands.push(row_factor(&terms.significands[first..], k));
                factors.exponents.push(row_factor(&terms.exponents[first..], k));
            }
        }
        factors
    }

    /// Of eight columns of B from one on, `k` elements each, in place of what was held before.
    #[inline(always)]
    fn hold_columns(&mut self, terms: &Terms, column: usize, k: usize) {
        self.significands.clear();
        self.exponents.clear();
        for at in 0..k {
            let first = column * k + at;
            self.significands.push(column_factor(&terms.significands[first..], k));
            self.exponents.push(column_factor(&terms.exponents[first..], k));
        }
    }

    /// Those of a tile, with these k.
    #[inline(always)]
    fn of_tile(&self, tile: usize, k: usize, group: &Range<usize>) -> Tiles<'_> {
        let factors = tile * k + group.start..tile * k + group.end;
        (&self.significands[factors.clone()], &self.exponents[factors])
    }
}

/// For each element of a tile the one of its row: four elements, `k` apart.
#[inline(always)]
fn row_factor(elements: &[i32], k: usize) -> Lanes<i32> {
    let mut lanes = [0; LANES];
    for row in 0..ROWS {
        let element = elements[row * k];
        for lane in &mut lanes[row * COLUMNS..][..COLUMNS] {
            *lane = element;
        }
    }
    lanes
}

/// For each element of a tile the one of its column: eight elements, `k` apart.
#[inline(always)]
fn column_factor(elements: &[i32], k: usize) -> Lanes<i32> {
    let mut first = [0; COLUMNS];
    for (column, element) in first.iter_mut().enumerate() {
        *element = elements[column * k];
    }
    let mut lanes = [0; LANES];
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            lanes[row * COLUMNS + column] = first[column];
        }
    }
    lanes
}

/// The elements of a tile.
struct Addends {
    significands: Lanes<i32>,
    exponents: Lanes<i32>,
    numbers: bool,
}

impl Addends {
    /// [`term`], without a branch.
    #[inline(always)]
    fn of(ty: MatrixType, bits: &Lanes<u32>) -> Self {
        let (fraction, width) = layout(ty);
        let unused = if ty == MatrixType::Tf32 { 13 } else { 0 };
        let (low_bits, last, bias) = ((1 << fraction) - 1, (1 << width) - 1, (1 << (width - 1)) - 1);
        // E4m3 has no infinity, and one NaN.
        let (ends_at, infinite) = if ty == MatrixType::E4m3 { (low_bits, NAN) } else { (0, INFINITE) };
        let mut addends = Self { significands: [0; LANES], exponents: [0; LANES], numbers: true };
        let mut specials = 0;
        for lane in 0..LANES {
            let bits = (bits[lane] >> unused) as i32;
            let (low, field) = (bits & low_bits, bits >> fraction & last);
            let normal = low | i32::from(field != 0) << fraction;
            let special = field == last && low >= ends_at;
            let magnitude = if low == ends_at { infinite } else { NAN };
            let magnitude = if special { magnitude } else { normal };
            let sign = -(bits >> (fraction + width) & 1);
            addends.significands[lane] = (magnitude ^ sign) - sign;
            addends.exponents[lane] = if normal == 0 { NOTHING } else { field.max(1) - bias };
            specials |= i32::from(special);
        }
        addends.numbers = specials == 0;
        addends
    }

    /// As addends of a sum: cut off below the bits that these have under the largest exponent.
    #[inline(always)]
    fn shifted(&self, adder: Adder, fraction: u32, largest: &Lanes<i32>) -> Lanes<i32> {
        let (up, cut) = (adder.fraction.saturating_sub(fraction), fraction.saturating_sub(adder.fraction) as i32);
        let mut shifted = [0; LANES];
        for lane in 0..LANES {
            let down = (largest[lane] - self.exponents[lane] + cut).min(31) as u32;
            shifted[lane] = scaled(self.significands[lane], up, down);
        }
        shifted
    }
}

/// Shifted to the left, then to the right; without its sign, so that what is cut off is cut off towards zero.
#[inline(always)]
fn scaled(significand: i32, up: u32, down: u32) -> i32 {
    let sign = significand >> 31;
    let magnitude = ((significand.unsigned_abs() << up) >> (down & 31)) as i32;
    (magnitude ^ sign) - sign
}

/// Of each element: the largest exponent of its addends, and its products, shifted to that, together.
struct Sums {
    largest: Lanes<i32>,
    products: Lanes<i32>,
}

impl Sums {
    /// No sum overflows: 16 products of f16 are below 2^31 - 2^21 in units of the last bit, and what has fewer bits is below that.
    #[inline(always)]
    fn of(x: Tiles<'_>, y: Tiles<'_>, before: &Lanes<i32>, left: u32) -> Self {
        let mut sums = Self { largest: *before, products: [0; LANES] };
        let exponents = || x.1.iter().zip(y.1);
        for (x, y) in exponents() {
            for lane in 0..LANES {
                sums.largest[lane] = sums.largest[lane].max(x[lane] + y[lane]);
            }
        }
        for ((x, y), (own, others)) in x.0.iter().zip(y.0).zip(exponents()) {
            for lane in 0..LANES {
                let down = (sums.largest[lane] - (own[lane] + others[lane])).min(31) as u32;
                sums.products[lane] += scaled(x[lane] * y[lane], left, down);
            }
        }
        sums
    }

    /// With the sums so far. Where all are 0 or normal numbers of f32, an f64 has every bit of a sum, and rounding towards zero is leaving bits out.
    #[inline(always)]
    fn rounded(&self, adder: Adder, before: &Lanes<i32>, d: MatrixType) -> Lanes<u32> {
        let keep = if adder.narrow { u64::MAX << 39 } else { u64::MAX << 29 };
        let mut rounded = [0; LANES];
        let mut others = u32::from(d == MatrixType::F16);
        for lane in 0..LANES {
            let sum = f64::from(self.products[lane]) + f64::from(before[lane]);
            // That of a sum of zeros alone is far below.
            let exponent = (self.largest[lane] - adder.fraction as i32).max(-1000);
            let value = sum * f64::from_bits(((exponent + 1023) as u64) << 52);
            let magnitude = value.abs();
            let normal = magnitude >= f64::from(f32::MIN_POSITIVE) && magnitude < LIMIT;
            others |= u32::from(!(normal || magnitude == 0.0));
            rounded[lane] = (f64::from_bits(value.to_bits() & keep) as f32).to_bits();
        }
        if others == 0 {
            return rounded;
        }
        std::array::from_fn(|lane| {
            let sum = i64::from(self.products[lane]) + i64::from(before[lane]);
            round(adder, sum, self.largest[lane] - adder.fraction as i32, d) as u32
        })
    }
}

/// 2^128, which no f32 reaches.
const LIMIT: f64 = 2.0 * (1u128 << 127) as f64;

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
        // Types, and the products of an element; with the adders of `wgmma`, and of `mma` on three generations.
        let forms = [
            (F16, F16, F32, F32, 16),
            (F16, F16, F16, F32, 16),
            (F16, F16, F16, F16, 16),
            (Bf16, Bf16, F32, F32, 16),
            (Tf32, Tf32, F32, F32, 8),
            (E4m3, E5m2, F32, F32, 32),
            (E5m2, E5m2, F16, F16, 32),
        ];
        for (a, b, c, d, k) in forms {
            let mut adders = vec![Adder::of_warpgroup(a)];
            adders.extend([(7, 5), (8, 0), (8, 9), (9, 0), (12, 0)].map(|compute| Adder::of(compute, a, k)));
            adders.retain(|adder| !adder.apart);
            for (round, adder) in (0..6).flat_map(|round| adders.iter().map(move |adder| (round, *adder))) {
                let form = Form { a, b, c, d, k, n: 24, negated: round % 2 == 1 };
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
                let y: Vec<u32> = (0..k * 24).map(|_| element(b)).collect();
                let z: Vec<u32> = (0..16 * 24).map(|_| element(c)).collect();
                let mut together = vec![0; 16 * 24];
                pulp::Arch::new().dispatch(Product { form, adder, a: &x, b: &y, c: &z, d: &mut together });
                for (at, found) in together.iter().enumerate() {
                    let terms =
                        |ty, bits: &[u32]| -> Vec<Term> { bits.iter().map(|bits| term(ty, (*bits).into())).collect() };
                    let (mut row, column) = (terms(a, &x[at / 24 * k..][..k]), terms(b, &y[at % 24 * k..][..k]));
                    if form.negated {
                        row.iter_mut().for_each(|x| x.significand = -x.significand);
                    }
                    let mut sum = (c, u64::from(z[at]));
                    for (x, y) in row.chunks(adder.products).zip(column.chunks(adder.products)) {
                        let before = (term(sum.0, sum.1), layout(sum.0).0);
                        sum = (d, any(adder, x, y, layout(a).0 + layout(b).0, before, d));
                    }
                    assert_eq!(u64::from(*found), sum.1, "{form:?} {adder:?} {at}");
                }
            }
        }
    }
}
