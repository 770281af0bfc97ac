//! Exact real numbers and their rounding into any binary floating-point format.
//!
//! One software float serves every directed rounding and every conversion: an operation produces the
//! exact result (or the result with a sticky bit far below any format's precision), and one function
//! rounds it. Rounding to nearest of f32 and f64 goes through the processor instead, see `single` and
//! `double`; this module is for what the processor has no instruction for.

use fusion_ptx::ast::Rounding;

/// Rounding directions as const-generic parameters: to nearest even, to nearest with ties away from
/// zero, towards zero, towards minus infinity, towards plus infinity.
pub const RN: u8 = 0;
pub const RNA: u8 = 1;
pub const RZ: u8 = 2;
pub const RM: u8 = 3;
pub const RP: u8 = 4;

/// The direction of a rounding modifier, integer forms included; `None` for `.rs`.
pub fn direction(rounding: Rounding) -> Option<u8> {
    match rounding {
        Rounding::Nearest | Rounding::NearestInt => Some(RN),
        Rounding::NearestAway => Some(RNA),
        Rounding::Zero | Rounding::ZeroInt => Some(RZ),
        Rounding::Minus | Rounding::MinusInt => Some(RM),
        Rounding::Plus | Rounding::PlusInt => Some(RP),
        Rounding::Stochastic => None,
    }
}

/// An IEEE 754 binary interchange format, or one built like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Significant bits, the hidden one included.
    pub precision: u32,
    /// Exponent of the smallest normal number.
    pub min_exponent: i32,
    /// Storage width in bits.
    pub width: u32,
    /// Whether subnormal results become zeros (`.ftz`).
    ///
    /// Subnormal is what is below the normal numbers when rounded to the full precision, whatever its exponent. Rounded as a
    /// subnormal, with fewer bits, it could become the smallest normal number.
    pub flush: bool,
}

impl Format {
    pub const E4M3: Self = Self { precision: 4, min_exponent: -6, width: 8, flush: false };
    pub const E5M2: Self = Self { precision: 3, min_exponent: -14, width: 8, flush: false };
    pub const F16: Self = Self { precision: 11, min_exponent: -14, width: 16, flush: false };
    pub const BF16: Self = Self { precision: 8, min_exponent: -126, width: 16, flush: false };
    /// The 19 upper bits of an f32.
    pub const TF32: Self = Self { precision: 11, min_exponent: -126, width: 19, flush: false };
    pub const F32: Self = Self { precision: 24, min_exponent: -126, width: 32, flush: false };
    pub const F32_FTZ: Self = Self { flush: true, ..Self::F32 };
    pub const F64: Self = Self { precision: 53, min_exponent: -1022, width: 64, flush: false };

    const fn sign_bit(self) -> u64 {
        1 << (self.width - 1)
    }

    /// The bits of plus infinity; every larger magnitude is NaN.
    pub const fn infinity(self) -> u64 {
        let fraction = self.precision - 1;
        (self.sign_bit() - 1) >> fraction << fraction
    }
}

/// What a bit pattern stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Nan,
    Infinite { negative: bool },
    Finite(Exact),
}

/// The number `magnitude * 2^exponent`, with a sign that zero has too.
///
/// The lowest bit of a magnitude of more than 64 bits may be sticky: set because something nonzero
/// was dropped below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    pub negative: bool,
    pub magnitude: u128,
    pub exponent: i32,
}

/// The bits as a number of the format.
pub fn decode(format: Format, bits: u64) -> Value {
    let negative = bits & format.sign_bit() != 0;
    let bits = bits & (format.sign_bit() - 1);
    if bits > format.infinity() {
        return Value::Nan;
    }
    if bits == format.infinity() {
        return Value::Infinite { negative };
    }
    let fraction = format.precision - 1;
    let field = (bits >> fraction) as i32;
    let low = bits & ((1 << fraction) - 1);
    let (magnitude, field) = if field == 0 { (low, 1) } else { (low | 1 << fraction, field) };
    let exponent = format.min_exponent - fraction as i32 + field - 1;
    Value::Finite(Exact { negative, magnitude: u128::from(magnitude), exponent })
}

impl Exact {
    pub fn integer(negative: bool, magnitude: u64) -> Self {
        Self { negative, magnitude: u128::from(magnitude), exponent: 0 }
    }

