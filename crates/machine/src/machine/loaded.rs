//! A module that is ready to run.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use fusion_ptx::ast::{Callee, Function, FunctionId, Init, Linkage, Module, Op, ScalarType, Space, Variable};

use super::blame;
use super::resources::{self, Assemble, Assembled, Resources};
use crate::code::{Code, window};
use crate::lower::{self, Addresses};
use crate::memory::{AllocationKind, Memory};
use crate::profile::Profile;
use crate::report::{PtxPosition, SourcePosition};

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    pub message: String,
    /// One-based line of the PTX; 0 when no line is to blame.
    pub line: u32,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for LoadError {}

/// A kernel of a loaded module: the index of an entry in the module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub u32);

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    pub name: String,
    /// In bytes, from the start of the parameter buffer.
    pub offset: u32,
    pub size: u32,
    /// What the kernel's source calls it, where the PTX tells (see [`Loaded`]).
    pub argument: Option<String>,
    /// Whether it is a floating-point number.
    pub float: bool,
    /// Whether it is a structure, whose bytes the PTX has as an array of `.b8`.
    pub structure: bool,
}

/// What is known of a kernel before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    pub name: String,
    pub params: Vec<ParamInfo>,
    /// Size of the parameter buffer.
    pub param_bytes: u32,
    pub static_shared: u32,
    /// Constant memory of the module.
    pub constant_bytes: u64,
    /// Local memory of a thread, as the machine lays it out.
    pub local_bytes: u32,
    /// The largest block that the kernel was compiled for (`.maxntid`, `.reqntid`). Its registers may allow only smaller ones.
    pub max_threads: u32,
    pub ptx_version: (u32, u32),
    /// `.reqntid`.
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`.
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster`.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: blocks of a cluster at most.
    pub max_cluster: Option<u32>,
}

/// A module that is ready to run.
///
/// NVRTC numbers a kernel's parameters. Who knows the source may add what they are called there, as comments of the
/// PTX: `// parameters add_gelu: x, y, out, n`, with `_` for one whose name is not known.
#[derive(Debug)]
pub struct Loaded {
    module: Module,
    source: String,
    places: blame::Places,
    codes: HashMap<u32, Code>,
    /// The same for the arithmetic lints, made when they are first asked for.
    checked: HashMap<u32, OnceLock<Code>>,
    addresses: Addresses,
    /// Base addresses and names of the variables in device memory.
    names: Vec<(u64, String)>,
    /// What the parameters of kernels are called in the source, by the kernel's name.
    arguments: HashMap<String, Vec<Option<String>>>,
    profile: Profile,
    assemble: Option<Assemble>,
    /// What the assembler made of the kernels, by name, once somebody has asked.
    assembled: OnceLock<Assembled>,
}

impl Loaded {
    /// Whether a kernel's blocks can hear of each other: by atomics, fences or volatile accesses, or in the shared memory of a cluster.
    pub fn communicates(&self, kernel: Kernel) -> bool {
        self.code(kernel).is_none_or(|code| code.communicates || code.maps)
    }

    pub(super) fn new(
        module: Module,
        source: &str,
        memory: &Memory,
        profile: &Profile,
        assemble: Option<Assemble>,
    ) -> Result<Self, LoadError> {
        let line = |span| fusion_ptx::position(source, span).line;
        for function in &module.functions {
            for instruction in &function.body {
                if let Op::Call { callee: Callee::Direct(id), .. } = &instruction.op
                    && let Some(target) = module.functions.get(id.index())
                    && !target.has_body
                    && !is_runtime(&target.name)
                {
                    let message = format!("unresolved extern function `{}`", target.name);
                    return Err(LoadError { message, line: line(instruction.span) });
                }
            }
        }
        let mut loaded = Self {
            addresses: Addresses { globals: vec![None; module.variables.len()], local_bytes: 0 },
            module,
            source: source.to_string(),
            places: blame::Places::default(),
            codes: HashMap::new(),
            checked: HashMap::new(),
            names: Vec::new(),
            arguments: arguments(source),
            profile: profile.clone(),
            assemble,
            assembled: OnceLock::new(),
        };
        if let Err(error) = loaded.place_variables(memory) {
            loaded.unload(memory);
            return Err(error);
        }
        for (i, function) in loaded.module.functions.iter().enumerate() {
            if function.is_entry && function.has_body {
                let code = lower::lower(&loaded.module, FunctionId(i as u32), &loaded.addresses);
                // The assembler in an H200's driver loads what fits with an opt-in, without asking for one; `nvcc` and
                // NVRTC refuse at 48 KiB, but before there is anything to load.
                let (fixed, most) = (code.static_shared, profile.shared_per_block_optin);
                if fixed > most {
                    loaded.unload(memory);
                    let name = &function.name;
                    let message =
                        format!("Entry function '{name}' uses too much shared data ({fixed:#x} bytes, {most:#x} max)");
                    return Err(LoadError { message, line: 0 });
                }
                loaded.codes.insert(i as u32, code);
                loaded.checked.insert(i as u32, OnceLock::new());
            }
        }
        Ok(loaded)
    }

