//! A graph whose names are resolved and whose shapes are known.

use std::collections::BTreeMap;

use crate::error::{GraphError, near};
use crate::file::{Claim, File, OperationSpec};
use crate::operation::{DType, Kind, Operator};

#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) tensors: Vec<Tensor>,
    /// Each after those whose results it takes.
    pub(crate) operations: Vec<Operation>,
    pub(crate) claims: Vec<Claim>,
    /// For each operation, whether it needs each of those before it.
    needs: Vec<Vec<bool>>,
}

#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: DType,
    /// None for an input of the graph.
    pub(crate) producer: Option<usize>,
    pub(crate) consumers: Vec<usize>,
    /// It is wanted outside the graph.
    pub(crate) is_output: bool,
}

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) operator: &'static Operator,
    /// Indices of tensors.
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    /// Of a reduction: the axis is not the last.
    pub(crate) other_axis: bool,
    pub(crate) flops: u64,
}

impl Tensor {
    pub(crate) fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.elements() * self.dtype.bytes()
    }

    /// The length of the last axis.
    pub(crate) fn row(&self) -> u64 {
        self.shape.last().copied().unwrap_or(1)
    }
}

impl Operation {
    pub(crate) fn kind(&self) -> Kind {
        self.operator.kind
    }
}

impl Graph {
    /// # Errors
    /// See [`GraphError`]: names that are not there, cycles, shapes that do not fit.
    pub(crate) fn new(file: File) -> Result<Graph, GraphError> {
        if file.operations.is_empty() {
            return Err(GraphError::Empty);
        }
        let order = order(&file)?;
        let mut tensors: Vec<Tensor> = Vec::new();
        for (name, spec) in &file.inputs {
            if spec.shape.contains(&0) || spec.shape.is_empty() || is_too_large(&spec.shape) {
                let why =
                    format!("{:?} is no shape that a GPU holds: give each axis a length of at least 1.", spec.shape);
                return Err(GraphError::Shape { operation: name.clone(), why });
            }
            tensors.push(Tensor {
                name: name.clone(),
                shape: spec.shape.clone(),
                dtype: spec.dtype,
                producer: None,
                consumers: Vec::new(),
                is_output: false,
            });
        }
        let mut by_name: BTreeMap<String, usize> =
            tensors.iter().enumerate().map(|(i, tensor)| (tensor.name.clone(), i)).collect();
        let mut operations = Vec::new();
        for spec in order {
            let operator = operator(spec)?;
            let inputs: Vec<usize> = spec.inputs.iter().filter_map(|name| by_name.get(name).copied()).collect();
            let index = operations.len();
            let found = {
                let given: Vec<&Tensor> = inputs.iter().filter_map(|&i| tensors.get(i)).collect();
                infer(spec, operator, &given)?
            };
            for &input in &inputs {
                if let Some(tensor) = tensors.get_mut(input)
                    && !tensor.consumers.contains(&index)
                {
                    tensor.consumers.push(index);
                }
            }
            let mut outputs = Vec::new();
            for name in &spec.outputs {
                by_name.insert(name.clone(), tensors.len());
                outputs.push(tensors.len());
                tensors.push(Tensor {
                    name: name.clone(),
                    shape: found.shape.clone(),
                    dtype: found.dtype,
                    producer: Some(index),
                    consumers: Vec::new(),
                    is_output: false,
                });
            }
            let Inferred { flops, other_axis, .. } = found;
            operations.push(Operation { name: spec.name.clone(), operator, inputs, outputs, other_axis, flops });
        }
        for name in &file.outputs {
            let tensor = by_name.get(name).and_then(|&i| tensors.get_mut(i));
            let Some(tensor) = tensor else {
                let near = near(name, by_name.keys().map(String::as_str));
                return Err(GraphError::Missing {
                    who: "`outputs`".to_owned(),
                    what: "tensor",
                    name: name.clone(),
                    near,
                });
            };
            tensor.is_output = true;
        }
        // What nobody takes is wanted by somebody outside.
        for tensor in &mut tensors {
            tensor.is_output |= tensor.consumers.is_empty();
        }
        let needs = needs(&tensors, &operations);
        let graph = Graph { name: file.name, about: file.about, tensors, operations, claims: file.claims, needs };
        for name in graph.claims.iter().flat_map(|claim| claim.operations.iter().chain(claim.intensity.keys())) {
            if graph.find(name).is_none() {
                let near = near(name, graph.operations.iter().map(|operation| operation.name.as_str()));
                let who = "A claim".to_owned();
                return Err(GraphError::Missing { who, what: "operation", name: name.clone(), near });
            }
        }
        Ok(graph)
    }

