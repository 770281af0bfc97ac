//! The types that elements of buffers and numbers have, and their bytes.

use half::{bf16, f16};

/// A number as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

macro_rules! elements {
    ($($Name:ident($ty:ty), $from:expr, $($called:literal)|+;)*) => {
        /// The type of a buffer's elements, or of a parameter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Element {
            $($Name,)*
        }

        impl Element {
            /// What each is called here, and what else it goes by.
            pub(super) const NAMES: &[&[&str]] = &[$(&[$($called),+],)*];

            /// By any of its names: `f32`, `float`.
            pub(super) fn named(name: &str) -> Option<Self> {
                match name {
                    $($($called)|+ => Some(Self::$Name),)*
                    _ => None,
                }
            }

            /// `f32`
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$Name => first(&[$($called),+]),)*
                }
            }

            /// In bytes.
            pub(super) fn size(self) -> usize {
                match self {
                    $(Self::$Name => size_of::<$ty>(),)*
                }
            }

            /// A number as bytes of this type: a whole one is cut to its width, another one is rounded.
            pub(super) fn bytes(self, number: Number) -> Vec<u8> {
                match self {
                    $(Self::$Name => { let from: fn(Number) -> $ty = $from; from(number).to_le_bytes().to_vec() })*
                }
            }

            /// An element as text.
            pub(super) fn text(self, bytes: &[u8]) -> String {
                match self {
                    $(Self::$Name => bytes.try_into().map(|bytes| <$ty>::from_le_bytes(bytes).to_string()).unwrap_or_default(),)*
                }
            }
        }
    };
}

const fn first(names: &[&'static str]) -> &'static str {
    names[0]
}

fn real(number: Number) -> f64 {
    match number {
        Number::Whole(whole) => whole as f64,
        Number::Real(real) => real,
    }
}

fn whole(number: Number) -> i64 {
    match number {
        Number::Whole(whole) => whole,
        Number::Real(real) => real as i64,
    }
}

elements! {
    F32(f32), |it| real(it) as f32, "f32" | "float";
    F64(f64), real, "f64" | "double";
    F16(f16), |it| f16::from_f64(real(it)), "f16" | "half" | "__half";
    Bf16(bf16), |it| bf16::from_f64(real(it)), "bf16" | "__nv_bfloat16" | "nv_bfloat16";
    I8(i8), |it| whole(it) as i8, "i8" | "char" | "signed char" | "int8_t";
    U8(u8), |it| whole(it) as u8, "u8" | "unsigned char" | "uint8_t" | "bool";
    I16(i16), |it| whole(it) as i16, "i16" | "short" | "int16_t";
    U16(u16), |it| whole(it) as u16, "u16" | "unsigned short" | "uint16_t";
    I32(i32), |it| whole(it) as i32, "i32" | "int" | "int32_t";
    U32(u32), |it| whole(it) as u32, "u32" | "unsigned" | "unsigned int" | "uint32_t";
    I64(i64), whole, "i64" | "long long" | "long" | "int64_t";
    U64(u64), |it| whole(it) as u64, "u64" | "size_t" | "unsigned long long" | "unsigned long" | "uint64_t";
}

impl Element {
    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::Bf16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_bytes_and_text() {
        let there_and_back = |name: &str, number| {
            let element = Element::named(name).unwrap();
            element.text(&element.bytes(number))
        };
        for (name, number, text) in [
            ("float", Number::Real(1.5), "1.5"),
            ("half", Number::Whole(3), "3"),
            ("bf16", Number::Real(0.5), "0.5"),
            ("int", Number::Whole(-1), "-1"),
            ("u8", Number::Whole(300), "44"),
            ("size_t", Number::Whole(7), "7"),
        ] {
            assert_eq!(there_and_back(name, number), text, "{name}");
        }
        assert_eq!((Element::named("flaot"), Element::F32.name(), Element::Bf16.size()), (None, "f32", 2));
    }
}
