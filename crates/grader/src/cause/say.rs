//! Every sentence on a cause.

use fusion_course::{DType, Extent, Shape, Shapes};
use fusion_diagnostic::{Diagnostic, counted};

use super::{Axes, Cause, Role, Seen, Swap, arguments};
use crate::judgement::Side;

impl Cause {
    pub(super) fn say(&self, seen: &Seen<'_>) -> Diagnostic {
        let launch = launch(seen);
        match self {
            Cause::Order { swapped, kernel: true, .. } => {
                told(received(swapped)).help(as_listed(seen))
            }
            Cause::Order { swapped, order, .. } => told(received(swapped)).help(in_order(order, &launch)),
            Cause::Roles { written, read, order, kernel } => {
                let one = |role: &Role, what: &str, which: &str| {
                    format!("parameter {}, `{}`, {what}, received the {which} `{}`", role.index + 1, role.name, role.received)
                };
                let title = format!(
                    "{}; {}",
                    one(written, "which may be written", "input"),
                    one(read, "which is `const`", "output")
                );
                told(title).help(match kernel {
                    true => format!(
                        "in {}: give the kernel its parameters in the order in which the launch passes them: {}",
                        seen.source.path,
                        listed(seen)
                    ),
                    false => in_order(order, &launch),
                })
            }
            Cause::OtherMemory { index, name } => told(format!(
                "parameter {}, `{name}`, received other memory than the buffer `{name}`, where nothing was ever written",
                index + 1
            ))
            .help(format!("in {launch}: pass `{name}`")),
            Cause::Missing { index, name, order, own: true, .. } => {
                told(format!("nothing is passed for parameter {}, `{name}`", index + 1))
                    .help(format!("{}; or let the kernel do without `{name}`", in_order(order, &launch)))
            }
            Cause::Missing { index, name, received, order, .. } => {
                told(format!("nothing is passed for parameter {}, `{name}`", index + 1))
                    .maybe(received.as_ref().map(|received| {
                        format!("it received the buffer `{received}`, which is another parameter's: all that follow come one too early")
                    }))
                    .help(in_order(order, &launch))
            }
            Cause::Surplus { index, name, received, order } => {
                let what = received.as_ref().map_or("something else".to_owned(), |name| format!("the buffer `{name}`"));
                told(format!("parameter {}, `{name}`, received {what}, and all that follow come one too late", index + 1))
                    .note("one argument is passed that no parameter is for".to_owned())
                    .help(in_order(order, &launch))
            }
            Cause::Twice { kernel, times, updated } => {
                let times = if *times == 2 { "twice".to_owned() } else { format!("{times} times") };
                told(format!("`{kernel}` is launched {times}, with the same arguments"))
                    .note(match updated {
                        Some(name) => format!("it changes `{name}`, which it reads: each launch goes on with what the one before left"),
                        None => "with the same arguments each launch has the same work".to_owned(),
                    })
                    .help(format!("in {launch}: launch it once"))
            }
            Cause::Choice { scalar, kernel, asked, given, .. } => {
                let words = |(number, name): &(usize, &str)| format!("{scalar} = {number} ({name})");
                let asked_for = words(asked);
                let told = told(format!("the results are those of {}, and {asked_for} was asked for", words(given)))
                    .note(format!("the kernel that was launched is `{kernel}`"));
                match self.side() {
                    Side::Kernel => told.help(format!("in {}: does `{kernel}` compute {}?", seen.source.path, asked.1)),
                    Side::Launch => told.help(format!("in {launch}: launch the kernel for {asked_for}")),
                }
            }
            Cause::Scalars { swapped, kernel: true, .. } => told(received(swapped)).help(as_listed(seen)),
            Cause::Scalars { swapped, order, .. } => told(received(swapped)).help(in_order(order, &launch)),
            Cause::Narrow { name, value: Some(value), stray: Some(stray), order } => {
                told(format!("the kernel's parameter `{name}` has 8 bytes, and an integer of 4 was passed for it"))
                    .note(format!("it is {value}: `{name}` is, and so is `{stray}`, which the kernel does not take"))
                    .help(format!("{}; a `usize` for a `size_t`", in_order(order, &launch)))
            }
            Cause::Narrow { name, value: None, stray: Some(stray), order } => {
                told(format!("the kernel's parameter `{name}` has 8 bytes, and fewer were passed for it"))
                    .note(format!("they hold what `{stray}` does, which the kernel does not take"))
                    .help(in_order(order, &launch))
            }
            Cause::Narrow { name, value: None, .. } => {
                told(format!("the kernel's parameter `{name}` has 8 bytes, and fewer were passed for it"))
                    .note("no number of 8 bytes lies where the launch has this one: the rest is whatever lay beside it".to_owned())
                    .help(format!("in {launch}: pass a `usize` for a `size_t`, and a buffer's view for a pointer"))
            }
            Cause::Narrow { name, value: Some(value), .. } => {
                told(format!("the kernel's parameter `{name}` has 8 bytes, and an integer of 4 was passed for it"))
                    .note(format!(
                        "its lower half is {value}, as it should be; the upper half is whatever lay beside it"
                    ))
                    .help(format!("in {launch}: pass a `usize` for a `size_t`, or let the kernel take an `unsigned`"))
            }
            Cause::Double { name, value } => {
                told(format!("the kernel's parameter `{name}` is a `float`, and an `f64` was passed for it"))
                    .note(format!("it received the lower half of the `f64` {value}, which is another number"))
                    .help(format!("in {launch}: pass an `f32` for a `float`"))
            }
            Cause::Integer { name, value } => {
                told(format!("the kernel's parameter `{name}` is a `float`, and an integer was passed for it"))
                    .note(format!("it received the bits of the integer {value}, which are another number in a `float`"))
                    .help(format!("in {launch}: pass an `f32` for a `float`"))
            }
            Cause::Elements { name, declared, takes, packs, has } => {
                let help = format!("declare `{name}` as `{}*` in the kernel", has.cuda_name());
                let of_each = takes / has.bytes().max(1);
                told(format!(
                    "`{name}` has elements of {}, and the kernel takes it for {} `{declared}` pointer",
                    of(*has),
                    if declared.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
                ))
                .note(match *takes == has.bytes() {
                    true => format!("both have {takes} bytes, which mean another number in each type"),
                    false if *packs => format!("it reads and writes {takes} bytes at once, which are {of_each} elements"),
                    false => format!("it reads and writes {takes} bytes for each element of {}", has.bytes()),
                })
                .help(match packs {
                    false => help,
                    true => format!("{help}; or let a thread have {of_each} elements, and compare its index with their number over {of_each}"),
                })
            }
            Cause::NoShared { bytes } => {
                told("the launch asks for no dynamic shared memory, and the kernel uses some".to_owned())
                    .note(format!("an access of {bytes} bytes lies past the static shared memory of the block"))
                    .help(format!(
                        "in {launch}: `extern __shared__` memory gets its size, in bytes, from `shared_mem_bytes`"
                    ))
            }
            Cause::SharedInElements { dynamic, count, each } => told(format!(
                "the launch asks for {} of shared memory, as many as there are {count}",
                counted(*dynamic, "byte")
            ))
            .note(format!("the kernel accesses {each} bytes at a time there"))
            .help(format!("in {launch}: `shared_mem_bytes` counts bytes, not elements")),
            Cause::SharedTooSmall { dynamic, columns, each, wider } => told(format!(
                "the launch asks for {} of shared memory for a row of {}",
                counted(*dynamic, "byte"),
                counted(*columns, "element")
            ))
            .note(format!("the kernel keeps elements of {each} bytes there: a row of them takes {}", columns * each))
            .help(format!(
                "in {launch}: `shared_mem_bytes` is the number of elements times the bytes of each{}",
                if *wider { "; or let the kernel keep narrower ones" } else { "" }
            )),
            Cause::Axis { of, sizes: [x, y, z], axis, instead } => {
                let (whole, parts, index, dim) = match of {
                    Axes::Grid => ("the grid is", "blocks", "blockIdx", "grid_dim"),
                    Axes::Block => ("a block is", "threads", "threadIdx", "block_dim"),
                };
                told(format!("{whole} {x} x {y} x {z} {parts}, and the kernel never asks for `{index}.{axis}`"))
                    .note(format!("so {parts} that differ in nothing else do the same"))
                    .help(match instead {
                        Some(asked) => format!(
                            "it asks for `{index}.{asked}`, along which there is 1: in {}: ask for `{index}.{axis}`; or in {launch}: put \
                             the number of {parts} there",
                            seen.source.path
                        ),
                        None => format!("in {launch}: put the number of {parts} first in `{dim}`, as in `({parts}, 1, 1)`"),
                    })
            }
            Cause::ReadsOutput { name, other } => {
                told(format!("the kernel reads the output `{name}`, and before the launch nothing is there"))
                    .maybe(other.as_ref().map(|(index, other)| {
                        format!("parameter {}, `{other}`, received it: is that the one? The launch function is given {}", index + 1, listed(seen))
                    }))
                    .help(format!("store to `{name}` with `=`; what a thread adds up it keeps in a variable"))
            }
            Cause::Reduction { function, expects, threads } => told(format!(
                "`{function}<{expects}>` is for blocks of {expects} threads, and the launch has blocks of {threads}"
            ))
            .help(format!("in {launch}: launch blocks of {expects} threads, or change the number in the kernel")),
            Cause::TooManyBlocks { blocks, rows, block } => {
                told(format!("{} for {}", counted(*blocks, "block"), counted(*rows, "row")))
                    .note(format!(
                        "block {block} works on row {block}, and the rows are 0 to {}",
                        rows.saturating_sub(1)
                    ))
                    .help(format!("in {launch}: let the grid have as many blocks as there are rows"))
            }
            Cause::TooFewThreads { blocks, threads, elements, each } => told(format!(
                "{} of {} for {}",
                counted(*blocks, "block"),
                counted(*threads, "thread"),
                counted(*elements, "element")
            ))
            .note(format!(
                "each thread writes {}, so that none writes those from {} on",
                if *each == 1 { "one element".to_owned() } else { format!("{each} elements") },
                blocks.saturating_mul(*threads).saturating_mul(*each)
            ))
            .help(format!(
                "in {launch}: launch `n.div_ceil({})` blocks of {}",
                threads.saturating_mul(*each),
                counted(*threads, "thread")
            )),
            Cause::TooFewBlocks { blocks, threads, rows, each } => told(format!(
                "{} of {} for {}",
                counted(*blocks, "block"),
                counted(*threads, "thread"),
                counted(*rows, "row")
            ))
            .note(format!(
                "each block writes {}, so that none writes those from {} on",
                if *each == 1 { "one row".to_owned() } else { format!("{each} rows") },
                blocks * each
            ))
            .help(match each {
                1 => format!(
                    "in {launch}: launch as many blocks as there are rows, or let each block of the kernel go on with \
                     row + gridDim.x"
                ),
                each => format!("in {launch}: launch `rows.div_ceil({each})` blocks"),
            }),
            Cause::TooMuchEach { blocks, threads, elements, each } => told(format!(
                "{} of {} for {}",
                counted(*blocks, "block"),
                counted(*threads, "thread"),
                counted(*elements, "element")
            ))
            .note(format!("each thread has {each} of them, one after another"))
            .help(format!(
                "in {launch}: launch as many blocks as the elements need: `n.div_ceil({threads})` of {}, where a thread takes one at a time",
                counted(*threads, "thread")
            )),
            Cause::SameElements { one, other, element } => {
                let element = element.as_ref().map_or("the same element".to_owned(), |element| format!("`{element}`"));
                let output = element.split(['`', '[']).nth(1).and_then(|name| seen.exercise.param(name));
                let index = match seen.exercise.shapes {
                    Shapes::Elementwise => "`blockIdx.x * blockDim.x + threadIdx.x`",
                    Shapes::Rows { .. } if output.is_some_and(|output| output.extent == Extent::Elements) => {
                        "`blockIdx.x * columns`, where its row begins if a block has a row"
                    }
                    Shapes::Rows { .. } => "`blockIdx.x`, which is the row where a block has one",
                    Shapes::Tensors { .. } => "the chunk that `blockIdx.x` is the number of",
                    Shapes::Attention { .. } => "the head and the query, both of which follow from `blockIdx.x`",
                    Shapes::Routing { .. } => "the expert in the one direction, and `blockIdx.x * COLUMNS` in the other",
                    Shapes::Paged { .. } => "the sequence, the head and the part, all of which follow from `blockIdx.x`",
                    Shapes::Heads { .. } => "`blockIdx.x`, which is the token where a block has one",
                    Shapes::Matrix { .. } | Shapes::Product { .. } => "`blockIdx.x * TILE` in the one direction and `blockIdx.y * TILE` in the other",
                };
                told(format!("blocks {one} and {other} write the same elements"))
                    .note(format!("the same thread of both writes {element}"))
                    .help(format!(
                        "does the index use `blockIdx.x`? An index that is different in each block has {index}"
                    ))
            }
        }
        .0
    }
}

