//! Numbers as PTX writes them (PTX ISA 4.5), and their bits in the type of an instruction.

use crate::ast::ScalarType;

/// A constant before its type is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// A 64-bit integer; `.u64` if `unsigned`, else `.s64`.
    Int { bits: u64, unsigned: bool },
    /// A decimal floating-point number, which has double precision.
    Float(f64),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`
    Double(u64),
}

impl Constant {
    pub(crate) fn int(value: i64) -> Self {
        Self::Int { bits: value as u64, unsigned: false }
    }

    /// The value of a number token.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (prefix, rest) = text.split_at_checked(2).unwrap_or((text, ""));
        let radix = |digits: &str, radix: u32, kind: &str| {
            let stripped = digits.strip_suffix(['u', 'U']);
            let bits = u64::from_str_radix(stripped.unwrap_or(digits), radix)
                .map_err(|_| format!("`{text}` is not {kind} of at most 64 bits"))?;
            Ok(Self::Int { bits, unsigned: stripped.is_some() || bits > i64::MAX as u64 })
        };
        match prefix {
            "0x" | "0X" => radix(rest, 16, "a hexadecimal integer"),
            "0b" | "0B" => radix(rest, 2, "a binary integer"),
            "0f" | "0F" => hexadecimal(rest, 8).map(|bits| Self::Single(bits as u32)).ok_or_else(|| {
                format!("`{text}` is no single-precision constant: write `0f` and 8 hexadecimal digits")
            }),
            "0d" | "0D" => hexadecimal(rest, 16).map(Self::Double).ok_or_else(|| {
                format!("`{text}` is no double-precision constant: write `0d` and 16 hexadecimal digits")
            }),
            _ if text.contains(['.', 'e', 'E']) => {
                text.parse().map(Self::Float).map_err(|_| format!("`{text}` is not a floating-point number"))
            }
            "0u" | "0U" => radix(text, 10, "an integer"),
            _ if text.len() > 1 && text.starts_with('0') => radix(&text[1..], 8, "an octal integer"),
            _ => radix(text, 10, "an integer"),
        }
    }

    pub(crate) fn negate(self) -> Self {
        match self {
            Self::Int { bits, unsigned } => Self::Int { bits: bits.wrapping_neg(), unsigned },
            Self::Float(value) => Self::Float(-value),
            Self::Single(bits) => Self::Single(bits ^ 1 << 31),
            Self::Double(bits) => Self::Double(bits ^ 1 << 63),
        }
    }

    /// The integer, or `None` for floating-point constants.
    pub(crate) fn as_int(self) -> Option<i64> {
        match self {
            Self::Int { bits, .. } => Some(bits as i64),
            _ => None,
        }
    }

    /// Whether the constant may be an operand of type `ty`: nothing but its own kind, or the bits of one in a
    /// `.b` type of the same size. The half-precision formats have no constants at all.
    pub(crate) fn suits(self, ty: ScalarType) -> bool {
        use ScalarType::*;
        match self {
            Self::Int { .. } => !ty.is_float(),
            Self::Float(_) => matches!(ty, F32 | F64),
            Self::Single(_) => matches!(ty, F32 | F64 | B32),
            Self::Double(_) => matches!(ty, F32 | F64 | B64),
        }
    }

    /// The bits of the constant as an operand of a type that it suits. Integers are not truncated:
    /// what does not fit is cut by whoever stores or executes.
    pub(crate) fn bits(self, ty: ScalarType) -> u64 {
        use ScalarType::*;
        let value = match self {
            Self::Int { bits, .. } => return bits,
            // Bits stay bits, even those of a single where a double is expected: NVIDIA's assembler puts zeros above.
            Self::Single(bits) => return bits.into(),
            Self::Double(bits) if ty != F32 => return bits,
            Self::Double(bits) => f64::from_bits(bits),
            Self::Float(value) => value,
        };
        match ty {
            F64 => value.to_bits(),
            _ => (value as f32).to_bits().into(),
        }
    }
}

/// What must stand where a constant does not suit this type.
pub(crate) fn unsuited(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::F32 | ScalarType::F64 => "a floating-point constant must stand here, such as 2.0 or 0f40000000",
        _ if ty.is_float() => "this type has no constants; `mov` the bits of one into a register first",
        _ => "an integer must stand here, or the bits of a floating-point constant of the same size",
    }
}

fn hexadecimal(digits: &str, count: usize) -> Option<u64> {
    (digits.len() == count).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::*;

    #[track_caller]
    fn check(text: &str, ty: ScalarType, bits: u64) {
        assert_eq!(Constant::parse(text).unwrap().bits(ty), bits, "{text}");
    }

    #[test]
    fn reads_every_form_of_number() {
        check("42", S32, 42);
        check("0", S32, 0);
        check("0U", U32, 0);
        check("42U", U32, 42);
        check("0x2A", B32, 42);
        check("0b101010", B32, 42);
        check("052", B32, 42);
        check("18446744073709551615", U64, u64::MAX);
        check("1.5", F32, 0x3fc0_0000);
        check("1.5", F64, 0x3ff8_0000_0000_0000);
        check("0f3F800000", F32, 0x3f80_0000);
        check("0F3F800000", B32, 0x3f80_0000);
        check("0f3F800000", F64, 0x3f80_0000);
        check("0d3FF0000000000000", F64, 0x3ff0_0000_0000_0000);
        check("0d3FF0000000000000", B64, 0x3ff0_0000_0000_0000);
        check("0d3FF0000000000000", F32, 0x3f80_0000);
    }

    #[test]
    fn constants_keep_to_their_kind() {
        let suits = |text: &str, ty| Constant::parse(text).unwrap().suits(ty);
        assert!(suits("1", S32) && suits("1", B64) && suits("1", Pred) && !suits("1", F32));
        assert!(suits("1.0", F32) && suits("1.0", F64) && !suits("1.0", B32) && !suits("1.0", F16));
        assert!(suits("0f3F800000", B32) && !suits("0f3F800000", U32) && !suits("0f3F800000", B64));
        assert!(suits("0d3FF0000000000000", B64) && suits("0d3FF0000000000000", F32));
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["0x", "0f3F8", "0d0", "09", "12ab", "1.2.3", "0b2", "18446744073709551616", "1e", "0u1"] {
            assert!(Constant::parse(text).is_err(), "{text}");
        }
    }
}
