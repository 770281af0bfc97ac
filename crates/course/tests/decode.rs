//! The specification of `decode_attention`: whatever the parts that a sequence is cut into, they pass once they are merged, and nothing
//! coarser does.
#![allow(clippy::unwrap_used)]

use fusion_course::paged::{PAGE, Paging};
use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::{bf16, f16};

fn exercise() -> &'static Exercise {
    find("decode_attention").unwrap()
}

fn check(case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    let output = Data::rounded(exercise().outputs[0].dtype, output);
    (exercise().reference)(case)[0].check(&output, exercise().tolerances[0])
}

/// How a kernel goes about it.
struct Way {
    /// Tokens of a part.
    part: usize,
    score: fn(f32) -> f32,
    /// Whether a part's results are made relative to the largest score of all.
    corrects: bool,
    /// Which token's keys and values are taken for which.
    token: fn(usize) -> usize,
    /// Which head of the keys a head of queries has, of so many of both.
    head: fn(usize, [usize; 2]) -> usize,
}

const PLAIN: Way = Way {
    part: 256,
    score: |score| score,
    corrects: true,
    token: |token| token,
    head: |head, [queries, keys]| head / (queries / keys),
};

/// In parts, with sums in f32, by the table.
fn parts(case: &Case, way: &Way) -> Vec<f32> {
    let shape = case.shape;
    let (head, [queries, keys]) = (shape.head(), shape.heads.unwrap());
    let table = Paging::of(shape).table(shape);
    let [q, k, v] = [0, 1, 2].map(|input| case.f64s(input).into_iter().map(|x| x as f32).collect::<Vec<_>>());
    let lengths = case.f64s(4);
    let scale = 1.0 / (head as f32).sqrt();
    let mut out = Vec::new();
    for (row, query) in q.chunks_exact(head).enumerate() {
        let (sequence, key) = (row / queries, (way.head)(row % queries, [queries, keys]));
        let row_of = |token: usize| {
            let token = (way.token)(token);
            let page = table[sequence * shape.pages.unwrap() + token / PAGE] as usize;
            ((page * keys + key) * PAGE + token % PAGE) * head
        };
        let tokens: Vec<usize> = (0..lengths[sequence] as usize).collect();
        let found: Vec<(f32, f32, Vec<f32>)> = tokens
            .chunks(way.part)
            .map(|tokens| {
                let dot = |&token: &usize| {
                    query.iter().zip(&k[row_of(token)..]).fold(0.0_f32, |sum, (q, k)| sum + q * k) * scale
                };
                let scores: Vec<f32> = tokens.iter().map(|token| (way.score)(dot(token))).collect();
                let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let (mut sum, mut result) = (0.0_f32, vec![0.0_f32; head]);
                for (score, &token) in scores.iter().zip(tokens) {
                    let weight = (score - largest).exp();
                    sum += weight;
                    result.iter_mut().zip(&v[row_of(token)..]).for_each(|(sum, value)| *sum += weight * value);
                }
                (largest, sum, result)
            })
            .collect();
        let largest = found.iter().map(|(largest, ..)| *largest).fold(f32::NEG_INFINITY, f32::max);
        let (mut sum, mut result) = (0.0_f32, vec![0.0_f32; head]);
        for (of_part, weights, partial) in found {
            let correction = if way.corrects { (of_part - largest).exp() } else { 1.0 };
            sum += correction * weights;
            result.iter_mut().zip(partial).for_each(|(sum, value)| *sum += correction * value);
        }
        out.extend(result.iter().map(|result| result / sum));
    }
    out
}

fn case(shape: Shape, seed: u64) -> Case {
    (exercise().make)(shape, &mut Inputs::new(seed))
}

