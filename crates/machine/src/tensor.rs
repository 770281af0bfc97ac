//! Tensor maps: what a copy of a box has to know of the tensor that it is cut from.
//!
//! A program holds one as 128 bytes that only the CUDA driver makes and only a copy reads (CUDA Driver API, *Tensor Map Object
//! Management*). What stands in them is therefore the emulator's own affair: see [`TensorMap::words`].

mod cut;

use fusion_ptx::ast::ScalarType;

pub(crate) use cut::Cut;

/// Words of 64 bits that a map has.
pub const WORDS: usize = 16;

/// What the first word of a map is. No address, and no small number.
const MARK: u64 = 0x7465_6e73_6f72_9e37;

/// Dimensions at most.
pub const RANKS: usize = 5;

/// A tensor in global memory and the boxes that are cut from it. Of all lists the innermost dimension is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub element: Element,
    /// Dimensions: 1 to 5. What the lists have beyond them is ignored.
    pub rank: usize,
    pub address: u64,
    /// Elements of each dimension.
    pub dims: [u64; RANKS],
    /// Bytes from one index to the next, of every dimension but the first.
    pub strides: [u64; RANKS - 1],
    /// Elements that a box spans.
    pub box_dims: [u32; RANKS],
    /// Of so many elements a box has one; not of the first dimension.
    pub steps: [u32; RANKS],
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    pub fill: Fill,
}

macro_rules! numbered {
    ($(#[$about:meta])* pub enum $Name:ident { $($(#[$doc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $($(#[$doc])* $variant),* }

        impl $Name {
            const ALL: &[Self] = &[$(Self::$variant),*];

            /// The one of this number, as the driver counts them.
            pub fn of(number: u64) -> Option<Self> {
                Self::ALL.get(usize::try_from(number).ok()?).copied()
            }
        }
    };
}

numbered! {
    /// The type of a tensor's elements (`CUtensorMapDataType`), but for those that are packed.
    pub enum Element { U8, U16, U32, S32, U64, S64, F16, F32, F64, Bf16, F32Flushed, Tf32, Tf32Flushed }
}

numbered! {
    /// Whether slices of channels lie beside each other (`CUtensorMapInterleave`).
    pub enum Interleave { None, Bytes16, Bytes32 }
}

numbered! {
    /// How chunks of 16 bytes change places in shared memory (`CUtensorMapSwizzle`).
    pub enum Swizzle { None, Bytes32, Bytes64, Bytes128 }
}

numbered! {
    /// What stands in a box for elements outside of the tensor (`CUtensorMapFloatOOBfill`).
    pub enum Fill { Zero, Nan }
}

impl Element {
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Flushed | Self::Tf32 | Self::Tf32Flushed => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        !matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::S32 | Self::U64 | Self::S64)
    }

    /// As what type PTX computes with it.
    pub(crate) fn scalar(self) -> ScalarType {
        match self {
            Self::U8 => ScalarType::U8,
            Self::U16 => ScalarType::U16,
            Self::U32 => ScalarType::U32,
            Self::S32 => ScalarType::S32,
            Self::U64 => ScalarType::U64,
            Self::S64 => ScalarType::S64,
            Self::F16 => ScalarType::F16,
            Self::Bf16 => ScalarType::Bf16,
            Self::F32 | Self::F32Flushed | Self::Tf32 | Self::Tf32Flushed => ScalarType::F32,
            Self::F64 => ScalarType::F64,
        }
    }

    /// A copy would have to change its bits, and what it makes of them is nowhere written down.
    pub(crate) fn is_rounded(self) -> bool {
        matches!(self, Self::F32Flushed | Self::Tf32 | Self::Tf32Flushed)
    }
}

impl Swizzle {
    /// Bytes within which chunks change places.
    pub fn span(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes32 => Some(32),
            Self::Bytes64 => Some(64),
            Self::Bytes128 => Some(128),
        }
    }

    /// Where in shared memory a byte lies that without a pattern would be at `address`: bits 4 and up of the address are changed
    /// by the bits from 7 on, which count lines of 128 bytes.
    pub(crate) fn place(self, address: u64) -> u64 {
        self.span().map_or(address, |span| address ^ address >> 3 & (span - 16))
    }
}

