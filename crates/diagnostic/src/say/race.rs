//! Two accesses of one launch that nothing orders.

use fusion_machine::report::kind::{Does, Hazard, Idiom, Lock, Race, Rule, Scope, Side};
use fusion_machine::report::{Buffer, Fault, Kind, Related};

use super::Words;
use super::terms::{index, name, named};

/// Who made an access: block and thread.
type Who = (Option<[u32; 3]>, Option<[u32; 3]>);

pub(super) fn words(race: &Race, fault: &Fault) -> Words {
    let one: Who = (fault.block, fault.thread);
    let other: Who = fault.related.first().map_or((None, None), |other| (other.block, other.thread));
    let words = Words::new(title(race, one, other)).label(does(&race.one, race, one, &element(&race.one)));
    advise(race, one.1 == other.1, fault, words)
}

/// The label of the other access.
pub(super) fn other(other: &Related, fault: &Fault) -> String {
    let Kind::Race(race) = &fault.kind else { return String::new() };
    let who = (other.block, other.thread);
    if race.rule == Rule::Async {
        return format!("thread {} of block {} starts the copy here", thread(race, who), block(race, who));
    }
    let (theirs, ours) = (element(&race.other), element(&race.one));
    does(&race.other, race, who, if theirs == ours { "it" } else { &theirs })
}

/// The label of the copying thread's last wait.
pub(super) fn wait(groups: u32) -> String {
    match groups {
        0 => "this wait came before the copy was committed".to_owned(),
        1 => "this wait leaves the newest group of copies under way".to_owned(),
        n => format!("this wait leaves the newest {n} groups of copies under way"),
    }
}

fn does(side: &Side, race: &Race, who: Who, what: &str) -> String {
    format!("thread {} of block {} {} {what} here", thread(race, who), block(race, who), verb(side.does))
}

fn thread(race: &Race, (_, thread): Who) -> String {
    index(thread.unwrap_or_default(), race.block)
}

fn block(race: &Race, (block, _): Who) -> String {
    index(block.unwrap_or_default(), race.grid)
}

fn verb(does: Does) -> &'static str {
    match does {
        Does::Reads => "reads",
        Does::Writes => "writes",
        Does::Updates => "updates",
        Does::CopiesInto => "copies into",
        Does::CopiesFrom => "copies from",
    }
}

/// What two sides do, of both.
fn both(one: Does, other: Does) -> &'static str {
    match (one, other) {
        (Does::Updates, Does::Updates) => "update",
        (Does::Writes, Does::Writes) => "write",
        (Does::CopiesInto, Does::CopiesInto) => "copy into",
        _ => "access",
    }
}

/// `tile[3]`: counted in what the thread accesses there.
fn element(side: &Side) -> String {
    let bytes = side.bytes;
    match &side.buffer {
        Some(b) if matches!(bytes, 1 | 2 | 4 | 8) && b.offset >= 0 && b.offset.unsigned_abs().is_multiple_of(bytes) => {
            let at = b.offset.unsigned_abs() / bytes;
            match b.name.identifier() {
                _ if b.size <= bytes => named(b),
                None => format!("element {at} of {}", name(b)),
                Some(name) => format!("`{name}[{at}]`"),
            }
        }
        Some(b) => {
            format!(
                "bytes {} to {} of {}",
                b.offset,
                b.offset.saturating_add_unsigned(bytes).saturating_sub(1),
                named(b)
            )
        }
        None => "it".into(),
    }
}

/// The memory that the two meet in.
fn memory(race: &Race) -> String {
    race.one.buffer.as_ref().map_or_else(|| "memory".to_owned(), |b: &Buffer| named(b))
}

fn title(race: &Race, one: Who, other: Who) -> String {
    let memory = memory(race);
    let (does, did) = (verb(race.one.does), verb(race.other.does));
    let both = both(race.one.does, race.other.does);
    let (me, them) = match race.same_block {
        false => (format!("block {}", block(race, one)), format!("block {}", block(race, other))),
        true => (format!("thread {}", thread(race, one)), format!("thread {}", thread(race, other))),
    };
    let overwrites = race.hazard == Hazard::Overwrite && race.one.does != Does::Reads && race.other.does == Does::Reads;
    match race.rule {
        Rule::Async => {
            let into = if race.other.does == Does::CopiesFrom { "out of" } else { "into" };
            format!("{me} {does} {memory} while an asynchronous copy {into} it may be under way")
        }
        Rule::Scope => format!("{me} and {them} {both} {memory} by atomics that do not reach each other"),
        Rule::Benign => format!("{me} and {them} write the same value to {memory}, and nothing orders the two"),
        Rule::ReadOnly => {
            let them = if me == them { "it" } else { &them };
            format!("{me} reads through the read-only path what {them} has written in the same launch")
        }
        Rule::Lockstep => format!("{me} {does} what {them} {did}, and only the warp's running in step orders the two"),
        _ if overwrites => format!("{me} overwrites what {them} still reads, and nothing orders the two"),
        _ if does == did => format!("{me} and {them} both {both} {memory}, and nothing orders the two"),
        _ => format!("{me} {does} what {them} {did}, and nothing orders the two"),
    }
}

