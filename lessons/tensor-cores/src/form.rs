//! The forms of `mma.sync` that the lesson has kernels for.

use clap::ValueEnum;

/// The sizes of a product, as PTX writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    M16n8k32,
    M16n8k16,
    M16n8k8,
    M16n8k4,
    M8n8k16,
    M8n8k4,
}

/// The type of the factors' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Type {
    Bf16,
    F16,
    Tf32,
    S8,
    E4m3,
    F64,
}

/// A form of `mma.sync`: A is m x k, B is k x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    pub(crate) ty: Type,
}

impl Form {
    pub(crate) const ALL: [Form; 11] = [
        Form { shape: Shape::M16n8k16, ty: Type::Bf16 },
        Form { shape: Shape::M16n8k16, ty: Type::F16 },
        Form { shape: Shape::M16n8k8, ty: Type::Bf16 },
        Form { shape: Shape::M16n8k8, ty: Type::F16 },
        Form { shape: Shape::M16n8k8, ty: Type::Tf32 },
        Form { shape: Shape::M16n8k4, ty: Type::Tf32 },
        Form { shape: Shape::M16n8k32, ty: Type::S8 },
        Form { shape: Shape::M16n8k16, ty: Type::S8 },
        Form { shape: Shape::M8n8k16, ty: Type::S8 },
        Form { shape: Shape::M16n8k32, ty: Type::E4m3 },
        Form { shape: Shape::M8n8k4, ty: Type::F64 },
    ];

    /// The first form with this shape and type, where they are given.
    pub(crate) fn find(shape: Option<Shape>, ty: Option<Type>) -> Option<Form> {
        let fits = |form: &&Form| shape.is_none_or(|s| s == form.shape) && ty.is_none_or(|t| t == form.ty);
        Form::ALL.iter().find(fits).copied()
    }

    /// m, n and k.
    pub(crate) fn sizes(self) -> [usize; 3] {
        match self.shape {
            Shape::M16n8k32 => [16, 8, 32],
            Shape::M16n8k16 => [16, 8, 16],
            Shape::M16n8k8 => [16, 8, 8],
            Shape::M16n8k4 => [16, 8, 4],
            Shape::M8n8k16 => [8, 8, 16],
            Shape::M8n8k4 => [8, 8, 4],
        }
    }

    /// Elements in a register of A or B.
    pub(crate) fn each(self) -> usize {
        match self.ty {
            Type::Bf16 | Type::F16 => 2,
            Type::Tf32 | Type::F64 => 1,
            Type::S8 | Type::E4m3 => 4,
        }
    }

    /// Bytes of an element of A or B.
    pub(crate) fn bytes(self) -> usize {
        if self.ty == Type::F64 { 8 } else { 4 / self.each() }
    }

    /// Elements of A, of B and of the sums that a lane holds.
    pub(crate) fn held(self) -> [usize; 3] {
        let [m, n, k] = self.sizes();
        [m * k / 32, k * n / 32, m * n / 32]
    }

    /// Compute capability, as 80 for 8.0.
    pub(crate) fn capability(self) -> u32 {
        if self.ty == Type::E4m3 { 89 } else { 80 }
    }

    /// `m16n8k16`.
    pub(crate) fn shape_name(self) -> String {
        let [m, n, k] = self.sizes();
        format!("m{m}n{n}k{k}")
    }

    pub(crate) fn type_name(self) -> &'static str {
        match self.ty {
            Type::Bf16 => "bf16",
            Type::F16 => "f16",
            Type::Tf32 => "tf32",
            Type::S8 => "s8",
            Type::E4m3 => "e4m3",
            Type::F64 => "f64",
        }
    }

    /// `partners_m16n8k16_bf16`.
    pub(crate) fn kernel(self, what: &str) -> String {
        format!("{what}_{}_{}", self.shape_name(), self.type_name())
    }
}