    /// The operation of that name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.operations.iter().position(|operation| operation.name == name)
    }

    /// Tensors by index; the indices that a graph hands out are its own.
    pub(crate) fn tensors_of<'a>(&'a self, indices: &'a [usize]) -> impl Iterator<Item = &'a Tensor> {
        indices.iter().filter_map(|&i| self.tensors.get(i))
    }

    /// Whether `to` needs, directly or not, something that `from` makes.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        self.needs.get(to).and_then(|of| of.get(from)).copied().unwrap_or(false)
    }
}

/// What each operation needs, directly or not. Operations come after their producers.
fn needs(tensors: &[Tensor], operations: &[Operation]) -> Vec<Vec<bool>> {
    let mut needs: Vec<Vec<bool>> = Vec::new();
    for operation in operations {
        let mut row = vec![false; needs.len()];
        for producer in operation.inputs.iter().filter_map(|&i| tensors.get(i)?.producer) {
            for (slot, further) in row.iter_mut().zip(needs.get(producer).into_iter().flatten()) {
                *slot |= *further;
            }
            if let Some(slot) = row.get_mut(producer) {
                *slot = true;
            }
        }
        needs.push(row);
    }
    needs
}

fn operator(spec: &OperationSpec) -> Result<&'static Operator, GraphError> {
    let Some(operator) = Operator::named(&spec.op) else {
        return Err(GraphError::UnknownOp { operation: spec.name.clone(), op: spec.op.clone() });
    };
    let got = spec.inputs.len();
    if got < operator.inputs.0 || got > operator.inputs.1 {
        let operation = spec.name.clone();
        return Err(GraphError::Arity { operation, op: operator.name, wanted: operator.inputs, got });
    }
    let outputs = spec.outputs.len();
    if outputs == 0 || (outputs > 1 && operator.kind != Kind::Split) {
        return Err(GraphError::Outputs { operation: spec.name.clone(), got: outputs });
    }
    Ok(operator)
}

/// The operations, each after its producers.
fn order(file: &File) -> Result<Vec<&OperationSpec>, GraphError> {
    let mut producers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = std::collections::BTreeSet::new();
    for (index, spec) in file.operations.iter().enumerate() {
        operator(spec)?;
        if !names.insert(spec.name.as_str()) {
            return Err(GraphError::Twice { what: "operation", name: spec.name.clone() });
        }
        for output in &spec.outputs {
            if producers.insert(output, index).is_some() || file.inputs.contains_key(output) {
                return Err(GraphError::Twice { what: "tensor", name: output.clone() });
            }
        }
    }
    let mut waits: Vec<Vec<usize>> = Vec::new();
    for spec in &file.operations {
        let mut of = Vec::new();
        for name in &spec.inputs {
            match producers.get(name.as_str()) {
                Some(&producer) => of.push(producer),
                None if file.inputs.contains_key(name) => {}
                None => {
                    let known = producers.keys().copied().chain(file.inputs.keys().map(String::as_str));
                    let (who, near) = (format!("`{}`", spec.name), near(name, known));
                    return Err(GraphError::Missing { who, what: "tensor", name: name.clone(), near });
                }
            }
        }
        waits.push(of);
    }
    let mut done = vec![false; waits.len()];
    let mut order = Vec::new();
    while order.len() < waits.len() {
        let is_ready = |of: &Vec<usize>| of.iter().all(|&p| done.get(p).copied().unwrap_or(false));
        let ready =
            (0..waits.len()).find(|&i| !done.get(i).copied().unwrap_or(true) && waits.get(i).is_some_and(is_ready));
        let Some(ready) = ready else { return Err(cycle(file, &waits, &done)) };
        if let (Some(slot), Some(spec)) = (done.get_mut(ready), file.operations.get(ready)) {
            *slot = true;
            order.push(spec);
        }
    }
    Ok(order)
}

/// Follows what waits until an operation comes again.
fn cycle(file: &File, waits: &[Vec<usize>], done: &[bool]) -> GraphError {
    let is_done = |i: &usize| done.get(*i).copied().unwrap_or(true);
    let mut path: Vec<usize> = Vec::new();
    let mut at = (0..waits.len()).find(|i| !is_done(i));
    while let Some(here) = at {
        if let Some(start) = path.iter().position(|&seen| seen == here) {
            path.drain(..start);
            break;
        }
        path.push(here);
        at = waits.get(here).and_then(|of| of.iter().copied().find(|producer| !is_done(producer)));
    }
    path.reverse();
    let around = path.iter().filter_map(|&i| file.operations.get(i)).map(|spec| spec.name.clone()).collect();
    GraphError::Cycle { around }
}

struct Inferred {
    shape: Vec<u64>,
    dtype: DType,
    flops: u64,
    other_axis: bool,
}

