//! A fault, told for what an exercise works on: rows, tiles of a matrix, or elements.

use fusion_course::{Exercise, Extent, Param, Shapes, Width};
use fusion_diagnostic::{Diagnostic, say};
use fusion_machine::Fault;
use fusion_machine::report::Kind;
use fusion_machine::report::kind::{Hazard, Memory, Race, Refusal, Sync};

/// A fault, with the advice that suits the exercise's shapes.
pub(super) fn tell(fault: &Fault, exercise: &'static Exercise) -> Diagnostic {
    match (&fault.kind, exercise.shapes) {
        (Kind::Sync(which @ (Sync::Endless { .. } | Sync::TooMuchWork { .. })), shapes) => {
            over_budget(say(fault), which, shapes)
        }
        (Kind::Refusal(Refusal::EmptyGrid { .. }), shapes) => empty_grid(say(fault), shapes),
        (
            _,
            Shapes::Rows { .. }
            | Shapes::Heads { .. }
            | Shapes::Attention { .. }
            | Shapes::Routing { .. }
            | Shapes::Paged { .. },
        ) => by_row(fault, exercise),
        (_, Shapes::Matrix { .. } | Shapes::Product { .. }) => by_tile(fault, exercise),
        (_, Shapes::Tensors { .. }) => by_chunk(fault, exercise),
        (_, Shapes::Elementwise) => by_element(fault, exercise),
    }
}

/// A fault of a kernel whose blocks have rows.
///
/// A race is first found where rows are short and a block may be a single warp. There a barrier of the warp is enough, and
/// at the next length it is not. An index that is too large is one of a row or in a row.
fn by_row(fault: &Fault, exercise: &'static Exercise) -> Diagnostic {
    let mut told = say(fault);
    match &fault.kind {
        Kind::Race(race) => {
            told.notes.extend(fusion_diagnostic::longer_rows(race));
            // An index of the grid's threads is none of a row's elements.
            if let Some(param) = between_blocks(race, exercise) {
                told.help = vec![index_of(param, exercise.shapes)];
            }
        }
        Kind::Memory(Memory::OutOfBounds { .. }) => {
            let buffer = fault.buffer.as_ref().filter(|buffer| buffer.offset >= 0);
            let name = buffer.and_then(|buffer| buffer.name.identifier());
            if let Some(param) = name.and_then(|name| exercise.param(name)) {
                told.help = vec![several_at_once(fault, exercise).unwrap_or_else(|| index_of(param, exercise.shapes))];
            }
        }
        _ => {}
    }
    told
}

/// A fault of a kernel whose blocks have chunks of tensors. Past the end lies what no table leads to, or no entry of a table is.
fn by_chunk(fault: &Fault, exercise: &'static Exercise) -> Diagnostic {
    let mut told = say(fault);
    if let Kind::Memory(Memory::OutOfBounds { .. }) = &fault.kind
        && let Some(buffer) = fault.buffer.as_ref().filter(|buffer| buffer.offset >= 0)
    {
        let table = buffer.name.identifier().and_then(|name| exercise.param(name));
        told.help = vec![match table.filter(|param| param.extent.is_table()) {
            Some(table) => index_of(table, exercise.shapes),
            None => "a chunk ends where the next one would begin, or where its tensor ends, whichever comes first: compare each index \
                     with both. An access of several elements needs all of them there"
                .to_owned(),
        }];
    }
    told
}

/// A fault of a kernel whose blocks have tiles of a matrix. An index past the end is one of a row or of a column.
fn by_tile(fault: &Fault, exercise: &'static Exercise) -> Diagnostic {
    let mut told = by_element(fault, exercise);
    if let Kind::Race(race) = &fault.kind
        && between_blocks(race, exercise).is_some()
    {
        told.help = vec![
            "do the tiles of two blocks overlap? Each begins at `blockIdx` times the size of a tile, and no thread may go past its end: how \
             many rows of threads a block has, and how many elements each thread moves, make the size"
                .to_owned(),
        ];
    }
    if let Kind::Memory(Memory::OutOfBounds { .. }) = &fault.kind
        && let Some(param) = fault.buffer.as_ref().and_then(|buffer| exercise.param(buffer.name.identifier()?))
    {
        let name = param.name;
        told.help = several_at_once(fault, exercise).into_iter().collect();
        let is_product = exercise.is_product();
        let single = match param.extent {
            Extent::Rows => Some(if is_product { "m" } else { "rows" }),
            Extent::Columns => Some(if is_product { "n" } else { "columns" }),
            _ => None,
        };
        if let Some(number) = single {
            told.help
                .push(format!("{}. Before this access, compare it with `{number}`", index_of(param, exercise.shapes)));
            return told;
        }
        let (index, row, column) = match (param.extent, exercise.shapes) {
            (Extent::Transposed, _) => (format!("{name}[c * rows + r]"), "columns", "rows"),
            (Extent::Left, _) => (format!("{name}[r * k + c]"), "m", "k"),
            (Extent::Right, _) => (format!("{name}[r * n + c]"), "k", "n"),
            (_, Shapes::Product { .. }) => (format!("{name}[r * n + c]"), "m", "n"),
            _ => (format!("{name}[r * columns + c]"), "rows", "columns"),
        };
        // Of a matrix that was turned over, r and c are those of what it was made from.
        let (of_row, of_column) = if param.extent == Extent::Transposed { (column, row) } else { (row, column) };
        told.help.push(format!(
            "`{name}` has `{row}` rows of `{column}`: the element of row r and column c of the matrix is `{index}`. Before this \
             access, compare r with `{of_row}` and c with `{of_column}`"
        ));
    }
    told
}

