//! The specifications of Day 28: an online softmax in f32 passes whatever its tiles, and nothing coarser does.
#![allow(clippy::unwrap_used)]

use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::{bf16, f16};

fn row() -> &'static Exercise {
    find("attention_row").unwrap()
}

fn flash() -> &'static Exercise {
    find("flash_attention").unwrap()
}

fn causal() -> &'static Exercise {
    find("flash_attention_causal").unwrap()
}

fn check(exercise: &Exercise, case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    let output = Data::rounded(exercise.outputs[0].dtype, output);
    (exercise.reference)(case)[0].check(&output, exercise.tolerances[0])
}

/// How a kernel goes about it: so many keys at a time, and what becomes of a score and of a weight before they are used.
struct Way {
    tile: usize,
    scale: fn(f32) -> f32,
    score: fn(f32) -> f32,
    weight: fn(f32) -> f32,
    /// Whether what was added up is corrected where the largest score changes.
    corrects: bool,
    /// How many keys the query at a place sees, of so many.
    sees: fn(usize, usize) -> usize,
}

const PLAIN: Way = Way {
    tile: 32,
    scale: |head| 1.0 / head.sqrt(),
    score: |score| score,
    weight: |weight| weight,
    corrects: true,
    sees: |_, length| length,
};

const MASKED: Way = Way { sees: |place, _| place + 1, ..PLAIN };

/// An online softmax in f32.
fn online(case: &Case, way: &Way) -> Vec<f32> {
    let Shape { rows, columns: head, .. } = case.shape;
    let (length, queries) = (case.shape.terms(), case.shape.queries());
    let [heads, keys] = case.shape.heads.unwrap();
    let [q, k, v] = [0, 1, 2].map(|input| case.f64s(input).into_iter().map(|x| x as f32).collect::<Vec<_>>());
    let mut out = Vec::with_capacity(rows * head);
    for (row, query) in q.chunks_exact(head).enumerate() {
        let begin = row / queries * keys / heads * length * head;
        let (mut largest, mut sum, mut result) = (f32::NEG_INFINITY, 0.0_f32, vec![0.0_f32; head]);
        let of_head: Vec<(&[f32], &[f32])> = k[begin..]
            .chunks_exact(head)
            .zip(v[begin..].chunks_exact(head))
            .take((way.sees)(row % queries, length))
            .collect();
        for tile in of_head.chunks(way.tile) {
            let dot = |key: &[f32]| query.iter().zip(key).fold(0.0_f32, |sum, (q, k)| sum + q * k);
            let scores: Vec<f32> =
                tile.iter().map(|(key, _)| (way.score)(dot(key) * (way.scale)(head as f32))).collect();
            let before = largest;
            largest = scores.iter().copied().fold(before, f32::max);
            let correction = if way.corrects { (before - largest).exp() } else { 1.0 };
            sum *= correction;
            result.iter_mut().for_each(|sum| *sum *= correction);
            for (score, (_, value)) in scores.iter().zip(tile) {
                let weight = (score - largest).exp();
                sum += weight;
                result.iter_mut().zip(*value).for_each(|(sum, value)| *sum += (way.weight)(weight) * value);
            }
        }
        out.extend(result.iter().map(|result| result / sum));
    }
    out
}

fn to_bf16(value: f32) -> f32 {
    bf16::from_f32(value).to_f32()
}

fn shapes(exercise: &Exercise) -> impl Iterator<Item = Shape> {
    exercise.shapes.all(1).into_iter().filter(|shape| shape.elements() > 0)
}

#[test]
fn what_is_counted_is_that_of_attention() {
    let [small, large] = [64, 128].map(|head| Shape::attention([64, 64], 4096, head));
    assert_eq!(flash().large(1 << 26), [small, large]);
    assert_eq!(flash().large(flash().surveyed)[0], Shape::attention([4, 4], 256, 64));
    let bytes = 2 * 64 * 4096 * 64;
    assert_eq!(flash().minimum_bytes(small), 4 * bytes);
    // Scores are written and read, scaled, written and read, and so are the weights.
    assert_eq!(flash().unfused_bytes(small), 4 * bytes + 6 * 2 * 64 * 4096 * 4096);
    assert_eq!(row().work(Shape::attention([3, 3], 5, 64)), 3 * 5 * 5 * 64);
    let scores = 64.0 * 4096.0 * 4096.0;
    assert_eq!((flash().flops)(large), scores * (4.0 * 128.0 + 5.0) + (64 * 4096 * 128) as f64);
}

#[test]
fn a_period_stands_for_all_heads_and_queries() {
    let shape = Shape::attention([4, 4], 100, 64);
    let period = Shape { rows: 51, heads: Some([1, 1]), ..shape };
    let case = (row().make)(period, &mut Inputs::new(1));
    let references = (row().reference)(&case);
    // The same queries over and over, and the same keys for each head.
    let repeated = |input: usize, len: usize| {
        let values = case.f32s(input);
        Data::F32((0..len).map(|index| values[index % values.len()]).collect())
    };
    let inputs = [0, 1, 2].map(|input| repeated(input, shape.elements()));
    let whole = (row().reference)(&Case::new(shape, inputs.into()));
    for element in 0..shape.elements() {
        let part = references[0].expected(row().outputs[0].within(period, shape, element));
        assert_eq!(whole[0].expected(element), part, "{element}");
    }
}

#[test]
fn an_online_softmax_passes_whatever_its_tiles() {
    for (exercise, way) in [(row(), PLAIN), (flash(), PLAIN), (causal(), MASKED)] {
        for shape in shapes(exercise) {
            for (seed, tile) in [(1, 1), (2, 32), (3, 64), (4, usize::MAX)] {
                let case = (exercise.make)(shape, &mut Inputs::new(seed));
                let output = online(&case, &Way { tile, ..way });
                assert_eq!(check(exercise, &case, output), Ok(()), "{}: {shape}, tiles of {tile}", exercise.name);
            }
        }
    }
}

