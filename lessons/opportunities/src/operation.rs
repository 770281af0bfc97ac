//! The operations that a graph may name, and what the model knows of each.

/// How an operation goes over its data; what may be fused with what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each element of the output from the same element of the inputs, which may be broadcast.
    Elementwise,
    /// Each row of the output needs the whole row of the input: the last axis.
    Row,
    /// One value for all elements along one axis.
    Reduce,
    /// Tensor cores and a library: every output element needs a row and a column.
    Matmul,
    Attention,
    /// Moves parts of the last axis into tensors of their own.
    Split,
    /// Swaps the last two axes.
    Transpose,
}

impl Kind {
    /// Kernels that people take from a library because their own would be slower.
    pub(crate) fn is_heavy(self) -> bool {
        matches!(self, Kind::Matmul | Kind::Attention)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Elementwise => "elementwise",
            Kind::Row => "row",
            Kind::Reduce => "reduction",
            Kind::Matmul => "matmul",
            Kind::Attention => "attention",
            Kind::Split | Kind::Transpose => "movement",
        }
    }
}

/// One kind of operation.
#[derive(Debug)]
pub(crate) struct Operator {
    /// What a graph's `op` calls it.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Least and greatest number of inputs.
    pub(crate) inputs: (usize, usize),
    /// Floating-point operations per element of the input, a tanh or an exp counted as one; a matmul's are counted by shape.
    pub(crate) flops: u64,
    /// Block-wide reductions.
    pub(crate) reductions: u32,
    /// Registers for what lives only while it runs: an estimate.
    pub(crate) registers: u32,
    /// cuBLASLt has it as a matmul's epilogue, or as its `beta C` (cuBLAS manual, `cublasLtEpilogue_t`).
    pub(crate) epilogue: bool,
}

const fn elementwise(name: &'static str, inputs: usize, flops: u64, registers: u32, epilogue: bool) -> Operator {
    Operator { name, kind: Kind::Elementwise, inputs: (inputs, inputs), flops, reductions: 0, registers, epilogue }
}

const fn row(name: &'static str, inputs: (usize, usize), flops: u64, reductions: u32) -> Operator {
    Operator { name, kind: Kind::Row, inputs, flops, reductions, registers: 8, epilogue: false }
}

const fn reduce(name: &'static str) -> Operator {
    Operator { name, kind: Kind::Reduce, inputs: (1, 1), flops: 1, reductions: 1, registers: 4, epilogue: false }
}

const fn heavy(name: &'static str, kind: Kind, inputs: usize, registers: u32) -> Operator {
    Operator { name, kind, inputs: (inputs, inputs), flops: 0, reductions: 0, registers, epilogue: false }
}

const fn movement(name: &'static str, kind: Kind) -> Operator {
    Operator { name, kind, inputs: (1, 1), flops: 0, reductions: 0, registers: 2, epilogue: false }
}

/// All of them.
pub(crate) const OPERATORS: &[Operator] = &[
    elementwise("add", 2, 1, 2, true),
    elementwise("mul", 2, 1, 2, false),
    elementwise("sub", 2, 1, 2, false),
    elementwise("div", 2, 1, 4, false),
    elementwise("sqrt", 1, 1, 3, false),
    elementwise("bias", 2, 1, 2, true),
    elementwise("scale", 1, 1, 2, false),
    elementwise("relu", 1, 1, 2, true),
    // 0.5 t (1 + tanh(c (t + d t t t))): seven multiplications and additions, and the tanh.
    elementwise("gelu", 1, 8, 6, true),
    elementwise("silu", 1, 4, 4, false),
    elementwise("exp", 1, 1, 3, false),
    elementwise("dropout", 2, 2, 3, false),
    elementwise("cast", 1, 0, 2, false),
    elementwise("quantize", 2, 4, 4, false),
    elementwise("dequantize", 2, 1, 2, false),
    // Sum; difference, square and sum; difference and scale; gamma and beta.
    row("layernorm", (3, 3), 8, 2),
    row("rmsnorm", (2, 2), 4, 1),
    row("l2norm", (1, 1), 3, 1),
    row("softmax", (1, 1), 5, 2),
    reduce("sum"),
    reduce("max"),
    reduce("absmax"),
    reduce("mean"),
    // A 128 x 128 tile of sums over 256 threads, and what feeds it.
    heavy("matmul", Kind::Matmul, 2, 128),
    heavy("attention", Kind::Attention, 3, 168),
    movement("split", Kind::Split),
    movement("transpose", Kind::Transpose),
];

impl Operator {
    pub(crate) fn named(name: &str) -> Option<&'static Operator> {
        OPERATORS.iter().find(|operator| operator.name == name)
    }
}

/// What elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DType {
    F32,
    F16,
    Bf16,
    Fp8,
    I32,
    I8,
}

impl DType {
    pub(crate) fn bytes(self) -> u64 {
        match self {
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::Fp8 | DType::I8 => 1,
        }
    }
}
