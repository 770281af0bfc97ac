//! The sizes of a problem, and those that an exercise is checked at.

use std::ops::Range;

use crate::CHOICES;
use crate::paged::{FULL, GROUP, PAGE};

/// Row-major, contiguous. An elementwise shape is one row; a product of matrices has the rows and columns of its result; tokens with
/// heads have a row each, whose columns are those of all heads of its queries. A list of tensors has a row for each of them, of as many
/// columns as a tensor has elements on average. Attention has a row for each query of each head, head after head, whose columns are a
/// head's elements. A mixture of experts has a row for each token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub rows: usize,
    pub columns: usize,
    /// Of a product of matrices: how many terms each element of the result is the sum of. Of attention: how many keys a head has, since
    /// each element of the result is a sum over them. Of a mixture of experts: how many elements a token has between an expert's two
    /// matrices.
    pub depth: Option<usize>,
    /// Of tokens: how many heads the queries of each have, and how many its keys. Of attention: how many there are in all, those of each
    /// sequence of a batch behind those of the one before it.
    pub heads: Option<[usize; 2]>,
    /// Of a mixture of experts: how many there are.
    pub experts: Option<usize>,
    /// Of tokens that attend to a paged cache, one for each sequence: how many pages a row of the block table has room for.
    pub pages: Option<usize>,
}

impl Shape {
    pub const fn flat(elements: usize) -> Self {
        Self::of(1, elements)
    }

    pub const fn of(rows: usize, columns: usize) -> Self {
        Self { rows, columns, depth: None, heads: None, experts: None, pages: None }
    }

    /// A product of m x k by k x n.
    pub const fn product(m: usize, n: usize, k: usize) -> Self {
        Self { depth: Some(k), ..Self::of(m, n) }
    }

    /// Tokens with so many heads of queries, and of keys, each of which has so many elements.
    pub const fn tokens(tokens: usize, [queries, keys]: [usize; 2], head: usize) -> Self {
        Self { heads: Some([queries, keys]), ..Self::of(tokens, queries * head) }
    }

    /// Attention with so many heads of queries, and of keys and values, each of a sequence of so many tokens. A token has so many elements
    /// in each head.
    pub const fn attention([queries, keys]: [usize; 2], length: usize, head: usize) -> Self {
        Self { depth: Some(length), heads: Some([queries, keys]), ..Self::of(queries * length, head) }
    }

    /// Tokens of so many elements, each of which two of the experts work on. An expert makes of it first so many elements, and then as many
    /// as it had.
    pub const fn routing(tokens: usize, experts: usize, hidden: usize, inter: usize) -> Self {
        Self { depth: Some(inter), experts: Some(experts), ..Self::of(tokens, hidden) }
    }

    /// A token of each of so many sequences, with so many heads of queries, and of keys in a cache, each of so many elements. A sequence
    /// has up to so many pages of the cache, and what [`crate::paged::Paging`] says of them.
    pub const fn paged(sequences: usize, heads: [usize; 2], head: usize, pages: usize) -> Self {
        Self { pages: Some(pages), ..Self::tokens(sequences, heads, head) }
    }

    /// Whether it is one of attention.
    pub const fn is_attention(self) -> bool {
        self.depth.is_some() && self.heads.is_some()
    }

    /// Elements of one head; of a shape without heads, of a row.
    pub fn head(self) -> usize {
        let beside = self.heads.filter(|_| !self.is_attention()).map_or(1, |[queries, _]| queries.max(1));
        self.columns / beside
    }

    /// Elements of a row of the keys; 0 of a shape without heads. A row has all heads of a token, and of attention one.
    pub fn key_columns(self) -> usize {
        let beside = self.heads.map_or(0, |[_, keys]| if self.is_attention() { 1 } else { keys });
        beside * self.head()
    }

    /// Rows of the keys; of a paged cache, of keys that were gathered from it.
    pub fn key_rows(self) -> usize {
        match (self.depth, self.heads) {
            (Some(length), Some([_, keys])) => keys * length,
            _ if self.pages.is_some() => self.rows * self.terms(),
            _ => self.rows,
        }
    }

