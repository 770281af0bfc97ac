//! A paged cache of keys and values: how many tokens each sequence has, and on which pages of the pool they lie.
//!
//! Both follow from the shape alone, so that bytes can be counted without a problem's values. Sequences come in groups of
//! [`GROUP`]. A group has a pool of its own, over which the pages of its sequences are scattered. Some pages of it are no sequence's.

use half::bf16;

use crate::attention::{Form, Rounding, attention, inputs};
use crate::{Case, DType, Data, Inputs, Reference, Shape};

/// Tokens of a page.
pub const PAGE: usize = 16;

/// Sequences after which lengths and the order of pages repeat, and in large problems values too. It divides no power of two.
pub const GROUP: usize = 7;

/// Pages of a row of the table from which on all sequences need all of it.
///
/// The emulated device's clock lets a few blocks stand for all. Where sequences end long before others, some of their blocks have
/// nothing to do, and which of them are looked at would decide the time. So problems that are timed have full tables.
pub const FULL: usize = 128;

/// Where the sequences of a shape lie.
#[derive(Clone, Debug)]
pub struct Paging {
    lengths: [usize; GROUP],
    /// Pages of the group's sequences before each.
    before: [usize; GROUP],
    /// Pages of a group.
    group: usize,
    /// Distance in the pool of pages that follow each other.
    stride: usize,
}

impl Paging {
    pub fn of(shape: Shape) -> Self {
        let pages = shape.pages.unwrap_or(0);
        let all = PAGE * pages;
        let lengths = match pages {
            0 => [0; GROUP],
            FULL.. => [0, 1, 15, 7, 0, 3, 12].map(|less| all - less),
            // All pages, one token, one less than a page has, one less than all, whole pages, and one token on the last page.
            _ => [all, 1, PAGE - 1, all - 1, PAGE * pages.div_ceil(2), all.min(PAGE + 1), (2 * all / 3) | 1],
        };
        let mut used = 0;
        let before = lengths.map(|length| {
            used += length.div_ceil(PAGE);
            used - length.div_ceil(PAGE)
        });
        // Odd, so that it divides no power of two.
        let group = (used + used / 8 + 2) | 1;
        let stride = (group * 5 / 8..).find(|&stride| divisor(stride, group) == 1).unwrap_or(1);
        Self { lengths, before, group, stride }
    }

    /// Tokens of a sequence.
    pub fn length(&self, sequence: usize) -> usize {
        self.lengths[sequence % GROUP]
    }

    /// The page that a sequence has its tokens from 16 times `index` on.
    pub fn page(&self, sequence: usize, index: usize) -> usize {
        let rank = self.before[sequence % GROUP] + index;
        sequence / GROUP * self.group + (rank * self.stride + self.group / 2) % self.group
    }

    /// Pages of the pool.
    pub fn pool(&self, shape: Shape) -> usize {
        shape.rows.div_ceil(GROUP) * self.group
    }

    /// The sum over all sequences of what their lengths make.
    pub fn sum(&self, shape: Shape, of: impl Fn(usize) -> usize) -> usize {
        let sum = |lengths: &[usize]| lengths.iter().map(|&length| of(length)).sum::<usize>();
        shape.rows / GROUP * sum(&self.lengths) + sum(&self.lengths[..shape.rows % GROUP])
    }

    /// The block table: a row of pages for each sequence, which ends in -1 where the sequence does not need all of it.
    pub fn table(&self, shape: Shape) -> Vec<i32> {
        let pages = shape.pages.unwrap_or(0);
        let row = |sequence: usize| {
            let used = self.length(sequence).div_ceil(PAGE);
            (0..pages).map(move |index| if index < used { self.page(sequence, index) as i32 } else { -1 })
        };
        (0..shape.rows).flat_map(row).collect()
    }
}

/// The largest number that divides both.
fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// The attention of one sequence of a shape, whose keys and values lie one behind the other: a query of each head.
fn contiguous(shape: Shape, length: usize) -> Shape {
    let rows = shape.heads.map_or(0, |[queries, _]| queries);
    Shape { rows, columns: shape.head(), depth: Some(length), pages: None, ..shape }
}