#[test]
fn what_is_counted_is_that_of_the_cache() {
    let large = exercise().large(1 << 26);
    assert_eq!(large, [Shape::paged(128, [32, 8], 128, 128), Shape::paged(4, [32, 8], 128, 512)]);
    let small = exercise().large(exercise().surveyed);
    assert_eq!(small, [Shape::paged(2, [4, 1], 128, 128), Shape::paged(1, [8, 2], 128, 128)]);
    let tokens = Paging::of(large[0]).sum(large[0], |length| length);
    assert!((127 * 2048..128 * 2048).contains(&tokens));
    let (cache, queries) = (2 * tokens * 8 * 128 * 2, 128 * 32 * 128 * 2);
    let tables = 4 * (128 * 128 + 128);
    let parts = 128 * 8 * 32 * 4 * (128 + 2);
    assert_eq!(exercise().minimum_bytes(large[0]), (cache + 2 * queries + tables + 2 * parts) as u64);
    // Both are gathered, which is a reading and a writing, and read again. Scores and weights are written and read.
    let scores = 4 * tokens * 32;
    let unfused = 3 * cache + 4 * scores + 2 * queries + 2 * tables + 3 * 4 * 128;
    assert_eq!(exercise().unfused_bytes(large[0]), unfused as u64);
}

#[test]
fn a_period_stands_for_all_sequences() {
    let shape = Shape::paged(17, [4, 2], 64, 3);
    let period = shape.period();
    assert_eq!(period, Shape::paged(7, [4, 2], 64, 3));
    let case = case(period, 1);
    let repeated = |input: usize| {
        let len = exercise().inputs[input].len(shape);
        match &case.inputs[input] {
            Data::Bf16(values) => Data::Bf16((0..len).map(|index| values[index % values.len()]).collect()),
            other => other.clone(),
        }
    };
    let whole = (exercise().reference)(&Case::new(shape, (0..5).map(repeated).collect()));
    let part = (exercise().reference)(&case);
    for element in 0..shape.elements() {
        let within = exercise().outputs[0].within(period, shape, element);
        assert_eq!(whole[0].expected(element), part[0].expected(within), "{element}");
    }
}

#[test]
fn parts_pass_whatever_their_size() {
    for shape in exercise().shapes.all(1).into_iter().filter(|shape| shape.elements() > 0) {
        for (seed, part) in [(1, 256), (2, 16), (3, 100), (4, usize::MAX)] {
            let case = case(shape, seed);
            assert_eq!(check(&case, parts(&case, &Way { part, ..PLAIN })), Ok(()), "{shape}, parts of {part}");
        }
    }
}

#[test]
fn coarser_scores_and_other_operations_fail() {
    let wrong: [(&str, Way); 5] = [
        ("scores in bf16", Way { score: |score| bf16::from_f32(score).to_f32(), ..PLAIN }),
        ("scores in f16", Way { score: |score| f16::from_f32(score).to_f32(), ..PLAIN }),
        ("not corrected", Way { corrects: false, ..PLAIN }),
        ("half of the tokens twice", Way { token: |token| token / 2, ..PLAIN }),
        ("heads taken in turn", Way { head: |head, [_, keys]| head % keys, ..PLAIN }),
    ];
    for (what, way) in &wrong {
        for seed in 0..3 {
            let case = case(Shape::paged(7, [4, 2], 64, 40), seed);
            assert!(check(&case, parts(&case, way)).is_err(), "{what}");
        }
    }
    let case = case(Shape::paged(7, [4, 2], 64, 40), 1);
    assert!(check(&case, vec![0.0; case.shape.elements()]).is_err());
}

#[test]
fn what_it_may_be_mistaken_for_is_something_else() {
    let case = case(Shape::paged(7, [6, 3], 64, 33), 1);
    let right = (exercise().reference)(&case);
    for other in exercise().mistaken {
        let outputs = (other.outputs)(&case);
        let values = (0..outputs[0].len()).map(|index| outputs[0].expected(index)[0] as f32).collect();
        assert_eq!(outputs[0].len(), right[0].len(), "{}", other.what);
        assert!(check(&case, values).is_err(), "{}", other.what);
    }
    let turns = parts(&case, &Way { head: |head, [_, keys]| head % keys, ..PLAIN });
    let of_turns = exercise().mistaken.last().map(|other| (other.outputs)(&case)).unwrap();
    let rounded = Data::rounded(exercise().outputs[0].dtype, turns);
    assert_eq!(of_turns[0].check(&rounded, exercise().tolerances[0]), Ok(()));
}
