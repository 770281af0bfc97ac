//! What makes a kernel slower than it could be.

use fusion_machine::report::Fault;
use fusion_machine::report::kind::{Saving, Share, Speed};

use super::Words;
use super::terms::{access, bytes, name, nanoseconds, percent, short};
use crate::counted;

/// Bytes of a sector, the unit in which L2 and DRAM are read and written.
const SECTOR: u64 = 32;
/// Banks of shared memory.
const BANKS: u64 = 32;

pub(super) fn words(kind: &Speed, fault: &Fault) -> Words {
    match *kind {
        Speed::Uncoalesced { write, requests, moved, ideal, bytes, each, stride, surplus, saving } => {
            let counts = Counts { requests, moved, ideal };
            uncoalesced(write, &counts, bytes, each, stride, surplus, saving)
        }
        Speed::BankConflict { write, moved, ideal, each, stride, saving } => {
            bank_conflict(write, moved, ideal, each, stride, saving)
        }
        Speed::OneByOne { write, elements, each, requests, moved, ideal, wide, saving } => {
            one_by_one(write, elements, each, &Counts { requests, moved, ideal }, wide, saving)
        }
        Speed::OneEach { element, wide, share, threads, each, needed } => {
            let per = wide / element.max(1);
            Words::new(format!("a thread handles one element of {} where {wide} bytes at once are possible", counted(element, "byte")))
                .label(format!("{} of the launch's bytes go {element} at a time", percent(share.ratio())))
                .note(format!(
                    "the {threads} threads of an SM have {} under way, {} each; to keep this GPU's memory busy an SM needs about {} (bandwidth times latency, predicted, not measured)",
                    bytes(threads * each),
                    counted(each, "byte"),
                    bytes(needed)
                ))
                .note(format!("every address is a multiple of {wide}; with {per} elements per thread it issues a {per}th of the loads and stores"))
                .help(format!("let a thread take {per} elements: `{}`, and see to what is left when n is no multiple of {per}", vector(wide, element)))
        }
        Speed::LocalMemory { indexed, write, bytes, read, written, share, saving } => {
            local_memory(indexed, &local(bytes, write), (read, written), share, saving)
        }
        Speed::Divergent { times, idle, saving } => {
            let share = percent(idle.ratio());
            Words::new("a branch on which threads of the same warp disagree")
                .label(format!("{share} of the warps' lanes wait for others here"))
                .note(format!(
                    "warps parted here {}; a warp executes one side after the other, and {} instructions times lanes were spent on waiting, {share} of all",
                    counted(times, "time"),
                    idle.part
                ))
                .maybe(saves(saving))
                .help("let the condition be the same for the 32 threads of a warp: decide by `threadIdx.x / 32`, or by what a whole warp works on")
                .help("where it depends on the data: sort it, give a thread's work to the whole warp, or compute both sides and select (`c ? a : b`)")
        }
        Speed::UnusedShared { asked, touched, held, possible, saving } => {
            let few = counted(touched, "byte");
            let (touched, help) = match touched {
                0 => ("none of it".to_owned(), "launch it with none, or let the kernel use it".to_owned()),
                _ => (format!("only the first {few}"), format!("launch it with {few}, or let the kernel use the rest")),
            };
            Words::new("the launch asks for more shared memory than the kernel touches")
                .note(format!("it asks for {} of dynamic shared memory per block, and the blocks touch {touched}", counted(asked, "byte")))
                .note(format!(
                    "an SM holds {} at a time because of that, instead of {possible}: fewer blocks hide less of the time that memory takes",
                    counted(held, "block")
                ))
                .maybe(saves(saving))
                .help(help)
        }
        Speed::RoundTrip { ref writer, written, read, moved } => {
            let kernel = &fault.kernel;
            let name = fault.buffer.as_ref().map_or_else(|| "the buffer".to_owned(), name);
            Words::new("an intermediate goes out to memory and comes back")
                .label(format!("`{name}` comes back here, {}", bytes(read)))
                .note(format!(
                    "`{writer}` has written {} of `{name}`, and `{kernel}`, the next launch, reads it again: {}, {} of what the two move",
                    bytes(written),
                    bytes(moved.part),
                    percent(moved.ratio())
                ))
                .help(format!(
                    "fuse `{writer}` and `{kernel}`: where a thread (or block) needs only what it has computed itself, the value stays in a register (or in shared memory), and {} and a launch are saved",
                    bytes(moved.part)
                ))
                .help(format!("if something else needs `{name}` later, the way back can still be saved"))
        }
    }
}

/// Requests of an instruction, the sectors that they move, and how many would do.
struct Counts {
    requests: u64,
    moved: u64,
    ideal: u64,
}

/// The label of an access to local memory.
pub(super) fn local(n: u64, write: bool) -> String {
    format!("{} {} here", bytes(n), if write { "written" } else { "read" })
}

/// What the model would save.
fn saves(saving: Option<Saving>) -> Option<String> {
    saving.map(|Saving { with_ns, without_ns }| {
        format!(
            "the launch's work takes {} with it and {} without it (predicted by a model, not measured)",
            nanoseconds(with_ns),
            nanoseconds(without_ns)
        )
    })
}