/// Queries, both halves of the cache, no table, which follows from the shape, and lengths. What no sequence has is NaN: the pages that are
/// not used, and the rest of each sequence's last page.
pub(crate) fn make(shape: Shape, random: &mut Inputs) -> Case {
    let paging = Paging::of(shape);
    let mut queries = Vec::with_capacity(shape.elements());
    let mut cache = [(); 2].map(|()| vec![bf16::NAN; paging.pool(shape) * PAGE * shape.key_columns()]);
    for sequence in 0..shape.rows {
        let length = paging.length(sequence);
        let mut made = inputs(DType::Bf16, contiguous(shape, length), random).into_iter();
        queries.extend(made.next().map(bf16s).unwrap_or_default());
        for (values, cache) in made.map(bf16s).zip(&mut cache) {
            each_token(shape, &paging, sequence, |from, to| cache[to].copy_from_slice(&values[from]));
        }
    }
    let [keys, values] = cache.map(Data::Bf16);
    let lengths = (0..shape.rows).map(|sequence| paging.length(sequence) as i32).collect();
    Case::new(shape, vec![Data::Bf16(queries), keys, values, Data::I32(Vec::new()), Data::I32(lengths)])
}

/// Each element of the results, one sequence after the other.
pub(crate) fn reference(case: &Case, form: Form, rounding: Rounding, relative: f64) -> Vec<Reference> {
    let shape = case.shape;
    let paging = Paging::of(shape);
    let [Some(q), Some(k), Some(v)] = [0, 1, 2].map(|input| case.inputs.get(input)) else { return Vec::new() };
    let (mut values, mut magnitudes) = (Vec::new(), Vec::new());
    for sequence in 0..shape.rows {
        let one = contiguous(shape, paging.length(sequence));
        let queries = sequence * shape.columns..(sequence + 1) * shape.columns;
        let [keys, of_keys] = [k, v].map(|cache| {
            let mut gathered = vec![bf16::ZERO; one.key_rows() * one.key_columns()];
            each_token(shape, &paging, sequence, |to, from| gathered[to].copy_from_slice(&slice(cache)[from]));
            Data::Bf16(gathered)
        });
        let case = Case::new(one, vec![Data::Bf16(slice(q)[queries].to_vec()), keys, of_keys]);
        for result in attention(&case, form, rounding, relative) {
            if let Reference::Close { values: more, magnitudes: errors } = result {
                values.extend(more);
                magnitudes.extend(errors.unwrap_or_default());
            }
        }
    }
    vec![Reference::Close { values, magnitudes: Some(magnitudes) }]
}

/// The case as a kernel sees it that reads page `page(sequence, index)` where it should read the sequence's page number
/// `index`. Pages outside the pool are NaN.
pub(crate) fn with_pages(case: &Case, page: impl Fn(usize, usize) -> usize) -> Case {
    let (shape, paging) = (case.shape, Paging::of(case.shape));
    let size = PAGE * shape.key_columns();
    let mut other = case.clone();
    for input in [1, 2] {
        let (Some(old), Some(Data::Bf16(new))) = (case.inputs.get(input), other.inputs.get_mut(input)) else {
            continue;
        };
        for sequence in 0..shape.rows {
            for index in 0..paging.length(sequence).div_ceil(PAGE) {
                let to = &mut new[paging.page(sequence, index) * size..][..size];
                let from = page(sequence, index) * size;
                match slice(old).get(from..from + size) {
                    Some(from) => to.copy_from_slice(from),
                    None => to.fill(bf16::NAN),
                }
            }
        }
    }
    other
}

/// Where each token of a sequence and head lies: in a contiguous buffer of that sequence, and in the cache.
fn each_token(
    shape: Shape,
    paging: &Paging,
    sequence: usize,
    mut with: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
) {
    let (head, keys) = (shape.head(), shape.heads.map_or(0, |[_, keys]| keys));
    let length = paging.length(sequence);
    for token in 0..length {
        let page = paging.page(sequence, token / PAGE);
        for key in 0..keys {
            let place = (key * length + token) * head;
            let in_cache = ((page * keys + key) * PAGE + token % PAGE) * head;
            with(place..place + head, in_cache..in_cache + head);
        }
    }
}

