//! The instructions, what they approximate, and the errors that the PTX ISA manual (9.7.3, 9.7.4) allows them.

use half::{bf16, f16};

/// An instruction form with a bound on its error.
#[derive(Debug)]
pub struct Instruction {
    pub name: &'static str,
    pub(super) form: Form,
    pub(super) exact: Exact,
    pub(super) error: ErrorKind,
    /// The largest error that the manual allows.
    pub(super) bound: f64,
    /// The magnitudes of inputs for which it does; for `div` those of the divisor.
    pub(super) from: f64,
    pub(super) to: f64,
}

/// What registers an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    F32,
    /// A dividend that a permutation of 32-bit numbers makes from the divisor.
    Quotient,
    F16,
    Bf16,
    /// The upper half of an f64, the lower one zero.
    Upper,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Exact {
    Of(fn(f64) -> f64),
    Quotient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// In f32 units in the last place of the exact result.
    Ulp,
    Relative,
    Absolute,
}

/// Odd, so that multiplying by it permutes the 32-bit numbers.
const SPREAD: u32 = 0x9e37_79b1;
/// The bounds of f32's normal numbers.
const NORMAL: (f64, f64) = (f32::MIN_POSITIVE as f64, f32::MAX as f64);
const ALL: (f64, f64) = (0.0, f64::INFINITY);

const fn row(
    name: &'static str,
    form: Form,
    exact: fn(f64) -> f64,
    (from, to): (f64, f64),
    error: ErrorKind,
    bound: f64,
) -> Instruction {
    Instruction { name, form, exact: Exact::Of(exact), error, bound, from, to }
}

const fn quotient(name: &'static str, (from, to): (f64, f64)) -> Instruction {
    Instruction { name, form: Form::Quotient, exact: Exact::Quotient, error: ErrorKind::Ulp, bound: 2.0, from, to }
}

fn reciprocal(x: f64) -> f64 {
    1.0 / x
}

