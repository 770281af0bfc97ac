//! The errors that beginners make most, with what to do about each.

use fusion_course::Source;
use fusion_device::Diagnostic;
use fusion_diagnostic::counted;

use crate::cause::signature;

/// Functions of C++'s library, and what CUDA has for floats.
const WITHOUT_STD: [(&str, &str); 13] = [
    ("max", "fmaxf(a, b)"),
    ("min", "fminf(a, b)"),
    ("abs", "fabsf(x)"),
    ("fabs", "fabsf(x)"),
    ("sqrt", "sqrtf(x)"),
    ("exp", "expf(x)"),
    ("log", "logf(x)"),
    ("pow", "powf(x, y)"),
    ("fma", "fmaf(a, b, c)"),
    ("tanh", "tanhf(x)"),
    ("erf", "erff(x)"),
    ("cout", "printf(\"%f\\n\", x)"),
    ("numeric_limits", "FLT_MAX` with `#include <float.h>"),
];

/// What to write for something of C++'s library.
pub(super) fn without_std(name: &str) -> String {
    let known = WITHOUT_STD.iter().find(|(known, _)| *known == name);
    let write = known.map_or("CUDA's own function".to_owned(), |(_, write)| format!("`{write}`"));
    format!("`std::` is the CPU's library, and a kernel has none: write {write}")
}

/// Messages that mean the same wherever they stand: what they begin with, and what to do.
const USUAL: [(&str, &str); 19] = [
    ("expected a \";\"", "write `;` behind the statement that ends here"),
    ("expected a \"}\"", "a `{` is not closed: count those of the function, and write the `}` that is missing"),
    (
        "expected a declaration",
        "only declarations stand outside of functions: does a `}` too many end the function above?",
    ),
    ("expected a statement", "does an `else` follow more than one statement? Put those of an `if` between `{` and `}`"),
    ("incomplete type \"void\"", "`void` means no value: a variable has the type of what it holds, such as `float`"),
    ("incomplete type", "the type is named, and no line above says what is in it: write `struct NAME { ... };` first"),
    (
        "A function explicitly marked as a __host__ function",
        "a `__host__` function is the CPU's, which the GPU cannot run: write `__device__` instead",
    ),
    (
        "a __global__ function must have a void return type",
        "a kernel returns nothing: write `void`, and store the result to an output",
    ),
    (
        "device-side kernel launch",
        "kernels are launched in the `.rs` file: what a kernel calls is `__device__`, and called without `<<<...>>>`",
    ),
    (
        "expression must have a constant value",
        "the compiler must know the size of an array: write a number, or a `constexpr`",
    ),
    (
        "expression must have pointer-to-object type",
        "only a pointer or an array has elements: is a `*` missing where it is declared?",
    ),
    ("operand of \"*\" must be a pointer", "only what a pointer points to is read by `*`: leave the `*` out"),
    (
        "initializer not allowed for __shared__",
        "leave the value out: let threads store it, and then call `__syncthreads()`",
    ),
    ("operator -> or ->* applied", "write `.` for `->`: it is no pointer"),
    ("class \"uint3\" has no member", "`threadIdx` and `blockIdx` have `x`, `y` and `z`"),
    ("class \"dim3\" has no member", "`blockDim` and `gridDim` have `x`, `y` and `z`"),
    ("no suitable conversion function from \"const dim3\"", "one number of it is meant: write `.x` behind its name"),
    ("no suitable conversion function from \"const uint3\"", "one number of it is meant: write `.x` behind its name"),
    ("cannot deduce \"auto\" type", "`auto` takes its type from a value: give it one, or write the type"),
];

/// What to do about a message that means the same wherever it stands.
pub(super) fn of_message(message: &str) -> Option<String> {
    USUAL.iter().find(|(start, _)| message.starts_with(start)).map(|(_, remedy)| (*remedy).to_owned())
}

/// What to do about a call that passes too few or too many: how the source declares the function.
pub(super) fn of_call(message: &Diagnostic, source: &Source) -> Option<String> {
    let passes = ["too few arguments in function call", "too many arguments in function call"];
    passes.contains(&message.message.as_str()).then_some(())?;
    let fallback =
        || Some("compare what the call passes with the parameters that the function is declared with".to_owned());
    let Some(place) = &message.place else { return fallback() };
    let text = super::text(&place.file, source);
    let tokens = fusion_cpp::tokens(&text);
    let at = super::offset(&text, place.line, place.column.unwrap_or(1));
    // The call is the parenthesis that is open here.
    let mut depth = 0_usize;
    let open = (0..tokens.len()).rev().filter(|&token| tokens[token].span.start < at).find(|&token| {
        match tokens[token].text(&text) {
            ")" => depth += 1,
            "(" if depth == 0 => return true,
            "(" => depth -= 1,
            _ => {}
        }
        false
    });
    let name = open.and_then(|open| open.checked_sub(1)).map(|name| tokens[name].text(&text));
    let declared = name.and_then(|name| Some((name, signature::parameters(&text, name)?)));
    let Some((name, parameters)) = declared else { return fallback() };
    let names: Vec<String> = parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    Some(format!("`{name}` takes {}: {}", counted(names.len() as u64, "argument"), names.join(", ")))
}