/// What an operation makes of its inputs.
fn infer(spec: &OperationSpec, operator: &Operator, inputs: &[&Tensor]) -> Result<Inferred, GraphError> {
    let wrong = |why: String| GraphError::Shape { operation: spec.name.clone(), why };
    let Some(first) = inputs.first() else { return Err(wrong("it has no inputs.".to_owned())) };
    let dtype = spec.dtype.unwrap_or(if operator.name == "quantize" { DType::I8 } else { first.dtype });
    let mut flops = operator.flops.saturating_mul(first.elements());
    let mut other_axis = false;
    let mut shape = first.shape.clone();
    match operator.kind {
        Kind::Elementwise => {
            for tensor in inputs {
                if !broadcasts(&tensor.shape, &shape) {
                    let (a, b) = (&first.name, &tensor.name);
                    return Err(wrong(format!(
                        "`{b}` is {:?} and `{a}` is {:?}. Element by element they must have one shape, or `{b}` one that is \
                         repeated along axes of `{a}`, such as a bias of [{}] or a sum of each row, whose last axis is 1.",
                        tensor.shape,
                        first.shape,
                        first.row()
                    )));
                }
            }
        }
        Kind::Row => {
            if let Some(tensor) = inputs.iter().skip(1).find(|tensor| tensor.shape != [first.row()]) {
                return Err(wrong(format!(
                    "`{}` is {:?}, and a row of `{}` has {} elements: it must be [{}].",
                    tensor.name,
                    tensor.shape,
                    first.name,
                    first.row(),
                    first.row()
                )));
            }
        }
        Kind::Reduce => {
            let axis = spec.axis.unwrap_or(shape.len().saturating_sub(1));
            if axis >= shape.len() {
                return Err(wrong(format!("axis {axis} of `{}`, whose shape is {shape:?}: count from 0.", first.name)));
            }
            other_axis = axis + 1 != shape.len();
            // The axis stays, of length 1, so that the result can be broadcast along it.
            if let Some(length) = shape.get_mut(axis) {
                *length = 1;
            }
        }
        Kind::Matmul => {
            let b = inputs.last().map_or(&first.shape, |tensor| &tensor.shape);
            let (&[.., m, k], &[kb, n]) = (&first.shape[..], &b[..]) else {
                return Err(wrong(format!(
                    "a matmul takes [..., M, K] and [K, N], and these are {shape:?} and {b:?}."
                )));
            };
            if k != kb {
                return Err(wrong(format!(
                    "{shape:?} x {b:?}: the inner sizes differ, {k} and {kb}. The first's columns are the second's rows; was a \
                     weight given transposed?"
                )));
            }
            let rows = first.elements() / (m * k).max(1) * m;
            flops = 2u64.saturating_mul(rows).saturating_mul(k).saturating_mul(n);
            if let Some(last) = shape.last_mut() {
                *last = n;
            }
        }
        Kind::Attention => {
            if inputs.iter().any(|tensor| tensor.shape != first.shape) {
                let shapes: Vec<_> = inputs.iter().map(|tensor| format!("{:?}", tensor.shape)).collect();
                return Err(wrong(format!("q, k and v must have one shape here, and they are {}.", shapes.join(", "))));
            }
            let sequence = spec.sequence.unwrap_or(first.elements() / first.row().max(1));
            flops = 4u64.saturating_mul(first.elements()).saturating_mul(sequence);
        }
        Kind::Split => {
            let parts = spec.outputs.len() as u64;
            if !first.row().is_multiple_of(parts) {
                return Err(wrong(format!("a last axis of {} cannot be split into {parts} equal parts.", first.row())));
            }
            if let Some(last) = shape.last_mut() {
                *last /= parts;
            }
        }
        Kind::Transpose => {
            let n = shape.len();
            if n < 2 {
                return Err(wrong(format!("a transpose swaps the last two axes, and `{}` has one.", first.name)));
            }
            shape.swap(n - 1, n - 2);
        }
    }
    if is_too_large(&shape) {
        return Err(wrong(format!("its result is {shape:?}, which no GPU holds.")));
    }
    Ok(Inferred { shape, dtype, flops, other_axis })
}

/// Beyond 2^50 elements; sums of bytes and operations stay far from what 64 bits hold.
fn is_too_large(shape: &[u64]) -> bool {
    shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).is_none_or(|n| n > 1 << 50)
}

/// Whether `small` is `large`, or is repeated along its leading axes and those where it has length 1.
fn broadcasts(small: &[u64], large: &[u64]) -> bool {
    small.len() <= large.len() && small.iter().rev().zip(large.iter().rev()).all(|(&s, &l)| s == l || s == 1)
}
