//! Sizes of which a launch received the lower half.

use fusion_course::Shape;
use fusion_machine::{Argument, LaunchReport};

/// What was received for a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) text: String,
    /// The kernel takes all of it: the launch gave less.
    pub(super) launch: bool,
}

/// Tells of a parameter that received the lower 32 bits of a size that needs more. Of eight bytes, the upper four are what lies
/// behind an argument of four.
pub(super) fn cut(launch: &LaunchReport, shape: Shape) -> Option<Cut> {
    const LOWER: u64 = u32::MAX as u64;

    let sizes = [shape.elements(), shape.rows, shape.columns].map(|size| size as u64);
    let cut = launch.arguments.iter().enumerate().find_map(|(index, argument)| {
        // A number of columns may be the lower half of a number of elements, and is right.
        let whole = |value: &u64| !argument.float && argument.bytes.len() >= 4 && !sizes.contains(value);
        let value = argument.unsigned().filter(whole)?;
        let cut = |size: &&u64| **size > LOWER && value & LOWER == **size & LOWER && value != **size;
        let size = sizes.iter().find(cut)?;
        let name = name(argument);
        let position = index + 1;
        let text = match argument.bytes.len() {
            4 => format!(
                "parameter {position}{name} has 32 bits, and received {value} of {size}: make it a `size_t`, and pass a \
                 `usize`"
            ),
            _ => format!(
                "parameter {position}{name} received {value} for {size}: was a `u32` passed for a `size_t`?"
            ),
        };
        Some(Cut { text, launch: argument.bytes.len() == 8 })
    });
    cut.or_else(|| {
        launch.arguments.iter().enumerate().find_map(|(index, argument)| {
            let value = argument.unsigned().filter(|_| !argument.float && argument.bytes.len() == 4)?;
            let negative = i64::from(value as u32 as i32);
            let text = format!(
                "parameter {}{} has 32 bits, and received {value}, which is {negative} in an `int`: make it a `size_t`",
                index + 1,
                name(argument)
            );
            (negative < 0 && sizes.contains(&value)).then_some(Cut { text, launch: false })
        })
    })
}

/// ` `n``, or nothing.
fn name(argument: &Argument) -> String {
    argument.name.as_ref().map_or(String::new(), |name| format!(" `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_half_of_a_size_is_told() {
        let told = |bytes: &[u8], elements: usize| {
            let argument = Argument { name: Some("n".to_owned()), bytes: bytes.to_vec(), ..Argument::default() };
            cut(&LaunchReport { arguments: vec![argument], ..LaunchReport::default() }, Shape::flat(elements))
        };
        const N: usize = (1 << 32) + 5;
        assert_eq!(told(&N.to_le_bytes(), N), None);
        assert_eq!(told(&5u32.to_le_bytes(), 5), None);
        assert!(told(&0x8000_0005u32.to_le_bytes(), (1 << 31) + 5).unwrap().text.contains("-2147483643 in an `int`"));
        assert_eq!(told(&6u64.to_le_bytes(), N), None);
        let eight = told(&5u64.to_le_bytes(), N).unwrap();
        assert!(eight.launch);
        assert_eq!(eight.text, "parameter 1 `n` received 5 for 4294967301: was a `u32` passed for a `size_t`?");
        assert!(told(&0x7ffc_0000_0005u64.to_le_bytes(), N).unwrap().text.contains("was a `u32` passed"));
        assert!(told(&5u32.to_le_bytes(), N).unwrap().text.contains("has 32 bits"));
    }

    #[test]
    fn columns_that_are_the_lower_half_of_the_elements_are_right() {
        let columns = 1024;
        let shape = Shape::of((1 << 32) / columns + 1, columns);
        assert_eq!(shape.elements() & 0xffff_ffff, columns);
        let argument = Argument {
            name: Some("columns".to_owned()),
            bytes: (columns as u64).to_le_bytes().to_vec(),
            ..Argument::default()
        };
        assert_eq!(cut(&LaunchReport { arguments: vec![argument], ..LaunchReport::default() }, shape), None);
    }
}