/// Why it is a race, and what to do.
fn advise(race: &Race, same_thread: bool, fault: &Fault, words: Words) -> Words {
    match race.rule {
        Rule::Async if race.other.does == Does::CopiesFrom => {
            return words.note("a bulk copy may read its source long after the instruction that starts it").help(
                "let the thread that started the copy wait: `cp.async.bulk.commit_group`, then `cp.async.bulk.wait_group.read 0`; \
                 where other threads write, put a barrier behind that",
            );
        }
        Rule::Async if race.bulk => {
            return words.note("a barrier does not wait for asynchronous copies").help(
                "let every thread that reads wait for the mbarrier that the copy completes on: `mbarrier.try_wait` in a loop",
            );
        }
        Rule::Async => return copy(same_thread, fault, words),
        Rule::Scope => {
            return words
                .note(
                    "an atomic with block scope (`..._block`, `.cta`) is atomic for the threads of its own block only",
                )
                .help("use the atomic without `_block`: its scope is the whole device");
        }
        Rule::Benign => {
            let words = match race.shares_an_index() {
                true => words.help(INDEX),
                false => words,
            };
            return words
                .note("the result is the same whoever comes last; by the memory model it is a data race all the same")
                .note("where that is meant, `atomicExch` or a volatile pointer says so")
                .help("let only one thread write each element");
        }
        Rule::Idiom(idiom) => return harmless(idiom, words),
        Rule::ReadOnly => {
            return words
                .note(
                    "`__ldg` and reads through a `const ... __restrict__` pointer promise that nobody writes there while \
                     the kernel runs: they may be answered from a cache that no barrier and no fence brings up to date",
                )
                .help(
                    "read it without `__ldg`, through a pointer that is not `const ... __restrict__`; or let a second \
                     launch read it",
                );
        }
        Rule::Lockstep => {
            return words
                .note("the threads of a warp need not run in step: each has a program counter of its own")
                .note("`volatile` says that each access is made, and not when")
                .help(
                    "put `__syncwarp()` between the two: a step reads, then comes `__syncwarp()`, then it writes, then \
                     comes another",
                );
        }
        Rule::Shared | Rule::Cluster | Rule::Global | Rule::Blocks => {}
    }
    if let Some(lock) = race.locked {
        return unfenced(lock, race, words);
    }
    let memory = memory(race);
    if race.update {
        return words
            .note("reading, adding and writing back are three steps: another thread's result can be lost between them")
            .help(format!("make it one step with an atomic (`atomicAdd`, `atomicMax`, ...) on {memory}, or let one thread of the whole launch do it"));
    }
    if race.rule == Rule::Cluster {
        return cluster(race, words);
    }
    if !race.same_block {
        return blocks(race, words);
    }
    let barrier = match race.same_warp {
        true => "__syncwarp()",
        false => "__syncthreads()",
    };
    if race.strong() {
        return words
            .note("an atomic orders nothing but other atomics on the same place")
            .help(format!("make the other access atomic too, or put `{barrier}` between the two"));
    }
    let between = format!("put `{barrier}` between");
    let words = match race.same_warp {
        false => words,
        true => words.note("the threads of a warp need not run in step: each has a program counter of its own"),
    };
    // Which threads race depends on the size of the problem: those of a block may all do what these two of a warp did.
    let words = match race.same_warp && !race.lone_warps {
        false => words,
        true => words.note("if threads of other warps come to this memory too, only `__syncthreads()` orders them"),
    };
    match race.hazard {
        Hazard::Read => words.help(format!("{between} the write and the read")),
        Hazard::Overwrite if race.next_round => words
            .note("the write is that of the loop's next round: the barrier that stands there comes too early for it")
            .help(format!("put another `{barrier}` at the end of the loop's body, after the read")),
        Hazard::Overwrite => words.help(format!(
            "{between} the read and the next write to the same place: at the end of a loop's body, or before the memory is used \
             again, for example by another call of the same function"
        )),
        Hazard::Writes if race.same_instruction => {
            words.help("give each thread an element of its own, let one thread write, or combine the values with an atomic")
        }
        Hazard::Writes => words.help(format!("{between} the two writes, or let one thread make both")),
    }
}