    /// Queries of each head of attention; of any other shape, its rows.
    pub fn queries(self) -> usize {
        self.heads.filter(|_| self.is_attention()).map_or(self.rows, |[queries, _]| self.rows / queries.max(1))
    }

    /// Tokens, each as often as an expert works on it; 0 of a shape without experts.
    pub fn slots(self) -> usize {
        self.experts.map_or(0, |_| CHOICES * self.rows)
    }

    /// Terms of each sum of a product, keys of a head of attention, or elements between an expert's matrices; of a paged cache the most
    /// tokens that a sequence may have; 0 of any other shape.
    pub fn terms(self) -> usize {
        self.depth.or(self.pages.map(|pages| PAGE * pages)).unwrap_or(0)
    }

    pub const fn elements(self) -> usize {
        self.rows * self.columns
    }

    /// The elements of each tensor, where the shape is that of a list of tensors. They have sizes as different as those of a model's
    /// parameters, matrices beside vectors, and some are empty. One begins where the one before ends: at any element.
    pub fn tensors(self) -> impl Iterator<Item = Range<usize>> {
        /// How large they are beside each other, over and over.
        const WEIGHTS: [usize; 8] = [1000, 1, 300, 0, 30, 1, 3000, 10];
        let before = |tensor: usize| {
            let (rounds, rest) = (tensor / WEIGHTS.len(), tensor % WEIGHTS.len());
            rounds * WEIGHTS.iter().sum::<usize>() + WEIGHTS[..rest].iter().sum::<usize>()
        };
        let (elements, all) = (self.elements(), before(self.rows));
        let begin = move |tensor: usize| (elements as u128 * before(tensor) as u128 / all.max(1) as u128) as usize;
        (0..self.rows).map(move |tensor| begin(tensor)..begin(tensor + 1))
    }

    /// The part of a large shape after which its inputs may repeat, so that the reference need be computed for no more. It
    /// divides no power of two, so that a wrong index still shows.
    pub fn period(self) -> Self {
        /// Elements: a prime.
        const PERIOD: usize = 1_000_003;
        /// Products for one period of a product of matrices: less than a second on one core.
        const PRODUCTS: usize = 1 << 29;
        if self.is_attention() {
            // Two products, and what they may be off by.
            return self.head_period(PRODUCTS / 4);
        }
        if let (Some(depth), Some(_)) = (self.depth, self.experts) {
            // Two experts, each with one matrix twice as wide as the other.
            let rows = (PRODUCTS / (3 * CHOICES * self.columns * depth).max(1)).max(1) | 1;
            return Self { rows: rows.min(self.rows), ..self };
        }
        if let Some(depth) = self.depth {
            let rows = PERIOD / self.columns.max(depth).max(1);
            let rows = rows.min(PRODUCTS / self.columns.saturating_mul(depth).max(1)).max(1) | 1;
            return Self { rows: rows.min(self.rows), ..self };
        }
        if self.pages.is_some() {
            return Self { rows: self.rows.min(GROUP), ..self };
        }
        if self.rows == 1 && self.heads.is_none() {
            Self::flat(self.columns.min(PERIOD))
        } else {
            // An odd number of rows divides no power of two either.
            let rows = (PERIOD / self.columns.max(1)).max(1) | 1;
            Self { rows: rows.min(self.rows), ..self }
        }
    }
}

impl Shape {
    /// The heads of queries that have their keys in common, once. Where these take more than so many products, it has
    /// fewer queries. Then the same ones come again and again, which is right as long as no result depends on the
    /// query's place.
    fn head_period(self, products: usize) -> Self {
        let most = (products / self.terms().saturating_mul(self.columns).max(1)).max(1) | 1;
        let group = self.group_of_heads();
        if group.rows > most { Self { rows: most, heads: Some([1, 1]), ..self } } else { group }
    }