fn bf16s(data: Data) -> Vec<bf16> {
    match data {
        Data::Bf16(values) => values,
        _ => Vec::new(),
    }
}

fn slice(data: &Data) -> &[bf16] {
    match data {
        Data::Bf16(values) => values,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shapes;

    #[test]
    fn no_page_is_two_sequences() {
        for (sequences, pages) in [(1, 1), (3, 2), (7, 1), (9, 33), (20, FULL), (16, 5)] {
            let shape = Shape::paged(sequences, [4, 2], 64, pages);
            let paging = Paging::of(shape);
            let table = paging.table(shape);
            let mut used: Vec<i32> = table.iter().copied().filter(|&page| page >= 0).collect();
            let count = used.len();
            used.sort_unstable();
            used.dedup();
            assert_eq!((used.len(), table.len()), (count, sequences * pages), "{shape}");
            assert!(used.last().is_some_and(|&last| (last as usize) < paging.pool(shape)), "{shape}");
            assert!(count < paging.pool(shape), "{shape}");
            assert_eq!(count, paging.sum(shape, |length| length.div_ceil(PAGE)), "{shape}");
            assert!(paging.group % 2 == 1 && paging.group > 1, "{shape}");
        }
    }

    #[test]
    fn lengths_are_those_where_mistakes_show() {
        let lengths = |pages| {
            let paging = Paging::of(Shape::paged(GROUP, [1, 1], 64, pages));
            [0, 1, 2, 3, 4, 5, 6].map(|sequence| paging.length(sequence))
        };
        assert_eq!(lengths(1), [16, 1, 15, 15, 16, 16, 11]);
        assert_eq!(lengths(33), [528, 1, 15, 527, 272, 17, 353]);
        assert!(lengths(FULL).iter().all(|length| length.div_ceil(PAGE) == FULL));
    }

    #[test]
    fn shapes_are_those_where_mistakes_show() {
        const PART: usize = 256;
        let shapes = (Shapes::Paged { elements: &[64], timed: &[] }).all(1);
        fn any(shapes: &[Shape], of: impl Fn(Shape, [usize; 2], &[usize]) -> bool) -> bool {
            shapes.iter().any(|&shape| {
                let paging = Paging::of(shape);
                let lengths: Vec<usize> = (0..shape.rows).map(|sequence| paging.length(sequence)).collect();
                of(shape, shape.heads.unwrap_or_default(), &lengths)
            })
        }
        let whole = |length: &&usize| length.is_multiple_of(PART);
        // Whole parts, where the table has room for another one, and where it has not.
        assert!(any(&shapes, |shape, _, lengths| lengths.iter().filter(whole).any(|&length| length < shape.terms())));
        assert!(any(&shapes, |shape, _, lengths| lengths.iter().filter(whole).any(|&length| length == shape.terms())));
        // More parts than a warp has lanes.
        assert!(any(&shapes, |_, _, lengths| lengths.iter().any(|length| length.div_ceil(PART) > 32)));
        // A number of heads of keys that is no power of two, and more heads of queries for each than a fragment has rows, with several parts.
        assert!(any(&shapes, |_, [_, keys], _| !keys.is_power_of_two()));
        assert!(any(&shapes, |_, [queries, keys], lengths| {
            keys > 1 && queries / keys > 16 && lengths.iter().any(|&length| length > PART)
        }));
        // And with a last page that is filled by more than half, and not whole.
        assert!(any(&shapes, |_, [queries, keys], lengths| {
            queries / keys > 16 && lengths.iter().any(|&length| length % PAGE > PAGE / 2)
        }));
    }

    #[test]
    fn what_no_sequence_has_is_nan() {
        let shape = Shape::paged(3, [2, 2], 64, 5);
        let case = make(shape, &mut Inputs::new(1));
        let tokens = [80, 1, 15].iter().sum::<usize>();
        for input in [1, 2] {
            let numbers = case.f64s(input).iter().filter(|value| !value.is_nan()).count();
            assert_eq!(numbers, tokens * 2 * 64);
        }
        assert_eq!(case.f64s(4), [80.0, 1.0, 15.0]);
    }
}