/// The output whose elements two blocks write, neither of them by an atomic.
fn between_blocks(race: &Race, exercise: &'static Exercise) -> Option<&'static Param> {
    let writes =
        race.hazard == Hazard::Writes && !race.same_block && !race.update && !race.strong() && !race.communicates;
    let name = race.one.buffer.as_ref().filter(|_| writes)?.name.identifier()?;
    exercise.outputs.iter().find(|output| output.name == name)
}

/// A fault of a kernel whose threads have elements.
fn by_element(fault: &Fault, exercise: &'static Exercise) -> Diagnostic {
    let mut told = say(fault);
    told.help = several_at_once(fault, exercise).map_or(told.help, |help| vec![help]);
    told
}

/// What to do about an access past the end that takes several elements of a buffer at once: an index of such is no index of elements.
fn several_at_once(fault: &Fault, exercise: &'static Exercise) -> Option<String> {
    let Kind::Memory(Memory::OutOfBounds { access, .. }) = fault.kind else { return None };
    let buffer = fault.buffer.as_ref().filter(|buffer| buffer.offset >= 0)?;
    let param = exercise.param(buffer.name.identifier()?)?;
    let each = access.bytes / param.dtype.bytes() as u64;
    let all = match exercise.shapes {
        Shapes::Rows { .. } | Shapes::Matrix { .. } => "columns",
        Shapes::Product { .. } if param.extent == Extent::Left => "k",
        Shapes::Product { .. } | Shapes::Elementwise | Shapes::Tensors { .. } => "n",
        Shapes::Heads { .. } | Shapes::Attention { .. } | Shapes::Paged { .. } => "head_dim",
        Shapes::Routing { .. } => match param.extent {
            Extent::Slots(Width::Inter) => "inter",
            Extent::Experts { columns: Width::GateUp, .. } => "2 * inter",
            _ => "hidden",
        },
    };
    (each > 1).then(|| {
        format!(
            "an access of {} bytes takes {each} elements of `{}`, and all of them must be there: compare its index, where it counts \
             {each} elements as one, with `{all} / {each}`, and do the elements that are left one by one",
            access.bytes, param.name
        )
    })
}

/// The budget is the grader's, and nobody can allow more.
fn over_budget(mut told: Diagnostic, which: &Sync, shapes: Shapes) -> Diagnostic {
    told.help = match (which, shapes) {
        (Sync::TooMuchWork { .. }, Shapes::Rows { .. }) => vec![
            "every block ends, and together they do far more than the rows ask for: is each row one block's or one warp's, and \
             is the stride of a loop over rows the number of all of them?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Product { .. }) => vec![
            "every block ends, and together they do far more than the product asks for: is each tile of the result one block's?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Attention { .. }) => vec![
            "every block ends, and together they do far more than the queries ask for: is each query one block's or one warp's?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Routing { .. }) => vec![
            "every block ends, and together they do far more than the tokens ask for: does a block have the rows of one expert, and no others?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Paged { .. }) => vec![
            "every block ends, and together they do far more than the tokens ask for: is each part of a sequence one block's, and does the \
             block end with it?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Tensors { .. }) => vec![
            "every block ends, and together they do far more than the elements ask for: is each chunk one block's, and does the block \
             end with it?"
                .to_owned(),
        ],
        (Sync::TooMuchWork { .. }, Shapes::Matrix { .. } | Shapes::Heads { .. } | Shapes::Elementwise) => vec![
            "every block ends, and together they do far more than the elements ask for: is each element one thread's? The \
             stride of a loop over all elements is the number of all threads, `gridDim.x * blockDim.x`"
                .to_owned(),
            "does the launch have more blocks than the elements need?".to_owned(),
        ],
        (_, Shapes::Rows { .. }) => vec![endless("let all threads of a block share a row")],
        _ => vec![endless("let more threads share the elements")],
    };
    told
}

fn endless(whole: &str) -> String {
    format!("does the loop end for every thread? If it does, a thread has too much to do: {whole}")
}

/// How many blocks there are to be where there is something to do.
fn empty_grid(mut told: Diagnostic, shapes: Shapes) -> Diagnostic {
    let blocks = match shapes {
        // The device's own words are about elements.
        Shapes::Elementwise => return told,
        Shapes::Tensors { .. } => {
            "Where each block has a chunk, the grid has as many blocks as the table of chunks has entries."
        }
        Shapes::Heads { .. } => "Where each block has a token, the grid has as many blocks as there are tokens.",
        Shapes::Attention { .. } => {
            "Where each block has some queries of a head, round their number up for each head: `heads * length.div_ceil(8)` for blocks \
             of 8 queries."
        }
        Shapes::Routing { .. } => {
            "Where each block has some columns of one expert, round their number up: `inter.div_ceil(64)` along x for blocks of 64 columns, and \
             `experts` along y."
        }
        Shapes::Paged { .. } => {
            "Where each block has 256 tokens of a sequence and head, a row of the table has `(16 * pages).div_ceil(256)` such parts."
        }
        Shapes::Rows { .. } => "Where each block has a row, the grid has as many blocks as there are rows.",
        Shapes::Matrix { .. } | Shapes::Product { .. } => {
            "Where each block has a tile, round the number of tiles up along both axes: `rows.div_ceil(32)` for tiles of 32 rows."
        }
    };
    told.notes = vec![format!("When there is nothing to do, return before the launch. {blocks}")];
    told
}

/// What the index of an element is.
fn index_of(param: &Param, shapes: Shapes) -> String {
    let name = param.name;
    match param.extent {
        Extent::Elements if matches!(shapes, Shapes::Heads { .. }) => {
            format!("`{name}` has `q_heads` heads of `head_dim` elements for each token")
        }
        Extent::Elements if matches!(shapes, Shapes::Paged { .. }) => {
            format!("`{name}` has `q_heads` heads of `head_dim` elements for each sequence")
        }
        Extent::Elements if matches!(shapes, Shapes::Attention { .. }) => {
            format!("`{name}` has `length` rows of `head_dim` elements for each of `heads` heads")
        }
        Extent::Elements if matches!(shapes, Shapes::Routing { .. }) => {
            format!(
                "`{name}` has `hidden` elements for each token: the token of a slot is half of the slot's number, rounded down"
            )
        }
        Extent::Elements => format!(
            "column c of row r is `{name}[r * columns + c]`: does each row begin at a multiple of `columns`, and is every column \
             compared with `columns`? With more blocks than rows, the row is to be compared with `rows`"
        ),
        Extent::Transposed => format!("the element of row r and column c of the input is `{name}[c * rows + r]`"),
        Extent::Columns => format!("`{name}` has an element for each column: its index is the column"),
        Extent::Square => format!("`{name}` has `columns` rows of as many columns"),
        Extent::Left => format!("`{name}` has `m` rows of `k` columns"),
        Extent::Right => format!("`{name}` has `k` rows of `n` columns"),
        Extent::Keys if matches!(shapes, Shapes::Attention { .. }) => format!(
            "`{name}` has `length` rows of `head_dim` elements for each head: is the number of each row compared with `length`?"
        ),
        Extent::Rows if matches!(shapes, Shapes::Paged { .. }) => {
            format!("`{name}` has an element for each sequence: its index is the sequence")
        }
        Extent::Rows => format!("`{name}` has an element for each row: its index is the row"),
        Extent::Cache => format!(
            "`{name}` has, for each page, `kv_heads` heads of 16 rows of `head_dim` elements. Which page that is, the table says, and for tokens \
             beyond the sequence's length it says -1"
        ),
        Extent::PageTable => {
            format!("`{name}` has a row of `pages` numbers for each sequence: token t is on the page at t / 16 of it")
        }
        Extent::Parts { tokens, .. } => format!(
            "`{name}` has room for `(16 * pages).div_ceil({tokens})` parts for each of `q_heads` heads of each sequence"
        ),
        Extent::Scores => format!("`{name}` has `length` rows of `length` elements for each head"),
        Extent::Keys => format!("`{name}` has `k_heads` heads of `head_dim` elements for each token"),
        Extent::Pairs => format!("`{name}` has `head_dim / 2` elements for each token"),
        Extent::Table(rows) => format!(
            "`{name}` has {rows} rows of `head_dim` elements: a position selects the row, and a pair of elements the place in it"
        ),
        Extent::Slots(Width::One) => format!("`{name}` has an element for each of `2 * tokens` slots"),
        Extent::Slots(width) => format!("`{name}` has `2 * tokens` rows of {} elements", wide(width)),
        Extent::Experts { rows, columns } => {
            format!("`{name}` has {} rows of {} elements for each expert", wide(rows), wide(columns))
        }
        Extent::Order => {
            format!(
                "`{name}` has `2 * tokens` entries, and an expert's end where the next one's begin: compare with `offsets[expert + 1]`"
            )
        }
        Extent::Offsets => format!("`{name}` has `experts + 1` entries: its index is an expert, or `experts`"),
        Extent::Tensors { of } => format!(
            "`{name}` has an entry of {} numbers for each tensor: its index is the tensor's number, as the chunk's entry has it",
            of.len() + 1
        ),
        Extent::Chunks { .. } => format!(
            "`{name}` has an entry of two numbers for each chunk: its index is the number of the block, of which there are as many as \
             entries"
        ),
    }
}

/// How many elements a row has, by its name.
fn wide(width: Width) -> &'static str {
    match width {
        Width::One => "1",
        Width::Hidden => "`hidden`",
        Width::Inter => "`inter`",
        Width::GateUp => "`2 * inter`",
    }
}