/// A race that does no harm: why, and how to do without it.
fn harmless(idiom: Idiom, words: Words) -> Words {
    match idiom {
        Idiom::Guess => words
            .note(
                "what is read here is only a first guess, which the compare-and-swap confirms or replaces: an old value \
                 costs another round and loses nothing; by the memory model it is a data race all the same",
            )
            .help(STRONG_READ),
        Idiom::Guard => words
            .note(
                "what is read here only decides whether the atomic on the same place is worth doing, and that has the \
                 last word: an old value loses nothing; by the memory model it is a data race all the same",
            )
            .help(STRONG_READ),
        Idiom::Last => words
            .note(
                "the writer's fence stands before its atomic, and who comes last by the count reads or writes only \
                 then: GPUs keep to that, and samples of NVIDIA's rely on it; the memory model asks for a fence behind \
                 the atomic, too",
            )
            .help(
                "add `__threadfence()` behind the atomic that counts (before the barrier, where other threads of its \
                 block read)",
            ),
    }
}

/// What to ask where threads of several blocks write the same of many elements by one instruction.
const INDEX: &str =
    "has every thread of the grid an index of its own, such as `blockIdx.x * blockDim.x + threadIdx.x`?";

/// How a plain read becomes none.
const STRONG_READ: &str = "to say that it is meant, read through a volatile pointer, or by a relaxed atomic load";

/// What is done under a lock without the fences that hand it on.
fn unfenced(lock: Lock, race: &Race, words: Words) -> Words {
    let fence = if race.rule == Rule::Shared { "__threadfence_block()" } else { "__threadfence()" };
    let words = words.note(
        "both are made under one lock; but the lock's atomics order nothing except themselves: without fences its next \
         owner may miss what is written here",
    );
    words.help(match lock {
        Lock { taken: true, .. } => format!("add `{fence}` before the atomic that gives the lock back"),
        Lock { given: true, .. } => format!("add `{fence}` behind the atomic that takes the lock"),
        _ => format!(
            "add `{fence}` behind the atomic that takes the lock, and another before the one that gives it back"
        ),
    })
}

fn copy(same_thread: bool, fault: &Fault, words: Words) -> Words {
    let waited = fault.related.len() > 1;
    let words = words.maybe((!waited).then(|| "nothing has waited for a copy so far".to_owned())).help(
        "wait for the copy's group: `__pipeline_wait_prior(n)` (`cp.async.wait_group n`) leaves the newest n groups \
         under way, so n is at most the number of groups committed after the copy's own",
    );
    words.note(match same_thread {
        true => "a barrier does not wait for asynchronous copies",
        false => {
            "each thread waits for its own copies, then comes `__syncthreads()`, then all may read: a barrier alone \
             waits for no copy"
        }
    })
}

fn cluster(race: &Race, words: Words) -> Words {
    if race.one.does == Does::Reads && race.other.does == Does::CopiesInto {
        return words.note("a barrier does not wait for asynchronous copies").help(
            "let every thread that reads wait for its own block's mbarrier, which the copy completes on: \
             `mbarrier.try_wait` in a loop",
        );
    }
    let words =
        words.note("the blocks of a cluster run at once; `__syncthreads()` orders the threads of one block only");
    words.help(match race.hazard {
        Hazard::Writes if race.same_instruction => {
            "give each block elements of its own, let one block write, or combine the values with an atomic"
        }
        _ => "put `cluster.sync()` between the two: there every thread of the cluster waits for all others",
    })
}

fn blocks(race: &Race, words: Words) -> Words {
    let words =
        words.note("blocks run in any order and at once; `__syncthreads()` orders the threads of one block only");
    words.help(match () {
        () if race.unfenced => {
            "add `__threadfence()` behind the atomic or flag by which the reader learns of the write, \
             before it reads (before the barrier, where other threads of its block read)"
        }
        () if race.communicates && !race.strong() => {
            "an atomic or a flag orders the two only with fences: `__threadfence()` between the write and the atomic \
             that announces it, and another between the atomic that sees it and the read (for the whole grid at once: \
             `grid.sync()` in a cooperative launch)"
        }
        () if race.strong() => {
            "make both accesses atomic (or volatile), or let a second launch make the one that is not"
        }
        () if race.shares_an_index() => INDEX,
        () if race.hazard == Hazard::Writes => {
            "give each block its own elements, let one block write, or combine the values with an atomic"
        }
        () => {
            "let the block that needs the value compute it, or put the two into two launches: the second begins when \
             the first has ended"
        }
    })
}

/// What a race in blocks of one warp leaves open for longer rows: there a barrier of the warp is enough, and at the next
/// length it is not. `None` where it does not matter, or where the report says so itself.
pub fn longer_rows(race: &Race) -> Option<String> {
    let warp_only = race.barrier() == Some(Scope::Warp) && (race.lone_warps || race.strong());
    warp_only.then(|| {
        "longer rows are judged too: if their blocks have more warps, and these come to this memory as well, only \
         `__syncthreads()` orders them"
            .to_owned()
    })
}
