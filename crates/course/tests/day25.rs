//! The specifications of Day 25: operations of Days 22 and 24, and what is asked of their accesses.
#![allow(clippy::unwrap_used)]

use fusion_course::{Access, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::f16;

const PAIRS: [(&str, &str); 3] =
    [("add_gelu_vec", "add_gelu"), ("quantize_int8_vec", "quantize_int8"), ("silu_mul_vec", "silu_mul")];

#[test]
fn bytes_are_those_of_the_course() {
    for (name, unfused, fused) in
        [("add_gelu_vec", 20, 12), ("quantize_int8_vec", 37, 5), ("silu_mul_vec", 10, 6), ("scale_shift_offset", 16, 8)]
    {
        let (exercise, shape) = (find(name).unwrap(), Shape::flat(1000));
        assert_eq!((exercise.unfused_bytes(shape), exercise.minimum_bytes(shape)), (unfused * 1000, fused * 1000));
    }
}

/// Both days ask for the same results at the same shapes; `tests/day22.rs` and `tests/day24.rs` show what their tolerances refuse.
#[test]
fn operations_are_those_of_other_days() {
    for (vector, plain) in PAIRS.map(|(vector, plain)| (find(vector).unwrap(), find(plain).unwrap())) {
        assert_eq!((vector.day, plain.day < 25), (25, true));
        assert_eq!(vector.tolerances, plain.tolerances);
        for shape in vector.shapes.all(7).into_iter().filter(|shape| shape.elements() < 10_000) {
            let [ours, theirs] = [vector, plain].map(|exercise| (exercise.make)(shape, &mut Inputs::new(7)));
            assert_eq!((&ours.inputs, &ours.scalars), (&theirs.inputs, &theirs.scalars), "{shape}");
        }
    }
}

fn check(exercise: &Exercise, seed: u64, element: impl Fn(&[f32], [f32; 2]) -> f32) -> Result<(), Mismatch> {
    let case = (exercise.make)(Shape::flat(1025), &mut Inputs::new(seed));
    let scalars = [0, 1].map(|index| case.scalar(index) as f32);
    let at = |i: usize| (0..case.inputs.len()).map(|input| case.f32s(input)[i]).collect::<Vec<_>>();
    let values = (0..1025).map(|i| element(&at(i), scalars));
    let output = match exercise.outputs[0].dtype {
        fusion_course::DType::I8 => Data::I8(values.map(|x| x.clamp(-128.0, 127.0) as i8).collect()),
        _ => Data::F32(values.collect()),
    };
    (exercise.reference)(&case)[0].check(&output, exercise.tolerances[0])
}

fn gelu(t: f32) -> f32 {
    0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh())
}

#[test]
fn f32_passes_and_zeros_and_half_precision_fail() {
    let half = |x: f32| f16::from_f32(x).to_f32();
    let scale_shift = find("scale_shift_offset").unwrap();
    let (add_gelu, quantize) = (find("add_gelu_vec").unwrap(), find("quantize_int8_vec").unwrap());
    for seed in 0..8 {
        assert_eq!(check(add_gelu, seed, |x, _| gelu(x[0] + x[1])), Ok(()));
        assert_eq!(check(add_gelu, seed, |x, _| gelu(x[1] + x[0])), Ok(()));
        assert_eq!(check(quantize, seed, |x, [scale, zero]| (x[0] / scale + zero).round_ties_even()), Ok(()));
        assert_eq!(check(scale_shift, seed, |x, [scale, shift]| x[0] * scale + shift), Ok(()));
        assert_eq!(check(scale_shift, seed, |x, [scale, shift]| x[0].mul_add(scale, shift)), Ok(()));
        for exercise in [add_gelu, quantize, scale_shift] {
            assert!(check(exercise, seed, |_, _| 0.0).is_err());
        }
        assert!(check(add_gelu, seed, |x, _| gelu(half(half(x[0]) + half(x[1])))).is_err());
        assert!(check(scale_shift, seed, |x, [scale, shift]| half(half(x[0]) * scale) + shift).is_err());
        assert!(check(scale_shift, seed, |x, [scale, shift]| (x[0] + shift) * scale).is_err());
        assert!(check(quantize, seed, |x, [scale, zero]| half(half(x[0] / scale) + zero).round_ties_even()).is_err());
    }
}

#[test]
fn wide_accesses_and_a_rival_are_asked_for() {
    let names = PAIRS.map(|(name, _)| name).into_iter().chain(["scale_shift_offset"]);
    for (name, store) in names.zip([16, 4, 16, 16]) {
        let exercise = find(name).unwrap();
        assert_eq!(exercise.access, Access { load: 16, store });
        let rival = exercise.rival.unwrap();
        // The rival moves no byte too many: what it lacks is width.
        let shape = Shape::flat(1 << 20);
        assert_eq!(rival.step.bytes(exercise, shape), exercise.minimum_bytes(shape));
        assert!(rival.bar > 1.0);
    }
}

/// The views of this exercise suit no wide access at their first element, and the same one behind it.
#[test]
fn views_begin_past_what_wide_accesses_need() {
    let exercise = find("scale_shift_offset").unwrap();
    for param in exercise.inputs.iter().chain(exercise.outputs) {
        assert_eq!(param.offset * param.dtype.bytes() % 16, 4, "{}", param.name);
    }
}
