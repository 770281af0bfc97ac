//! Scalar types, state spaces and the modifiers that instructions share.

/// A fundamental type (PTX ISA 5.2.1) or one of the packed and alternate formats (5.2.3, 5.2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    /// Two packed 16-bit integers, of `add`, `min` and `max`.
    U16x2,
    S16x2,
    /// 8-bit floats, only as operands of `cvt`: one, or two packed into 16 bits.
    E4m3,
    E5m2,
    E4m3x2,
    E5m2x2,
    /// Two packed f32 (sm_100 and up).
    F32x2,
}

impl ScalarType {
    /// The type that PTX writes as `name`, after the dot. The formats that PTX has and this list has not
    /// (e2m1x2 and other 4- and 6-bit floats) are `None`.
    pub fn from_name(name: &str) -> Option<Self> {
        use ScalarType::*;
        Some(match name {
            "pred" => Pred,
            "b8" => B8,
            "b16" => B16,
            "b32" => B32,
            "b64" => B64,
            "b128" => B128,
            "u8" => U8,
            "u16" => U16,
            "u32" => U32,
            "u64" => U64,
            "s8" => S8,
            "s16" => S16,
            "s32" => S32,
            "s64" => S64,
            "f16" => F16,
            "f16x2" => F16x2,
            "bf16" => Bf16,
            "bf16x2" => Bf16x2,
            "tf32" => Tf32,
            "f32" => F32,
            "f64" => F64,
            "u16x2" => U16x2,
            "s16x2" => S16x2,
            "e4m3" => E4m3,
            "e5m2" => E5m2,
            "e4m3x2" => E4m3x2,
            "e5m2x2" => E5m2x2,
            "f32x2" => F32x2,
            _ => return None,
        })
    }

    /// The type of a `.wide` product: the same, twice as wide.
    pub fn twice(self) -> Option<Self> {
        use ScalarType::*;
        Some(match self {
            U16 => U32,
            S16 => S32,
            U32 => U64,
            S32 => S64,
            _ => return None,
        })
    }

    /// As PTX writes it, without the dot.
    pub fn name(self) -> &'static str {
        use ScalarType::*;
        match self {
            Pred => "pred",
            B8 => "b8",
            B16 => "b16",
            B32 => "b32",
            B64 => "b64",
            B128 => "b128",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            S8 => "s8",
            S16 => "s16",
            S32 => "s32",
            S64 => "s64",
            F16 => "f16",
            F16x2 => "f16x2",
            Bf16 => "bf16",
            Bf16x2 => "bf16x2",
            Tf32 => "tf32",
            F32 => "f32",
            F64 => "f64",
            U16x2 => "u16x2",
            S16x2 => "s16x2",
            E4m3 => "e4m3",
            E5m2 => "e5m2",
            E4m3x2 => "e4m3x2",
            E5m2x2 => "e5m2x2",
            F32x2 => "f32x2",
        }
    }

    /// Width in bits; a predicate counts as 1.
    pub fn bits(self) -> u32 {
        use ScalarType::*;
        match self {
            Pred => 1,
            B8 | U8 | S8 | E4m3 | E5m2 => 8,
            B16 | U16 | S16 | F16 | Bf16 | E4m3x2 | E5m2x2 => 16,
            B32 | U32 | S32 | F16x2 | Bf16x2 | Tf32 | F32 | U16x2 | S16x2 => 32,
            B64 | U64 | S64 | F64 | F32x2 => 64,
            B128 => 128,
        }
    }

    /// Size in memory, in bytes; a predicate has none and counts as 1.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub fn is_signed(self) -> bool {
        use ScalarType::*;
        matches!(self, S8 | S16 | S32 | S64 | S16x2)
    }

    /// Whether this is one of the `.b` types, which agree with every type of their size.
    pub fn is_untyped(self) -> bool {
        use ScalarType::*;
        matches!(self, B8 | B16 | B32 | B64 | B128)
    }

    pub fn is_float(self) -> bool {
        use ScalarType::*;
        matches!(self, F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F64 | F32x2 | E4m3 | E5m2 | E4m3x2 | E5m2x2)
    }
}

