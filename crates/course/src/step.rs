//! The unfused chain: one kernel a step, as data that the baseline runs and the byte model sums.

use crate::{Exercise, Shape};

/// One launch of the unfused chain, or a fused kernel described as if it were one.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The kernel in `kernels/`. Its arguments are the buffers read, the buffers written, the
    /// scalars and sizes that it names, and then the sizes: `n` for elementwise kernels, `m`, `n` and `k` for products of matrices, `heads`, `kv_heads`, `length`
    /// and `head_dim` for those by head, `sequences`, `q_heads`, `kv_heads`, `head_dim` and `pages` for those of a paged cache, `rows` and `columns` for others. A `*` in the name stands for the number of threads, where there is a kernel for each.
    pub kernel: &'static str,
    pub reads: &'static [&'static str],
    pub writes: &'static [&'static str],
    pub scalars: &'static [ScalarArg],
    pub work: Work,
    /// Threads of a block.
    pub threads: Threads,
    /// Bytes of dynamic shared memory of a block, for each of its columns; of a product's or a head's block, in all.
    pub shared: usize,
    /// Blocks that share a row, each with a part of its columns: the cluster that the kernel's `__cluster_dims__` names.
    pub cluster: usize,
    /// Whether it is launched once for each tensor, on that tensor's part of each buffer, and not at all for one without elements.
    pub each_tensor: bool,
    /// Whether it is launched once for each expert, on that expert's part of each buffer, and not at all for one without tokens.
    pub each_expert: bool,
}

/// How many threads a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    Fixed(u32),
    /// As many as hold a row with so many elements each: a power of two from 32 to 1024.
    ForRow {
        each: usize,
    },
}

/// What a block of a step works on, and so how many blocks there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Each thread handles so many elements.
    Elements { a_thread: usize },
    /// Each block handles so many rows.
    Rows { a_block: usize },
    /// Each block handles so many rows of a product's right factor. The kernel is given the rows and columns of that.
    Right { a_block: usize },
    /// Each block handles a square tile of so many rows and columns. The grid has the tiles of the rows along x, where there may be
    /// more of them, and those of the columns along y. A block has 32 threads along x.
    Tiles { edge: usize },
    /// Each block handles one piece of a tensor, of at most so many elements. The kernel is given no buffer that a table leads to, and no
    /// sizes.
    Chunks { of: usize },
    /// Each block handles so many queries of one head of attention. The grid has the blocks of a head beside each other along x, and
    /// those of the next head behind them. The kernel is given the numbers of heads of queries and of keys, of tokens, and of elements.
    Heads { queries: usize },
    /// Each block handles a tile of a product's result, of so many rows and columns. The grid has the tiles of the rows along x.
    Product { rows: usize, columns: usize },
    /// Each block handles such a piece of a paged cache, or of what is gathered from it. The kernel is given the numbers of sequences, of heads of
    /// queries and of keys, of elements of a head, and of pages of a row of the table.
    Cache(Piece),
    /// No kernel of the chain but the library's matrix product, [`crate::Gemm`]: of what is read, the first buffer
    /// (rows x columns) times the second (columns x columns).
    Gemm,
    /// No kernel of the course's, but one that a submission has: such a step says what it moves, and cannot be run.
    Own,
}

/// What a block has of a paged cache. The pieces of a sequence follow each other in the grid, and those of one of its heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// One page of a sequence, with all heads.
    Page,
    /// So many tokens of a sequence and head of keys.
    Tokens(usize),
    /// So many elements of a sequence's head of keys, of all tokens.
    Elements(usize),
    /// A sequence's head of queries.
    Head,
}