impl TensorMap {
    /// Whether the driver would make such a map (CUDA Driver API, `cuTensorMapEncodeTiled`).
    pub fn is_valid(&self) -> bool {
        let Self { rank, interleave, swizzle, .. } = *self;
        if !(1..=RANKS).contains(&rank) {
            return false;
        }
        let plain = interleave == Interleave::None;
        let align = if interleave == Interleave::Bytes32 { 32 } else { 16 };
        let inner = u64::from(self.box_dims[0]) * self.element.bytes();
        let dims = self.dims[..rank].iter().all(|dim| (1..=1 << 32).contains(dim));
        let strides = self.strides[..rank - 1].iter().all(|stride| stride.is_multiple_of(align) && *stride < 1 << 40);
        let boxes = self.box_dims[..rank].iter().all(|dim| (1..=256).contains(dim));
        // The innermost dimension has none, unless channels are interleaved.
        let steps = self.steps[usize::from(plain)..rank.max(1)].iter().all(|step| (1..=8).contains(step));
        let fits = match plain {
            true => inner.is_multiple_of(16) && swizzle.span().is_none_or(|span| inner <= span),
            false => rank >= 3 && (interleave != Interleave::Bytes32 || swizzle == Swizzle::Bytes32),
        };
        let fill = self.fill == Fill::Zero || self.element.is_float();
        dims && strides && boxes && steps && fits && fill && self.address.is_multiple_of(align)
    }

    /// The map as a program holds it: a mark, the choices by their numbers, the address, the dimensions, the strides, the box
    /// and its steps by the byte, and a digest of all that.
    pub fn words(&self) -> [u64; WORDS] {
        let bytes = |values: [u32; RANKS], less: u32| {
            values.iter().rev().fold(0, |word, value| word << 8 | u64::from(value.wrapping_sub(less) & 0xff))
        };
        let choices =
            [self.element as u64, self.rank as u64, self.interleave as u64, self.swizzle as u64, self.fill as u64];
        let mut words = [0; WORDS];
        words[0] = MARK;
        words[1] = choices.iter().rev().fold(0, |word, choice| word << 8 | choice);
        words[2] = self.address;
        words[3..8].copy_from_slice(&self.dims);
        words[8..12].copy_from_slice(&self.strides);
        // 256 has to go into a byte.
        words[12] = bytes(self.box_dims, 1);
        words[13] = bytes(self.steps, 0);
        words[WORDS - 1] = digest(&words);
        words
    }

    /// The map that a program holds. `None` if these words were never made by [`TensorMap::words`], or were changed since.
    pub fn of(words: &[u64; WORDS]) -> Option<Self> {
        if words[0] != MARK || words[WORDS - 1] != digest(words) {
            return None;
        }
        let byte = |word: usize, at: usize| words[word] >> (8 * at) & 0xff;
        let map = Self {
            element: Element::of(byte(1, 0))?,
            rank: byte(1, 1) as usize,
            address: words[2],
            dims: std::array::from_fn(|at| words[3 + at]),
            strides: std::array::from_fn(|at| words[8 + at]),
            box_dims: std::array::from_fn(|at| byte(12, at) as u32 + 1),
            steps: std::array::from_fn(|at| byte(13, at) as u32),
            interleave: Interleave::of(byte(1, 2))?,
            swizzle: Swizzle::of(byte(1, 3))?,
            fill: Fill::of(byte(1, 4))?,
        };
        map.is_valid().then_some(map)
    }
}

