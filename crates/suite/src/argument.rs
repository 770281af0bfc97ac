//! What a kernel's parameter is given.

use half::{bf16, f16};

use crate::tensor::Tensor;

/// The type of a buffer's elements or of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

/// What stands in a buffer before the first launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Element i is i, in its type: small integers wrap, 16-bit floats round.
    Ramp,
    /// Every element is this number.
    All(f64),
    /// Nothing was ever written there.
    Uninit,
}

/// What a parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A buffer of its own, `x: f32[128]`, that later launches can name.
    Buffer { ty: Type, len: usize, fill: Fill },
    /// A pointer into a buffer that was named before: `p: x+4`, in bytes.
    Inside { buffer: String, offset: i64 },
    /// `p: null`.
    Null,
    /// `p: host[64]`: a pointer to so many bytes of the host's memory.
    Host(usize),
    /// `p: freed[64]`: a pointer to so many bytes that were allocated and freed again.
    Freed(usize),
    /// `n: i32 = 128`: a number, as bytes.
    Number(Vec<u8>),
    /// `table: value f32[8]`: a struct of so many elements by value, filled with a ramp, as bytes.
    Value(Vec<u8>),
    /// `map: tensor x f32 20x10 box 8x4`: a map of a buffer, by value.
    Tensor(Tensor),
}

impl Type {
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "i8" => Self::I8,
            "u8" => Self::U8,
            "i16" => Self::I16,
            "u16" => Self::U16,
            "i32" => Self::I32,
            "u32" => Self::U32,
            "i64" => Self::I64,
            "u64" => Self::U64,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// In bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number as bytes of this type; integers are cut to their width.
    pub fn bytes(self, number: f64) -> Vec<u8> {
        match self {
            Self::F16 => f16::from_f64(number).to_le_bytes().to_vec(),
            Self::Bf16 => bf16::from_f64(number).to_le_bytes().to_vec(),
            Self::F32 => (number as f32).to_le_bytes().to_vec(),
            Self::F64 => number.to_le_bytes().to_vec(),
            _ => (number as i128).to_le_bytes()[..self.size()].to_vec(),
        }
    }

    fn ramp(self, len: usize) -> Vec<u8> {
        (0..len).flat_map(|i| self.bytes(i as f64)).collect()
    }
}

impl Fill {
    /// The bytes of a buffer, or `None` where nothing is written.
    pub fn bytes(self, ty: Type, len: usize) -> Option<Vec<u8>> {
        match self {
            Self::Ramp => Some(ty.ramp(len)),
            Self::All(number) => Some(ty.bytes(number).repeat(len)),
            Self::Uninit => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::Ramp),
            "uninit" => Some(Self::Uninit),
            "zero" => Some(Self::All(0.0)),
            _ => text.strip_prefix("all ")?.trim().parse().ok().map(Self::All),
        }
    }
}

impl Argument {
    /// Reads what follows a parameter's name and colon; see [`Argument`]'s variants for the forms.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no argument");
        if text == "null" {
            return Ok(Self::Null);
        }
        if let Some(rest) = text.strip_prefix("tensor ") {
            return Tensor::parse(rest).map(Self::Tensor);
        }
        if let Some(rest) = text.strip_prefix("value ") {
            let (ty, len, _) = array(rest).filter(|(.., rest)| rest.is_empty()).ok_or_else(wrong)?;
            return Ok(Self::Value(ty.ramp(len)));
        }
        if let Some((word, len, "")) = brackets(text) {
            match word {
                "host" => return Ok(Self::Host(len)),
                "freed" => return Ok(Self::Freed(len)),
                _ => {}
            }
        }
        if let Some((ty, len, rest)) = array(text) {
            return Ok(Self::Buffer { ty, len, fill: Fill::parse(rest).ok_or_else(wrong)? });
        }
        if let Some((ty, number)) = text.split_once('=') {
            let ty = Type::parse(ty.trim()).ok_or_else(wrong)?;
            return Ok(Self::Number(ty.bytes(number.trim().parse().map_err(|_| wrong())?)));
        }
        let (buffer, offset) = match text.find(['+', '-']) {
            Some(at) => (&text[..at], text[at..].parse().map_err(|_| wrong())?),
            None => (text, 0),
        };
        if !is_name(buffer) {
            return Err(wrong());
        }
        Ok(Self::Inside { buffer: buffer.to_owned(), offset })
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// `word[len] rest`.
fn brackets(text: &str) -> Option<(&str, usize, &str)> {
    let (word, rest) = text.split_once('[')?;
    let (len, rest) = rest.split_once(']')?;
    Some((word, len.trim().parse().ok()?, rest.trim()))
}

/// `f32[128] rest`.
fn array(text: &str) -> Option<(Type, usize, &str)> {
    let (ty, len, rest) = brackets(text)?;
    Some((Type::parse(ty)?, len, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_argument() {
        let parse = |text| Argument::parse(text).unwrap();
        assert_eq!(parse("f32[100] uninit"), Argument::Buffer { ty: Type::F32, len: 100, fill: Fill::Uninit });
        assert_eq!(parse("i32[4] all 7"), Argument::Buffer { ty: Type::I32, len: 4, fill: Fill::All(7.0) });
        assert_eq!(parse("x+4"), Argument::Inside { buffer: "x".into(), offset: 4 });
        assert_eq!(parse("x-4"), Argument::Inside { buffer: "x".into(), offset: -4 });
        assert_eq!(parse("null"), Argument::Null);
        assert_eq!(parse("host[64]"), Argument::Host(64));
        assert_eq!(parse("freed[64]"), Argument::Freed(64));
        assert_eq!(parse("i32 = -1"), Argument::Number(vec![0xff; 4]));
        assert_eq!(parse("value u8[3]"), Argument::Value(vec![0, 1, 2]));
        assert!(Argument::parse("f32[ten]").is_err());
        assert!(Argument::parse("f32[1] unint").is_err());
        assert!(Argument::parse("q8 = 1").is_err());
    }

    #[test]
    fn a_ramp_counts_in_the_elements_type() {
        assert_eq!(Fill::Ramp.bytes(Type::U16, 3).unwrap(), [0, 0, 1, 0, 2, 0]);
        assert_eq!(Fill::Ramp.bytes(Type::F32, 2).unwrap()[4..], 1f32.to_le_bytes());
        assert_eq!(Fill::Uninit.bytes(Type::F32, 2), None);
    }
}
