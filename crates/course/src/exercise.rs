//! The specification of one exercise.

use std::ops::Range;

use crate::paged::{FULL, PAGE, Paging};
use crate::{CHOICES, DType, Data, Inputs, Mistaken, Routing, Shape, Shapes, Step, Suspect, Work};

/// Everything that is fixed about an exercise.
#[derive(Debug)]
pub struct Exercise {
    /// Name of the exercise, its files, its launch function and its kernel.
    pub name: &'static str,
    pub day: u32,
    /// The operation in one line, for tables.
    pub definition: &'static str,
    /// Buffers that the kernel reads, in the order of the signature.
    pub inputs: &'static [Param],
    /// Buffers that it writes.
    pub outputs: &'static [Param],
    /// Buffers that the unfused chain needs and the fused kernel does without.
    pub intermediates: &'static [Param],
    /// Buffers that are lent to the launch function beside the outputs, for what goes from one of its launches to the
    /// next. The chain may use them too. What they hold before and after is nobody's concern.
    pub scratch: &'static [Param],
    /// Scalars after the buffers, by name, as [`Case::scalars`] holds them.
    pub scalars: &'static [&'static str],
    /// One kernel a step: the baseline, and the model of its bytes.
    pub unfused: &'static [Step],
    /// Where one kernel for everything does not pay: the launches that do, whose bytes are then what is needed. Empty
    /// where one kernel reads each input once and writes each output once.
    pub plan: &'static [Step],
    pub shapes: Shapes,
    /// Of attention: whether a query sees the keys up to its own place alone, so that a result depends on the query's place, and a block
    /// need read no keys behind those of its queries.
    pub causal: bool,
    /// Elements of the large problem on the emulated device. Byte counts do not change with the size.
    pub surveyed: usize,
    /// The most work of a problem at which it is judged whether a submission is right: elements, and where a matrix product is
    /// among its steps, elements times columns.
    pub most_work: usize,
    /// Fills inputs and scalars for a shape.
    pub make: fn(Shape, &mut Inputs) -> Case,
    /// The right outputs, computed in f64 from the case's inputs.
    pub reference: fn(&Case) -> Vec<Reference>,
    /// What wrong rows may have in common, with the likeliest first.
    pub suspects: &'static [Suspect],
    /// Other operations that it may have been mistaken for.
    pub mistaken: &'static [Mistaken],
    /// A scalar that chooses what is computed, and what each of its values from 0 on is called.
    pub choices: (&'static str, &'static [&'static str]),
    /// One for each output.
    pub tolerances: &'static [Tolerance],
    /// Arithmetic operations of the definition for a shape: each addition, multiplication, division, comparison,
    /// rounding and elementary function counts as one, however many instructions it takes. 0 where it is not stated.
    pub flops: fn(Shape) -> f64,
    /// Launches allowed.
    pub launches: u32,
    /// The speedup over the unfused chain that passes, as a fraction of the ideal byte ratio.
    pub bar: f64,
    /// The speedup that passes, where it is not bytes that are saved: [`Exercise::bar`] then counts for nothing.
    pub speedup: Option<f64>,
    /// Of a product of matrices: how many multiply-adds each element must serve, at least, that a thread loads from global memory. A tile
    /// of edge T needs 2 T^2 elements for T^3 of them, which is T / 2 for each. 0 asks for nothing.
    pub reuse: usize,
    /// A kernel, already fused, that must be beaten too.
    pub rival: Option<Rival>,
    /// The same operation as kernels of `kernels/ladders/`, from naive to fast, for `bench`.
    pub ladder: &'static [Rung],
    /// How wide accesses to global memory must be.
    pub access: Access,
    /// `NAME.md` beside the specification: from a nudge to nearly the answer. Ask [`Exercise::levels`] for one after the other.
    pub hints: &'static str,
}

/// A kernel of `kernels/` that computes the same in one launch, plainly.
#[derive(Clone, Copy, Debug)]
pub struct Rival {
    /// What to call it: `the scalar fused kernel`.
    pub name: &'static str,
    pub step: Step,
    /// The speedup over it that passes. On a GPU less passes where the memory leaves less.
    pub bar: f64,
}

/// A kernel of an exercise's ladder, and the rows that it can do.
#[derive(Clone, Copy, Debug)]
pub struct Rung {
    /// `one pass`. Of several of one name, for rows of different lengths, the first that can do a shape stands for it.
    pub name: &'static str,
    pub step: Step,
    /// The most columns.
    pub longest: usize,
    /// What the columns must be a multiple of, of a product of matrices the terms of a sum, and of tokens the elements of a head.
    pub multiple: usize,
}

impl Rung {
    /// A rung for rows of any length.
    pub const fn any(name: &'static str, step: Step) -> Self {
        Self { name, step, longest: usize::MAX, multiple: 1 }
    }

    /// The same for rows of at most so many columns.
    pub const fn up_to(mut self, columns: usize) -> Self {
        self.longest = columns;
        self
    }

    /// The same for rows of a multiple of so many columns, and for sums of a multiple of so many terms.
    pub const fn multiple_of(mut self, columns: usize) -> Self {
        self.multiple = columns;
        self
    }

    pub fn can_do(&self, shape: Shape) -> bool {
        let whole = shape.head().is_multiple_of(self.multiple) && shape.terms().is_multiple_of(self.multiple);
        shape.columns <= self.longest && whole
    }
}

/// A level of an exercise's hints, in Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// `The idea`.
    pub heading: &'static str,
    pub text: &'static str,
}

