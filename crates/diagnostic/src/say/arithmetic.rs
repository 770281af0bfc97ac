//! Arithmetic that is probably not meant.

use fusion_machine::report::kind::{Arithmetic, Formula};

use super::Words;

pub(super) fn words(kind: &Arithmetic) -> Words {
    match *kind {
        Arithmetic::IndexOverflow { formula, exact, signed } => index(formula, exact, signed),
        Arithmetic::Shift { bits, amount } => Words::new(format!("a shift of {bits} bits by {bits} or more"))
            .label(format!("shifts by {amount}"))
            .note(format!("the amount is {amount}; C++ defines shifts by 0 to {} only", bits.saturating_sub(1)))
            .note("the GPU gives 0 (or, shifting right, the sign), but the compiler may assume that it does not happen")
            .help(format!("test the amount first: `n < {bits} ? x << n : 0`, or shift a wider type")),
        Arithmetic::DivideByZero { dividend } => Words::new("an integer is divided by zero")
            .label("the divisor is 0")
            .note(format!("the dividend is {dividend}"))
            .note("the GPU does not stop: the result is some number, and in C++ the behaviour is undefined")
            .help("test the divisor first, or see to it that the host never passes 0"),
        Arithmetic::FloatToInt { value, bits, signed } => {
            let value = f64::from_bits(value);
            let sign = if signed { "signed" } else { "unsigned" };
            Words::new("a float is converted to an integer that cannot hold it")
                .label(format!("{value} does not fit"))
                .note(format!("the value is {value}, which no {sign} integer of {bits} bits holds"))
                .note(match value.is_nan() {
                    true => {
                        "the GPU gives 0 for it (or the type's largest power of two), where C++ leaves it undefined"
                    }
                    false => "the GPU gives the nearest end of the type's range, where C++ leaves it undefined",
                })
                .help(
                    "clamp it first, in floating point: `(int)fminf(fmaxf(x, low), high)`; a NaN becomes `low` by that",
                )
        }
    }
}

fn index(formula: Formula, exact: i128, signed: bool) -> Words {
    let formula = match formula {
        Formula::Add(a, b) => format!("{a} + {b}"),
        Formula::Subtract(a, b) => format!("{a} - {b}"),
        Formula::Multiply(a, b) => format!("{a} * {b}"),
        Formula::MultiplyAdd(a, b, c) => format!("{a} * {b} + {c}"),
        Formula::ShiftLeft(a, b) => format!("{a} << {b}"),
    };
    let (kind, kept, most) = match signed {
        true => ("int", i128::from(exact as i32), i128::from(i32::MAX)),
        false => ("unsigned int", i128::from(exact as u32), i128::from(u32::MAX)),
    };
    Words::new("an index overflows 32 bits before it becomes an address")
        .label(format!("{formula} does not fit 32 bits"))
        .note(format!("{formula} is {exact}; as {kind}, which ends at {most}, it becomes {kept}"))
        .note(match signed {
            true => "overflow of a signed integer is undefined in C++: the compiler may assume that it does not happen",
            false => "an unsigned integer wraps around: the index then names another element of the same buffer",
        })
        .help("widen before multiplying: `long long i = (long long)a * b;` instead of `int i = a * b;`, and the same for what it is compared with")
}