fn reciprocal_root(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// 2^-7, 2^-8, 2^-9.9 and so on.
const M7: f64 = 7.8125e-3;
const M8: f64 = 3.906_25e-3;
const M9_9: f64 = 1.046_653_772_008_098_5e-3;
const M10_987: f64 = 4.927_009_930_882_233e-4;
const M11: f64 = 4.882_812_5e-4;
const M14_7: f64 = 3.757_154_581_741_079_6e-5;
const M20: f64 = 9.536_743_164_062_5e-7;
const M20_5: f64 = 6.743_495_761_743_046e-7;
const M22: f64 = 2.384_185_791_015_625e-7;
const M22_9: f64 = 1.277_653_530_283_325e-7;
const M23: f64 = 1.192_092_895_507_812_5e-7;

/// One turn and fifty: the manual's ranges for sine and cosine.
const NEAR: (f64, f64) = (0.0, std::f64::consts::TAU);
const FAR: (f64, f64) = (0.0, 50.0 * std::f64::consts::TAU);
const DIVISORS: (f64, f64) = (f32::MIN_POSITIVE as f64, 8.507_059_173_023_462e37);

pub const INSTRUCTIONS: &[Instruction] = &[
    row("rcp.approx.f32", Form::F32, reciprocal, ALL, ErrorKind::Ulp, 1.0),
    row("rcp.approx.ftz.f32", Form::F32, reciprocal, DIVISORS, ErrorKind::Ulp, 1.0),
    quotient("div.approx.f32", DIVISORS),
    quotient("div.approx.ftz.f32", DIVISORS),
    quotient("div.full.f32", ALL),
    quotient("div.full.ftz.f32", NORMAL),
    row("sqrt.approx.f32", Form::F32, f64::sqrt, ALL, ErrorKind::Relative, M23),
    row("sqrt.approx.ftz.f32", Form::F32, f64::sqrt, NORMAL, ErrorKind::Relative, M23),
    row("rsqrt.approx.f32", Form::F32, reciprocal_root, ALL, ErrorKind::Relative, M22_9),
    row("rsqrt.approx.ftz.f32", Form::F32, reciprocal_root, NORMAL, ErrorKind::Relative, M22_9),
    row("ex2.approx.f32", Form::F32, libm::exp2, ALL, ErrorKind::Ulp, 2.0),
    row("ex2.approx.ftz.f32", Form::F32, libm::exp2, ALL, ErrorKind::Ulp, 2.0),
    row("lg2.approx.f32", Form::F32, libm::log2, (0.5, 2.0), ErrorKind::Absolute, M22),
    row("lg2.approx.f32", Form::F32, libm::log2, (2.0, NORMAL.1), ErrorKind::Relative, M22),
    row("lg2.approx.f32", Form::F32, libm::log2, (0.0, 0.5), ErrorKind::Relative, M22),
    row("sin.approx.f32", Form::F32, libm::sin, NEAR, ErrorKind::Absolute, M20_5),
    row("sin.approx.f32", Form::F32, libm::sin, FAR, ErrorKind::Absolute, M14_7),
    row("cos.approx.f32", Form::F32, libm::cos, NEAR, ErrorKind::Absolute, M20_5),
    row("cos.approx.f32", Form::F32, libm::cos, FAR, ErrorKind::Absolute, M14_7),
    row("tanh.approx.f32", Form::F32, libm::tanh, ALL, ErrorKind::Relative, M11),
    row("ex2.approx.f16", Form::F16, libm::exp2, (0.0, 14.0), ErrorKind::Relative, M9_9),
    row("ex2.approx.ftz.bf16", Form::Bf16, libm::exp2, (0.0, 126.0), ErrorKind::Relative, M7),
    row("tanh.approx.f16", Form::F16, libm::tanh, ALL, ErrorKind::Absolute, M10_987),
    row("tanh.approx.bf16", Form::Bf16, libm::tanh, ALL, ErrorKind::Absolute, M8),
    row("rcp.approx.ftz.f64", Form::Upper, reciprocal, (f64::MIN_POSITIVE, 2e307), ErrorKind::Relative, M20),
    row("rsqrt.approx.ftz.f64", Form::Upper, reciprocal_root, (f64::MIN_POSITIVE, f64::MAX), ErrorKind::Relative, M20),
];

impl Instruction {
    /// How many inputs it has.
    pub(super) fn inputs(&self) -> u64 {
        if matches!(self.form, Form::F16 | Form::Bf16) { 1 << 16 } else { 1 << 32 }
    }

    pub(super) fn input(&self, bits: u32) -> f64 {
        self.widen(bits)
    }

    /// A register's bits as a number.
    pub(super) fn widen(&self, bits: u32) -> f64 {
        match self.form {
            Form::F32 | Form::Quotient => f64::from(f32::from_bits(bits)),
            Form::F16 => f16::from_bits(bits as u16).to_f64(),
            Form::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Form::Upper => f64::from_bits(u64::from(bits) << 32),
        }
    }

    /// The exact result.
    pub(super) fn exact(&self, bits: u32) -> f64 {
        let x = self.input(bits);
        match self.exact {
            Exact::Of(f) => f(x),
            Exact::Quotient => {
                let dividend = f32::from_bits(bits.wrapping_mul(SPREAD));
                let flushed = dividend.is_subnormal() && self.name.contains(".ftz");
                (if flushed { 0.0 } else { f64::from(dividend) }) / x
            }
        }
    }

    /// The kernel: thread i executes the instruction on input `start + i * every` and writes its result.
    pub(super) fn module(&self) -> String {
        let name = self.name;
        let body = match self.form {
            Form::F32 => format!("mov.b32 %f1, %v;\n{name} %f2, %f1;\nmov.b32 %r, %f2;"),
            Form::Quotient => format!(
                "mov.b32 %f1, %v;\nmul.lo.u32 %r, %v, {SPREAD:#x};\nmov.b32 %f2, %r;\n{name} %f2, %f2, %f1;\nmov.b32 %r, %f2;"
            ),
            Form::F16 | Form::Bf16 => format!("cvt.u16.u32 %h, %v;\n{name} %h, %h;\ncvt.u32.u16 %r, %h;"),
            Form::Upper => format!("mov.b64 %d, {{%zero, %v}};\n{name} %d, %d;\nmov.b64 {{%zero, %r}}, %d;"),
        };
        format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry test(\n\
             .param .u64 results,\n.param .u32 start,\n.param .u32 every,\n.param .u32 count\n) {{\n\
             .reg .pred %p;\n.reg .b16 %h;\n.reg .b32 %i, %n, %v, %r, %zero;\n.reg .f32 %f1, %f2;\n.reg .b64 %a;\n\
             .reg .f64 %d;\nmov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %v, %tid.x;\n\
             mad.lo.u32 %i, %i, %n, %v;\nld.param.u32 %n, [count];\nsetp.ge.u32 %p, %i, %n;\n@%p ret;\n\
             ld.param.u32 %v, [start];\nld.param.u32 %n, [every];\nmad.lo.u32 %v, %i, %n, %v;\nmov.u32 %zero, 0;\n\
             {body}\nld.param.u64 %a, [results];\ncvta.to.global.u64 %a, %a;\nmad.wide.u32 %a, %i, 4, %a;\n\
             st.global.u32 [%a], %r;\nret;\n}}\n"
        )
    }
}
