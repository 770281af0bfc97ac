//! The typed module that parsing produces.
//!
//! Names are resolved: a register, label, variable or function is an index into the table of its
//! scope, so that whoever executes the module never looks a name up. Scoped registers of inline
//! assembly blocks are entries of their own, renamed by nothing but their index.

mod instruction;
mod matrix;
mod operands;
mod operation;
mod types;

pub use instruction::*;
pub use matrix::*;
pub use operation::*;
pub use types::*;

/// A half-open range of byte offsets in the PTX text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

macro_rules! index {
    ($($(#[$doc:meta])+ $name:ident)*) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// Index into [`Function::registers`].
    RegId
    /// Index into [`Function::labels`].
    LabelId
    /// Index into [`Module::variables`]: global, constant and module-scope shared variables.
    GlobalId
    /// Index into [`Function::variables`]: local, shared and parameter variables of one function,
    /// the parameter blocks of its calls included.
    LocalId
    /// Index into [`Module::functions`].
    FunctionId
    /// Index into [`Module::locations`].
    LocId
    /// Index into [`Module::files`].
    FileId
}

/// One PTX translation unit.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version major.minor`.
    pub version: (u32, u32),
    /// `.target`, for example `sm_90`.
    pub target: String,
    /// The number in the target's name, for example 90. Zero when there is none.
    pub sm: u32,
    /// `.address_size`: 64, also where it is not said.
    pub address_size: u32,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// `.file` directives, in order of appearance.
    pub files: Vec<SourceFile>,
    /// Distinct `.loc` positions. An entry's `inlined_at` is always a smaller index.
    pub locations: Vec<Location>,
}

impl Module {
    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let index = self.functions.iter().position(|function| function.name == name)?;
        Some(FunctionId(index as u32))
    }
}

/// A `.file` directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The number that `.loc` uses.
    pub number: u32,
    pub path: String,
}

/// A `.loc` directive: a position in the source that an instruction was made from (PTX ISA 11.5.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    pub file: FileId,
    /// One-based; 0 when the compiler knew no line.
    pub line: u32,
    /// One-based; 0 when the compiler knew no column.
    pub column: u32,
    /// The call that was inlined here, and the (mangled) name of the function that was inlined.
    pub inlined_at: Option<LocId>,
    pub function: Option<String>,
}

/// A variable of any state space but `.reg`.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub span: Span,
    pub space: Space,
    /// The element type; a vector declaration (`.v4 .f32`) is an array of its elements.
    pub ty: ScalarType,
    /// In bytes, at least that of the element type (of the vector, if declared as one).
    pub align: u32,
    /// In bytes. Zero for an unsized `extern .shared` array, whose size the launch decides.
    pub size: u64,
    pub linkage: Linkage,
    pub initializer: Vec<Init>,
}

/// One piece of an initialiser; bytes that no piece covers are zero.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Little-endian bytes at an offset of the variable.
    Bytes { offset: u64, bytes: Vec<u8> },
    /// The address of a variable plus `addend`: `size` of its bytes, the least significant of which is its byte `from`,
    /// as `0xff00(name)` asks for. `generic` when written `generic(name)`.
    Address { offset: u64, size: u8, from: u8, target: GlobalId, addend: i64, generic: bool },
    /// The same of a function.
    Function { offset: u64, size: u8, from: u8, target: FunctionId },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A `.entry` or `.func`.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// The name's position.
    pub span: Span,
    pub is_entry: bool,
    pub linkage: Linkage,
    /// Parameters in order. For an entry they are laid out at `offset` in the launch's parameter
    /// buffer; for a `.func` they may be registers.
    pub params: Vec<Param>,
    /// Return parameters of a `.func`.
    pub returns: Vec<Param>,
    pub registers: Vec<Register>,
    pub variables: Vec<Variable>,
    pub labels: Vec<Label>,
    /// Places in `body`, ascending, before which `.pragma "nounroll"` stands: a loop that begins there is not unrolled (PTX ISA,
    /// "Pragma Strings").
    pub nounroll: Vec<u32>,
    /// False for a forward or extern declaration.
    pub has_body: bool,
    pub body: Vec<Instruction>,
    pub directives: Directives,
}

/// A formal parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub span: Span,
    pub place: ParamPlace,
    pub ty: ScalarType,
    pub align: u32,
    /// In bytes.
    pub size: u32,
    /// In bytes from the start of the parameter buffer (entries), each aligned to `align`.
    pub offset: u32,
}

/// Where a parameter lives inside the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamPlace {
    /// `.param`: memory, an entry of [`Function::variables`] with space [`Space::Param`].
    Memory(LocalId),
    /// `.reg`: a register of a `.func`.
    Register(RegId),
}

/// Performance-tuning directives of an entry (PTX ISA 11.4). Zero or `None` where absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    pub min_blocks_per_sm: Option<u32>,
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: the blocks of a cluster.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: a launch has to say how many blocks a cluster has, unless the directive above does.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: blocks that a cluster has at most.
    pub max_cluster_rank: Option<u32>,
    pub noreturn: bool,
}

#[derive(Clone, Debug)]
pub struct Register {
    pub name: String,
    pub ty: ScalarType,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub name: String,
    pub span: Span,
    /// Index into the body of the instruction that follows; the body's length at its end.
    pub target: u32,
}