/// A diagnostic in the making.
struct Told(Diagnostic);

fn told(title: String) -> Told {
    Told(Diagnostic::new(crate::judgement::CAUSE, title))
}

impl Told {
    fn note(mut self, note: String) -> Self {
        self.0.notes.push(note);
        self
    }

    fn maybe(self, note: Option<String>) -> Self {
        match note {
            Some(note) => self.note(note),
            None => self,
        }
    }

    fn help(mut self, help: String) -> Self {
        self.0.help.push(help);
        self
    }
}

/// What to do about numbers that are not what they are in the exercise.
pub(super) fn odd(order: &[String], seen: &Seen<'_>) -> String {
    format!(
        "in {}: does each parameter receive what its name says? In their order they are {}",
        launch(seen),
        order.join(", ")
    )
}

/// A buffer of floats that a kernel takes for integers.
pub(super) fn as_integers(name: &str, declared: &str, has: DType) -> String {
    let has = has.cuda_name();
    format!(
        "`{name}` holds `{has}`, and the kernel takes it for a pointer to `{declared}`: as a number, it is another one than its bits say"
    )
}

/// What a block has beside an array of its shared memory: its name and its elements.
pub(super) fn beside_shared(threads: u64, warps: u64, array: Option<(&str, u64)>) -> String {
    let block = format!("the launch has blocks of {}, in {}", counted(threads, "thread"), counted(warps, "warp"));
    match array {
        Some((name, elements)) => format!("{block}; `{name}` has {}", counted(elements, "element")),
        None => block,
    }
}

