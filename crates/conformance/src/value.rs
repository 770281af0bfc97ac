//! Typed values of a file's directives: how they are written, stored and compared.

use std::fmt;

use half::{bf16, f16};

mod special;

/// The element type of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub(crate) name: &'static str,
    kind: Kind,
    /// In bytes, in memory.
    size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    F16,
    Bf16,
    F32,
    F64,
    /// Stored as a 32-bit 0 or 1, since memory holds no predicates.
    Predicate,
}

const TYPES: &[Type] = &[
    Type { name: "pred", kind: Kind::Predicate, size: 4 },
    Type { name: "b8", kind: Kind::Integer, size: 1 },
    Type { name: "u8", kind: Kind::Integer, size: 1 },
    Type { name: "s8", kind: Kind::Integer, size: 1 },
    Type { name: "b16", kind: Kind::Integer, size: 2 },
    Type { name: "u16", kind: Kind::Integer, size: 2 },
    Type { name: "s16", kind: Kind::Integer, size: 2 },
    Type { name: "b32", kind: Kind::Integer, size: 4 },
    Type { name: "u32", kind: Kind::Integer, size: 4 },
    Type { name: "s32", kind: Kind::Integer, size: 4 },
    Type { name: "b64", kind: Kind::Integer, size: 8 },
    Type { name: "u64", kind: Kind::Integer, size: 8 },
    Type { name: "s64", kind: Kind::Integer, size: 8 },
    Type { name: "f16", kind: Kind::F16, size: 2 },
    Type { name: "bf16", kind: Kind::Bf16, size: 2 },
    Type { name: "f32", kind: Kind::F32, size: 4 },
    Type { name: "f64", kind: Kind::F64, size: 8 },
];

impl Type {
    pub fn parse(name: &str) -> Option<Self> {
        TYPES.iter().find(|ty| ty.name == name).copied()
    }

    pub fn size(self) -> usize {
        self.size
    }

    pub fn is_predicate(self) -> bool {
        self.kind == Kind::Predicate
    }