    pub(super) fn unload(&self, memory: &Memory) {
        for (base, _) in &self.names {
            // Already freed by an earlier call: nothing is left to do.
            let _ = memory.free(*base);
        }
    }

    fn place_variables(&mut self, memory: &Memory) -> Result<(), LoadError> {
        let source = &self.source;
        let line = |span| fusion_ptx::position(source, span).line;
        for (i, variable) in self.module.variables.iter().enumerate() {
            let failed = |message: String| LoadError { message, line: line(variable.span) };
            let kind = match variable.space {
                Space::Global => AllocationKind::Global,
                Space::Const => AllocationKind::Constant,
                Space::Local => {
                    let at = u64::from(self.addresses.local_bytes).next_multiple_of(variable.align.max(1).into());
                    let end = at.checked_add(variable.size).and_then(|end| u32::try_from(end).ok());
                    let end = end.filter(|end| *end <= Profile::MAX_LOCAL_PER_THREAD);
                    self.addresses.globals[i] = Some(at);
                    self.addresses.local_bytes =
                        end.ok_or_else(|| failed(format!("no local memory for variable `{}`", variable.name)))?;
                    continue;
                }
                _ => continue,
            };
            if variable.linkage == Linkage::Extern {
                return Err(failed(format!("unresolved extern variable `{}`", variable.name)));
            }
            let base = memory.alloc(variable.size.max(1), kind).map_err(|_| {
                failed(format!("no memory for variable `{}` of {} bytes", variable.name, variable.size))
            })?;
            self.addresses.globals[i] = Some(base);
            self.names.push((base, variable.name.clone()));
        }
        for (i, variable) in self.module.variables.iter().enumerate() {
            let Some(base) = self.addresses.globals[i].filter(|_| variable.space != Space::Local) else { continue };
            for init in &variable.initializer {
                let (offset, bytes) = match init {
                    Init::Bytes { offset, bytes } => (*offset, bytes.clone()),
                    Init::Address { offset, size, from, target, addend, .. } => {
                        let address = self.addresses.globals.get(target.index()).copied().flatten().unwrap_or(0);
                        (*offset, bytes_of(address.wrapping_add_signed(*addend), *from, *size))
                    }
                    Init::Function { offset, size, from, target } => {
                        (*offset, bytes_of(window::FUNCTION + 16 * u64::from(target.0), *from, *size))
                    }
                };
                memory.write(base + offset, &bytes).map_err(|_| LoadError {
                    message: format!("the initializer of `{}` has more bytes than the variable", variable.name),
                    line: line(variable.span),
                })?;
            }
        }
        Ok(())
    }

    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels().find(|(_, f)| f.name == name).map(|(kernel, _)| kernel)
    }

    pub fn kernel_names(&self) -> Vec<&str> {
        self.kernels().map(|(_, f)| f.name.as_str()).collect()
    }

    /// What is known of a kernel; empty for an index that is none.
    pub fn info(&self, kernel: Kernel) -> KernelInfo {
        let (Some(f), Some(code)) = (self.module.functions.get(kernel.0 as usize), self.code(kernel)) else {
            return KernelInfo::default();
        };
        let constant = self.module.variables.iter().filter(|v| v.space == Space::Const).map(|v| v.size).sum();
        let by_directive = f.directives.max_threads.or(f.directives.required_threads);
        let most = by_directive.map_or(u32::MAX, |t| t.iter().fold(1u32, |n, &t| n.saturating_mul(t.max(1))));
        let arguments = self.arguments.get(&f.name).filter(|names| names.len() == f.params.len());
        let params = f.params.iter().enumerate().map(|(i, p)| ParamInfo {
            name: p.name.clone(),
            argument: arguments.and_then(|names| names.get(i).cloned().flatten()),
            offset: p.offset,
            size: p.size,
            float: matches!(p.ty, ScalarType::F32 | ScalarType::F64),
            structure: p.ty == ScalarType::B8 && p.size > 1,
        });
        KernelInfo {
            name: f.name.clone(),
            params: params.collect(),
            param_bytes: code.param_bytes,
            static_shared: code.static_shared,
            constant_bytes: constant,
            local_bytes: code.function(code.entry).map_or(0, |f| f.frame_bytes),
            max_threads: most.min(Profile::MAX_THREADS_PER_BLOCK),
            ptx_version: self.module.version,
            required_threads: f.directives.required_threads,
            required_cluster: f.directives.required_cluster.map(|dims| dims.map(|n| n.max(1))),
            explicit_cluster: f.directives.explicit_cluster,
            max_cluster: f.directives.max_cluster_rank,
        }
    }

    /// What a thread of a kernel takes: asked of the assembler when there is one that knows it, else estimated. The first call may take
    /// as long as the assembler does.
    pub fn resources(&self, kernel: Kernel) -> Resources {
        let (Some(f), Some(code)) = (self.module.functions.get(kernel.0 as usize), self.code(kernel)) else {
            return Resources::default();
        };
        let assemble =
            || self.assemble.and_then(|assemble| assemble(&self.source, self.profile.compute)).unwrap_or_default();
        let known = self.assembled.get_or_init(assemble).get(&f.name).copied();
        known.unwrap_or_else(|| resources::estimate(&self.profile, code, &f.directives))
    }

    /// The most registers that a thread of a kernel can have, whatever the assembler makes of it.
    pub(super) fn most_registers(&self, kernel: Kernel) -> u32 {
        let function = self.module.functions.get(kernel.0 as usize);
        function.map_or(Profile::MAX_REGISTERS_PER_THREAD, |f| resources::bound(&self.profile, &f.directives))
    }

    /// Where an instruction of a kernel stands in the source, innermost first, and in the PTX.
    pub fn place(&self, kernel: Kernel, pc: u32) -> (Vec<SourcePosition>, Option<PtxPosition>) {
        match self.code(kernel) {
            Some(code) => self.places.place(code, &self.module, &self.source, pc),
            None => Default::default(),
        }
    }

    /// An instruction of a kernel as the PTX has it.
    pub(super) fn text(&self, kernel: Kernel, pc: u32) -> Option<String> {
        blame::text(self.code(kernel)?, &self.source, pc)
    }

    /// Address and size of a `.global` or `.const` variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let is_device = |variable: &Variable| matches!(variable.space, Space::Global | Space::Const);
        let mut variables = self.module.variables.iter().enumerate();
        let (i, variable) = variables.find(|(_, variable)| is_device(variable) && variable.name == name)?;
        Some((self.addresses.globals[i]?, variable.size))
    }

    pub(super) fn code(&self, kernel: Kernel) -> Option<&Code> {
        self.codes.get(&kernel.0)
    }

    /// The code that the arithmetic lints look at.
    pub(super) fn checked(&self, kernel: Kernel) -> Option<&Code> {
        let code = self.code(kernel)?;
        Some(self.checked.get(&kernel.0)?.get_or_init(|| lower::checked(&self.module, code)))
    }

    pub(super) fn module(&self) -> &Module {
        &self.module
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn names(&self) -> &[(u64, String)] {
        &self.names
    }

    fn kernels(&self) -> impl Iterator<Item = (Kernel, &Function)> {
        let functions = self.module.functions.iter().enumerate();
        functions.filter(|(_, f)| f.is_entry && f.has_body).map(|(i, f)| (Kernel(i as u32), f))
    }
}

