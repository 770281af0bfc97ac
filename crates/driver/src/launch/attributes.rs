//! Attributes of a launch that change what its kernel does.

use std::ffi::c_uint;

use fusion_machine::Launch;

use crate::error::Result;
use crate::ffi::{LaunchAttribute, LaunchConfig};

/// `CUlaunchAttributeID`.
const COOPERATIVE: c_uint = 2;
const CLUSTER_DIMENSION: c_uint = 4;

/// What an extended launch asks for, with those of its attributes that change what a kernel does.
pub(crate) fn shape(config: &LaunchConfig) -> Result<Launch> {
    let (grid, block, dynamic_shared) = (config.grid, config.block, config.shared_bytes);
    let mut shape = Launch { grid, block, dynamic_shared, cooperative: false, cluster: None };
    for attribute in config.attrs.as_in::<LaunchAttribute>().get_all(config.num_attrs as usize)? {
        apply(&mut shape, attribute.id, attribute.value);
    }
    Ok(shape)
}

/// Changes a launch by one attribute. Priorities, cache policies and scheduling preferences change no result.
pub(crate) fn apply(shape: &mut Launch, attribute: c_uint, value: [u64; 8]) {
    let [first, second, ..] = value;
    match attribute {
        COOPERATIVE => shape.cooperative = first as u32 != 0,
        CLUSTER_DIMENSION => shape.cluster = Some([first as u32, (first >> 32) as u32, second as u32]),
        _ => {}
    }
}

/// The attribute's value, if it is one of these.
pub(crate) fn value_of(shape: &Launch, attribute: c_uint) -> Option<[u64; 8]> {
    let mut value = [0; 8];
    match attribute {
        COOPERATIVE => value[0] = shape.cooperative.into(),
        CLUSTER_DIMENSION => {
            let [x, y, z] = shape.cluster.unwrap_or([0; 3]);
            (value[0], value[1]) = (u64::from(x) | u64::from(y) << 32, z.into());
        }
        _ => return None,
    }
    Some(value)
}