/// The least bytes of a thread's access to global memory, on average over a launch; 0 asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub load: u32,
    pub store: u32,
}

impl Access {
    pub const ANY: Self = Self { load: 0, store: 0 };
}

/// A buffer of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    pub name: &'static str,
    pub dtype: DType,
    pub extent: Extent,
    /// An output that is read too: [`Case::initial`] holds what is in it before.
    pub updated: bool,
    /// Elements between where its allocation begins and where the buffer does.
    pub offset: usize,
    /// Whether it is reached by a table alone: the launch function is given the table and not the buffer.
    pub behind: bool,
}

impl Param {
    const fn new(name: &'static str, dtype: DType, extent: Extent) -> Self {
        Self { name, dtype, extent, updated: false, offset: 0, behind: false }
    }

    /// A buffer with one element for each element of the shape.
    pub const fn elements(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Elements)
    }

    /// A buffer with one element for each element of the shape, column after column.
    pub const fn transposed(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Transposed)
    }

    /// A buffer with one element a row.
    pub const fn rows(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Rows)
    }

    /// A buffer with one element a column, shared by all rows.
    pub const fn columns(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Columns)
    }

    /// A square matrix, row-major, with as many rows as the shape has columns.
    pub const fn square(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Square)
    }

    /// A buffer with one element for each element of the tokens' keys.
    pub const fn keys(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Keys)
    }

    /// A buffer with one element for each query and key of each head.
    pub const fn scores(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Scores)
    }

    /// A buffer with one element for each pair of elements of a token's head.
    pub const fn pairs(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Pairs)
    }

    /// A table with so many rows, each of as many elements as a head has.
    pub const fn table(name: &'static str, dtype: DType, rows: usize) -> Self {
        Self::new(name, dtype, Extent::Table(rows))
    }

    /// The left factor of a product of matrices: m x k.
    pub const fn left(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Left)
    }

    /// The right factor: k x n.
    pub const fn right(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Right)
    }

    /// A table with an entry for each tensor: where its elements begin in each of these buffers, and how many there are. The addresses of
    /// one without elements are 0.
    pub const fn tensors(name: &'static str, of: &'static [&'static str]) -> Self {
        Self::new(name, DType::U64, Extent::Tensors { of })
    }

    /// A table with an entry for each piece of at most so many elements that tensors are cut into: the tensor's number, and which of its
    /// pieces it is.
    pub const fn chunks(name: &'static str, of: usize) -> Self {
        Self::new(name, DType::I32, Extent::Chunks { of })
    }

    /// A buffer with a row for each token and expert that works on it.
    pub const fn slots(name: &'static str, dtype: DType, width: Width) -> Self {
        Self::new(name, dtype, Extent::Slots(width))
    }

    /// A buffer with a matrix for each expert, of so many rows and columns.
    pub const fn experts(name: &'static str, dtype: DType, rows: Width, columns: Width) -> Self {
        Self::new(name, dtype, Extent::Experts { rows, columns })
    }

    /// A table of the slots in the order of their experts, see [`Routing::order`].
    pub const fn order(name: &'static str) -> Self {
        Self::new(name, DType::I32, Extent::Order)
    }

    /// A table of where in that order the slots of each expert begin, and of where the last one's end.
    pub const fn offsets(name: &'static str) -> Self {
        Self::new(name, DType::I32, Extent::Offsets)
    }

    /// The same for a buffer that only a table leads to.
    pub const fn behind(mut self) -> Self {
        self.behind = true;
        self
    }

    /// The same for an output that the kernel reads before it writes it.
    pub const fn updated(mut self) -> Self {
        self.updated = true;
        self
    }

    /// The same for a view that begins so many elements past where its allocation does, and so at no address that wide accesses need.
    pub const fn begins_at(mut self, elements: usize) -> Self {
        self.offset = elements;
        self
    }

    /// One of a paged cache's two buffers: for each page, each head of keys and each token of the page the elements of a head.
    pub const fn cache(name: &'static str, dtype: DType) -> Self {
        Self::new(name, dtype, Extent::Cache)
    }

    /// The table of a paged cache: for each sequence the numbers of its pages in their order, and -1 where it has no more.
    pub const fn page_table(name: &'static str) -> Self {
        Self::new(name, DType::I32, Extent::PageTable)
    }

    /// What goes from the parts of sequences to their merging: for each sequence, head of queries and part of so many tokens one
    /// element for each of a head, or so many.
    pub const fn parts(name: &'static str, dtype: DType, tokens: usize, each: Each) -> Self {
        Self::new(name, dtype, Extent::Parts { tokens, each })
    }

    /// Elements for a shape.
    pub fn len(&self, shape: Shape) -> usize {
        match self.extent {
            Extent::Elements | Extent::Transposed => shape.elements(),
            Extent::Rows => shape.rows,
            Extent::Columns => shape.columns,
            Extent::Square => shape.columns * shape.columns,
            Extent::Left => shape.rows * shape.terms(),
            Extent::Right => shape.terms() * shape.columns,
            Extent::Keys => shape.key_rows() * shape.key_columns(),
            Extent::Scores => shape.elements() / shape.head().max(1) * shape.terms(),
            Extent::Pairs => shape.rows * (shape.head() / 2),
            Extent::Table(rows) => rows * shape.head(),
            Extent::Tensors { of } => shape.rows * (of.len() + 1),
            Extent::Chunks { of } => 2 * shape.tensors().map(|tensor| tensor.len().div_ceil(of)).sum::<usize>(),
            Extent::Slots(width) => shape.slots() * width.of(shape),
            Extent::Experts { rows, columns } => shape.experts.unwrap_or_default() * rows.of(shape) * columns.of(shape),
            Extent::Order => shape.slots(),
            Extent::Offsets => shape.experts.unwrap_or_default() + 1,
            Extent::Cache => Paging::of(shape).pool(shape) * PAGE * shape.key_columns(),
            Extent::PageTable => shape.rows * shape.pages.unwrap_or(0),
            Extent::Parts { tokens, each } => {
                let parts = shape.rows * shape.terms().div_ceil(tokens.max(1));
                parts * shape.heads.map_or(0, |[queries, _]| queries) * each.elements(shape)
            }
        }
    }

    /// What a table holds, by where the buffers are that it names; none of a buffer that is no table.
    pub fn entries(&self, shape: Shape, address: impl Fn(&str) -> u64) -> Option<Data> {
        let tensors = shape.tensors();
        match self.extent {
            Extent::Tensors { of } => {
                let entry = |tensor: Range<usize>| {
                    let begin = |name: &&str| match tensor.is_empty() {
                        true => 0,
                        false => address(name) + (tensor.start * size_of::<f32>()) as u64,
                    };
                    of.iter().map(begin).chain([tensor.len() as u64]).collect::<Vec<u64>>()
                };
                Some(Data::U64(tensors.flat_map(entry).collect()))
            }
            Extent::Chunks { of } => {
                let chunks = tensors.enumerate().flat_map(|(number, tensor)| {
                    (0..tensor.len().div_ceil(of)).flat_map(move |chunk| [number as i32, chunk as i32])
                });
                Some(Data::I32(chunks.collect()))
            }
            Extent::Order => Some(indices(Routing::of(shape).order())),
            Extent::Offsets => Some(indices(Routing::of(shape).offsets())),
            Extent::PageTable => Some(Data::I32(Paging::of(shape).table(shape))),
            _ => None,
        }
    }

    pub fn bytes(&self, shape: Shape) -> usize {
        self.len(shape) * self.dtype.bytes()
    }

    /// Elements of a row, of what the steps of a mixture of experts read and write.
    pub fn row(&self, shape: Shape) -> usize {
        match self.extent {
            Extent::Slots(width) | Extent::Experts { columns: width, .. } => width.of(shape),
            _ => shape.columns,
        }
    }

    /// Elements before the part of an expert, whose slots begin at that place in their order. Of what has tokens in their own order, an
    /// expert finds its own by their numbers. The rows of the chain's slots are in the experts' order.
    pub fn of_expert(&self, shape: Shape, expert: usize, begin: usize) -> usize {
        match self.extent {
            Extent::Slots(width) if width != Width::One => begin * width.of(shape),
            Extent::Experts { .. } => expert * self.len(Shape { experts: Some(1), ..shape }),
            Extent::Order => begin,
            _ => 0,
        }
    }

    /// Bytes that a launch moves which reads or writes it once: all of it, but of a paged cache and of what depends on how long its sequences
    /// are only what belongs to their tokens.
    pub fn moved(&self, shape: Shape) -> usize {
        let sum = |of: &dyn Fn(usize) -> usize| Paging::of(shape).sum(shape, of);
        let tokens = || sum(&|length| length);
        let [queries, keys] = shape.heads.unwrap_or_default();
        let elements = match self.extent {
            Extent::Cache => tokens() * keys * shape.head(),
            Extent::Keys if shape.pages.is_some() => tokens() * keys * shape.head(),
            Extent::Scores if shape.pages.is_some() => tokens() * queries,
            Extent::PageTable => sum(&|length| length.div_ceil(PAGE)),
            Extent::Parts { tokens, each } => {
                sum(&|length| length.div_ceil(tokens.max(1))) * queries * each.elements(shape)
            }
            _ => self.len(shape),
        };
        elements * self.dtype.bytes()
    }

    /// Row and column, in the shape, of an element of a buffer that has one for each element of it.
    pub fn place(&self, shape: Shape, element: usize) -> (usize, usize) {
        match self.extent {
            Extent::Transposed => (element % shape.rows.max(1), element / shape.rows.max(1)),
            Extent::Keys => (element / shape.key_columns().max(1), element % shape.key_columns().max(1)),
            _ => (element / shape.columns.max(1), element % shape.columns.max(1)),
        }
    }

    /// The element of one period that an element of an output is equal to, where a problem's inputs repeat after it.
    pub fn within(&self, period: Shape, shape: Shape, element: usize) -> usize {
        match self.extent {
            Extent::Transposed => {
                let (row, column) = self.place(shape, element);
                column % period.columns.max(1) * period.rows + row % period.rows.max(1)
            }
            _ => element % self.len(period).max(1),
        }
    }
}

