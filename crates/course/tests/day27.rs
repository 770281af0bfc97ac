//! The specifications of Day 27: sums in f32 in any order pass, also as tensor cores add, and nothing coarser does.
#![allow(clippy::unwrap_used)]

use fusion_course::{CHOICES, Case, Data, Exercise, Inputs, Mismatch, Routing, Shape, find};
use half::{bf16, f16};

fn exercise() -> &'static Exercise {
    find("gemm_tile").unwrap()
}

fn fused() -> &'static Exercise {
    find("gemm_bias_gelu").unwrap()
}

fn case(shape: Shape, seed: u64) -> Case {
    (exercise().make)(shape, &mut Inputs::new(seed))
}

fn fused_case(shape: Shape, seed: u64) -> Case {
    (fused().make)(shape, &mut Inputs::new(seed))
}

fn check(case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    check_of(exercise(), case, output)
}

fn check_of(exercise: &Exercise, case: &Case, output: Vec<f32>) -> Result<(), Mismatch> {
    let output = Data::Bf16(output.into_iter().map(bf16::from_f32).collect());
    (exercise.reference)(case)[0].check(&output, exercise.tolerances[0])
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

/// GELU's tanh form as `gelu_tanh` of activation.cuh computes it, and as `gelu_fast` does.
fn gelu_tanh(t: f32) -> f32 {
    0.5 * t * (1.0 + (0.797_884_6 * (t + 0.044715 * t * t * t)).tanh())
}

fn gelu_fast(t: f32) -> f32 {
    t / (1.0 + (-1.595_769 * (t + 0.044715 * t * t * t)).exp())
}

/// What `finish` makes of each sum, bias and residual.
fn finished(case: &Case, sums: &[f32], finish: impl Fn(f32, f32, f32) -> f32) -> Vec<f32> {
    let (bias, residual) = (case.f64s(2), case.f64s(3));
    let columns = case.shape.columns;
    let each = sums.iter().zip(residual).enumerate();
    each.map(|(i, (&sum, residual))| finish(sum, bias[i % columns] as f32, residual as f32)).collect()
}

fn rounded(value: f32) -> f32 {
    bf16::from_f32(value).to_f32()
}

fn sums(case: &Case) -> Vec<f32> {
    product(case, |sum, terms| terms.iter().fold(sum, |sum, term| sum + term))
}

#[test]
fn what_is_counted_is_that_of_a_product_with_an_epilogue() {
    let [small, large] = [Shape::product(16384, 4096, 1024), Shape::product(16384, 1024, 4096)];
    assert_eq!(fused().large(1 << 26), [small, large]);
    // The same multiply-adds, and eleven operations more for each element.
    assert_eq!((fused().flops)(small) - (fused().flops)(large), 11.0 * (3 << 24) as f64);
    let elements = 16384 * 4096;
    assert_eq!(fused().minimum_bytes(small), 2 * (16384 * 1024 + 4096 * 1024 + 4096 + 2 * elements));
    // Six more readings and writings of all elements.
    assert_eq!(fused().unfused_bytes(small) - fused().minimum_bytes(small), 6 * 2 * elements);
}

#[test]
fn an_epilogue_in_f32_passes_in_any_form() {
    for shape in fused().shapes.all(1).into_iter().chain([Shape::product(8, 16, 4096)]) {
        let case = fused_case(shape, 1);
        let sums = sums(&case);
        for gelu in [gelu_tanh, gelu_fast] {
            let output = finished(&case, &sums, |sum, bias, residual| gelu(sum + bias) + residual);
            assert_eq!(check_of(fused(), &case, output), Ok(()), "{shape}");
        }
        let cut_off =
            product(&case, |sum, terms| cut(f64::from(sum) + terms.iter().map(|&term| f64::from(term)).sum::<f64>()));
        let output = finished(&case, &cut_off, |sum, bias, residual| gelu_fast(sum + bias) + residual);
        assert_eq!(check_of(fused(), &case, output), Ok(()), "{shape}");
    }
}

/// The bias as the first term, to which tensor cores add.
#[test]
fn a_sum_may_begin_with_the_bias() {
    for shape in [Shape::product(72, 264, 200), Shape::product(8, 16, 4096), Shape::product(33, 35, 0)] {
        let case = fused_case(shape, 2);
        let (terms, columns) = (shape.terms(), shape.columns);
        let (a, b, bias) = (case.f64s(0), case.f64s(1), case.f64s(2));
        let sum = |i: usize, j: usize| {
            let terms: Vec<f64> = (0..terms).map(|l| a[i * terms + l] * b[l * columns + j]).collect();
            terms.chunks(16).fold(bias[j] as f32, |sum, terms| cut(f64::from(sum) + terms.iter().sum::<f64>()))
        };
        let sums: Vec<f32> =
            (0..shape.rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| sum(i, j)).collect();
        let output = finished(&case, &sums, |sum, _, residual| gelu_tanh(sum) + residual);
        assert_eq!(check_of(fused(), &case, output), Ok(()), "{shape}");
    }
}

#[test]
fn other_orders_other_forms_and_two_roundings_fail() {
    let erf = |t: f32| {
        // Abramowitz and Stegun, 7.1.26: off by 1.5e-7.
        let (x, t_of) = (f64::from(t.abs()) / 2.0_f64.sqrt(), |x: f64| 1.0 / (1.0 + 0.3275911 * x));
        let u = t_of(x);
        let series = u * (0.254829592 + u * (-0.284496736 + u * (1.421413741 + u * (-1.453152027 + u * 1.061405429))));
        let erf = (1.0 - series * (-x * x).exp()).copysign(f64::from(t));
        (0.5 * f64::from(t) * (1.0 + erf)) as f32
    };
    type Finish = Box<dyn Fn(f32, f32, f32) -> f32>;
    let wrong: [(&str, Finish); 9] = [
        ("zeros", Box::new(|_, _, _| 0.0)),
        ("GELU before the bias", Box::new(|sum, bias, residual| gelu_tanh(sum) + bias + residual)),
        ("the residual before GELU", Box::new(|sum, bias, residual| gelu_tanh(sum + bias + residual))),
        ("sums rounded first", Box::new(|sum, bias, residual| gelu_tanh(rounded(sum) + bias) + residual)),
        ("the argument rounded", Box::new(|sum, bias, residual| gelu_tanh(rounded(sum + bias)) + residual)),
        ("GELU rounded", Box::new(|sum, bias, residual| rounded(gelu_tanh(sum + bias)) + residual)),
        ("in f16", Box::new(|sum, bias, residual| f16::from_f32(gelu_tanh(sum + bias)).to_f32() + residual)),
        ("erf", Box::new(move |sum, bias, residual| erf(sum + bias) + residual)),
        ("no residual", Box::new(|sum, bias, _| gelu_tanh(sum + bias))),
    ];
    for seed in 0..4 {
        let case = fused_case(Shape::product(72, 264, 200), seed);
        let sums = sums(&case);
        for (what, finish) in &wrong {
            assert!(check_of(fused(), &case, finished(&case, &sums, finish)).is_err(), "{what}, seed {seed}");
        }
        let in_bf16 = product(&case, |sum, terms| rounded(sum + terms.iter().sum::<f32>()));
        let output = finished(&case, &in_bf16, |sum, bias, residual| gelu_tanh(sum + bias) + residual);
        assert!(check_of(fused(), &case, output).is_err());
        let right = finished(&case, &sums, |sum, bias, residual| gelu_tanh(sum + bias) + residual);
        let cut: Vec<f32> = right.iter().map(|value| f32::from_bits(value.to_bits() & 0xffff_0000)).collect();
        assert!(check_of(fused(), &case, cut).is_err());
    }
}

#[test]
fn without_terms_the_epilogue_remains() {
    let case = fused_case(Shape::product(33, 35, 0), 1);
    let sums = vec![0.0; 33 * 35];
    let right = finished(&case, &sums, |_, bias, residual| gelu_tanh(bias) + residual);
    assert_eq!(check_of(fused(), &case, right), Ok(()));
    assert!(check_of(fused(), &case, finished(&case, &sums, |_, _, residual| residual)).is_err());
    assert!(check_of(fused(), &case, sums).is_err());
}

fn dequant() -> &'static Exercise {
    find("gemm_dequant").unwrap()
}

