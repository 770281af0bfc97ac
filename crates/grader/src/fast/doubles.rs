//! Arithmetic in f64 where every buffer holds less: a `2.0` without an `f` makes it, and it is slower on every GPU.

use fusion_diagnostic::counted;
use serde::{Deserialize, Serialize};

/// What of a kernel's PTX is f64 arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubles {
    /// Instructions, conversions to and from f64 among them.
    pub instructions: u32,
    /// `exercises/day22/src/mul_add.cu:12`: the first that has a line in the submission's source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How many f32 operations this GPU does in the time of one in f64, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<u32>,
}

impl Doubles {
    /// Looks through PTX that was made of `source`, a path, for a device of a compute capability such as `9.0`. None where
    /// no instruction computes in f64: conversions alone are those of numbers for `printf`, which takes no others.
    pub(super) fn of(ptx: &str, source: &str, compute_capability: &str) -> Option<Self> {
        let (mut instructions, mut computes, mut first, mut line) = (0, false, None, None);
        let own = number(ptx, source);
        for text in ptx.lines().map(str::trim) {
            if let Some(loc) = text.strip_prefix(".loc") {
                line = own.and_then(|own| line_in(loc, own));
            } else if let Some(operation) = operation_in_f64(text) {
                instructions += 1;
                if operation != "cvt" {
                    computes = true;
                    first = first.or(line);
                }
            }
        }
        let slower = compute_capability.split_once('.').and_then(|(major, minor)| slower(major, minor));
        let place = first.map(|line| format!("{source}:{line}"));
        computes.then_some(Self { instructions, place, line: first, slower })
    }

    pub(super) fn say(&self) -> String {
        let Self { instructions, place, slower, .. } = self;
        let place = place.as_ref().map_or_else(String::new, |place| format!(", the first at {place}"));
        let rate = slower.map_or_else(
            || "more slowly than in f32".to_owned(),
            |slower| {
                let others = if slower < 64 { ", and a GeForce at 1/64" } else { "" };
                format!("at 1/{slower} of the rate of f32{others}")
            },
        );
        format!(
            "the kernels compute in f64: {}{place}. This GPU does that {rate}. A constant such \
             as `2.0` is a double, and `2.0f` is a float",
            counted((*instructions).into(), "instruction")
        )
    }
}

/// The number that PTX gives a source file: `.file 1 "PATH"`.
fn number(ptx: &str, source: &str) -> Option<u32> {
    ptx.lines().find_map(|line| {
        let (number, rest) = line.trim().strip_prefix(".file")?.trim_start().split_once(char::is_whitespace)?;
        let path = rest.trim_start().strip_prefix('"')?.split('"').next()?;
        if path == source { number.parse().ok() } else { None }
    })
}

/// The line of that file that `FILE LINE COLUMN` names, or where it was called from: `.., inlined_at FILE LINE COLUMN`.
fn line_in(loc: &str, own: u32) -> Option<u32> {
    loc.split("inlined_at").find_map(|place| {
        let mut words = place.split_whitespace().map(|word| word.trim_end_matches(',').parse::<u32>().ok());
        let (file, line) = (words.next()??, words.next()??);
        (file == own).then_some(line)
    })
}

/// The operation of a line of PTX that is arithmetic in f64, or a conversion into it or out of it. Moves, loads and stores are none.
fn operation_in_f64(line: &str) -> Option<&str> {
    let instruction = match line.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
        None => line,
    };
    let mut parts = instruction.split([' ', '\t', ';']).next().unwrap_or("").split('.');
    let operation = parts.next().unwrap_or("");
    const ARITHMETIC: [&str; 15] =
        ["add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt", "min", "max", "abs", "neg", "cvt", "setp"];
    (ARITHMETIC.contains(&operation) && parts.any(|part| part == "f64")).then_some(operation)
}

/// F32 operations in the time of one in f64: CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
fn slower(major: &str, minor: &str) -> Option<u32> {
    match (major, minor) {
        ("8" | "9" | "10", "0") => Some(2),
        ("7", "5") => Some(32),
        ("8", "6" | "9") | ("12", "0") => Some(64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = r#"
.entry k(.param .u64 p)
{
	.reg .f64 	%fd<3>;
	.loc	1 7 5
	ld.global.f32 	%f1, [%rd1];
	.loc	2 30 3, function_name $L__info_string0, inlined_at 1 9 11
	cvt.f64.f32 	%fd1, %f1;
	@%p1 mul.f64 	%fd2, %fd1, 0d4000000000000000;
	mov.f64 	%fd1, %fd2;
	add.f32 	%f1, %f1, %f1;
}
	.file	1 "exercises/day22/src/k.cu"
	.file	2 "kernels/include/activation.cuh"
"#;

    #[test]
    fn arithmetic_in_f64_is_found_with_its_line() {
        let found = Doubles::of(PTX, "exercises/day22/src/k.cu", "7.5").unwrap();
        let place = Some("exercises/day22/src/k.cu:9".to_owned());
        assert_eq!(found, Doubles { instructions: 2, place, line: Some(9), slower: Some(32) });
        assert_eq!(Doubles::of(PTX, "other.cu", "6.1").unwrap().place, None);
        assert_eq!(Doubles::of(&PTX.replace("f64", "f32"), "exercises/day22/src/k.cu", "9.0"), None);
        let printed = PTX.replace("mul.f64", "st.local.f64");
        assert_eq!(Doubles::of(&printed, "exercises/day22/src/k.cu", "9.0"), None);
    }
}
