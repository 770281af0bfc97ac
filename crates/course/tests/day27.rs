//! The specifications of Day 27: sums in f32 in any order pass, also as tensor cores add, and nothing coarser does.
#![allow(clippy::unwrap_used)]

use fusion_course::{Case, Data, Exercise, Inputs, Mismatch, Shape, find};
use half::{bf16, f16};

fn exercise() -> &'static Exercise {
    find("gemm_tile").unwrap()
}

fn case(shape: Shape, seed: u64) -> Case {
    (exercise().make)(shape, &mut Inputs::new(seed))
}

fn check(case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    let output = Data::Bf16(output.into_iter().map(bf16::from_f32).collect());
    (exercise().reference)(case)[0].check(&output, exercise().tolerances[0])
}

/// The product with sums of 16 terms at a time, each of which `add` adds to what there is.
fn product(case: &Case, add: impl Fn(f32, &[f32]) -> f32) -> Vec<f32> {
    let Shape { rows, columns, depth, .. } = case.shape;
    let terms = depth.unwrap();
    let (a, b) = (case.f64s(0), case.f64s(1));
    let sum = |i: usize, j: usize| {
        let terms: Vec<f32> = (0..terms).map(|l| (a[i * terms + l] * b[l * columns + j]) as f32).collect();
        terms.chunks(16).fold(0.0_f32, &add)
    };
    (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| sum(i, j)).collect()
}

/// Cuts off what an f32 does not hold.
fn cut(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near).abs() > exact.abs() { f32::from_bits(near.to_bits() - 1) } else { near }
}

#[test]
fn what_is_counted_is_that_of_a_product() {
    let shape = Shape::product(4096, 4096, 4096);
    assert_eq!(exercise().large(1 << 26), [shape]);
    assert_eq!(exercise().large(exercise().surveyed), [Shape::product(256, 256, 256)]);
    assert_eq!(exercise().minimum_bytes(shape), (3 * 2) << 24);
    assert_eq!((exercise().flops)(shape), 2.0 * 4096.0_f64.powi(3));
    assert_eq!(exercise().work(Shape::product(3, 5, 7)), 3 * 5 * 7);
}

#[test]
fn sums_in_f32_pass_in_any_order_and_as_tensor_cores_add() {
    for shape in exercise().shapes.all(1).into_iter().chain([Shape::product(8, 16, 4096)]) {
        let case = case(shape, 1);
        let one_by_one = product(&case, |sum, terms| terms.iter().fold(sum, |sum, term| sum + term));
        assert_eq!(check(&case, one_by_one), Ok(()), "{shape}");
        let cut_off =
            product(&case, |sum, terms| cut(f64::from(sum) + terms.iter().map(|&term| f64::from(term)).sum::<f64>()));
        assert_eq!(check(&case, cut_off), Ok(()), "{shape}");
    }
}

#[test]
fn coarser_sums_zeros_and_other_products_fail() {
    let shape = Shape::product(72, 264, 200);
    for seed in 0..4 {
        let case = case(shape, seed);
        let in_bf16 = product(&case, |sum, terms| bf16::from_f32(sum + terms.iter().sum::<f32>()).to_f32());
        let in_f16 = product(&case, |sum, terms| f16::from_f32(sum + terms.iter().sum::<f32>()).to_f32());
        let without_last = product(&case, |sum, terms| sum + terms[..terms.len().min(15)].iter().sum::<f32>());
        for wrong in [in_bf16, in_f16, without_last, vec![0.0; shape.elements()]] {
            assert!(check(&case, wrong).is_err());
        }
        // Cut off to bf16 instead of rounded.
        let right = product(&case, |sum, terms| sum + terms.iter().sum::<f32>());
        let cut: Vec<f32> = right.iter().map(|sum| f32::from_bits(sum.to_bits() & 0xffff_0000)).collect();
        assert!(check(&case, cut).is_err());
    }
}

#[test]
fn without_terms_zeros_are_right() {
    let case = case(Shape::product(3, 5, 0), 1);
    assert_eq!(check(&case, vec![0.0; 15]), Ok(()));
    assert!(check(&case, vec![1e-3; 15]).is_err());
}
