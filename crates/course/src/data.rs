//! Host data of any element type that the course uses.

use half::{bf16, f16};

use crate::E4m3;

/// Element types of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    F32,
    F16,
    Bf16,
    I8,
    /// A float of 8 bits: see [`E4m3`].
    E4m3,
    I32,
    /// Device addresses, and counts beside them.
    U64,
}

impl DType {
    /// Size of one element in bytes.
    pub fn bytes(self) -> usize {
        match self {
            DType::U64 => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::I8 | DType::E4m3 => 1,
        }
    }

    /// The byte that fills a buffer which a kernel must overwrite: floats become NaN
    /// (`0xffff_ffff`, `0xffff`, `0xff`), integers a value that no reference holds by chance in a row.
    pub fn poison(self) -> u8 {
        match self {
            DType::F32 | DType::F16 | DType::Bf16 | DType::E4m3 => 0xff,
            DType::I8 | DType::I32 | DType::U64 => 0x7f,
        }
    }

    /// The largest finite value.
    pub fn largest(self) -> f64 {
        match self {
            DType::F32 => f64::from(f32::MAX),
            DType::F16 => f16::MAX.to_f64(),
            DType::Bf16 => bf16::MAX.to_f64(),
            DType::I8 => f64::from(i8::MAX),
            DType::E4m3 => E4m3::MAX,
            DType::I32 => f64::from(i32::MAX),
            DType::U64 => u64::MAX as f64,
        }
    }

    /// The type's name in CUDA C++.
    pub fn cuda_name(self) -> &'static str {
        match self {
            DType::F32 => "float",
            DType::F16 => "__half",
            DType::Bf16 => "__nv_bfloat16",
            DType::I8 => "signed char",
            DType::E4m3 => "__nv_fp8_e4m3",
            DType::I32 => "int",
            DType::U64 => "unsigned long long",
        }
    }
}

/// A host buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    I8(Vec<i8>),
    E4m3(Vec<E4m3>),
    I32(Vec<i32>),
    U64(Vec<u64>),
}

macro_rules! each {
    ($self:expr, $v:ident => $body:expr) => {
        match $self {
            Data::F32($v) => $body,
            Data::F16($v) => $body,
            Data::Bf16($v) => $body,
            Data::I8($v) => $body,
            Data::E4m3($v) => $body,
            Data::I32($v) => $body,
            Data::U64($v) => $body,
        }
    };
}

impl Data {
    /// Reads little-endian bytes as they come from a device.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Self {
        fn chunks<const N: usize, T>(bytes: &[u8], convert: fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks::<N>().0.iter().map(|chunk| convert(*chunk)).collect()
        }
        match dtype {
            DType::F32 => Data::F32(chunks(bytes, f32::from_le_bytes)),
            DType::F16 => Data::F16(chunks(bytes, f16::from_le_bytes)),
            DType::Bf16 => Data::Bf16(chunks(bytes, bf16::from_le_bytes)),
            DType::I8 => Data::I8(chunks(bytes, i8::from_le_bytes)),
            DType::E4m3 => Data::E4m3(bytes.iter().map(|bits| E4m3::from_bits(*bits)).collect()),
            DType::I32 => Data::I32(chunks(bytes, i32::from_le_bytes)),
            DType::U64 => Data::U64(chunks(bytes, u64::from_le_bytes)),
        }
    }

    /// Values as a buffer of a float type, rounded to nearest even; of another type, as an f32 buffer.
    pub fn rounded(dtype: DType, values: Vec<f32>) -> Self {
        match dtype {
            DType::F16 => Data::F16(values.into_iter().map(f16::from_f32).collect()),
            DType::Bf16 => Data::Bf16(values.into_iter().map(bf16::from_f32).collect()),
            DType::E4m3 => Data::E4m3(values.into_iter().map(|value| E4m3::from_f64(f64::from(value))).collect()),
            _ => Data::F32(values),
        }
    }

    /// The little-endian bytes to copy to a device.
    pub fn to_bytes(&self) -> Vec<u8> {
        each!(self, v => v.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    pub fn dtype(&self) -> DType {
        match self {
            Data::F32(_) => DType::F32,
            Data::F16(_) => DType::F16,
            Data::Bf16(_) => DType::Bf16,
            Data::I8(_) => DType::I8,
            Data::E4m3(_) => DType::E4m3,
            Data::I32(_) => DType::I32,
            Data::U64(_) => DType::U64,
        }
    }

    /// Elements, not bytes.
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of one element; `None` past the end.
    pub fn get(&self, index: usize) -> Option<f64> {
        match self {
            Data::F32(v) => v.get(index).map(|x| f64::from(*x)),
            Data::F16(v) => v.get(index).map(|x| x.to_f64()),
            Data::Bf16(v) => v.get(index).map(|x| x.to_f64()),
            Data::I8(v) => v.get(index).map(|x| f64::from(*x)),
            Data::E4m3(v) => v.get(index).map(|x| x.to_f64()),
            Data::I32(v) => v.get(index).map(|x| f64::from(*x)),
            Data::U64(v) => v.get(index).map(|x| *x as f64),
        }
    }

    /// Whether an element has the very bits of another buffer's: NaNs equal themselves.
    pub fn same_bits(&self, index: usize, other: &Data, other_index: usize) -> bool {
        fn same<T, const N: usize>(a: &[T], i: usize, b: &[T], j: usize, bits: fn(&T) -> [u8; N]) -> bool {
            matches!((a.get(i), b.get(j)), (Some(a), Some(b)) if bits(a) == bits(b))
        }
        let (i, j) = (index, other_index);
        match (self, other) {
            (Data::F32(a), Data::F32(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::F16(a), Data::F16(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::Bf16(a), Data::Bf16(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::I8(a), Data::I8(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::E4m3(a), Data::E4m3(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::I32(a), Data::I32(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            (Data::U64(a), Data::U64(b)) => same(a, i, b, j, |x| x.to_le_bytes()),
            _ => false,
        }
    }

    /// The first element whose bits are not those of the other buffer's at its index. What that one has beyond is not
    /// looked at.
    pub fn first_other(&self, other: &Data) -> Option<usize> {
        (0..self.len()).find(|&index| !self.same_bits(index, other, index))
    }

    /// All values in f64, which is exact but for numbers of 54 bits and more.
    pub fn to_f64(&self) -> Vec<f64> {
        (0..self.len()).filter_map(|i| self.get(i)).collect()
    }

    /// The values as f32, or an empty slice for another element type: a specification's reference
    /// knows which of its inputs are f32.
    pub fn f32s(&self) -> &[f32] {
        match self {
            Data::F32(v) => v,
            _ => &[],
        }
    }
}