fn dequant_case(shape: Shape, seed: u64) -> Case {
    (dequant().make)(shape, &mut Inputs::new(seed))
}

/// What `finish` makes of each sum and the scale of its column.
fn scaled(case: &Case, sums: &[f32], finish: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let (scales, columns) = (case.f32s(2), case.shape.columns);
    sums.iter().enumerate().map(|(i, &sum)| finish(sum, scales[i % columns])).collect()
}

/// The same case with its weights scaled one by one and rounded by `round`.
fn with_weights(case: &Case, round: impl Fn(f32) -> f32) -> Case {
    let (scales, columns) = (case.f32s(2), case.shape.columns);
    let weights = case.f64s(1).into_iter().enumerate().map(|(i, q)| round(q as f32 * scales[i % columns]));
    let mut other = case.clone();
    other.inputs[1] = Data::F32(weights.collect());
    other
}

#[test]
fn what_is_counted_is_the_weights() {
    let shape = Shape::product(16, 4096, 4096);
    let (weights, rows) = (4096 * 4096, 16 * 4096);
    assert_eq!(dequant().large(1 << 26)[1], shape);
    assert_eq!(dequant().minimum_bytes(shape), weights + 2 * 2 * rows + 4 * 4096);
    // Two bytes more of each are written and read.
    assert_eq!(dequant().unfused_bytes(shape) - dequant().minimum_bytes(shape), 4 * weights);
}