/// Indices as a table has them.
fn indices(of: &[usize]) -> Data {
    Data::I32(of.iter().map(|&index| i32::try_from(index).unwrap_or(i32::MAX)).collect())
}

/// How many elements a row has, of what experts read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    One,
    /// As many as a token.
    Hidden,
    /// As many as there are between an expert's matrices.
    Inter,
    /// Twice as many: a gate, and what it lets through.
    GateUp,
}

impl Width {
    pub fn of(self, shape: Shape) -> usize {
        match self {
            Width::One => 1,
            Width::Hidden => shape.columns,
            Width::Inter => shape.terms(),
            Width::GateUp => 2 * shape.terms(),
        }
    }
}

/// How many elements a buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Elements,
    /// As many, column after column.
    Transposed,
    Rows,
    Columns,
    Square,
    /// M x K, of a product of M x K by K x N.
    Left,
    /// K x N.
    Right,
    /// A table of tensors, each with its place in each of some buffers of f32.
    Tensors {
        of: &'static [&'static str],
    },
    /// A table of the tensors' pieces, of at most so many elements.
    Chunks {
        of: usize,
    },
    /// Of tokens with heads, and of attention: the elements of their keys.
    Keys,
    /// Of attention: one for each query and key.
    Scores,
    /// One for each two elements of a token's head.
    Pairs,
    /// So many rows of the elements of a head.
    Table(usize),
    /// Of a mixture of experts: a row for each token and expert that works on it, the two of a token behind each other.
    Slots(Width),
    /// A matrix for each expert.
    Experts {
        rows: Width,
        columns: Width,
    },
    /// A table of slots, sorted by expert.
    Order,
    /// A table of where in that order each expert's slots begin.
    Offsets,
    /// Of a paged cache: the keys or the values of all of its pages, also of those that no sequence has.
    Cache,
    /// The numbers of each sequence's pages.
    PageTable,
    /// Of a paged cache: for each sequence, head of queries and part of so many tokens.
    Parts {
        tokens: usize,
        each: Each,
    },
}

