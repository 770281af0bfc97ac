//! One file of the suite: its directives and its PTX.

use std::error::Error;
use std::fmt;

use fusion_suite::Tensor;

use crate::value::{Expected, Tolerance, Type};

/// How long one parameter may be.
pub(crate) const MAX_PARAM_BYTES: usize = 64;

/// A PTX file with its inputs and expectations, written as directives in its leading comment.
///
/// ```text
/// // What is tested, in a sentence or two.
/// //@ target: sm_80                      default sm_75; a real GPU that is older skips the file
/// //@ version: 7.8                       default 7.5
/// //@ launch: blocks=2 threads=64 shared=1024 cluster=2
/// //@ in f32 a: 1.0 0x3f800001 inf
/// //@ out f32 d within 2 ulp: 2.0 nan skip
/// //@ cell u32 m: 1 2 3 -> 4 5 6
/// //@ memory u32 t: 0..32 -> 1*32
/// //@      more values of the directive above
/// //@ param u16 n: 7
/// //@ tensor u32 map: t 8x4 box 4x2      a tensor map of the memory `t`: see `fusion_suite::Tensor`
/// ```
///
/// After them comes either a whole module (it starts with `.version`; its entry is `test`, whose
/// parameters are the buffers' addresses in the order of the directives, and the values of each
/// `param` in its place) or the *body* of one, around which a standard entry is put. In a body, `%a`
/// is this thread's element of the input `a`, `%d` is stored as its element of the output `d`
/// afterwards, `%n` is the parameter's value, and `%m` is an address: of this thread's own element
/// of a `cell`, of the first element of a `memory`, or of a `tensor` map. A single value stands for every thread. The
/// number of threads is that of the longest list unless `launch` says it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `group/name`, without the extension.
    pub name: String,
    pub target: String,
    pub version: String,
    pub geometry: Geometry,
    pub buffers: Vec<Buffer>,
    /// The PTX that follows the directives.
    pub ptx: String,
}

/// The launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    pub blocks: u32,
    /// Per block.
    pub threads: u32,
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
    /// Blocks of a cluster; 0 for a launch without clusters.
    pub cluster: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// Each thread's element is in a register.
    In,
    /// Each thread's register is stored.
    Out,
    /// Each thread has the address of its element.
    Cell,
    /// Every thread has the address of the first element.
    Memory,
    /// Not in memory at all: the kernel's parameter is the value itself, or, in a module, an array of them.
    Param,
    /// The kernel's parameter is a map of a buffer.
    Tensor,
}

impl BufferKind {
    /// Whether there is an element for each thread.
    pub fn is_per_thread(self) -> bool {
        matches!(self, Self::In | Self::Out | Self::Cell)
    }
}

/// What one directive describes.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub kind: BufferKind,
    pub ty: Type,
    pub name: String,
    /// What a map is of.
    pub tensor: Option<Tensor>,
    /// Contents before the launch; empty for an output.
    pub before: Vec<u64>,
    /// Contents after it; empty where they do not matter.
    pub after: Vec<Expected>,
    pub tolerance: Tolerance,
}

impl Buffer {
    pub fn len(&self) -> usize {
        self.before.len().max(self.after.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes before the launch, as long as the buffer is given any.
    pub fn bytes_before(&self) -> Vec<u8> {
        self.before.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(self.ty.size())).collect()
    }
}

/// A directive that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// One-based.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for ParseError {}

impl Case {
    /// Reads a file. `name` is what it is called in reports.
    ///
    /// # Errors
    /// The line of a directive that is unknown, malformed, or does not fit the number of threads.
    pub fn parse(name: &str, text: &str) -> Result<Self, ParseError> {
        let mut case = Self {
            name: name.to_owned(),
            target: "sm_75".to_owned(),
            version: "7.5".to_owned(),
            geometry: Geometry { blocks: 1, ..Geometry::default() },
            buffers: Vec::new(),
            ptx: text.to_owned(),
        };
        for (line, directive) in directives(text)? {
            case.apply(&directive).map_err(|message| ParseError { line, message })?;
        }
        case.fit_to_threads().map_err(|message| ParseError { line: 1, message })?;
        Ok(case)
    }

    /// Whether a GPU of this compute capability can execute the case: PTX runs on its own target and every newer one, with the
    /// suffix `a` on its own only, with `f` within the same major version (PTX ISA 11.1.2).
    pub fn is_for(&self, (major, minor): (u32, u32)) -> bool {
        let number = self.target.trim_start_matches("sm_").trim_end_matches(char::is_alphabetic);
        let (Ok(target), device) = (number.parse::<u32>(), 10 * major + minor) else { return true };
        match self.target.chars().last() {
            Some('a') => target == device,
            Some('f') => target <= device && target / 10 == major,
            _ => target <= device,
        }
    }

    /// Whether the file is a module of its own, not a body.
    pub fn is_module(&self) -> bool {
        self.ptx.lines().any(|line| line.starts_with(".version"))
    }

