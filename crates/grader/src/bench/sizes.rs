//! The sizes of the sweep. To add one, add it to a list.

use std::str::FromStr;

use fusion_course::{CHOICES, Exercise, Shape, Shapes};

/// Elements, for elementwise operations.
const ELEMENTS: [usize; 7] = [100_000, 500_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000, 1 << 28];

/// Elements at each timed row length: small, middle, large.
const ROW_ELEMENTS: [usize; 3] = [1 << 18, 1 << 22, 1 << 26];

/// Elements of a product's result: small, middle, large.
const PRODUCT_ELEMENTS: [usize; 4] = [1 << 16, 1 << 20, 1 << 24, 1 << 26];

/// Row shapes that others publish figures for.
const ROWS: [(usize, usize); 4] = [(2048, 768), (16384, 4096), (65536, 1024), (4096, 16384)];

/// The largest size on the emulated device, which interprets every instruction.
const EMULATED: usize = 1 << 22;

/// The most elements that may be asked for, and the most in a row: more than any device holds, and few enough that bytes and
/// the elements of a square matrix can be counted.
const MOST: usize = 1 << 40;
const MOST_IN_A_ROW: usize = 1 << 24;

/// A size as it is asked for: `1000000` elements, or `2048x768`; of a product of matrices `1024x512x256`, which are M, N and K; of tokens
/// `1024x32x8x128`: tokens, heads of queries and of keys, and elements of a head. Attention takes `64x4096x128`, which are heads, tokens and
/// elements of a head, or `32x8x4096x128`, which has the heads of keys in the second place. A mixture of experts takes `512x64x1024x512`: tokens,
/// experts, elements of a token, and elements between an expert's matrices. A paged cache takes `128x128`, sequences and pages of each, or
/// `128x32x8x128x128`, with the heads of queries, those of keys and the elements of a head between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Elements(usize),
    Shape(Shape),
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| match part.replace('_', "").parse::<usize>() {
            Ok(0) => Err("there is nothing to time in no elements".to_owned()),
            Ok(number) => Ok(number),
            Err(_) => Err(format!("`{text}` is no number of elements, and no shape such as 2048x768")),
        };
        let (at, elements) = match text.split_once('x') {
            Some(_) => {
                let sizes = text.split('x').map(number).collect::<Result<Vec<_>, _>>()?;
                let shape = match sizes[..] {
                    [rows, columns] => Shape::of(rows, columns),
                    [m, n, k] => Shape::product(m, n, k),
                    [tokens, queries, keys, head] if queries.checked_mul(head).is_some() => {
                        Shape::tokens(tokens, [queries, keys], head)
                    }
                    [sequences, queries, keys, head, pages] if queries.checked_mul(head).is_some() => {
                        Shape::paged(sequences, [queries, keys], head, pages)
                    }
                    _ => return Err(format!("`{text}` has more sizes than any shape")),
                };
                if shape.terms() > MOST_IN_A_ROW {
                    return Err(format!("`{text}` has sums of more than {MOST_IN_A_ROW} terms"));
                }
                if shape.columns > MOST_IN_A_ROW {
                    return Err(format!("`{text}` has rows of more than {MOST_IN_A_ROW} elements"));
                }
                (At::Shape(shape), shape.rows.checked_mul(shape.columns))
            }
            None => number(text).map(|elements| (At::Elements(elements), Some(elements)))?,
        };
        match elements {
            Some(elements) if elements <= MOST => Ok(at),
            _ => Err(format!("`{text}` is more than any device holds: at most {MOST} elements can be asked for")),
        }
    }
}

/// The shapes to time an exercise at: those that are asked for, or the course's own for the device.
pub fn shapes(exercise: &Exercise, asked: &[At], emulated: bool) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = match asked {
        [] => defaults(exercise, emulated),
        _ => asked.iter().flat_map(|&at| of(exercise, at)).collect(),
    };
    shapes.sort_by_key(|shape| (shape.elements(), shape.columns, shape.depth, shape.heads, shape.experts, shape.pages));
    shapes.dedup();
    shapes
}

fn of(exercise: &Exercise, at: At) -> Vec<Shape> {
    match (at, exercise.shapes) {
        (At::Elements(elements), _) => exercise.large(elements),
        (At::Shape(shape), Shapes::Elementwise) => vec![Shape::flat(shape.elements())],
        (At::Shape(shape), Shapes::Rows { .. } | Shapes::Matrix { .. } | Shapes::Tensors { .. }) => {
            vec![Shape::of(shape.rows, shape.columns)]
        }
        (At::Shape(shape), Shapes::Heads { .. }) => vec![in_heads(exercise, shape)],
        (At::Shape(shape), Shapes::Attention { .. }) => vec![in_attention(exercise, shape)],
        (At::Shape(shape), Shapes::Routing { .. }) => vec![in_routing(exercise, shape)],
        (At::Shape(shape), Shapes::Paged { .. }) => vec![in_pages(exercise, shape)],
        // Of two sizes, the second is that of both sides of the right factor.
        (At::Shape(shape), Shapes::Product { .. }) => {
            vec![Shape::product(shape.rows, shape.columns, shape.depth.unwrap_or(shape.columns))]
        }
    }
}