    /// The register type that holds an element; bytes live in 32-bit registers, as compilers keep them.
    pub fn register(self) -> &'static str {
        match self.name {
            "b8" => "b32",
            "u8" => "u32",
            "s8" => "s32",
            "f16" | "bf16" => "b16",
            name => name,
        }
    }

    /// The type to load and store an element with.
    pub fn memory(self) -> &'static str {
        match self.name {
            "pred" => "u32",
            "f16" | "bf16" => "b16",
            name => name,
        }
    }

    fn is_float(self) -> bool {
        matches!(self.kind, Kind::F16 | Kind::Bf16 | Kind::F32 | Kind::F64)
    }

    /// Bits of the significand, the hidden one not counted.
    fn fraction_bits(self) -> u32 {
        match self.kind {
            Kind::F16 => 10,
            Kind::Bf16 => 7,
            Kind::F32 => 23,
            _ => 52,
        }
    }

    pub(crate) fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.size)
    }

    /// Values at which instructions change what they do.
    pub(crate) fn specials(self) -> &'static [u64] {
        match (self.kind, self.size) {
            (Kind::Predicate, _) => &[0, 1],
            (Kind::F16, _) => &special::F16,
            (Kind::Bf16, _) => &special::BF16,
            (Kind::F32, _) => &special::F32,
            (Kind::F64, _) => &special::F64,
            (Kind::Integer, 1) => &special::BYTE,
            (Kind::Integer, 2) => &special::SHORT,
            (Kind::Integer, 4) => &special::WORD,
            (Kind::Integer, _) => &special::DOUBLE,
        }
    }

    /// A number of ordinary size with these random bits: a float whose exponent is near that of 1, or a small integer.
    pub(crate) fn ordinary(self, bits: u64, more: u64) -> u64 {
        if !self.is_float() {
            return if more & 1 == 0 { bits % 97 } else { (bits % 97).wrapping_neg() };
        }
        let fraction = self.fraction_bits();
        let bias = (1u64 << (8 * self.size as u32 - 2 - fraction)) - 1;
        let exponent = bias + more % 13 - 6;
        let sign = (more >> 10 & 1) << (8 * self.size - 1);
        sign | exponent << fraction | bits & ((1 << fraction) - 1)
    }

    fn to_f64(self, bits: u64) -> f64 {
        match self.kind {
            Kind::F16 => f16::from_bits(bits as u16).to_f64(),
            Kind::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Kind::F32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    fn is_nan(self, bits: u64) -> bool {
        self.is_float() && self.to_f64(bits).is_nan()
    }

    /// An integer in decimal or hexadecimal, the bits of a float in hexadecimal, or a float in decimal.
    fn bits(self, text: &str) -> Option<u64> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        if let Some(hex) = digits.strip_prefix("0x") {
            let bits = u64::from_str_radix(hex, 16).ok()?;
            return (!negative && bits <= self.mask()).then_some(bits);
        }
        if self.is_float() {
            return Some(match self.kind {
                Kind::F16 => u64::from(f16::from_f64(text.parse().ok()?).to_bits()),
                Kind::Bf16 => u64::from(bf16::from_f64(text.parse().ok()?).to_bits()),
                Kind::F32 => u64::from(text.parse::<f32>().ok()?.to_bits()),
                _ => text.parse::<f64>().ok()?.to_bits(),
            });
        }
        let value: i128 = text.parse().ok()?;
        let fits = value <= i128::from(self.mask()) && value >= -i128::from(self.mask() / 2) - 1;
        fits.then_some(value as u64 & self.mask())
    }

    /// Reads a list: `1 2 0xff`, `7*32` (32 times 7), `0..32` (0 to 31), `nan` and `skip`.
    ///
    /// # Errors
    /// Says which word is no value of this type.
    pub fn parse_list(self, text: &str) -> Result<Vec<Expected>, String> {
        let mut values = Vec::new();
        for word in text.split_whitespace() {
            let wrong = || format!("`{word}` is not a value of type {}", self.name);
            if let Some((first, end)) = word.split_once("..") {
                let first: u64 = first.parse().map_err(|_| wrong())?;
                let end: u64 = end.parse().map_err(|_| wrong())?;
                for value in first..end {
                    values.push(Expected::Bits(self.bits(&value.to_string()).ok_or_else(wrong)?));
                }
                continue;
            }
            let (one, count) = match word.split_once('*') {
                Some((one, count)) => (one, count.parse().map_err(|_| wrong())?),
                None => (word, 1),
            };
            let value = match one {
                "nan" if self.is_float() => Expected::Nan,
                "skip" => Expected::Any,
                _ => Expected::Bits(self.bits(one).ok_or_else(wrong)?),
            };
            values.extend(std::iter::repeat_n(value, count));
        }
        Ok(values)
    }

    /// Whether `actual` is what the file asks for.
    pub fn accepts(self, expected: Expected, tolerance: Tolerance, actual: u64) -> bool {
        match expected {
            Expected::Any => true,
            Expected::Nan => self.is_nan(actual),
            Expected::Bits(bits) if bits == actual => true,
            Expected::Bits(bits) => self.is_float() && self.is_near(bits, tolerance, actual),
        }
    }

    fn is_near(self, expected: u64, tolerance: Tolerance, actual: u64) -> bool {
        let (want, got) = (self.to_f64(expected), self.to_f64(actual));
        if !want.is_finite() || !got.is_finite() || want == 0.0 && got == 0.0 {
            return false;
        }
        let allowed = match tolerance {
            Tolerance::Exact => return false,
            Tolerance::Absolute(error) => error,
            Tolerance::Relative(error) => error * want.abs(),
            Tolerance::Ulp(count) => count * self.ulp(expected),
        };
        (want - got).abs() <= allowed
    }

    /// The distance from a finite value to the next one away from zero.
    fn ulp(self, bits: u64) -> f64 {
        let magnitude = bits & (self.mask() >> 1);
        let below_infinity = (magnitude >> self.fraction_bits()) << self.fraction_bits();
        self.to_f64(below_infinity + 1) - self.to_f64(below_infinity)
    }

    /// The bits, and for floats and signed integers what they stand for.
    pub fn show(self, bits: u64) -> String {
        let hex = format!("0x{bits:0width$x}", width = 2 * self.size);
        match self.kind {
            Kind::Predicate => bits.to_string(),
            Kind::Integer => {
                let unused = 64 - 8 * self.size as u32;
                let signed = self.name.starts_with('s');
                let value = if signed { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) };
                format!("{hex} ({value})")
            }
            _ => format!("{hex} ({:e})", self.to_f64(bits)),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What an element of an output must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Bits(u64),
    /// Any NaN: the manual leaves most payloads open.
    Nan,
    /// The manual says nothing about it.
    Any,
}

/// How far a finite result may be from the true one. Infinities, NaNs and the signs of zeros are always exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    Exact,
    Absolute(f64),
    Relative(f64),
    /// In units of the expected value's last place.
    Ulp(f64),
}