/// Of all words but the last.
fn digest(words: &[u64; WORDS]) -> u64 {
    words[..WORDS - 1].iter().fold(MARK, |sum, word| (sum.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// 20 by 10 floats of 4 bytes, cut into boxes of 8 by 4.
    pub(crate) fn plane() -> TensorMap {
        TensorMap {
            element: Element::F32,
            rank: 2,
            address: 4096,
            dims: [20, 10, 1, 1, 1],
            strides: [96, 0, 0, 0],
            box_dims: [8, 4, 1, 1, 1],
            steps: [1; RANKS],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            fill: Fill::Zero,
        }
    }

    #[test]
    fn a_map_is_read_as_it_was_written() {
        let largest = TensorMap { dims: [1 << 32; 5], rank: 5, box_dims: [256; 5], steps: [8; 5], ..plane() };
        for map in [plane(), largest, TensorMap { fill: Fill::Nan, swizzle: Swizzle::Bytes32, ..plane() }] {
            assert_eq!(TensorMap::of(&map.words()), Some(map));
        }
    }

    #[test]
    fn what_is_no_map_is_none() {
        assert_eq!(TensorMap::of(&[0; WORDS]), None);
        for word in 0..WORDS {
            let mut words = plane().words();
            words[word] ^= 1 << 9;
            assert_eq!(TensorMap::of(&words), None, "word {word}");
        }
    }

    #[test]
    fn the_driver_refuses_what_the_manual_rules_out() {
        assert!(plane().is_valid());
        let wrong = [
            TensorMap { rank: 0, ..plane() },
            TensorMap { rank: 6, ..plane() },
            TensorMap { address: 4104, ..plane() },
            TensorMap { dims: [20, 0, 1, 1, 1], ..plane() },
            TensorMap { dims: [20, (1 << 32) + 1, 1, 1, 1], ..plane() },
            TensorMap { strides: [100, 0, 0, 0], ..plane() },
            TensorMap { strides: [1 << 40, 0, 0, 0], ..plane() },
            TensorMap { box_dims: [8, 257, 1, 1, 1], ..plane() },
            TensorMap { box_dims: [8, 0, 1, 1, 1], ..plane() },
            TensorMap { box_dims: [6, 4, 1, 1, 1], ..plane() },
            TensorMap { box_dims: [12, 4, 1, 1, 1], swizzle: Swizzle::Bytes32, ..plane() },
            TensorMap { steps: [1, 9, 1, 1, 1], ..plane() },
            TensorMap { steps: [1, 0, 1, 1, 1], ..plane() },
            TensorMap { interleave: Interleave::Bytes16, ..plane() },
            TensorMap { rank: 3, interleave: Interleave::Bytes32, ..plane() },
            TensorMap { element: Element::U32, fill: Fill::Nan, ..plane() },
        ];
        for map in wrong {
            assert!(!map.is_valid(), "{map:?}");
        }
        // Nobody asks for the step of the innermost dimension, nor for what lies beyond the rank.
        let ignored = TensorMap { steps: [0, 1, 0, 0, 0], strides: [96, 7, 7, 7], dims: [20, 10, 0, 0, 0], ..plane() };
        assert!(ignored.is_valid());
    }

    /// Chunks as the figures of the PTX ISA number them (Tensor Swizzling Modes).
    #[test]
    fn a_pattern_moves_chunks_within_its_span() {
        let row = |swizzle: Swizzle, line: u64| -> Vec<u64> {
            (0..8).map(|chunk| swizzle.place(128 * line + 16 * chunk) / 16 - 8 * line).collect()
        };
        assert_eq!(row(Swizzle::Bytes128, 0), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(row(Swizzle::Bytes128, 1), [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(row(Swizzle::Bytes128, 6), [6, 7, 4, 5, 2, 3, 0, 1]);
        assert_eq!(row(Swizzle::Bytes64, 3), [3, 2, 1, 0, 7, 6, 5, 4]);
        assert_eq!(row(Swizzle::Bytes64, 4), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(row(Swizzle::Bytes32, 1), [1, 0, 3, 2, 5, 4, 7, 6]);
        assert_eq!(row(Swizzle::Bytes32, 2), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(row(Swizzle::None, 5), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