/// State spaces (PTX ISA 5.1). `Generic` is an address that any of global, shared, local, constant
/// or parameter memory may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Generic,
    Global,
    /// `.shared` and `.shared::cta`.
    Shared,
    /// `.shared::cluster`.
    SharedCluster,
    Local,
    Const,
    /// Kernel parameters, and the parameter variables of calls.
    Param,
}

impl Space {
    /// As PTX writes it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::SharedCluster => "shared::cluster",
            Self::Local => "local",
            Self::Const => "const",
            Self::Param => "param",
        }
    }
}

/// Rounding of a floating-point result (PTX ISA 9.7.3) or of a conversion to integer (the `i` forms).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `.rn`: nearest, ties to even.
    Nearest,
    /// `.rna`: nearest, ties away from zero.
    NearestAway,
    Zero,
    /// `.rm`: towards minus infinity.
    Minus,
    /// `.rp`: towards plus infinity.
    Plus,
    /// `.rni`, `.rzi`, `.rmi`, `.rpi`: to an integral value.
    NearestInt,
    ZeroInt,
    MinusInt,
    PlusInt,
    /// `.rs`: stochastic.
    Stochastic,
}

/// How exact a floating-point function must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Accuracy {
    /// As rounded by [`Mode::rounding`].
    #[default]
    Exact,
    /// `.approx`: within the error that the ISA states.
    Approx,
    /// `.full`: `div.full`, 2 ulp over the full range.
    Full,
}

/// The modifiers of an arithmetic instruction. What an instruction cannot have is left at its default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    pub rounding: Option<Rounding>,
    pub accuracy: Accuracy,
    /// `.ftz`: subnormal inputs and results become zero of the same sign.
    pub ftz: bool,
    /// `.sat`: floats clamp to [0, 1] (NaN becomes 0), integers to their range.
    pub sat: bool,
    /// `.satfinite` of `cvt`.
    pub satfinite: bool,
    /// `.relu`: negative results become 0, NaN becomes canonical NaN.
    pub relu: bool,
    /// `.NaN` of min and max: NaN wins instead of losing.
    pub nan: bool,
    /// `.xorsign.abs` of min and max.
    pub xorsign_abs: bool,
    /// `.cc`: writes the carry flag.
    pub carry_out: bool,
    /// `addc`, `subc`, `madc`: reads the carry flag.
    pub carry_in: bool,
    /// `.oob` of fma.
    pub oob: bool,
}

/// Comparison operators of `set` and `setp` (PTX ISA 9.3.1). The `U` forms are also true when an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned lower, lower or same, higher, higher or same.
    Lo,
    Ls,
    Hi,
    Hs,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Both operands are numbers; either is NaN.
    Num,
    Nan,
}

/// How `set` and `setp` combine a comparison with predicate `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BoolOp {
    And,
    Or,
    Xor,
}

/// Scope of a memory operation (PTX ISA 8.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// Ordering of a memory operation (PTX ISA 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    Weak,
    Volatile,
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    /// Only on `fence`.
    SeqCst,
}

/// What the `%reserved_smem_offset_` registers tell (PTX ISA 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReservedSmem {
    Begin,
    End,
    /// The region's size.
    Cap,
    /// One of the two parts that the region has.
    Part(u8),
}

/// Special registers (PTX ISA 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid.x` and so on: 0, 1, 2 for x, y, z; `.w` reads as zero (dimensions: one).
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    TotalSmemSize,
    DynamicSmemSize,
    AggrSmemSize,
    /// `%reserved_smem_offset_begin` and so on: where the system's own shared memory lies.
    ReservedSmem(ReservedSmem),
    /// Clusters: reads as a cluster of one block unless launched otherwise.
    ClusterId(u8),
    NclusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    /// `%envreg0` to `%envreg31`: what the driver tells the kernel.
    Envreg(u8),
    /// The rest of the manual's list.
    Other,
}