/// How many elements a part of a sequence has for each head of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// As many as a head.
    Head,
    Elements(usize),
}

impl Each {
    fn elements(self, shape: Shape) -> usize {
        match self {
            Each::Head => shape.head(),
            Each::Elements(elements) => elements,
        }
    }
}

impl Extent {
    /// Whether it is a table, whose contents follow from the shape and from where other buffers are.
    pub fn is_table(self) -> bool {
        use Extent::{Chunks, Offsets, Order, PageTable, Tensors};
        matches!(self, Tensors { .. } | Chunks { .. } | Order | Offsets | PageTable)
    }

    /// Whether a buffer grows with the number of rows, and what it holds may repeat itself.
    pub fn grows_with_rows(self) -> bool {
        match self {
            Extent::Elements | Extent::Transposed | Extent::Rows | Extent::Left | Extent::Keys | Extent::Pairs => true,
            Extent::Scores | Extent::Slots(_) | Extent::Cache | Extent::Parts { .. } => true,
            Extent::Columns | Extent::Square | Extent::Right | Extent::Table(_) => false,
            Extent::Tensors { .. } | Extent::Chunks { .. } | Extent::Order | Extent::Offsets => false,
            Extent::Experts { .. } | Extent::PageTable => false,
        }
    }
}

/// One concrete problem: a shape with host inputs and scalars.
#[derive(Clone, Debug)]
pub struct Case {
    pub shape: Shape,
    /// As [`Exercise::inputs`].
    pub inputs: Vec<Data>,
    /// As [`Exercise::scalars`].
    pub scalars: Vec<Scalar>,
    /// For an output that the kernel also reads: what it holds before. Empty when there is none.
    pub initial: Vec<Option<Data>>,
}