/// What comments like `// parameters add_gelu: x, y, out, n` say.
fn arguments(source: &str) -> HashMap<String, Vec<Option<String>>> {
    let comments = source.lines().filter_map(|line| line.strip_prefix("// parameters ")?.split_once(':'));
    let name = |name: &str| Some(name.trim().to_owned()).filter(|name| !matches!(name.as_str(), "" | "_"));
    comments.map(|(kernel, names)| (kernel.trim().to_owned(), names.split(',').map(name).collect())).collect()
}

/// Functions that the device runtime provides; those that are not emulated say so when they are called.
fn is_runtime(name: &str) -> bool {
    matches!(name, "vprintf" | "__assertfail" | "malloc" | "free") || name.starts_with("cuda")
}

/// Up to `size` bytes of an address, from its byte `from` upwards.
fn bytes_of(address: u64, from: u8, size: u8) -> Vec<u8> {
    address.to_le_bytes().into_iter().skip(from.into()).take(size.into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_the_parameters() {
        let ptx = ".version 8.0\n.target sm_75\n.address_size 64\n\
                   .visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1) { ret; }\n\
                   .visible .entry l(.param .u64 l_param_0) { ret; }\n\
                   .visible .entry m(.param .u64 m_param_0) { ret; }\n\
                   // parameters k: x, _\n// parameters l: a, b\n// parameters none\n// parameters :\n";
        let module = fusion_ptx::parse(ptx).module;
        let loaded = Loaded::new(module, ptx, &Memory::new(1 << 20), &Profile::default(), None).unwrap();
        let named = |kernel| -> Vec<Option<String>> {
            loaded.info(loaded.kernel(kernel).unwrap()).params.into_iter().map(|p| p.argument).collect()
        };
        assert_eq!(named("k"), [Some("x".to_owned()), None]);
        // Names that do not match the parameters say nothing.
        assert_eq!((named("l"), named("m")), (vec![None], vec![None]));
    }
}