#[test]
fn weights_may_be_rounded_for_tensor_cores_and_only_for_them() {
    for (exercise, way) in [(flash(), PLAIN), (causal(), MASKED)] {
        for shape in shapes(exercise) {
            let rounded = Way { weight: to_bf16, ..way };
            let case = (exercise.make)(shape, &mut Inputs::new(5));
            assert_eq!(check(exercise, &case, online(&case, &rounded)), Ok(()), "{}: {shape}", exercise.name);
        }
    }
    let case = (row().make)(Shape::attention([1, 1], 100, 64), &mut Inputs::new(5));
    let rounded = Way { weight: |weight| f16::from_f32(weight).to_f32(), ..PLAIN };
    assert!(check(row(), &case, online(&case, &rounded)).is_err());
}

#[test]
fn coarser_scores_and_other_operations_fail() {
    let wrong: [(&str, Way); 7] = [
        ("scores in bf16", Way { score: to_bf16, ..PLAIN }),
        ("scores in f16", Way { score: |score| f16::from_f32(score).to_f32(), ..PLAIN }),
        ("not scaled", Way { scale: |_| 1.0, ..PLAIN }),
        ("divided by d", Way { scale: |head| 1.0 / head, ..PLAIN }),
        ("not corrected", Way { corrects: false, ..PLAIN }),
        ("without the last key", Way { sees: |_, length| length - 1, ..PLAIN }),
        ("weights of 3 bits", Way { weight: |weight| f32::from_bits(weight.to_bits() & 0xfff0_0000), ..PLAIN }),
    ];
    for exercise in [row(), flash()] {
        for (what, way) in &wrong {
            for seed in 0..3 {
                let case = (exercise.make)(Shape::attention([2, 2], 129, 128), &mut Inputs::new(seed));
                assert!(check(exercise, &case, online(&case, way)).is_err(), "{}: {what}", exercise.name);
            }
        }
        let case = (exercise.make)(Shape::attention([2, 2], 129, 128), &mut Inputs::new(1));
        assert!(check(exercise, &case, vec![0.0; case.shape.elements()]).is_err());
    }
    let case = (row().make)(Shape::attention([2, 2], 129, 128), &mut Inputs::new(1));
    let cut = online(&case, &PLAIN).iter().map(|value| f16::from_f32(*value).to_f32()).collect();
    assert!(check(row(), &case, cut).is_err());
}

#[test]
fn other_masks_and_heads_fail() {
    let wrong: [(&str, Way); 6] = [
        ("no mask", PLAIN),
        ("without its own key", Way { sees: |place, _| place, ..MASKED }),
        ("one key too many", Way { sees: |place, length| length.min(place + 2), ..MASKED }),
        ("whole tiles", Way { sees: |place, length| length.min((place / 64 + 1) * 64), ..MASKED }),
        ("scores in bf16", Way { score: to_bf16, ..MASKED }),
        ("weights of 3 bits", Way { weight: |weight| f32::from_bits(weight.to_bits() & 0xfff0_0000), ..MASKED }),
    ];
    let shape = Shape::attention([4, 2], 129, 64);
    for seed in 0..3 {
        let case = (causal().make)(shape, &mut Inputs::new(seed));
        assert_eq!(check(causal(), &case, online(&case, &MASKED)), Ok(()));
        for (what, way) in &wrong {
            assert!(check(causal(), &case, online(&case, way)).is_err(), "{what}");
        }
        assert!(check(causal(), &case, vec![0.0; shape.elements()]).is_err());
        // What other operations give is not what this one gives.
        let right = &(causal().reference)(&case)[0];
        for mistaken in causal().mistaken {
            let other = &(mistaken.outputs)(&case)[0];
            let other = (0..right.len()).map(|element| other.expected(element)[0] as f32).collect();
            assert!(check(causal(), &case, other).is_err(), "{}", mistaken.what);
        }
    }
}

#[test]
fn a_period_of_masked_attention_has_all_queries_of_its_heads() {
    let shape = Shape::attention([64, 16], 4096, 128);
    assert_eq!(causal().period(shape), Shape { rows: 4 * 4096, heads: Some([4, 1]), ..shape });
    assert!(flash().period(shape).rows < 4096);
    // Half of the scores, and the diagonal.
    let scores = 64.0 * 4096.0 * 4097.0 / 2.0;
    assert_eq!((causal().flops)(shape), scores * (4.0 * 128.0 + 5.0) + (64 * 4096 * 128) as f64);
    // Scores are written and read, scaled, masked, and made weights, which are read.
    assert_eq!(causal().unfused_bytes(shape) - causal().minimum_bytes(shape), 8 * 2 * 64 * 4096 * 4096);
}

#[test]
fn all_scores_of_some_queries_are_large_and_of_some_far_below_0() {
    let case = (row().make)(Shape::attention([4, 4], 64, 64), &mut Inputs::new(1));
    let (q, k) = (case.f32s(0), case.f32s(1));
    let score = |query: usize, key: usize| -> f32 {
        let [query, key] = [&q[query * 64..][..64], &k[key * 64..][..64]];
        query.iter().zip(key).map(|(q, k)| q * k).sum::<f32>() / 8.0
    };
    let all = |query: usize, of: fn(f32) -> bool| (0..64).all(|key| of(score(query, key)));
    assert!((0..64).any(|query| all(query, |score| score > 9000.0)));
    assert!((0..64).any(|query| all(query, |score| score < -9000.0)));
    assert!((0..64).any(|query| all(query, |score| score == 0.0)));
}