impl Case {
    pub fn new(shape: Shape, inputs: Vec<Data>) -> Self {
        Self { shape, inputs, scalars: Vec::new(), initial: Vec::new() }
    }

    /// The n-th input's f32 values.
    pub fn f32s(&self, input: usize) -> &[f32] {
        self.inputs.get(input).map_or(&[], Data::f32s)
    }

    /// The n-th input's values in f64; none when there is no such input.
    pub fn f64s(&self, input: usize) -> Vec<f64> {
        self.inputs.get(input).map_or_else(Vec::new, Data::to_f64)
    }

    /// The n-th scalar; 0 when there is none.
    pub fn scalar(&self, index: usize) -> f64 {
        self.scalars.get(index).map_or(0.0, |s| s.to_f64())
    }
}

/// A scalar argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    F32(f32),
    I32(i32),
}

impl Scalar {
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::F32(x) => f64::from(x),
            Scalar::I32(x) => f64::from(x),
        }
    }
}

/// The right values of one output.
#[derive(Clone, Debug)]
pub enum Reference {
    /// Within the output's [`Tolerance`]. `magnitudes` holds, for each element, the largest
    /// absolute value among the terms that it was summed from, which is what a rounding error
    /// scales with where terms cancel; `None` where nothing cancels.
    Close { values: Vec<f64>, magnitudes: Option<Vec<f64>> },
    /// One of two values, which are the same away from ties: quantizers. Where what was rounded is the small difference of large terms, other
    /// values may lie between the two, and are right too.
    OneOf(Vec<[f64; 2]>),
}

