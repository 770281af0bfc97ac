//! CUDA C++ to PTX or machine code, with NVRTC, and with NVRTC's messages taken apart.

mod compiled;
mod diagnostic;
mod error;
mod kept;
mod parameters;
mod standard;
mod tokens;

use std::collections::HashMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use fusion_toolchain::{Origin, Toolchain};

pub use compiled::Compiled;
pub use diagnostic::{Diagnostic, Place, Severity};
pub use error::CompileError;
pub use fusion_nvrtc::Usage;
use fusion_nvrtc::{Failure, Nul, Nvrtc, Store, Unit};

/// The few standard headers that every compilation has, by name and text: NVRTC has none of its own.
pub fn standard_headers() -> &'static [(&'static str, &'static str)] {
    standard::HEADERS
}

/// A CUDA C++ text and what to call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// As it should appear in messages and in line tables: `exercises/day22/src/add_gelu.cu`. A header's name is the
    /// one that `#include` gives.
    pub name: &'a str,
    pub text: &'a str,
}

/// How to compile. The default is what the course's exercises are judged with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `--use_fast_math`: approximate division, square root and transcendental functions, denormals flushed to zero.
    pub fast_math: bool,
    /// Macros as `NAME` or `NAME=VALUE`.
    pub define: Vec<String>,
    /// Further options in NVRTC's own spelling, for example `--maxrregcount=32`.
    pub arguments: Vec<String>,
}

/// An open NVRTC.
#[derive(Debug)]
pub struct Compiler {
    nvrtc: Nvrtc,
    include: Vec<PathBuf>,
    path: PathBuf,
    /// What it has made before.
    kept: Option<Store>,
}

impl Compiler {
    /// Opens NVRTC. It stays open for the life of the process.
    ///
    /// # Errors
    /// [`CompileError::Open`] when the library or one that it needs cannot be loaded.
    pub fn open(toolchain: &Toolchain) -> Result<Compiler, CompileError> {
        let path = toolchain.nvrtc.clone();
        let store = |kind| (toolchain.origin == Origin::Cache).then(|| Store::make(&path, kind)).flatten();
        // The assembler looks for its own when it is opened.
        let [_, kept] = [fusion_nvrtc::REGISTERS, kept::KERNELS].map(store);
        let nvrtc = Nvrtc::open(&toolchain.nvrtc, &toolchain.builtins)
            .map_err(|why| CompileError::Open { path: path.clone(), why })?;
        Ok(Compiler { nvrtc, include: toolchain.include.clone(), path, kept })
    }

    /// NVRTC's own version, major and minor.
    pub fn version(&self) -> (u32, u32) {
        self.nvrtc.version
    }

    /// Whether what is made of a source is kept, if the compiler keeps anything and says nothing of the source.
    pub fn would_keep(source: &Source, headers: &[Source], options: &Options) -> bool {
        kept::key(source, headers, options, ()).is_some()
    }

    /// The library in use.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The architectures that it makes code for, as 75 for 7.5, in ascending order.
    pub fn architectures(&self) -> &[u32] {
        &self.nvrtc.architectures
    }

    /// Compiles to PTX for a device of this compute capability (90 for 9.0) or, where NVRTC does not know it, for the
    /// nearest older one that it knows, else the oldest. Comments at its end tell what the kernels' parameters are
    /// called, which is where the emulated device's reports have it from. What was made of the same texts before is not
    /// made again, also not by another process.
    ///
    /// # Errors
    /// See [`CompileError`].
    pub fn ptx(
        &self,
        source: &Source,
        headers: &[Source],
        capability: u32,
        options: &Options,
    ) -> Result<Compiled, CompileError> {
        let (architecture, target) = self.virtual_target(source, headers, capability);
        let how = (self.version(), self.arguments(&target, options));
        let kept = self.kept.as_ref().and_then(|store| Some((store, kept::key(source, headers, options, how)?)));
        if let Some(ptx) = kept.and_then(|(store, key)| kept::read(store, key)) {
            return Ok(Compiled {
                name: source.name.to_owned(),
                ptx,
                machine_code: None,
                architecture,
                version: self.version(),
                diagnostics: Vec::new(),
                log: String::new(),
            });
        }
        let mut compiled = self.compile(source, headers, &target, architecture, options)?;
        let texts: Vec<&str> = headers.iter().chain([source]).map(|it| it.text).collect();
        parameters::add_names(&mut compiled.ptx, &texts);
        // What was warned of is said again.
        if let Some((store, key)) = kept.filter(|_| compiled.log.is_empty()) {
            kept::write(store, key, &compiled.ptx);
        }
        Ok(compiled)
    }

    /// Compiles to machine code for a device of this compute capability. A device that is newer than NVRTC gets PTX,
    /// which its driver translates.
    ///
    /// # Errors
    /// [`CompileError::Architecture`] when the device is older than all that NVRTC makes code for.
    pub fn machine_code(
        &self,
        source: &Source,
        headers: &[Source],
        capability: u32,
        options: &Options,
    ) -> Result<Compiled, CompileError> {
        match self.at_most(capability) {
            Some(known) if known == capability => {
                let target = format!("sm_{capability}{}", own_features(source, headers, known, capability));
                self.compile(source, headers, &target, capability, options)
            }
            Some(older) => self.compile(source, headers, &format!("compute_{older}"), older, options),
            None => Err(CompileError::Architecture {
                capability,
                oldest: self.architectures().first().copied().unwrap_or(capability),
                version: self.version(),
            }),
        }
    }