    /// Rounds into the format. Too large becomes infinity or the largest finite number, as IEEE 754 says.
    pub fn round(self, format: Format, direction: u8) -> u64 {
        let sign = if self.negative { format.sign_bit() } else { 0 };
        if self.magnitude == 0 {
            return sign;
        }
        let fraction = format.precision as i32 - 1;
        let leading = self.exponent + 127 - self.magnitude.leading_zeros() as i32;
        // The weight of the result's last bit.
        let quantum = if format.flush { leading } else { leading.max(format.min_exponent) } - fraction;
        let dropped = quantum - self.exponent;
        let kept = if dropped <= 0 {
            (self.magnitude << -dropped) as u64
        } else {
            let (kept, rest, half) = match dropped {
                1..=127 => {
                    let unit = 1u128 << dropped;
                    (self.magnitude >> dropped, self.magnitude & (unit - 1), unit >> 1)
                }
                // Everything is dropped, and it lies below half a unit (128: the magnitude never has its top bit).
                _ => (0, 1, 2),
            };
            let kept = kept as u64;
            let up = match direction {
                RN => rest > half || rest == half && kept & 1 == 1,
                RNA => rest >= half,
                RM => self.negative && rest != 0,
                RP => !self.negative && rest != 0,
                _ => false,
            };
            kept + u64::from(up)
        };
        // A carry out of the fraction runs into the exponent field, where it belongs.
        let field = i64::from(quantum + fraction - format.min_exponent);
        let bits = (field << fraction) + kept as i64;
        if format.flush && bits < 1 << fraction {
            return sign;
        }
        let bits = bits as u64;
        if bits >= format.infinity() {
            let to_infinity = match direction {
                RN | RNA => true,
                RM => self.negative,
                RP => !self.negative,
                _ => false,
            };
            return sign | if to_infinity { format.infinity() } else { format.infinity() - 1 };
        }
        sign | bits
    }

    /// The same number with bit 125 as the leading one; zero stays as it is.
    fn normalized(self) -> Self {
        let shift = self.magnitude.leading_zeros().saturating_sub(2);
        if self.magnitude == 0 {
            return self;
        }
        Self { magnitude: self.magnitude << shift, exponent: self.exponent - shift as i32, ..self }
    }

