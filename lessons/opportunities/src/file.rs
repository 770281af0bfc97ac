//! A graph as it stands in a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::GraphError;
use crate::operation::DType;

// ANCHOR: schema
/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) name: String,
    /// A sentence about where it comes from.
    #[serde(default)]
    pub(crate) about: String,
    /// Tensors that come from outside: activations and weights.
    pub(crate) inputs: BTreeMap<String, TensorSpec>,
    /// In any order. Shapes of their outputs follow from their inputs.
    pub(crate) operations: Vec<OperationSpec>,
    /// Tensors that are wanted outside, so that they must be written.
    pub(crate) outputs: Vec<String>,
    /// What somebody says about fusing some of them, to be held against the arithmetic.
    #[serde(default)]
    pub(crate) claims: Vec<Claim>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TensorSpec {
    /// Row-major; the last axis is contiguous.
    pub(crate) shape: Vec<u64>,
    /// f32, f16, bf16, fp8, i32 or i8.
    pub(crate) dtype: DType,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationSpec {
    pub(crate) name: String,
    /// One of the operators: add, gelu, layernorm, matmul, ...
    pub(crate) op: String,
    /// Names of tensors.
    pub(crate) inputs: Vec<String>,
    /// New names; one, except for split.
    pub(crate) outputs: Vec<String>,
    /// Of the outputs, where it is not the first input's.
    pub(crate) dtype: Option<DType>,
    /// Of a reduction, counted from 0: by default the last.
    pub(crate) axis: Option<usize>,
    /// Of attention: how many rows each row attends to, by default all.
    pub(crate) sequence: Option<u64>,
}
// ANCHOR_END: schema

/// What somebody says. Every figure is optional.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Names of operations.
    pub(crate) operations: Vec<String>,
    /// `fuse` or `keep apart`.
    pub(crate) decision: Option<String>,
    pub(crate) score: Option<f64>,
    /// Percent of the bytes and of the launches.
    pub(crate) bytes_saved: Option<f64>,
    pub(crate) launches_saved: Option<f64>,
    pub(crate) registers: Option<u32>,
    /// Operations for each element moved, of single operations by name.
    #[serde(default)]
    pub(crate) intensity: BTreeMap<String, f64>,
    /// A sentence about it.
    #[serde(default)]
    pub(crate) note: String,
}

impl File {
    /// # Errors
    /// The file cannot be read, or is no JSON of this form: with line and column.
    pub(crate) fn read(path: &Path) -> Result<File, GraphError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| GraphError::Read { path: shown.clone(), error })?;
        File::parse(&shown, &text)
    }

    pub(crate) fn parse(path: &str, text: &str) -> Result<File, GraphError> {
        serde_json::from_str(text).map_err(|error| GraphError::Json {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
            source: text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default().to_owned(),
            // serde_json repeats the place at the end of its message.
            message: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        })
    }
}