    /// Of attention: the heads of queries that have their keys in common, once, with all of their queries.
    pub fn group_of_heads(self) -> Self {
        let [queries, keys] = self.heads.unwrap_or_default();
        let group = queries.checked_div(keys).unwrap_or(0);
        Self { rows: group * self.queries(), heads: Some([group, keys.min(1)]), ..self }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Some(length), Some([queries, keys])) = (self.depth, self.heads) {
            let shared = if keys == queries { String::new() } else { format!(" + {keys}") };
            let heads = if [queries, keys] == [1, 1] { "head" } else { "heads" };
            return write!(f, "{queries}{shared} {heads}, S = {length}, d = {}", self.columns);
        }
        if let (Some(inter), Some(experts)) = (self.depth, self.experts) {
            let tokens = if self.rows == 1 { "token" } else { "tokens" };
            return write!(f, "{} {tokens}, {experts} experts, H = {}, I = {inter}", self.rows, self.columns);
        }
        if let (Some([queries, keys]), Some(pages)) = (self.heads, self.pages) {
            let heads = format!("{queries} + {keys} heads, d = {}", self.head());
            return write!(f, "{} x {pages} page{}, {heads}", self.rows, if pages == 1 { "" } else { "s" });
        }
        if let Some([queries, keys]) = self.heads {
            let tokens = if self.rows == 1 { "token" } else { "tokens" };
            return write!(f, "{} {tokens}, {queries} + {keys} heads of {}", self.rows, self.head());
        }
        match (self.depth, self.rows) {
            (Some(depth), rows) => write!(f, "M = {rows}, N = {}, K = {depth}", self.columns),
            (None, 1) => write!(f, "N = {}", self.columns),
            (None, rows) => write!(f, "{rows} x {}", self.columns),
        }
    }
}