/// A shape with heads: as it is, or with so many tokens of the first heads that are timed.
fn in_heads(exercise: &Exercise, shape: Shape) -> Shape {
    let timed = exercise.large(0).into_iter().next().unwrap_or(shape);
    if shape.heads.is_some() { shape } else { Shape { rows: shape.rows, ..timed } }
}

/// Attention over so many heads of so many tokens, with as many heads of keys for each of queries as the first that is timed, or with so
/// many, where the sizes are four: heads of queries, and of keys, tokens, and elements of a head.
fn in_attention(exercise: &Exercise, shape: Shape) -> Shape {
    let timed = exercise.large(usize::MAX).into_iter().next().unwrap_or(shape);
    let [queries, keys] = timed.heads.unwrap_or([1, 1]);
    match (shape.heads, shape.depth) {
        (Some([keys, length]), None) => Shape::attention([shape.rows, keys], length, shape.head()),
        (_, Some(head)) => Shape::attention([shape.rows, shape.rows * keys / queries.max(1)], shape.columns, head),
        (_, None) => Shape::attention([shape.rows, shape.rows * keys / queries.max(1)], shape.columns, timed.head()),
    }
}

/// A mixture of so many tokens, experts, elements of a token and elements between an expert's matrices; or of so many tokens, and else as the
/// first that is timed.
fn in_routing(exercise: &Exercise, shape: Shape) -> Shape {
    let timed = exercise.large(usize::MAX).into_iter().next().unwrap_or(shape);
    match shape.heads {
        Some([experts, hidden]) => Shape::routing(shape.rows, experts.max(CHOICES), hidden, shape.head()),
        None => Shape { rows: shape.rows, ..timed },
    }
}

/// So many sequences of so many pages, with the heads of the first shape that is timed, or with those that five sizes name: sequences, heads of
/// queries, and of keys, elements of a head, and pages.
fn in_pages(exercise: &Exercise, shape: Shape) -> Shape {
    let timed = exercise.large(usize::MAX).into_iter().next().unwrap_or(shape);
    match shape.pages {
        Some(_) => shape,
        None => Shape { rows: shape.rows, pages: Some(shape.columns), ..timed },
    }
}

fn defaults(exercise: &Exercise, emulated: bool) -> Vec<Shape> {
    let elements: Vec<usize> = match exercise.shapes {
        Shapes::Elementwise => ELEMENTS.into(),
        Shapes::Rows { .. } | Shapes::Matrix { .. } | Shapes::Heads { .. } | Shapes::Tensors { .. } => {
            ROW_ELEMENTS.into()
        }
        // Launches of any size are predicted from some of their blocks, and counted where they are small.
        Shapes::Product { .. } | Shapes::Attention { .. } | Shapes::Routing { .. } | Shapes::Paged { .. } => {
            let mut shapes: Vec<Shape> =
                PRODUCT_ELEMENTS.iter().flat_map(|&elements| exercise.large(elements)).collect();
            shapes.dedup();
            return shapes;
        }
    };
    let largest = if emulated { EMULATED.min(exercise.surveyed) } else { usize::MAX };
    let elements = elements.into_iter().filter(|&elements| elements < largest).chain(emulated.then_some(largest));
    let mut shapes: Vec<Shape> = elements.flat_map(|elements| exercise.large(elements)).collect();
    if let Shapes::Rows { columns, .. } = exercise.shapes {
        let published = ROWS.into_iter().map(|(rows, columns)| Shape::of(rows, columns));
        shapes.extend(published.filter(|shape| columns.contains(&shape.columns) && shape.elements() < largest));
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;
    use fusion_course::day22::add_gelu;

    const ROWWISE: Exercise =
        Exercise { shapes: Shapes::Rows { columns: &[64, 768], timed: &[64] }, ..Exercise::TEMPLATE };

    #[test]
    fn sizes_are_read() {
        assert_eq!("1_000".parse(), Ok(At::Elements(1000)));
        assert_eq!("3x5".parse(), Ok(At::Shape(Shape::of(3, 5))));
        let (all, row) = (usize::MAX.to_string(), format!("2x{}", 1 << 25));
        let beyond = "99999999999x99999999999";
        assert_eq!("3x5x7".parse(), Ok(At::Shape(Shape::product(3, 5, 7))));
        for text in ["2x2x", "2x2x0", "2x2x2x2x2x2", "", "0", "x", "3x", "2x0", "many", "1e6", "-1", &all, &row, beyond]
        {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_emulated_device_gets_what_it_can_do_in_time() {
        let flat = shapes(&add_gelu::EXERCISE, &[], true);
        assert_eq!(flat.last(), Some(&Shape::flat(1 << 22)));
        assert_eq!(shapes(&add_gelu::EXERCISE, &[], false).last(), Some(&Shape::flat(1 << 28)));
        assert!(shapes(&ROWWISE, &[], true).iter().all(|shape| shape.elements() <= 1 << 22));
    }

    #[test]
    fn rows_have_lengths_that_the_exercise_has() {
        let all = shapes(&ROWWISE, &[], false);
        assert!(all.contains(&Shape::of(2048, 768)));
        assert!(all.iter().all(|shape| [64, 768].contains(&shape.columns)), "{all:?}");
        assert_eq!(shapes(&ROWWISE, &[At::Elements(640)], false), [Shape::of(10, 64)]);
    }
}