/// A scalar argument of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarArg {
    Constant(f32),
    /// A scalar of the exercise, by name.
    Named(&'static str),
    /// A size of the exercise, by the name that [`crate::Shapes::sizes`] has for it.
    Size(&'static str),
}

impl Step {
    const fn new(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        work: Work,
    ) -> Self {
        let threads = Threads::Fixed(256);
        Self {
            kernel,
            reads,
            writes,
            scalars: &[],
            work,
            threads,
            shared: 0,
            cluster: 1,
            each_tensor: false,
            each_expert: false,
        }
    }

    /// An elementwise step without scalars, one element per thread.
    pub const fn elementwise(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Elements { a_thread: 1 })
    }

    /// A step with one block a row.
    pub const fn by_row(kernel: &'static str, reads: &'static [&'static str], writes: &'static [&'static str]) -> Self {
        Self::new(kernel, reads, writes, Work::Rows { a_block: 1 })
    }

    /// A step with one block for each row of a product's right factor.
    pub const fn by_row_of_right(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Right { a_block: 1 })
    }

    /// A step with one block a tile, of so many rows and columns.
    pub const fn by_tile(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        edge: usize,
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Tiles { edge })
    }

    /// A product of matrices with one block for each tile of its result, of so many rows and columns.
    pub const fn product(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        [rows, columns]: [usize; 2],
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Product { rows, columns })
    }

    /// A step of attention with one block for so many queries of a head.
    pub const fn by_head(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        queries: usize,
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Heads { queries })
    }

    /// A step with one block for each piece of a tensor, of at most so many elements.
    pub const fn by_chunk(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        of: usize,
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Chunks { of })
    }

    /// A step with one block for each such piece of a paged cache.
    pub const fn by_piece(
        kernel: &'static str,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
        piece: Piece,
    ) -> Self {
        Self::new(kernel, reads, writes, Work::Cache(piece))
    }

    /// The library's matrix product of the two buffers that are read.
    pub const fn gemm(reads: &'static [&'static str; 2], writes: &'static [&'static str; 1]) -> Self {
        Self::new("gemm", reads, writes, Work::Gemm)
    }

    /// A launch of a submission's own kernel, for a plan.
    pub const fn own(kernel: &'static str, reads: &'static [&'static str], writes: &'static [&'static str]) -> Self {
        Self::new(kernel, reads, writes, Work::Own)
    }

    pub const fn with(mut self, scalars: &'static [ScalarArg]) -> Self {
        self.scalars = scalars;
        self
    }

    /// The same with a launch for each tensor.
    pub const fn for_each_tensor(mut self) -> Self {
        self.each_tensor = true;
        self
    }

    /// The same with a launch for each expert. Its rows are those of the expert's tokens, and its columns those of what it writes; the
    /// terms of a product are the columns of what it reads first.
    pub const fn for_each_expert(mut self) -> Self {
        self.each_expert = true;
        self
    }

    /// The same for a kernel whose threads handle several elements each.
    pub const fn elements_a_thread(mut self, elements: usize) -> Self {
        self.work = Work::Elements { a_thread: elements };
        self
    }

    /// The same for a kernel whose blocks handle several rows each.
    pub const fn rows_a_block(mut self, rows: usize) -> Self {
        self.work = Work::Rows { a_block: rows };
        self
    }

    /// The same for a kernel of which a cluster of so many blocks shares each row.
    pub const fn blocks_a_row(mut self, blocks: usize) -> Self {
        self.cluster = blocks;
        self
    }

    /// The same with another number of threads a block than 256.
    pub const fn threads(mut self, threads: u32) -> Self {
        self.threads = Threads::Fixed(threads);
        self
    }

    /// The same with as many threads a block as hold a row with so many elements each.
    pub const fn elements_of_row(mut self, each: usize) -> Self {
        self.threads = Threads::ForRow { each };
        self
    }

    /// The same for a kernel that keeps its row in dynamic shared memory, with so many bytes per element.
    pub const fn row_in_shared(mut self, bytes: usize) -> Self {
        self.shared = bytes;
        self
    }

    /// The same for a kernel of a product with so many bytes of dynamic shared memory for each block.
    pub const fn shared_of_block(mut self, bytes: usize) -> Self {
        self.shared = bytes;
        self
    }

    /// Bytes of dynamic shared memory of a block for a shape.
    pub fn shared_bytes(&self, shape: Shape) -> usize {
        match self.work {
            Work::Product { .. } | Work::Heads { .. } | Work::Cache(_) => self.shared,
            _ => self.shared.saturating_mul(self.columns_of_block(shape)),
        }
    }

    /// The most columns of a row that a block has. Blocks that share a row have them in fours, where they access 16 bytes at a time.
    fn columns_of_block(&self, shape: Shape) -> usize {
        match self.cluster {
            0 | 1 => shape.columns,
            blocks => shape.columns.div_ceil(blocks).next_multiple_of(4),
        }
    }

    /// Threads of a block for a shape.
    pub fn block(&self, shape: Shape) -> u32 {
        match self.threads {
            Threads::Fixed(threads) => threads.max(1),
            Threads::ForRow { each } => {
                self.columns_of_block(shape).div_ceil(each.max(1)).next_power_of_two().clamp(32, 1024) as u32
            }
        }
    }

    /// The same along x and y.
    pub fn block_dim(&self, shape: Shape) -> (u32, u32, u32) {
        match (self.work, self.block(shape)) {
            (Work::Tiles { .. }, threads) => (32, threads.div_ceil(32), 1),
            (_, threads) => (threads, 1, 1),
        }
    }

    /// Blocks for a shape, along x and y; none for the library's product and for kernels of submissions, whose blocks are their own affair.
    pub fn grid_dim(&self, shape: Shape) -> (u32, u32, u32) {
        let blocks = |items: usize, each: usize| u32::try_from(items.div_ceil(each.max(1))).unwrap_or(u32::MAX);
        match self.work {
            Work::Elements { a_thread } => {
                (blocks(shape.elements(), self.block(shape) as usize * a_thread.max(1)), 1, 1)
            }
            Work::Rows { a_block } => (blocks(shape.rows.saturating_mul(self.cluster), a_block), 1, 1),
            Work::Right { a_block } => (blocks(shape.terms(), a_block), 1, 1),
            Work::Tiles { edge } => (blocks(shape.rows, edge), blocks(shape.columns, edge), 1),
            Work::Product { rows, columns } => (blocks(shape.rows, rows), blocks(shape.columns, columns), 1),
            Work::Heads { queries } => {
                let heads = shape.heads.map_or(0, |[heads, _]| heads);
                (blocks(heads.saturating_mul(shape.queries().div_ceil(queries.max(1))), 1), 1, 1)
            }
            Work::Cache(piece) => {
                let [queries, keys] = shape.heads.unwrap_or_default();
                let each = match piece {
                    Piece::Page => shape.pages.unwrap_or(0),
                    Piece::Tokens(tokens) => keys * shape.terms().div_ceil(tokens.max(1)),
                    Piece::Elements(elements) => keys * shape.head().div_ceil(elements.max(1)),
                    Piece::Head => queries,
                };
                (blocks(shape.rows.saturating_mul(each), 1), 1, 1)
            }
            Work::Chunks { of } => (shape.tensors().map(|tensor| blocks(tensor.len(), of)).sum(), 1, 1),
            Work::Gemm | Work::Own => (0, 1, 1),
        }
    }

    /// Bytes that the step must move: each distinct buffer once for each direction.
    pub fn bytes(&self, exercise: &Exercise, shape: Shape) -> u64 {
        self.read_bytes(exercise, shape) + self.written_bytes(exercise, shape)
    }

    /// Bytes of the distinct buffers that are read.
    pub fn read_bytes(&self, exercise: &Exercise, shape: Shape) -> u64 {
        distinct(self.reads, exercise, shape)
    }

    /// Bytes of the distinct buffers that are written.
    pub fn written_bytes(&self, exercise: &Exercise, shape: Shape) -> u64 {
        distinct(self.writes, exercise, shape)
    }
}

fn distinct(names: &[&str], exercise: &Exercise, shape: Shape) -> u64 {
    let first = names.iter().enumerate().filter(|(i, name)| !names[..*i].contains(name));
    first.filter_map(|(_, name)| exercise.param(name)).map(|param| param.moved(shape) as u64).sum()
}