#[test]
fn a_scale_may_be_applied_to_sums_or_to_weights_in_f32() {
    for shape in dequant().shapes.all(1).into_iter().chain([Shape::product(8, 16, 4096)]) {
        let case = dequant_case(shape, 1);
        let right = scaled(&case, &sums(&case), |sum, scale| sum * scale);
        assert_eq!(check_of(dequant(), &case, right), Ok(()), "{shape}");
        let of_weights = sums(&with_weights(&case, |weight| weight));
        assert_eq!(check_of(dequant(), &case, of_weights), Ok(()), "{shape}");
        let cut_off =
            product(&case, |sum, terms| cut(f64::from(sum) + terms.iter().map(|&term| f64::from(term)).sum::<f64>()));
        let cut_off = scaled(&case, &cut_off, |sum, scale| sum * scale);
        assert_eq!(check_of(dequant(), &case, cut_off), Ok(()), "{shape}");
    }
}

#[test]
fn rounded_weights_rounded_sums_and_other_scales_fail() {
    type Finish = fn(f32, f32) -> f32;
    let wrong: [(&str, Finish); 6] = [
        ("zeros", |_, _| 0.0),
        ("sums rounded first", |sum, scale| rounded(sum) * scale),
        ("in f16", |sum, scale| f16::from_f32(sum * scale).to_f32()),
        ("no scale", |sum, _| sum),
        ("twice", |sum, scale| sum * scale * scale),
        ("cut off", |sum, scale| f32::from_bits((sum * scale).to_bits() & 0xffff_0000)),
    ];
    for seed in 0..4 {
        let case = dequant_case(Shape::product(72, 264, 200), seed);
        let sums_of_q = sums(&case);
        for (what, finish) in &wrong {
            assert!(check_of(dequant(), &case, scaled(&case, &sums_of_q, finish)).is_err(), "{what}, seed {seed}");
        }
        let of_rounded = sums(&with_weights(&case, rounded));
        assert!(check_of(dequant(), &case, of_rounded).is_err(), "weights rounded, seed {seed}");
        let in_bf16 = product(&case, |sum, terms| rounded(sum + terms.iter().sum::<f32>()));
        let in_bf16 = scaled(&case, &in_bf16, |sum, scale| sum * scale);
        assert!(check_of(dequant(), &case, in_bf16).is_err(), "sums in bf16, seed {seed}");
    }
}

fn experts() -> &'static Exercise {
    find("moe_expert").unwrap()
}

/// What a layer of experts does in f32, with a rounding behind each step that has one.
#[derive(Clone, Copy)]
struct Layer {
    gate_up: fn(f32) -> f32,
    swiglu: fn(f32, f32) -> f32,
    between: fn(f32) -> f32,
    down: fn(f32) -> f32,
    weight: fn(&[f32], usize) -> f32,
}

const EXACT: Layer = Layer {
    gate_up: |sum| sum,
    swiglu: |gate, up| gate / (1.0 + (-gate).exp()) * up,
    between: rounded,
    down: |sum| sum,
    weight: |weights, slot| weights[slot],
};

impl Layer {
    fn of(self, case: &Case) -> Vec<f32> {
        let (hidden, inter) = (case.shape.columns, case.shape.terms());
        let f32s = |input: usize| -> Vec<f32> { case.f64s(input).into_iter().map(|value| value as f32).collect() };
        let (x, w1, w2) = (f32s(0), f32s(1), f32s(2));
        let mut out = vec![0.0_f32; case.shape.elements()];
        for (expert, (_, slots)) in Routing::of(case.shape).experts().enumerate() {
            let (w1, w2) = (&w1[expert * hidden * 2 * inter..], &w2[expert * inter * hidden..]);
            for &slot in slots {
                let row = &x[slot / CHOICES * hidden..][..hidden];
                let sum = |column: usize| (0..hidden).map(|i| row[i] * w1[i * 2 * inter + column]).sum::<f32>();
                let both = |column: usize| (self.gate_up)(sum(column));
                let between: Vec<f32> =
                    (0..inter).map(|c| (self.between)((self.swiglu)(both(c), both(inter + c)))).collect();
                for column in 0..hidden {
                    let sum = (0..inter).map(|i| between[i] * w2[i * hidden + column]).sum::<f32>();
                    out[slot / CHOICES * hidden + column] += (self.weight)(case.f32s(5), slot) * (self.down)(sum);
                }
            }
        }
        out
    }
}