/// The shapes an exercise is checked at.
#[derive(Clone, Copy, Debug)]
pub enum Shapes {
    /// Any N >= 0.
    Elementwise,
    /// M rows of length D, for the listed D. Bytes and speed are judged at each D of `timed`.
    Rows { columns: &'static [usize], timed: &'static [usize] },
    /// A matrix of M rows of length D whose rows are not worked on one by one: either edge may be no multiple of a tile's.
    /// Bytes and speed are judged at each D of `timed`.
    Matrix { timed: &'static [usize] },
    /// A product of matrices, any M, N and K. Speed is judged at each M, N, K of `timed`, bytes at smaller ones that are as oblong.
    Product { timed: &'static [[usize; 3]] },
    /// Any number of tensors, each of any size, as [`Shape::tensors`] cuts them. Bytes and speed are judged for each number of them in
    /// `timed`.
    Tensors { timed: &'static [usize] },
    /// Tokens, each with heads of queries, and with as many of keys or a fraction of that. A head has an even number of elements. Bytes and speed are judged
    /// at each number of heads, of both, and of elements of `timed`.
    Heads { timed: &'static [[usize; 3]] },
    /// Attention over any number of heads, and of tokens, where a token has one of these numbers of elements in a head.
    /// Where it is `grouped`, several heads of queries may have their keys and values in common. Speed is judged at the
    /// heads of queries, the heads of keys, the tokens and the elements of `timed`, bytes at fewer heads and tokens.
    Attention { elements: &'static [usize], grouped: bool, timed: &'static [[usize; 4]] },
    /// Any number of tokens, each of which two of any number of experts work on, as [`crate::Routing`] has them. Speed is judged at the
    /// tokens, experts, elements of a token, and elements between an expert's matrices of `timed`, bytes at fewer of all of them.
    Routing { timed: &'static [[usize; 4]] },
    /// One token of each of any number of sequences, whose keys and values lie in a paged cache: see [`crate::paged`]. A head has one of these
    /// numbers of elements. Speed is judged at the sequences, the heads of queries, the heads of keys, the elements of a head and the pages of
    /// a row of the table of `timed`, bytes at fewer of them.
    Paged { elements: &'static [usize], timed: &'static [[usize; 5]] },
}

impl Shapes {
    /// The sizes that a launch function is given, in their order: each by its name and, for a shape, its value.
    pub fn sizes(self, shape: Shape) -> Vec<(&'static str, usize)> {
        let Shape { rows, columns, .. } = shape;
        match self {
            Shapes::Elementwise => vec![("n", shape.elements())],
            Shapes::Rows { .. } | Shapes::Matrix { .. } => vec![("rows", rows), ("columns", columns)],
            Shapes::Product { .. } => vec![("m", rows), ("n", columns), ("k", shape.terms())],
            // Tables have them.
            Shapes::Tensors { .. } => Vec::new(),
            Shapes::Heads { .. } => {
                let [queries, keys] = shape.heads.unwrap_or_default();
                vec![("tokens", rows), ("q_heads", queries), ("k_heads", keys), ("head_dim", shape.head())]
            }
            Shapes::Attention { grouped, .. } => {
                let [queries, keys] = shape.heads.unwrap_or_default();
                let shared = grouped.then_some(("kv_heads", keys));
                let sizes = [("length", shape.terms()), ("head_dim", shape.head())];
                [("heads", queries)].into_iter().chain(shared).chain(sizes).collect()
            }
            Shapes::Routing { .. } => {
                let experts = shape.experts.unwrap_or_default();
                vec![("tokens", rows), ("experts", experts), ("hidden", columns), ("inter", shape.terms())]
            }
            Shapes::Paged { .. } => {
                let [queries, keys] = shape.heads.unwrap_or_default();
                let heads = [("q_heads", queries), ("kv_heads", keys), ("head_dim", shape.head())];
                let pages = ("pages", shape.pages.unwrap_or(0));
                [("sequences", rows)].into_iter().chain(heads).chain([pages]).collect()
            }
        }
    }

    /// A shape in words: `N = 1000` of elements, `1 x 1000` of rows and columns.
    pub fn describe(self, shape: Shape) -> String {
        match self {
            Shapes::Elementwise
            | Shapes::Product { .. }
            | Shapes::Heads { .. }
            | Shapes::Attention { .. }
            | Shapes::Routing { .. }
            | Shapes::Paged { .. } => shape.to_string(),
            Shapes::Rows { .. } | Shapes::Matrix { .. } => format!("{} x {}", shape.rows, shape.columns),
            Shapes::Tensors { .. } => {
                let s = if shape.rows == 1 { "" } else { "s" };
                format!("{} tensor{s}, N = {}", shape.rows, shape.elements())
            }
        }
    }

    /// Every fixed shape, smallest first, and one drawn from the run's seed.
    pub fn all(self, seed: u64) -> Vec<Shape> {
        // The sizes after 1024 have every remainder by 4, and multiples of 2 and 4 that are none of the next power of two: whoever takes
        // packs of one size where only smaller ones fit is told from all others.
        const SIZES: [usize; 18] =
            [0, 1, 2, 3, 31, 32, 33, 255, 257, 1023, 1024, 1025, 1026, 1028, 1029, 1030, 4099, 1_000_003];
        const ROWS: [usize; 5] = [1, 2, 3, 33, 257];
        // The same for rows, whose second one begins where the first one ends.
        const LENGTHS: [usize; 3] = [17, 34, 36];
        let mut rng = fastrand::Rng::with_seed(seed);
        match self {
            Shapes::Elementwise => {
                let mut shapes: Vec<_> = SIZES.into_iter().map(Shape::flat).collect();
                shapes.push(Shape::flat(rng.usize(2..200_000)));
                shapes
            }
            Shapes::Rows { columns, .. } => {
                let mut shapes: Vec<_> = ROWS
                    .into_iter()
                    .flat_map(|rows| columns.iter().map(move |&columns| Shape::of(rows, columns)))
                    .collect();
                shapes.extend(LENGTHS.map(|columns| Shape::of(3, columns)));
                let column = columns.get(rng.usize(0..columns.len().max(1))).copied().unwrap_or(1);
                shapes.push(Shape::of(rng.usize(1..300), column));
                // Eight rows of no multiple of four: whoever takes rows for columns takes vectors where there are none.
                let ragged = columns.iter().find(|columns| **columns > 4 && !columns.is_multiple_of(4));
                shapes.extend(ragged.map(|&columns| Shape::of(8, columns)));
                shapes.extend(EXTREMES);
                shapes
            }
            Shapes::Matrix { .. } => {
                let mut shapes: Vec<_> = MATRICES.into_iter().map(|(rows, columns)| Shape::of(rows, columns)).collect();
                shapes.push(Shape::of(rng.usize(2..300), rng.usize(2..300)));
                shapes.extend(EXTREMES);
                // The same for a launch that has the columns there.
                shapes.push(Shape::of(1, 65_539));
                shapes
            }
            Shapes::Product { .. } => {
                let mut shapes: Vec<_> = PRODUCTS.into_iter().map(|[m, n, k]| Shape::product(m, n, k)).collect();
                shapes.push(Shape::product(rng.usize(2..200), rng.usize(2..200), rng.usize(2..200)));
                shapes
            }
            Shapes::Tensors { .. } => {
                let mut shapes: Vec<_> = TENSORS.into_iter().map(|(tensors, mean)| Shape::of(tensors, mean)).collect();
                shapes.push(Shape::of(rng.usize(2..100), rng.usize(2..5000)));
                // None, and none with an element. Of very many most are empty, and the others tiny.
                shapes.extend([Shape::of(0, 128), Shape::of(3, 0), Shape::of(65_539, 1)]);
                shapes
            }
            Shapes::Heads { .. } => {
                let tokens = |&[tokens, queries, keys, head]: &[usize; 4]| Shape::tokens(tokens, [queries, keys], head);
                let mut shapes: Vec<_> = HEADS.iter().map(tokens).collect();
                let keys = rng.usize(1..5);
                shapes.push(tokens(&[rng.usize(2..100), keys * rng.usize(2..5), keys, 2 * rng.usize(1..100)]));
                shapes
            }
            Shapes::Attention { elements, grouped, .. } => {
                let attention = |[group, keys, length]: [usize; 3], head: usize| {
                    let group = if grouped { group } else { 1 };
                    Shape::attention([group * keys, keys], length, head)
                };
                let mut shapes: Vec<_> =
                    SEQUENCES.iter().flat_map(|&one| elements.iter().map(move |&head| attention(one, head))).collect();
                let least = elements.iter().copied().min().unwrap_or(1);
                shapes.extend(LONG_SEQUENCES.map(|one| attention(one, least)));
                let head = elements.get(rng.usize(0..elements.len().max(1))).copied().unwrap_or(1);
                shapes.push(attention([rng.usize(1..5), rng.usize(1..4), rng.usize(2..150)], head));
                shapes
            }
            Shapes::Routing { .. } => {
                let mixture =
                    |[tokens, experts, hidden, inter]: [usize; 4]| Shape::routing(tokens, experts, hidden, inter);
                let mut shapes: Vec<_> = MIXTURES.into_iter().map(mixture).collect();
                shapes.push(mixture([rng.usize(2..100), rng.usize(2..20), rng.usize(2..100), rng.usize(2..100)]));
                shapes
            }
            Shapes::Paged { elements, .. } => {
                let paged = |[sequences, group, keys, pages]: [usize; 4], head: usize| {
                    Shape::paged(sequences, [group * keys, keys], head, pages)
                };
                let mut shapes: Vec<_> =
                    CACHES.iter().flat_map(|&one| elements.iter().map(move |&head| paged(one, head))).collect();
                let least = elements.iter().copied().min().unwrap_or(1);
                shapes.extend(LONG_CACHES.map(|one| paged(one, least)));
                let head = elements.get(rng.usize(0..elements.len().max(1))).copied().unwrap_or(1);
                shapes.push(paged([rng.usize(1..9), rng.usize(1..6), rng.usize(1..7), rng.usize(2..40)], head));
                shapes
            }
        }
    }
}

/// M, N and K of products: whole tiles first, where nothing is wrong with an edge; single rows, columns and terms; one less and one
/// more than a fragment or a tile of a usual size has, in one direction and in all; multiples of 8 and of less, on which it depends
/// whether rows can be read 16 bytes at a time; a sum of many steps; no terms, where zeros are due, and no result.
const PRODUCTS: [[usize; 3]; 26] = [
    [128, 128, 64],
    [1, 1, 1],
    [1, 1, 40],
    [1, 200, 33],
    [200, 1, 33],
    [15, 7, 15],
    [16, 8, 16],
    [17, 9, 1],
    [33, 35, 31],
    [64, 64, 8],
    [65, 66, 34],
    [40, 136, 24],
    [70, 132, 36],
    [129, 130, 65],
    [257, 129, 17],
    [257, 8, 136],
    [72, 264, 200],
    [136, 72, 199],
    [130, 40, 264],
    [5, 24, 1032],
    [33, 35, 0],
    [136, 136, 0],
    [0, 64, 64],
    [64, 0, 64],
    // Packs of eight in one factor, and of no more than four in the other.
    [24, 40, 252],
    [40, 252, 24],
];

/// Tensors and how many elements each has on average: one whole chunk of a usual size first, where nothing is wrong
/// with an edge; one of one element less and more; several that are all smaller than a chunk, and several of many chunks.
const TENSORS: [(usize, usize); 18] = [
    (1, 4096),
    (1, 1),
    (1, 2),
    (1, 3),
    (1, 257),
    (1, 4095),
    (1, 4097),
    (1, 8192),
    (2, 5000),
    (3, 1),
    (3, 68),
    (3, 4099),
    (8, 1),
    (8, 9001),
    (33, 35),
    (100, 257),
    (200, 1030),
    (57, 5003),
];

/// Tokens, heads of queries and of keys, and elements of a head: a usual one first, where nothing is wrong with an edge; single ones; as many heads of keys
/// as of queries, and one for all; halves of a head that are odd, that are multiples of 2 and 4 and not of 8, and that are no whole
/// number of warps; more heads than a block has threads, heads of which a block has no room for all at once, tokens of so little
/// work that several share a block, and one is left; a head that is longer than a block of the most threads, and more tokens
/// than a grid's second and third dimensions hold; none at all.
const HEADS: [[usize; 4]; 22] = [
    [8, 4, 2, 64],
    [1, 1, 1, 2],
    [1, 1, 1, 64],
    [1, 8, 2, 128],
    [2, 3, 3, 6],
    [3, 4, 1, 10],
    [5, 6, 2, 34],
    [3, 2, 1, 62],
    [4, 2, 2, 4],
    [7, 3, 1, 12],
    [9, 4, 2, 20],
    [6, 2, 1, 24],
    [5, 6, 3, 40],
    [33, 7, 1, 80],
    [31, 4, 4, 96],
    [257, 8, 4, 16],
    [1003, 2, 1, 32],
    [3, 36, 9, 512],
    [2, 1100, 550, 2],
    [2, 2, 1, 2052],
    [65_539, 1, 1, 2],
    [0, 8, 2, 64],
];

/// Heads of queries for each of keys, heads of keys, and tokens: whole tiles of a usual size first, where nothing is wrong with an edge;
/// single tokens, of one head and of several; one less and one more than a warp or a tile of a usual size has; more tiles than a
/// ring of stages holds, so that it goes round with the largest heads, too; many heads of few tokens, more than a large
/// GPU has SMs, where a block has more to do than there is of one head; none.
const SEQUENCES: [[usize; 3]; 16] = [
    [2, 1, 128],
    [1, 1, 1],
    [4, 2, 1],
    [3, 2, 2],
    [2, 3, 15],
    [1, 3, 17],
    [4, 1, 31],
    [2, 2, 33],
    [2, 1, 63],
    [1, 2, 65],
    [3, 1, 100],
    [1, 1, 129],
    [1, 1, 400],
    [4, 48, 3],
    [1, 0, 64],
    [2, 3, 0],
];

/// The same for many tokens, which take so long that they are judged with the smallest heads alone.
const LONG_SEQUENCES: [[usize; 3]; 3] = [[1, 2, 127], [2, 1, 257], [1, 1, 530]];

/// Tokens, experts, elements of a token, and elements between an expert's matrices: whole tiles of a usual size first, where nothing is
/// wrong with an edge; single ones; far fewer tokens than experts, most of which have none or one then; two experts with all tokens
/// each: as many as a tile has, one more, and more than 256; one less and one more than a tile has, in one direction and in all; multiples of
/// 8 and of less, on which it depends whether rows can be read 16 bytes at a time; sums of many steps; more experts than a block has threads; no elements between the matrices, where
/// zeros are due; none at all.
const MIXTURES: [[usize; 4]; 24] = [
    [32, 4, 64, 64],
    [1, 2, 1, 1],
    [1, 8, 24, 40],
    [2, 3, 8, 16],
    [3, 2, 31, 33],
    [7, 16, 64, 32],
    [17, 5, 40, 17],
    [33, 8, 72, 24],
    [40, 64, 16, 8],
    [65, 2, 34, 36],
    [100, 9, 63, 65],
    [129, 3, 136, 40],
    [257, 4, 24, 20],
    [32, 2, 8, 16],
    [33, 2, 16, 8],
    [257, 2, 8, 8],
    [64, 2, 128, 100],
    [16, 4, 130, 264],
    [48, 6, 264, 72],
    [5, 300, 8, 16],
    [70, 3, 20, 136],
    [3, 4, 64, 0],
    [3, 4, 0, 64],
    [0, 4, 64, 64],
];

/// Sequences, heads of queries for each of keys, heads of keys, and pages of a row of the table: one sequence that fills what has room for
/// it, so that nothing is wrong with an edge; single pages; as many pages as a part of 256 tokens has, and one more and one less; sequences
/// of which some end parts before others, one of them with the last token of a part; more heads of queries than are usual, and numbers of
/// heads that are no powers of two; no sequence.
const CACHES: [[usize; 4]; 12] = [
    [1, 2, 1, 16],
    [1, 1, 1, 1],
    [7, 1, 2, 1],
    [7, 4, 1, 2],
    [3, 3, 2, 5],
    [7, 2, 1, 15],
    [3, 20, 2, 17],
    [7, 1, 1, 17],
    [8, 5, 3, 3],
    [5, 2, 2, 32],
    [9, 2, 3, 33],
    [0, 4, 2, 16],
];

/// The same for long sequences, which are judged with the smallest heads alone: some parts, full tables, and more parts of 256 tokens than a
/// warp has lanes.
const LONG_CACHES: [[usize; 4]; 3] = [[4, 4, 1, 70], [2, 2, 1, FULL + 2], [1, 1, 1, 513]];

/// Rows and columns of matrices: a whole tile first, where nothing is wrong with an edge; single ones, one less and one more than
/// a tile has, and multiples of 2 and 4 in either or both.
const MATRICES: [(usize, usize); 19] = [
    (32, 32),
    (1, 1),
    (1, 33),
    (33, 1),
    (3, 2),
    (31, 32),
    (32, 31),
    (33, 35),
    (34, 36),
    (36, 34),
    (64, 96),
    (68, 132),
    (132, 68),
    (127, 65),
    (100, 257),
    (257, 100),
    (260, 1028),
    (1, 5003),
    (5003, 1),
];

/// Shapes of rows and columns at which a launch goes wrong, not a kernel.
const EXTREMES: [Shape; 4] = [
    // No rows, and rows of nothing: a grid of no blocks is an error.
    Shape::of(0, 128),
    Shape::of(3, 0),
    // Longer than 1024 threads of 16 elements. The second row begins where the first one ends.
    Shape::of(2, 16_388),
    // More than a grid's second and third dimensions hold.
    Shape::of(65_539, 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_fit_and_do_not_divide_powers_of_two() {
        assert_eq!(Shape::flat(100).period(), Shape::flat(100));
        assert_eq!(Shape::flat(1 << 26).period(), Shape::flat(1_000_003));
        let rows = Shape::of(1 << 14, 4096).period();
        assert_eq!((rows.columns, rows.rows % 2), (4096, 1));
        assert_eq!(Shape::of(2, 1 << 21).period(), Shape::of(1, 1 << 21));
        assert_eq!(Shape::product(100, 64, 64).period(), Shape::product(100, 64, 64));
        let product = Shape::product(4096, 4096, 4096).period();
        assert_eq!((product.columns, product.depth, product.rows % 2), (4096, Some(4096), 1));
    }

    #[test]
    fn attention_has_a_row_for_each_query_of_each_head() {
        let shape = Shape::attention([8, 2], 1000, 64);
        assert_eq!((shape.elements(), shape.key_rows() * shape.key_columns()), (8 * 1000 * 64, 2 * 1000 * 64));
        assert_eq!((shape.head(), shape.queries(), shape.terms()), (64, 1000, 1000));
        // Four heads have the same keys, and the first of them as many queries as one second on a core allows.
        assert_eq!(Shape::attention([8, 2], 100, 64).period(), Shape::attention([4, 1], 100, 64));
        let period = Shape::attention([64, 64], 4096, 128).period();
        assert_eq!((period.heads, period.depth, period.rows), (Some([1, 1]), Some(4096), 257));
        for shape in (Shapes::Attention { elements: &[64, 128], grouped: true, timed: &[] }).all(1) {
            let [queries, keys] = shape.heads.unwrap_or_default();
            assert_eq!((shape.queries() * queries, shape.key_rows()), (shape.rows, keys * shape.terms()), "{shape}");
            assert!(keys == 0 || queries.is_multiple_of(keys), "{shape}");
        }
    }

    #[test]
    fn shapes_are_told_by_what_they_have() {
        let shapes = [Shape::flat(7), Shape::of(2, 7), Shape::product(1, 2, 0)];
        assert_eq!(shapes.map(|shape| shape.to_string()), ["N = 7", "2 x 7", "M = 1, N = 2, K = 0"]);
        let shapes = [[1, 1], [4, 4], [4, 1]].map(|heads| Shape::attention(heads, 17, 64).to_string());
        assert_eq!(shapes, ["1 head, S = 17, d = 64", "4 heads, S = 17, d = 64", "4 + 1 heads, S = 17, d = 64"]);
        assert_eq!(Shape::paged(7, [4, 2], 64, 33).to_string(), "7 x 33 pages, 4 + 2 heads, d = 64");
    }

    #[test]
    fn tensors_have_all_elements_between_them() {
        for shape in (Shapes::Tensors { timed: &[] }).all(1) {
            let ends: Vec<usize> = shape.tensors().map(|tensor| tensor.end).collect();
            let starts: Vec<usize> = shape.tensors().map(|tensor| tensor.start).collect();
            assert_eq!(starts.len(), shape.rows, "{shape}");
            assert!(starts.iter().eq([0].iter().chain(&ends).take(shape.rows)), "{shape}");
            assert_eq!(ends.last().copied().unwrap_or(0), shape.elements(), "{shape}");
        }
        let mut sizes: Vec<usize> = Shape::of(200, 1 << 18).tensors().map(|tensor| tensor.len()).collect();
        sizes.sort_unstable();
        assert!(sizes[0] == 0 && sizes[100] < 20_000 && sizes[199] > 1 << 20, "{sizes:?}");
        assert!(sizes.iter().any(|size| !size.is_multiple_of(4)));
    }
}