/// How far so many blocks of so many threads reach, with the same number of elements for each.
pub(super) fn reached((blocks, threads): (u64, u64), elements: u64, each: u64) -> String {
    format!(
        "{} of {} reach {} of {elements}, {each} each: are there enough blocks, or does a loop of theirs end too early?",
        counted(blocks, "block"),
        counted(threads, "thread"),
        counted(blocks * threads * each, "element"),
    )
}

/// Blocks and threads along x and y, beside the matrix.
pub(super) fn of_tiles(grid: [u32; 3], block: [u32; 3], matrix: Shape) -> String {
    let along = |sizes: [u32; 3]| format!("{} along x and {} along y", sizes[0], sizes[1]);
    format!(
        "of blocks, the grid has {}; of threads, a block has {}; the {} has {} and {}",
        along(grid),
        along(block),
        if matrix.depth.is_some() { "result" } else { "matrix" },
        counted(matrix.rows as u64, "row"),
        counted(matrix.columns as u64, "column")
    )
}

/// What the threads of a block are beside whole warps.
pub(super) fn part_of_a_warp(threads: u64, warp: u64, seen: &Seen<'_>) -> String {
    format!(
        "the launch has blocks of {}, the last {} of which fill no warp: where the kernel counts on whole warps, launch a multiple of \
         {warp} in {}",
        counted(threads, "thread"),
        threads % warp,
        launch(seen)
    )
}