fn uncoalesced(
    write: bool,
    counts: &Counts,
    asked: u64,
    each: u64,
    stride: Option<u64>,
    surplus: Share,
    saving: Option<Saving>,
) -> Words {
    let &Counts { requests, moved, ideal } = counts;
    let verb = access(write);
    let times = short(moved as f64 / ideal.max(1) as f64);
    let words = Words::new(format!("uncoalesced {verb}: {times} times the sectors needed"))
        .label(format!("moves {} for {} asked for", bytes(SECTOR * moved), bytes(asked)))
        .note(format!(
            "a warp's {verb} touches {} sectors of {SECTOR} bytes where {} would do; the surplus is {}, {} of what the launch asks of L2",
            short(moved as f64 / requests.max(1) as f64),
            short(ideal as f64 / requests.max(1) as f64),
            bytes(SECTOR * moved.saturating_sub(ideal)),
            percent(surplus.ratio())
        ))
        .maybe(stride.map(|stride| {
            format!(
                "the addresses of neighbouring threads lie {} apart, and each thread uses {} there",
                bytes(stride),
                bytes(each)
            )
        }))
        .maybe(saves(saving));
    match stride {
        Some(_) => words
            .help("let consecutive threads (threadIdx.x) take consecutive elements: make the index that varies fastest in memory the one of the thread")
            .help("where the layout does not allow it, load a tile along its rows into shared memory and read it there in the other order"),
        None => words.help("gather through shared memory, or sort what the index is taken from, so that neighbouring threads take neighbouring elements"),
    }
}

fn bank_conflict(write: bool, moved: u64, ideal: u64, each: u64, stride: Option<u64>, saving: Option<Saving>) -> Words {
    let ways = short(moved as f64 / ideal.max(1) as f64);
    let words = Words::new(format!("bank conflict: {ways} passes where 1 would do"))
        .label(format!("{ways} lanes share a bank"))
        .note(format!(
            "the {} takes {} over the 32 banks instead of {ideal}: {} clocks more, on the SMs together",
            access(write),
            counted(moved, "pass"),
            moved.saturating_sub(ideal)
        ))
        .maybe(stride.map(|words| {
            let banks = BANKS / gcd(words, BANKS);
            format!(
                "neighbouring threads are {} apart, so that the warp hits {banks} of the 32 banks only (the bank is the word's number modulo 32)",
                counted(words, "word")
            )
        }))
        .maybe(saves(saving));
    match stride {
        Some(row) if each == 4 && row >= BANKS && row.is_multiple_of(2) => words
            .help(format!("pad the row by one element ([{row} + 1] instead of [{row}]), so that a column's elements lie in different banks"))
            .help("or swizzle: store column c of row r at column c ^ r"),
        Some(few @ (2 | 4)) if each == 4 => words.help(format!(
            "let a thread take its {few} neighbouring elements at once (float{few}), or keep them in {few} arrays"
        )),
        Some(_) => words.help("let consecutive threads take consecutive words, or pad so that the distance becomes odd"),
        None => words.help("let the threads of a warp take different banks (word number modulo 32), or the same word"),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn one_by_one(
    write: bool,
    elements: u64,
    each: u64,
    counts: &Counts,
    wide: Option<u64>,
    saving: Option<Saving>,
) -> Words {
    let &Counts { requests, moved, ideal } = counts;
    let verb = access(write);
    let words = Words::new(format!("a thread {verb}s {elements} neighbouring elements one by one"))
        .label(format!("{elements} {verb}s of {}", counted(each, "byte")))
        .note(format!(
            "every {verb} of a warp touches the sectors of all of them: {moved} sectors are asked for, and {ideal} would do ({} requests instead of {requests})",
            requests / elements.max(1)
        ))
        .maybe(saves(saving));
    match wide {
        Some(wide) if wide > each => words
            .help(format!("{verb} {wide} bytes at once: `{}`; the addresses are aligned for it", vector(wide, each))),
        _ => words.help("let thread i take elements i, i + blockDim.x, ...: then every request is coalesced"),
    }
}

/// A type of so many bytes for elements of so many.
fn vector(wide: u64, each: u64) -> String {
    match (each, wide) {
        (4, 16) => "float4".into(),
        (4, 8) => "float2".into(),
        (_, 16) => format!("uint4, which holds {} of them", wide / each.max(1)),
        (_, 8) => format!("uint2, which holds {} of them", wide / each.max(1)),
        _ => format!("unsigned, which holds {} of them", wide / each.max(1)),
    }
}

fn local_memory(
    indexed: bool,
    label: &str,
    (read, written): (u64, u64),
    share: Share,
    saving: Option<Saving>,
) -> Words {
    let words = Words::new(match indexed {
        true => "an array that is indexed at run time lies in memory, not in registers",
        false => "a local variable lies in memory, not in registers",
    })
    .label(label)
    .note(format!(
        "local memory: {} read and {} written in all, {} of the launch's sectors",
        bytes(read),
        bytes(written),
        percent(share.ratio())
    ))
    .note("local memory lies in DRAM, and accesses to it go through the caches; registers are much faster")
    .maybe(saves(saving));
    match indexed {
        true => words
            .help("unroll the loop (`#pragma unroll`) so that every index is a constant; then the array can live in registers")
            .help("where the index depends on the data, keep the array in shared memory, one column per thread"),
        false => words
            .help("if the variable is an array, make every index a constant that the compiler knows (`#pragma unroll`): registers have no index")
            .help("if it is no array, do not take its address: return a value instead of writing it through a pointer"),
    }
}