    fn product(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            magnitude: self.magnitude * other.magnitude,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum; `direction` decides the sign of an exact zero.
    ///
    /// Bits can only be lost when the exponents differ by more than the 19 free low bits of a
    /// normalised 106-bit product, and then cancellation costs one leading bit at most, so that a
    /// sticky bit at the bottom is enough.
    fn sum(self, other: Self, direction: u8) -> Self {
        if self.magnitude == 0 && other.magnitude == 0 {
            let negative = if self.negative == other.negative { self.negative } else { direction == RM };
            return Self { negative, magnitude: 0, exponent: 0 };
        }
        if self.magnitude == 0 {
            return other;
        }
        if other.magnitude == 0 {
            return self;
        }
        let (mut large, mut small) = (self.normalized(), other.normalized());
        if large.exponent < small.exponent {
            std::mem::swap(&mut large, &mut small);
        }
        let shifted = shift_right_sticky(small.magnitude, (large.exponent - small.exponent) as u32);
        if large.negative == small.negative {
            return Self { magnitude: large.magnitude + shifted, ..large };
        }
        match large.magnitude.cmp(&shifted) {
            std::cmp::Ordering::Equal => Self { negative: direction == RM, magnitude: 0, exponent: 0 },
            std::cmp::Ordering::Greater => Self { magnitude: large.magnitude - shifted, ..large },
            std::cmp::Ordering::Less => {
                Self { negative: small.negative, magnitude: shifted - large.magnitude, exponent: large.exponent }
            }
        }
    }

    /// The quotient of nonzero numbers, to 72 bits and sticky.
    fn quotient(self, divisor: Self) -> Self {
        let dividend = self.normalized();
        let quotient = dividend.magnitude / divisor.magnitude;
        let sticky = u128::from(!dividend.magnitude.is_multiple_of(divisor.magnitude));
        Self {
            negative: self.negative != divisor.negative,
            magnitude: quotient | sticky,
            exponent: dividend.exponent - divisor.exponent,
        }
    }

    /// The square root of a positive number, to 62 bits and sticky.
    fn square_root(self) -> Self {
        let mut x = self.normalized();
        if x.exponent % 2 != 0 {
            x.magnitude <<= 1;
            x.exponent -= 1;
        }
        let root = x.magnitude.isqrt();
        let sticky = u128::from(root * root != x.magnitude);
        // Two more places, so that the sticky bit has one of its own.
        Self { negative: false, magnitude: root << 2 | sticky, exponent: x.exponent / 2 - 2 }
    }
}

fn shift_right_sticky(magnitude: u128, shift: u32) -> u128 {
    match shift {
        0 => magnitude,
        1..=127 => magnitude >> shift | u128::from(magnitude << (128 - shift) != 0),
        _ => u128::from(magnitude != 0),
    }
}

fn not_a_number(format: Format) -> u64 {
    format.infinity() | 1 << (format.precision - 2)
}

fn infinity(format: Format, negative: bool) -> u64 {
    format.infinity() | if negative { format.sign_bit() } else { 0 }
}

/// `a + b`, correctly rounded. Any NaN result is the format's default quiet NaN: the caller, who
/// knows the type's NaN rule, replaces it.
pub fn add(format: Format, direction: u8, a: u64, b: u64) -> u64 {
    use Value::*;
    match (decode(format, a), decode(format, b)) {
        (Nan, _) | (_, Nan) => not_a_number(format),
        (Infinite { negative: a }, Infinite { negative: b }) if a != b => not_a_number(format),
        (Infinite { negative }, _) | (_, Infinite { negative }) => infinity(format, negative),
        (Finite(a), Finite(b)) => a.sum(b, direction).round(format, direction),
    }
}

/// `a * b`, correctly rounded.
pub fn mul(format: Format, direction: u8, a: u64, b: u64) -> u64 {
    match product(decode(format, a), decode(format, b)) {
        Value::Nan => not_a_number(format),
        Value::Infinite { negative } => infinity(format, negative),
        Value::Finite(product) => product.round(format, direction),
    }
}

/// `a * b + c` with one rounding.
pub fn fma(format: Format, direction: u8, a: u64, b: u64, c: u64) -> u64 {
    use Value::*;
    match (product(decode(format, a), decode(format, b)), decode(format, c)) {
        (Nan, _) | (_, Nan) => not_a_number(format),
        (Infinite { negative: p }, Infinite { negative: c }) if p != c => not_a_number(format),
        (Infinite { negative }, _) | (_, Infinite { negative }) => infinity(format, negative),
        (Finite(p), Finite(c)) => p.sum(c, direction).round(format, direction),
    }
}

/// `a / b`, correctly rounded.
pub fn div(format: Format, direction: u8, a: u64, b: u64) -> u64 {
    use Value::*;
    let sign = (a ^ b) & format.sign_bit();
    match (decode(format, a), decode(format, b)) {
        (Nan, _) | (_, Nan) | (Infinite { .. }, Infinite { .. }) => not_a_number(format),
        (Infinite { .. }, Finite(_)) => sign | format.infinity(),
        (Finite(_), Infinite { .. }) => sign,
        (Finite(a), Finite(b)) => match (a.magnitude, b.magnitude) {
            (0, 0) => not_a_number(format),
            (0, _) => sign,
            (_, 0) => sign | format.infinity(),
            _ => a.quotient(b).round(format, direction),
        },
    }
}

/// The square root, correctly rounded; minus zero is its own.
pub fn sqrt(format: Format, direction: u8, a: u64) -> u64 {
    match decode(format, a) {
        Value::Finite(x) if x.magnitude == 0 => a,
        Value::Infinite { negative: false } => a,
        Value::Finite(x) if !x.negative => x.square_root().round(format, direction),
        _ => not_a_number(format),
    }
}

/// `bits` of one format rounded into another; `None` for NaN, whose form the caller knows.
pub fn reformat(from: Format, to: Format, direction: u8, bits: u64) -> Option<u64> {
    match decode(from, bits) {
        Value::Nan => None,
        Value::Infinite { negative } => Some(infinity(to, negative)),
        Value::Finite(x) => Some(x.round(to, direction)),
    }
}

fn product(a: Value, b: Value) -> Value {
    use Value::*;
    match (a, b) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinite { negative }, Finite(x)) | (Finite(x), Infinite { negative }) => {
            if x.magnitude == 0 {
                Nan
            } else {
                Infinite { negative: negative != x.negative }
            }
        }
        (Infinite { negative: a }, Infinite { negative: b }) => Infinite { negative: a != b },
        (Finite(a), Finite(b)) => Finite(a.product(b)),
    }
}