/// The kernel that was launched, of several that a source has.
pub(super) fn of_several(kernel: &str) -> String {
    format!("the kernel that was launched here is `{kernel}`")
}

/// Memory that the launch function allocates and does not clear.
pub(super) fn not_cleared(name: &str, seen: &Seen<'_>) -> String {
    format!("`{name}` received memory of the launch function's own: it is to be cleared there, in {}", launch(seen))
}

/// Arrays of dynamic shared memory.
pub(super) fn at_one_place(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "{} are one memory: all `extern __shared__` arrays of a kernel begin at the same place. Take one, and let the others point \
         into it, behind what the first one holds",
        names.join(" and ")
    )
}

/// `parameter 3, `v`, received the buffer `out`; parameter 4, `out`, received the buffer `v``.
fn received(swapped: &[Swap]) -> String {
    let one = |swap: &Swap| {
        let what = if swap.buffer { "the buffer " } else { "" };
        format!("parameter {}, `{}`, received {what}`{}`", swap.index + 1, swap.name, swap.received)
    };
    // Of many, the first two show it.
    let told = if swapped.len() > 3 { &swapped[..2] } else { swapped };
    let more = match swapped.len() - told.len() {
        0 => String::new(),
        more => format!("; and so on, {more} more"),
    };
    told.iter().map(one).collect::<Vec<_>>().join("; ") + &more
}

/// What the launch function is given: `x, out, rows, columns`.
fn listed(seen: &Seen<'_>) -> String {
    arguments::listed(seen).collect::<Vec<_>>().join(", ")
}

/// What to do where it is the kernel that has another order than the exercise.
fn as_listed(seen: &Seen<'_>) -> String {
    format!(
        "the launch passes them in the exercise's order. In {}: give the kernel its parameters in this order: {}",
        seen.source.path,
        listed(seen)
    )
}

/// The file of the launch function.
fn launch(seen: &Seen<'_>) -> String {
    std::path::Path::new(&seen.source.path).with_extension("rs").display().to_string()
}

fn in_order(order: &[String], launch: &str) -> String {
    format!("in {launch}: pass the arguments in the order of the kernel's parameters: {}", order.join(", "))
}

/// What an element is, for a sentence.
fn of(dtype: DType) -> String {
    format!("{} bytes (`{}`)", dtype.bytes(), dtype.cuda_name()).replace("1 bytes", "1 byte")
}