impl Reference {
    /// Numbers that are known to within an error, each rounded once to a float type, to nearest even. Where the two ends
    /// of what a number may be are rounded to different values, either is right. An error is less than half the distance
    /// between neighbours of the type, but where terms cancel: then all numbers between the two are right.
    pub fn rounded(dtype: DType, numbers: impl IntoIterator<Item = (f64, f64)>) -> Self {
        // Rounding keeps order, so going through f32, as kernels do, takes nothing from between the ends.
        let ends = numbers.into_iter().map(|(number, error)| ((number - error) as f32, (number + error) as f32));
        let (low, high) = ends.unzip();
        let [low, high] = [low, high].map(|values| Data::rounded(dtype, values).to_f64());
        Reference::OneOf(low.into_iter().zip(high).map(<[f64; 2]>::from).collect())
    }

    pub fn len(&self) -> usize {
        match self {
            Reference::Close { values, .. } => values.len(),
            Reference::OneOf(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements with these indices, in their order.
    pub fn of(&self, indices: impl Iterator<Item = usize> + Clone) -> Reference {
        fn chosen<T: Copy>(all: &[T], indices: impl Iterator<Item = usize>) -> Vec<T> {
            indices.filter_map(|index| all.get(index).copied()).collect()
        }
        match self {
            Reference::Close { values, magnitudes } => Reference::Close {
                values: chosen(values, indices.clone()),
                magnitudes: magnitudes.as_ref().map(|all| chosen(all, indices)),
            },
            Reference::OneOf(values) => Reference::OneOf(chosen(values, indices)),
        }
    }
}

/// A value passes when |actual - ref| <= absolute + relative * max(|ref|, magnitude).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

impl Tolerance {
    pub const EXACT: Self = Self { absolute: 0.0, relative: 0.0 };
}

impl Exercise {
    /// What most exercises have in common, to be completed: `Exercise { name: "add_gelu", .., ..Exercise::TEMPLATE }`.
    pub const TEMPLATE: Self = Self {
        name: "",
        day: 0,
        definition: "",
        inputs: &[],
        outputs: &[],
        intermediates: &[],
        scratch: &[],
        scalars: &[],
        unfused: &[],
        plan: &[],
        shapes: Shapes::Elementwise,
        causal: false,
        surveyed: 1 << 22,
        most_work: usize::MAX,
        make: |shape, _| Case::new(shape, Vec::new()),
        reference: |_| Vec::new(),
        suspects: &[],
        mistaken: &[],
        choices: ("", &[]),
        tolerances: &[],
        flops: |_| 0.0,
        launches: 1,
        bar: 0.85,
        speedup: None,
        reuse: 0,
        rival: None,
        ladder: &[],
        access: Access::ANY,
        hints: "",
    };

    /// Whether its views may begin anywhere, and not only where an allocation does.
    pub fn begins_anywhere(&self) -> bool {
        // A tensor that a table leads to begins where the one before it ends.
        self.inputs.iter().chain(self.outputs).any(|param| param.offset > 0 || param.behind)
    }

    /// Whether the buffer of this name is one that only a table leads to.
    pub fn is_behind(&self, name: &str) -> bool {
        self.param(name).is_some_and(|param| param.behind)
    }

    /// What the tables among the inputs hold, each with its place there, by where the buffers are that they name.
    pub fn tables(&self, shape: Shape, address: impl Fn(&str) -> u64) -> Vec<(usize, Data)> {
        let inputs = self.inputs.iter().enumerate();
        inputs.filter_map(|(index, param)| Some((index, param.entries(shape, &address)?))).collect()
    }

    /// The hints, each with its heading: the text from one `## ` to the next.
    pub fn levels(&self) -> Vec<Hint> {
        let parts = self.hints.split("## ").skip(1).filter_map(|part| part.split_once('\n'));
        parts.map(|(heading, text)| Hint { heading, text: text.trim() }).collect()
    }

    /// Bytes that must be moved: each input read once, each output written once, what is lent for several launches written and read once; where one kernel does not pay, what
    /// the launches of the plan move.
    pub fn minimum_bytes(&self, shape: Shape) -> u64 {
        if !self.plan.is_empty() {
            return self.plan.iter().map(|step| step.bytes(self, shape)).sum();
        }
        // What goes from one launch to the next is written and read.
        let between: usize = self.scratch.iter().map(|p| p.moved(shape)).sum();
        self.read_bytes(shape) + self.written_bytes(shape) + 2 * between as u64
    }

    /// Bytes of what any kernel must read: the inputs, and outputs that are updated.
    pub fn read_bytes(&self, shape: Shape) -> u64 {
        let updated = self.outputs.iter().filter(|p| p.updated);
        self.inputs.iter().chain(updated).map(|p| p.moved(shape) as u64).sum()
    }

    /// Bytes of the outputs.
    pub fn written_bytes(&self, shape: Shape) -> u64 {
        self.outputs.iter().map(|p| p.moved(shape) as u64).sum()
    }

    /// Bytes that the unfused chain must move.
    pub fn unfused_bytes(&self, shape: Shape) -> u64 {
        self.unfused.iter().map(|step| step.bytes(self, shape)).sum()
    }

    /// The ideal speedup of fusing, by bytes, for a large shape.
    pub fn ideal_speedup(&self, shape: Shape) -> f64 {
        self.unfused_bytes(shape) as f64 / self.minimum_bytes(shape).max(1) as f64
    }

    /// Whether a matrix product of the library's is among its steps.
    pub fn multiplies(&self) -> bool {
        self.unfused.iter().any(|step| step.work == Work::Gemm)
    }

    /// A buffer by name, among inputs, outputs, intermediates and scratch.
    pub fn param(&self, name: &str) -> Option<&Param> {
        let buffers = self.inputs.iter().chain(self.outputs).chain(self.intermediates).chain(self.scratch);
        buffers.into_iter().find(|p| p.name == name)
    }

    /// The problems at which it is judged whether a submission is right.
    pub fn problems(&self, seed: u64) -> Vec<Shape> {
        self.shapes.all(seed).into_iter().filter(|&shape| self.work(shape) <= self.most_work).collect()
    }

    /// The part of a large shape after which its inputs may repeat, see [`Shape::period`].
    pub fn period(&self, shape: Shape) -> Shape {
        if self.causal { shape.group_of_heads() } else { shape.period() }
    }

    /// How much an operation has to do for a shape: a matrix product goes over all of a row for each of its elements.
    pub fn work(&self, shape: Shape) -> usize {
        let each = match shape.depth {
            _ if shape.pages.is_some() => shape.terms(),
            Some(depth) => depth.max(1),
            None if self.multiplies() => shape.columns,
            None => 1,
        };
        shape.elements().saturating_mul(each)
    }

    /// Whether a submission multiplies matrices itself.
    pub fn is_product(&self) -> bool {
        matches!(self.shapes, Shapes::Product { .. })
    }

    /// Whether arithmetic decides how long it takes: its inputs are used many times, by products of matrices that a submission makes itself.
    pub fn is_arithmetic(&self) -> bool {
        self.is_product() || matches!(self.shapes, Shapes::Attention { .. } | Shapes::Routing { .. })
    }

    /// The large problems at which bytes and speed are judged, of about so many elements: one for each timed row length or number of
    /// tensors; of tokens, so many of the queries. Products of matrices and mixtures of experts are those that are timed, halved in all
    /// directions until they have no more, and attention has its heads and its tokens halved. Of a paged cache it is so many elements of
    /// the result times pages, in tables that are full.
    pub fn large(&self, elements: usize) -> Vec<Shape> {
        match self.shapes {
            Shapes::Elementwise => vec![Shape::flat(elements)],
            Shapes::Rows { timed, .. } | Shapes::Matrix { timed } => {
                timed.iter().map(|&columns| Shape::of((elements / columns.max(1)).max(1), columns)).collect()
            }
            Shapes::Product { timed } => {
                let halved = |sizes: &[usize; 3]| {
                    let mut sizes = *sizes;
                    while sizes[0] * sizes[1] > elements.max(1) {
                        sizes = sizes.map(|size| (size / 2).max(1));
                    }
                    Shape::product(sizes[0], sizes[1], sizes[2])
                };
                timed.iter().map(halved).collect()
            }
            Shapes::Tensors { timed } => {
                timed.iter().map(|&tensors| Shape::of(tensors, (elements / tensors.max(1)).max(1))).collect()
            }
            Shapes::Heads { timed } => {
                let tokens = |queries: usize, head: usize| (elements / (queries * head).max(1)).max(1);
                let shape =
                    |&[queries, keys, head]: &[usize; 3]| Shape::tokens(tokens(queries, head), [queries, keys], head);
                timed.iter().map(shape).collect()
            }
            Shapes::Attention { timed, .. } => {
                let halved = |&[mut queries, mut keys, mut length, head]: &[usize; 4]| {
                    while queries * length * head > elements.max(1) && queries * length > 1 {
                        [queries, keys, length] = [queries, keys, length].map(|size| (size / 2).max(1));
                    }
                    Shape::attention([queries, keys], length, head)
                };
                timed.iter().map(halved).collect()
            }
            Shapes::Routing { timed } => {
                let halved = |sizes: &[usize; 4]| {
                    let mut sizes = *sizes;
                    while sizes[0] * sizes[2] > elements.max(1) {
                        sizes = sizes.map(|size| (size / 2).max(1));
                    }
                    let [tokens, experts, hidden, inter] = sizes;
                    Shape::routing(tokens, experts.max(CHOICES), hidden, inter)
                };
                timed.iter().map(halved).collect()
            }
            Shapes::Paged { timed, .. } => {
                let halved = |&[mut sequences, queries, mut keys, head, mut pages]: &[usize; 5]| {
                    let group = queries / keys.max(1);
                    while sequences * keys * group * head * pages > elements.max(1)
                        && (sequences > 1 || keys > 1 || pages > FULL)
                    {
                        [sequences, keys] = [sequences, keys].map(|size| (size / 2).max(1));
                        pages = (pages / 2).max(pages.min(FULL));
                    }
                    Shape::paged(sequences, [group * keys, keys], head, pages)
                };
                timed.iter().map(halved).collect()
            }
        }
    }

    /// The rungs of the ladder that can do a shape, one of each name, with their places in it.
    pub fn rungs(&self, shape: Shape) -> Vec<(usize, &Rung)> {
        let mut found: Vec<(usize, &Rung)> = Vec::new();
        for (index, rung) in self.ladder.iter().enumerate().filter(|(_, rung)| rung.can_do(shape)) {
            if found.iter().all(|(_, known)| known.name != rung.name) {
                found.push((index, rung));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_exercise_has_three_hints() {
        for exercise in crate::days().iter().flat_map(|day| day.exercises) {
            let headings: Vec<_> = exercise.levels().iter().map(|hint| hint.heading).collect();
            assert_eq!(headings, ["The idea", "The way", "The code"], "{}", exercise.name);
        }
    }
}
