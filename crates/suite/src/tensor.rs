//! Tensor maps, as a file writes them and as the driver makes them: `x f32 20x10 strides 96 box 8x4 swizzle 32`.

use cudarc::driver::DriverError;
use cudarc::driver::sys::{self, CUtensorMap};

use crate::argument::{Type, is_name};

/// A map of a buffer. Of all lists the innermost dimension is the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tensor {
    pub buffer: String,
    pub ty: Option<Type>,
    /// Elements.
    pub dims: Vec<u64>,
    /// Bytes from one index to the next, of all dimensions but the first. Without any, rows lie one behind the other.
    pub strides: Vec<u64>,
    pub box_dims: Vec<u32>,
    pub steps: Vec<u32>,
    /// Bytes within which chunks of 16 change places.
    pub swizzle: Option<u32>,
    /// Whether NaNs stand for elements outside of the tensor.
    pub nan: bool,
}

impl Tensor {
    /// Reads `buffer type dims box dims`, and behind it any of `strides 96x960`, `steps 1x2`, `swizzle 128` and `nan`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is no tensor: write `x f32 20x10 box 8x4`");
        let mut words = text.split_whitespace();
        let mut word = || words.next().ok_or_else(form);
        let buffer = word()?.to_owned();
        // PTX has other names for integers with a sign.
        let ty = word()?.replace('s', "i");
        let mut tensor = Self { buffer, ty: Type::parse(&ty), dims: list(word()?)?, ..Self::default() };
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or_else(form);
            match option {
                "box" => tensor.box_dims = list(value()?)?,
                "strides" => tensor.strides = list(value()?)?,
                "steps" => tensor.steps = list(value()?)?,
                "swizzle" => tensor.swizzle = Some(value()?.parse().map_err(|_| form())?),
                "nan" => tensor.nan = true,
                _ => return Err(form()),
            }
        }
        let Some(ty) = tensor.ty.filter(|_| is_name(&tensor.buffer)) else { return Err(form()) };
        let rank = tensor.dims.len();
        if tensor.strides.is_empty() {
            let rows = tensor.dims.iter().take(rank.saturating_sub(1));
            let next = |stride: &mut u64, dim: &u64| {
                *stride = stride.saturating_mul(*dim);
                Some(*stride)
            };
            tensor.strides = rows.scan(ty.size() as u64, next).collect();
        }
        tensor.steps.resize(rank.max(tensor.steps.len()), 1);
        if [tensor.strides.len() + 1, tensor.box_dims.len(), tensor.steps.len()] != [rank; 3] {
            return Err(format!("`{text}` does not say everything for {rank} dimensions"));
        }
        Ok(tensor)
    }

    /// The map of the memory at an address.
    ///
    /// # Errors
    /// The driver's.
    #[expect(unsafe_code, reason = "cudarc has no safe function for it")]
    pub fn encode(&self, address: u64) -> Result<CUtensorMap, DriverError> {
        use sys::CUtensorMapDataType::*;
        use sys::{CUtensorMapFloatOOBfill as Fill, CUtensorMapSwizzle as Swizzle};
        let element = match self.ty.unwrap_or(Type::U8) {
            Type::I8 | Type::U8 => CU_TENSOR_MAP_DATA_TYPE_UINT8,
            Type::I16 | Type::U16 => CU_TENSOR_MAP_DATA_TYPE_UINT16,
            Type::I32 => CU_TENSOR_MAP_DATA_TYPE_INT32,
            Type::U32 => CU_TENSOR_MAP_DATA_TYPE_UINT32,
            Type::I64 => CU_TENSOR_MAP_DATA_TYPE_INT64,
            Type::U64 => CU_TENSOR_MAP_DATA_TYPE_UINT64,
            Type::F16 => CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            Type::Bf16 => CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
            Type::F32 => CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            Type::F64 => CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        };
        let swizzle = match self.swizzle {
            Some(32) => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
            Some(64) => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
            Some(_) => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            None => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        };
        let fill = match self.nan {
            true => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
            false => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        };
        let mut map = CUtensorMap { opaque: [0; 16] };
        // SAFETY: the lists are as long as the tensor has dimensions, which `parse` sees to, and the map is the driver's to fill.
        let made = unsafe {
            sys::cuTensorMapEncodeTiled(
                &raw mut map,
                element,
                self.dims.len() as u32,
                address as *mut _,
                self.dims.as_ptr(),
                self.strides.as_ptr(),
                self.box_dims.as_ptr(),
                self.steps.as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
                fill,
            )
        };
        made.result().map(|()| map)
    }
}

/// `20x10`.
fn list<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, String> {
    text.split('x').map(|number| number.parse().map_err(|_| format!("`{text}` is no list such as 20x10"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_with_everything() {
        let tensor = Tensor::parse("x f32 20x10 strides 96 box 8x4 steps 1x2 swizzle 32 nan").unwrap();
        assert_eq!((tensor.buffer.as_str(), tensor.ty), ("x", Some(Type::F32)));
        assert_eq!((tensor.dims, tensor.strides, tensor.box_dims), (vec![20, 10], vec![96], vec![8, 4]));
        assert_eq!((tensor.steps, tensor.swizzle, tensor.nan), (vec![1, 2], Some(32), true));
    }

    #[test]
    fn rows_lie_one_behind_the_other() {
        let tensor = Tensor::parse("x bf16 8x3x2 box 8x1x1").unwrap();
        assert_eq!((tensor.strides, tensor.steps), (vec![16, 48], vec![1; 3]));
        assert!(Tensor::parse("x s32 8 box 8").unwrap().strides.is_empty());
    }

    #[test]
    fn what_is_no_tensor_says_why() {
        let error = |text| Tensor::parse(text).unwrap_err();
        assert!(error("x f32 20x10").contains("does not say everything"));
        assert!(error("x f32 20xten box 8x4").contains("no list"));
        assert!(error("x q32 20 box 8").contains("is no tensor"));
    }
}