/// What to do about a value of another type than what takes it has.
pub(super) fn of_types(message: &Diagnostic) -> Option<String> {
    let Diagnostic { message: text, notes, .. } = message;
    if text.contains("instance of overloaded function") {
        let types = notes.iter().find_map(|note| note.strip_prefix("argument types are: "));
        return Some(match types {
            Some(types) if types.contains("const") && types.contains('*') && text.contains("\"atomic") => {
                "what a `const` pointer points to cannot be changed: name the output, which is declared without `const`"
            }
            Some(types) if types.contains('*') => "a number is asked for, and a pointer is passed: name an element of it, as in `x[i]`",
            _ => "no function of that name takes these types together: convert one of them, as in `min(n, (size_t)32)`",
        }
        .to_owned());
    }
    let starts = ["a value of type \"", "argument of type \""];
    let given = starts.iter().find_map(|start| text.strip_prefix(start))?.split('"').next()?;
    let taken = text.strip_suffix('"')?.rsplit('"').next()?;
    let [from, to] = [given, taken].map(|it| it.strip_suffix(" *"));
    match (from, to) {
        (Some(from), Some(to)) if from.strip_prefix("const ") == Some(to) => Some(format!(
            "it points to what is `const`: write `const {to}*`, if it is only read; an output has no `const`"
        )),
        (Some(_), Some(to)) => Some(format!(
            "it points to another type: to read elements as `{to}`, write a cast, `reinterpret_cast<{to}*>(...)`"
        )),
        (Some(_), None) => Some("a pointer is where a buffer begins: name one element of it, as in `x[i]`".to_owned()),
        (None, Some(to)) => Some(format!("a pointer is asked for: write `&` before the name of a `{to}`")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use fusion_device::Severity;
    use fusion_device::compiler::Place;

    use super::*;
    use crate::explain::diagnostics;

    /// Each is a message of NVRTC 13's on the line before which it stands.
    #[test]
    fn the_usual_errors_say_what_to_do() {
        let says = |message: &str, notes: &[&str], text: &str, column: u32| {
            let notes = notes.iter().map(|&note| note.to_owned()).collect();
            let place = Some(Place { file: "k.cu".to_owned(), line: 2, column: Some(column) });
            let message = message.to_owned();
            let all = [Diagnostic { severity: Severity::Error, place, number: None, message, notes }];
            let text = format!("__device__ float f(float a, float b) {{ return a; }}\n{text}\n");
            diagnostics(&all, "", &Source { path: "k.cu".to_owned(), text }).notes
        };
        for (message, notes, text, column, said) in [
            ("identifier \"otu\" is undefined", &[][..], "float* out; otu[0] = 1;", 13, "a name `out`"),
            ("identifier \"i\" is undefined", &[], "i = 3;", 1, "`float i = 0.0f;`"),
            ("expected a \";\"", &[], "a = 1 b = 2;", 7, "write `;`"),
            ("too few arguments in function call", &[], "y = f(x[0]);", 11, "`f` takes 2 arguments: `a`, `b`"),
            ("too many arguments in function call", &[], "y = f(1, g(2), 3);", 16, "`f` takes 2 arguments"),
            ("too few arguments in function call", &[], "y = fminf(n);", 12, "compare what the call passes"),
            (
                "no instance of overloaded function \"max\" matches the argument list",
                &["argument types are: (const float *, float)"],
                "",
                1,
                "name an element of it",
            ),
            (
                "no instance of overloaded function \"atomicAdd\" matches the argument list",
                &["argument types are: (const float *, float)"],
                "",
                1,
                "declared without `const`",
            ),
            (
                "more than one instance of overloaded function \"min\" matches the argument list:",
                &["argument types are: (size_t, int)"],
                "",
                1,
                "convert one of them",
            ),
            (
                "a value of type \"const float *\" cannot be used to initialize an entity of type \"float *\"",
                &[],
                "",
                1,
                "write `const float*`",
            ),
            (
                "a value of type \"float *\" cannot be used to initialize an entity of type \"float4 *\"",
                &[],
                "",
                1,
                "`reinterpret_cast<float4*>(...)`",
            ),
            (
                "a value of type \"float *\" cannot be assigned to an entity of type \"float\"",
                &[],
                "",
                1,
                "as in `x[i]`",
            ),
            (
                "argument of type \"const float *\" is incompatible with parameter of type \"float\"",
                &[],
                "",
                1,
                "`x[i]`",
            ),
            ("expression must be a modifiable lvalue", &[], "", 1, "cannot be stored to"),
            ("incomplete type \"void\" is not allowed", &[], "", 1, "means no value"),
            ("incomplete type \"S\" is not allowed", &[], "", 1, "what is in it"),
            (
                "A function explicitly marked as a __host__ function is not allowed in JIT mode",
                &[],
                "",
                1,
                "`__device__`",
            ),
            ("no suitable conversion function from \"const dim3\" to \"float\" exists", &[], "", 1, "write `.x`"),
        ] {
            let told = says(message, notes, text, column);
            assert!(told.iter().any(|note| note.contains(said)), "{message}: {told:?}");
        }
    }
}