impl Tolerance {
    /// Reads `2 ulp`, `abs 2^-21` or `rel 1e-6`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| match text.strip_prefix("2^") {
            Some(exponent) => exponent.parse().ok().map(f64::exp2),
            None => text.parse().ok(),
        };
        match text.split_once(' ')? {
            ("abs", error) => number(error).map(Self::Absolute),
            ("rel", error) => number(error).map(Self::Relative),
            (count, "ulp") => number(count).map(Self::Ulp),
            _ => None,
        }
    }
}

impl fmt::Display for Tolerance {
    /// What follows an expected value in a message; nothing when it is exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => Ok(()),
            Self::Absolute(error) => write!(f, " within {error:e}"),
            Self::Relative(error) => write!(f, " within {error:e} of itself"),
            Self::Ulp(count) => write!(f, " within {count} ulp"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(ty: &str, text: &str) -> Option<u64> {
        Type::parse(ty).unwrap().bits(text)
    }

    #[test]
    fn values_of_every_kind() {
        assert_eq!(bits("s8", "-1"), Some(0xff));
        assert_eq!(bits("u8", "256"), None);
        assert_eq!(bits("u64", "0xffffffffffffffff"), Some(u64::MAX));
        assert_eq!(bits("f32", "-0.0"), Some(0x8000_0000));
        assert_eq!(bits("f16", "1.5"), Some(0x3e00));
        assert_eq!(bits("bf16", "inf"), Some(0x7f80));
        assert_eq!(bits("f64", "0x3ff0000000000000"), Some(1f64.to_bits()));
    }

    #[test]
    fn lists_repeat_and_count() {
        let ty = Type::parse("u32").unwrap();
        let list = ty.parse_list("5*2 1..3 skip").unwrap();
        let expected = [5, 5, 1, 2].map(Expected::Bits);
        assert_eq!(list[..4], expected);
        assert_eq!(list[4], Expected::Any);
        assert!(ty.parse_list("nan").is_err());
    }

    #[test]
    fn tolerance_never_hides_a_special_value() {
        let ty = Type::parse("f32").unwrap();
        let one = Expected::Bits(0x3f80_0000);
        assert!(ty.accepts(one, Tolerance::Ulp(2.0), 0x3f80_0002));
        assert!(!ty.accepts(one, Tolerance::Ulp(2.0), 0x3f80_0003));
        assert!(!ty.accepts(Expected::Bits(0), Tolerance::Absolute(1.0), 0x8000_0000));
        assert!(!ty.accepts(one, Tolerance::Relative(9.0), 0x7f80_0000));
        assert!(ty.accepts(Expected::Nan, Tolerance::Exact, 0xffc0_0001));
    }
}