    fn apply(&mut self, directive: &str) -> Result<(), String> {
        let (head, value) = directive.split_once(':').ok_or("a directive is `word: value`")?;
        let value = value.trim();
        match head.split_whitespace().collect::<Vec<_>>()[..] {
            ["target"] => self.target = value.to_owned(),
            ["version"] => self.version = value.to_owned(),
            ["launch"] => self.geometry = launch(value)?,
            [kind, ty, name, ref tolerance @ ..] => {
                let kind = match kind {
                    "in" => BufferKind::In,
                    "out" => BufferKind::Out,
                    "cell" => BufferKind::Cell,
                    "memory" => BufferKind::Memory,
                    "param" => BufferKind::Param,
                    "tensor" => BufferKind::Tensor,
                    _ => return Err(format!("unknown directive `{kind}`")),
                };
                let tolerance = match tolerance {
                    [] => Tolerance::Exact,
                    ["within", rest @ ..] => {
                        Tolerance::parse(&rest.join(" ")).ok_or("a tolerance is `2 ulp`, `abs 2^-21` or `rel 1e-6`")?
                    }
                    _ => return Err(format!("`{head}` is not `kind type name [within tolerance]`")),
                };
                let ty = Type::parse(ty).ok_or_else(|| format!("unknown type `{ty}`"))?;
                self.buffers.push(buffer(kind, ty, name, tolerance, value)?);
            }
            _ => return Err(format!("unknown directive `{head}`")),
        }
        Ok(())
    }

    /// Finds the number of threads, and repeats single values for each of them.
    fn fit_to_threads(&mut self) -> Result<(), String> {
        if self.geometry.threads == 0 {
            let own = self.buffers.iter().filter(|buffer| buffer.kind.is_per_thread());
            self.geometry.threads = own.map(Buffer::len).max().unwrap_or(1) as u32;
        }
        if self.is_module() {
            return Ok(());
        }
        let total = (self.geometry.blocks * self.geometry.threads) as usize;
        for buffer in self.buffers.iter_mut().filter(|buffer| buffer.kind.is_per_thread()) {
            if let [one] = buffer.before[..] {
                buffer.before = vec![one; total];
            }
            if let [one] = buffer.after[..] {
                buffer.after = vec![one; total];
            }
            if buffer.len() != total {
                return Err(format!("`{}` has {} values for {total} threads", buffer.name, buffer.len()));
            }
        }
        Ok(())
    }
}

/// The directives with the numbers of their first lines; continued ones are joined.
fn directives(text: &str) -> Result<Vec<(usize, String)>, ParseError> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix("//@") else { continue };
        if rest.contains(':') {
            found.push((index + 1, rest.to_owned()));
        } else if let Some((_, last)) = found.last_mut() {
            last.push(' ');
            last.push_str(rest);
        } else {
            return Err(ParseError { line: index + 1, message: "nothing to continue".to_owned() });
        }
    }
    Ok(found)
}

fn launch(value: &str) -> Result<Geometry, String> {
    let mut geometry = Geometry { blocks: 1, ..Geometry::default() };
    for word in value.split_whitespace() {
        let (key, number) = word.split_once('=').ok_or_else(|| format!("`{word}` is not `key=number`"))?;
        let number = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
        match key {
            "blocks" => geometry.blocks = number,
            "threads" => geometry.threads = number,
            "shared" => geometry.shared = number,
            "cluster" => geometry.cluster = number,
            _ => return Err(format!("a launch has blocks, threads, shared and cluster, not `{key}`")),
        }
    }
    Ok(geometry)
}

fn buffer(kind: BufferKind, ty: Type, name: &str, tolerance: Tolerance, value: &str) -> Result<Buffer, String> {
    let map = |value: &str| Tensor::parse(&value.trim().replacen(' ', &format!(" {} ", ty.name), 1));
    let tensor = if kind == BufferKind::Tensor { Some(map(value)?) } else { None };
    let (before, after) = match kind {
        BufferKind::Tensor => ("", ""),
        BufferKind::In | BufferKind::Param => (value, ""),
        BufferKind::Out => ("", value),
        BufferKind::Cell | BufferKind::Memory => value.split_once("->").unwrap_or((value, "")),
    };
    let before = ty.parse_list(before)?.into_iter().map(|value| match value {
        Expected::Bits(bits) => Ok(bits),
        Expected::Nan | Expected::Any => Err(format!("`{name}` needs bits before the launch")),
    });
    let before: Vec<u64> = before.collect::<Result<_, _>>()?;
    let after = ty.parse_list(after)?;
    if kind == BufferKind::Memory && !after.is_empty() && after.len() != before.len() {
        return Err(format!("`{name}` has {} values before and {} after", before.len(), after.len()));
    }
    if kind == BufferKind::Param && before.len() * ty.size() > MAX_PARAM_BYTES {
        return Err(format!("`{name}` has more than {MAX_PARAM_BYTES} bytes"));
    }
    Ok(Buffer { kind, ty, name: name.to_owned(), tensor, before, after, tolerance })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_is_for_every_thread() {
        let case = Case::parse("x", "//@ in u32 a: 1 2\n//@   3\n//@ in u32 b: 7\n//@ out u32 d: 0*3\n{\n}\n").unwrap();
        assert_eq!(case.geometry.threads, 3);
        assert_eq!(case.buffers[1].before, [7, 7, 7]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| Case::parse("x", text).unwrap_err().to_string();
        assert_eq!(error("// \n//@ on u32 a: 1"), "line 2: unknown directive `on`");
        assert_eq!(error("//@ in u31 a: 1"), "line 1: unknown type `u31`");
        assert_eq!(error("//@ in u8 a: 1 300"), "line 1: `300` is not a value of type u8");
        assert_eq!(error("//@ in u8 a: 1 2\n//@ out u8 d: 1 2 3"), "line 1: `a` has 2 values for 3 threads");
        assert_eq!(error("//@ out f32 d within 2: 1.0").split(' ').nth(3), Some("tolerance"));
    }
}
