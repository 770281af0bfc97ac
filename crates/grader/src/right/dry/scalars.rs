//! Sizes of which a launch received the lower half.

use fusion_course::Shape;
use fusion_machine::LaunchReport;

/// Tells of a parameter that received the lower 32 bits of a size that needs more. Of eight bytes, the upper four are what lies
/// behind an argument of four.
pub(super) fn cut(launch: &LaunchReport, shape: Shape) -> Option<String> {
    const LOWER: u64 = u32::MAX as u64;

    let sizes = [shape.elements(), shape.rows, shape.columns].map(|size| size as u64);
    launch.arguments.iter().enumerate().find_map(|(index, argument)| {
        let value = argument.unsigned().filter(|_| !argument.float && argument.bytes.len() >= 4)?;
        let cut = |size: &&u64| **size > LOWER && value & LOWER == **size & LOWER && value != **size;
        let size = sizes.iter().find(cut)?;
        let name = argument.name.as_ref().map_or(String::new(), |name| format!(" `{name}`"));
        let position = index + 1;
        Some(match argument.bytes.len() {
            4 => format!("parameter {position}{name} has 32 bits, and received {value} of {size}: make it a `size_t`, and pass a `usize`"),
            _ => format!("parameter {position}{name} received {value} for {size}: was a `u32` passed for a `size_t`?"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_machine::Argument;

    #[test]
    fn the_lower_half_of_a_size_is_told() {
        let told = |bytes: &[u8], elements: usize| {
            let argument = Argument { name: Some("n".to_owned()), bytes: bytes.to_vec(), float: false };
            cut(&LaunchReport { arguments: vec![argument], ..LaunchReport::default() }, Shape::flat(elements))
        };
        const N: usize = (1 << 32) + 5;
        assert_eq!(told(&N.to_le_bytes(), N), None);
        assert_eq!(told(&5u32.to_le_bytes(), 5), None);
        assert_eq!(told(&6u64.to_le_bytes(), N), None);
        let eight = told(&5u64.to_le_bytes(), N).unwrap();
        assert_eq!(eight, "parameter 1 `n` received 5 for 4294967301: was a `u32` passed for a `size_t`?");
        assert!(told(&0x7ffc_0000_0005u64.to_le_bytes(), N).unwrap().contains("was a `u32` passed"));
        assert!(told(&5u32.to_le_bytes(), N).unwrap().contains("has 32 bits"));
    }
}