/// One that is small, where the chain's roundings are much of what is allowed, and those of the grader that are not large.
fn mixtures() -> impl Iterator<Item = Case> {
    let shapes = experts().shapes.all(1).into_iter().filter(|shape| experts().work(*shape) < 1 << 18);
    shapes.map(|shape| (experts().make)(shape, &mut Inputs::new(3)))
}

#[test]
fn what_is_counted_is_the_experts_weights() {
    let shape = Shape::routing(512, 64, 1024, 512);
    assert_eq!(experts().large(1 << 26), [shape]);
    assert_eq!(experts().large(experts().surveyed), [Shape::routing(128, 16, 256, 128)]);
    let [tokens, slots] = [512, 1024];
    let weights = 64 * 3 * 2 * 1024 * 512;
    // The order once for each product, and the offsets.
    let tables = 2 * (4 * slots + 4 * 65);
    let rows = 2 * tokens * 1024 + 2 * 2 * slots * 512 + 2 * 4 * slots * 1024 + 2 * tokens * 1024;
    assert_eq!(experts().minimum_bytes(shape), weights + tables + rows + 4 * slots);
    assert_eq!((experts().flops)(shape), 1024.0 * (6.0 * 1024.0 * 512.0 + 5.0 * 512.0 + 2.0 * 1024.0));
}

#[test]
fn the_chains_roundings_pass_and_none_of_them_need_be_made() {
    let chain = Layer { gate_up: rounded, down: rounded, ..EXACT };
    let exact = Layer { between: |value| value, ..EXACT };
    // A framework that has SiLU as an operation of its own.
    let step_by_step = Layer { swiglu: |gate, up| rounded(gate / (1.0 + (-gate).exp())) * up, ..chain };
    for case in mixtures() {
        for layer in [chain, EXACT, exact, step_by_step] {
            assert_eq!(check_of(experts(), &case, layer.of(&case)), Ok(()), "{}", case.shape);
        }
    }
}

#[test]
fn some_gates_have_exponentials_that_overflow() {
    let overflows = Layer { swiglu: |gate, up| gate * gate.exp() / (1.0 + gate.exp()) * up, ..EXACT };
    let refused = mixtures().filter(|case| check_of(experts(), case, overflows.of(case)).is_err());
    assert!(refused.count() > 2);
}

#[test]
fn other_layers_and_coarser_ones_fail() {
    let coarse = |value: f32| (value * 16.0).round() / 16.0;
    let cut = |value: f32| f32::from_bits(value.to_bits() & 0xfff0_0000);
    let wrong: [(&str, Layer); 8] = [
        ("zeros", Layer { weight: |_, _| 0.0, ..EXACT }),
        ("gate and up swapped", Layer { swiglu: |gate, up| (EXACT.swiglu)(up, gate), ..EXACT }),
        ("without SiLU", Layer { swiglu: |gate, up| gate * up, ..EXACT }),
        ("GELU", Layer { swiglu: |gate, up| gelu_tanh(gate) * up, ..EXACT }),
        ("without weights", Layer { weight: |_, _| 1.0, ..EXACT }),
        ("the other's weight", Layer { weight: |weights, slot| weights[slot ^ 1], ..EXACT }),
        ("one expert only", Layer { weight: |weights, slot| weights[slot] * (slot % 2) as f32, ..EXACT }),
        ("between the matrices in fixed point", Layer { between: coarse, ..EXACT }),
    ];
    for case in mixtures().filter(|case| case.shape.elements() > 500 && case.shape.terms() > 0) {
        for (what, layer) in wrong {
            assert!(check_of(experts(), &case, layer.of(&case)).is_err(), "{what}, {}", case.shape);
        }
        // Three bits behind the first one.
        let output = EXACT.of(&case).into_iter().map(cut).collect();
        assert!(check_of(experts(), &case, output).is_err(), "{}", case.shape);
    }
}

#[test]
fn without_anything_between_the_matrices_zeros_are_right() {
    let case = (experts().make)(Shape::routing(3, 4, 64, 0), &mut Inputs::new(1));
    assert_eq!(check_of(experts(), &case, vec![0.0; 3 * 64]), Ok(()));
    assert!(check_of(experts(), &case, vec![1e-3; 3 * 64]).is_err());
}