    /// What the kernels of some PTX take on a device of this compute capability, by name: what the assembler makes of it, with no GPU. `None`
    /// where it makes nothing of it.
    pub fn usage(&self, ptx: &str, capability: (u32, u32)) -> Option<HashMap<String, Usage>> {
        fusion_nvrtc::assemble(&self.nvrtc, ptx, capability)
    }

    fn at_most(&self, capability: u32) -> Option<u32> {
        self.architectures().iter().copied().filter(|&known| known <= capability).max()
    }

    /// The architecture whose PTX is made for a device, and what the compiler calls it.
    fn virtual_target(&self, source: &Source, headers: &[Source], capability: u32) -> (u32, String) {
        let architecture = self.at_most(capability).or(self.architectures().first().copied()).unwrap_or(capability);
        (architecture, format!("compute_{architecture}{}", own_features(source, headers, architecture, capability)))
    }

    fn arguments(&self, target: &str, options: &Options) -> Vec<String> {
        let mut arguments = vec![format!("-arch={target}")];
        // Line information costs nothing at run time.
        arguments.extend(["-lineinfo", "--std=c++17"].map(str::to_owned));
        arguments.extend(self.include.iter().map(|at| format!("-I{}", at.display())));
        arguments.extend(options.fast_math.then(|| "--use_fast_math".to_owned()));
        arguments.extend(options.define.iter().map(|macro_| format!("-D{macro_}")));
        arguments.extend(options.arguments.iter().cloned());
        arguments
    }

    fn compile(
        &self,
        source: &Source,
        headers: &[Source],
        target: &str,
        architecture: u32,
        options: &Options,
    ) -> Result<Compiled, CompileError> {
        let standard = standard::HEADERS.iter().map(|&(name, text)| Source { name, text });
        // The caller's headers come first: NVRTC takes the first of a name.
        let headers: Vec<Unit> = headers.iter().copied().chain(standard).map(unit).collect::<Result<_, _>>()?;
        let arguments: Result<Vec<CString>, _> =
            self.arguments(target, options).into_iter().map(CString::new).collect();
        let arguments = arguments.map_err(|_| CompileError::NulByte { name: "an option".to_owned(), line: 1 })?;
        let made = self.nvrtc.compile(&unit(*source)?, &headers, &arguments);

        let log = made.log;
        match made.image {
            Ok(image) => Ok(Compiled {
                name: source.name.to_owned(),
                ptx: compiled::with_plain_file_names(&image.ptx),
                machine_code: image.machine_code,
                architecture,
                version: self.version(),
                diagnostics: diagnostic::parse(&log),
                log,
            }),
            Err(Failure { code: fusion_nvrtc::COMPILATION, .. }) => Err(CompileError::rejected(source.name, log)),
            Err(failure) => Err(CompileError::Nvrtc { doing: failure.doing, text: failure.text, log }),
        }
    }
}

/// What names instructions that compute capability 9.0 alone has, and the macro that says that they are there.
const OF_HOPPER: [&str; 3] = ["wgmma", "setmaxnreg", "__CUDA_ARCH_FEAT_SM90_ALL"];

/// The suffix of the target for a device: `a` where the source, or a header that it includes, names what no other architecture has. Code for
/// such a target runs on no other device. It is not asked for where it is not needed, as the assembler goes by other rules
/// then: it lets more than 48 KiB of static shared memory through.
fn own_features(source: &Source, headers: &[Source], architecture: u32, capability: u32) -> &'static str {
    let names = |text: &str| OF_HOPPER.iter().any(|name| text.contains(name));
    if architecture == 90 && capability == 90 && included(source, headers).into_iter().any(names) { "a" } else { "" }
}

/// The texts of a source and of the headers that it includes, as far as lines with `#include` tell.
fn included<'a>(source: &Source<'a>, headers: &[Source<'a>]) -> Vec<&'a str> {
    let mut texts = vec![source.text];
    let mut left = headers.to_vec();
    let mut at = 0;
    while let Some(text) = texts.get(at) {
        let lines: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with('#')).collect();
        let named = |header: &mut Source<'_>| {
            let quoted = [format!("\"{}\"", header.name), format!("<{}>", header.name)];
            lines.iter().any(|line| line.contains("include") && quoted.iter().any(|name| line.contains(name)))
        };
        texts.extend(left.extract_if(.., named).map(|header| header.text));
        at += 1;
    }
    texts
}

fn unit(source: Source) -> Result<Unit, CompileError> {
    // Editors on Windows write a byte order mark, which NVRTC takes for a character of the first line.
    Unit::new(source.name, source.text.trim_start_matches('\u{feff}')).map_err(|nul| match nul {
        Nul::Text { line } => CompileError::NulByte { name: source.name.to_owned(), line },
        Nul::Name => CompileError::NulByte { name: source.name.replace('\0', "?"), line: 1 },
    })
}

#[cfg(test)]
mod tests;
