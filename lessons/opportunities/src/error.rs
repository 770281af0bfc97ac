//! What can be wrong with a graph, said so that one knows what to do.

use std::fmt;

use crate::operation::OPERATORS;

#[derive(Debug)]
pub(crate) enum GraphError {
    Read {
        path: String,
        error: std::io::Error,
    },
    Json {
        path: String,
        line: usize,
        column: usize,
        source: String,
        message: String,
    },
    Empty,
    UnknownOp {
        operation: String,
        op: String,
    },
    Arity {
        operation: String,
        op: &'static str,
        wanted: (usize, usize),
        got: usize,
    },
    Outputs {
        operation: String,
        got: usize,
    },
    /// Two operations of one name, or two producers of one tensor.
    Twice {
        what: &'static str,
        name: String,
    },
    /// An operation, an output or a claim that names what is not there.
    Missing {
        who: String,
        what: &'static str,
        name: String,
        near: Option<String>,
    },
    /// The operations around it, in order.
    Cycle {
        around: Vec<String>,
    },
    Shape {
        operation: String,
        why: String,
    },
    NoCandidate {
        name: String,
        there: Vec<String>,
    },
    Trace {
        path: String,
        message: String,
    },
    /// A trace of a program that launched nothing.
    NoLaunch {
        path: String,
    },
}

/// The name that was probably meant.
pub(crate) fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let best = known.map(|other| (strsim::damerau_levenshtein(name, other), other)).min()?;
    (best.0 <= 1 + name.len() / 4).then(|| best.1.to_owned())
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphError::Read { path, error } => write!(f, "{path} cannot be read: {error}."),
            GraphError::Json { path, line, column, source, message } => {
                writeln!(f, "{message}")?;
                writeln!(f, "  --> {path}:{line}:{column}")?;
                writeln!(f, "   | {source}")?;
                writeln!(f, "   | {}^", " ".repeat(column.saturating_sub(1)))?;
                write!(f, "A graph has name, inputs, operations and outputs; `graphs/` beside the lesson has examples.")
            }
            GraphError::Empty => write!(f, "The graph has no operations: there is nothing to fuse."),
            GraphError::UnknownOp { operation, op } => {
                write!(f, "`{operation}`: there is no operator `{op}`.")?;
                let names = || OPERATORS.iter().map(|operator| operator.name);
                if let Some(near) = near(op, names()) {
                    write!(f, " Did you mean `{near}`?")?;
                }
                write!(f, " Known are {}.", names().collect::<Vec<_>>().join(", "))
            }
            GraphError::Arity { operation, op, wanted: (least, most), got } => {
                let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
                write!(f, "`{operation}`: `{op}` takes {wanted} inputs, and {got} are given.")?;
                match *op {
                    "layernorm" => write!(f, " They are the data, gamma and beta."),
                    "rmsnorm" => write!(f, " They are the data and the weight."),
                    "matmul" => write!(f, " They are A [M, K] and B [K, N]."),
                    "attention" => write!(f, " They are q, k and v."),
                    _ => Ok(()),
                }
            }
            GraphError::Outputs { operation, got } => {
                write!(f, "`{operation}` has {got} outputs; every operation has one, and only split has more.")
            }
            GraphError::Twice { what, name } => {
                write!(f, "`{name}` is the name of two {what}s: give each its own.")
            }
            GraphError::Missing { who, what, name, near } => {
                write!(f, "{who} names the {what} `{name}`, which is not there.")?;
                match near {
                    Some(near) => write!(f, " Did you mean `{near}`?"),
                    None if *what == "tensor" => {
                        write!(f, " List it under `inputs` with its shape, or let an operation produce it.")
                    }
                    None => Ok(()),
                }
            }
            GraphError::Cycle { around } => {
                write!(f, "The operations wait for each other: {}", around.join(" -> "))?;
                if let Some(first) = around.first() {
                    write!(f, " -> {first}")?;
                }
                write!(f, ". One of them must take a tensor that is there before it.")
            }
            GraphError::Shape { operation, why } => write!(f, "`{operation}`: {why}"),
            GraphError::Trace { path, message } => {
                write!(f, "{path} is no trace: {message}. `cargo xtask run --trace {path} -- PROGRAM` writes one.")
            }
            GraphError::NoLaunch { path } => {
                write!(f, "{path} is the trace of a program that launched no kernel: there is nothing to fuse.")
            }
            GraphError::NoCandidate { name, there } => {
                write!(f, "There is no candidate `{name}`. ")?;
                if let Some(near) = near(name, there.iter().map(String::as_str)) {
                    write!(f, "Did you mean `{near}`? ")?;
                }
                write!(f, "There are: {}.", there.join(", "))
            }
        }
    }
}

impl std::error::Error for GraphError {}
