//! The suite's instructions on thousands of operands: what a GPU gave for them is kept as a digest for each file, and the emulated
//! device must give the same bits.
//!
//! The files say what the manual asks for, with a few operands each. A sweep takes the body of each file that only computes, gives it
//! other operands (see [`operands`]), and says nothing of what is right: two devices are compared.

mod forms;
mod operands;

use fusion_device::Device;

use crate::case::{BufferKind, Case, Geometry, ParseError};
use crate::runner::{self, Failure};
use crate::suite::SUITE;
use crate::value::Expected;

/// Operands of each file: half of them triples of special values, the others at random.
pub const THREADS: u32 = 1 << 15;
const BLOCK: u32 = 256;

/// Instructions whose results depend on more than their operands, or whose operands may not be just anything.
const OTHERS: &[&str] = &[
    "activemask",
    "atom",
    "bar",
    "barrier",
    "bra",
    "brkpt",
    "brx",
    "call",
    "cp",
    "discard",
    "elect",
    "exit",
    "fence",
    "getctarank",
    "isspacep",
    "ld",
    "ldmatrix",
    "ldu",
    "mapa",
    "match",
    "mbarrier",
    "membar",
    "nanosleep",
    "prefetch",
    "prefetchu",
    "red",
    "redux",
    "ret",
    "shfl",
    "st",
    "trap",
    "vote",
];

/// The results of a file's body, by output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    pub outputs: Vec<Vec<u8>>,
}

/// The case with the operands of a sweep, if its body only computes: one that has operands in registers, and nothing else.
fn swept(case: &Case) -> Option<Case> {
    let registers = case.buffers.iter().all(|b| matches!(b.kind, BufferKind::In | BufferKind::Out));
    let inputs = case.buffers.iter().filter(|b| b.kind == BufferKind::In).count();
    if case.is_module() || !registers || inputs == 0 || !case.ptx.lines().all(computes) {
        return None;
    }
    let mut case = case.clone();
    case.geometry = Geometry { blocks: THREADS / BLOCK, threads: BLOCK, ..Geometry::default() };
    let mut number = 0;
    for buffer in &mut case.buffers {
        if buffer.kind == BufferKind::In {
            buffer.before = (0..THREADS).map(|thread| operands::operand(buffer.ty, thread, number)).collect();
            number += 1;
        } else {
            buffer.after = vec![Expected::Any; THREADS as usize];
        }
    }
    Some(case)
}

/// Whether a line has none of the [`OTHERS`]. A special register is no operand either.
fn computes(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    let special = ["%tid", "%ctaid", "%laneid", "%warpid", "%clock", "%globaltimer", "%smid", "%gridid"];
    code.split(';').all(|statement| {
        let words = statement.split_whitespace().filter(|word| !word.starts_with('@') && !matches!(*word, "{" | "}"));
        let opcode = words.map(|word| word.split('.').next().unwrap_or(word)).next().unwrap_or("");
        !OTHERS.contains(&opcode) && !opcode.ends_with(':')
    }) && !special.iter().any(|register| code.contains(register))
}

/// The cases of the sweep: those of the suite's files that only compute, and forms that have no file.
///
/// # Errors
/// The first file that cannot be read.
pub fn cases() -> Result<Vec<Case>, ParseError> {
    let files = SUITE.cases().map(|(name, text)| Case::parse(name, text));
    let all = files.chain(forms::cases()?.into_iter().map(Ok));
    all.filter_map(|case| case.map(|case| swept(&case)).transpose()).collect()
}

/// Runs a case that [`swept`] has made.
///
/// # Errors
/// As [`crate::run`], which also looks at the results.
pub(crate) fn sweep(case: &Case, device: &Device) -> Result<Swept, Failure> {
    let after = runner::execute(case, device)?;
    let outputs = case.buffers.iter().zip(after).filter(|(buffer, _)| buffer.kind == BufferKind::Out);
    Ok(Swept { outputs: outputs.map(|(_, bytes)| bytes).collect() })
}

impl Swept {
    /// FNV-1a of all results.
    pub fn digest(&self) -> u64 {
        let bytes = self.outputs.iter().flatten();
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    /// The results one after another, as [`Swept::differences`] takes them.
    pub fn bytes(&self) -> Vec<u8> {
        self.outputs.concat()
    }

    /// Says which operands gave something else elsewhere, and how many did: the first few. `None` if all are the same.
    pub fn differences(&self, case: &Case, elsewhere: &[u8]) -> Option<String> {
        if self.bytes() == elsewhere {
            return None;
        }
        let mut text = String::new();
        let mut rest = elsewhere;
        let outputs = case.buffers.iter().filter(|b| b.kind == BufferKind::Out);
        for (buffer, own) in outputs.zip(&self.outputs) {
            let Some((theirs, after)) = rest.split_at_checked(own.len()) else {
                return Some("results of another size".to_owned());
            };
            rest = after;
            let size = buffer.ty.size();
            let show = |bytes: &[u8]| buffer.ty.show(runner::element_bits(bytes));
            let pairs = own.chunks_exact(size).zip(theirs.chunks_exact(size)).enumerate();
            let different: Vec<_> = pairs.filter(|(_, (a, b))| a != b).collect();
            if different.is_empty() {
                continue;
            }
            text += &format!("  {} of {THREADS} results `{}` differ\n", different.len(), buffer.name);
            for (thread, (a, b)) in different.iter().take(4) {
                let inputs = case.buffers.iter().filter(|b| b.kind == BufferKind::In);
                let inputs: Vec<String> =
                    inputs.map(|b| format!("{} = {}", b.name, b.ty.show(b.before[*thread]))).collect();
                text += &format!("    {}: {} here, {} there\n", inputs.join(", "), show(a), show(b));
            }
        }
        Some(text)
    }
}
