//! Instruction forms of which the suite has no file, because there are too many: every conversion, every comparison, and what else
//! modifiers make of the arithmetic of floats and of bytes. Those that a device refuses to load have no result there.

use crate::case::{Case, ParseError};

const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];
const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];

/// A form's text, the type of its result, and those of its operands.
struct Form {
    name: String,
    out: &'static str,
    operands: Vec<&'static str>,
}

/// Every form as a case without values, by its name.
///
/// # Errors
/// Never: the texts are made here.
pub(super) fn cases() -> Result<Vec<Case>, ParseError> {
    let mut forms = Vec::new();
    conversions(&mut forms);
    comparisons(&mut forms);
    floats(&mut forms);
    bytes(&mut forms);
    forms.iter().map(case).collect()
}

fn case(form: &Form) -> Result<Case, ParseError> {
    let names = ["a", "b", "c", "e"];
    let operands = || names.iter().zip(&form.operands);
    let mut text = "//@ target: sm_90\n//@ version: 8.1\n".to_owned();
    operands().for_each(|(name, ty)| text += &format!("//@ in {ty} {name}: 0\n"));
    text += &format!("//@ out {} d: skip\n{{\n    {} %d", form.out, form.name);
    operands().for_each(|(name, _)| text += &format!(", %{name}"));
    text += ";\n}\n";
    Case::parse(&format!("forms/{}", form.name), &text)
}

/// The type of a register, so that what an instruction does with the upper half of a wide one is seen, too.
fn register(ty: &'static str) -> &'static str {
    match ty {
        "u8" => "u32",
        "s8" => "s32",
        _ => ty,
    }
}

fn size(ty: &str) -> u32 {
    ty.trim_start_matches(char::is_alphabetic).parse().unwrap_or(0)
}

/// PTX ISA 9.7.9.21.
fn conversions(forms: &mut Vec<Form>) {
    let mut add = |rounding: &str, to, from, with_sat: bool| {
        let flushes = from == "f32" || to == "f32" && FLOATS.contains(&from);
        for ftz in if flushes { &["", ".ftz"][..] } else { &[""] } {
            for sat in if with_sat { &["", ".sat"][..] } else { &[""] } {
                let name = format!("cvt{rounding}{ftz}{sat}.{to}.{from}");
                forms.push(Form { name, out: register(to), operands: vec![register(from)] });
            }
        }
    };
    for to in INTEGERS {
        INTEGERS.iter().for_each(|from| add("", to, *from, true));
        for from in FLOATS {
            [".rni", ".rzi", ".rmi", ".rpi"].iter().for_each(|rounding| add(rounding, to, from, true));
        }
    }
    for to in FLOATS {
        for from in INTEGERS {
            [".rn", ".rz", ".rm", ".rp"].iter().for_each(|rounding| add(rounding, to, from, true));
        }
        for from in FLOATS {
            if to == from {
                ["", ".rni", ".rzi", ".rmi", ".rpi"].iter().for_each(|rounding| add(rounding, to, from, true));
            } else if size(to) > size(from) {
                add("", to, from, true);
            } else {
                [".rn", ".rz", ".rm", ".rp"].iter().for_each(|rounding| add(rounding, to, from, true));
            }
        }
    }
    for rounding in [".rn", ".rz"] {
        for relu in ["", ".relu"] {
            for to in ["f16", "bf16", "tf32"] {
                let out = if to == "tf32" { "b32" } else { to };
                forms.push(Form { name: format!("cvt{rounding}{relu}.{to}.f32"), out, operands: vec!["f32"] });
            }
            for to in ["f16x2", "bf16x2"] {
                forms.push(Form {
                    name: format!("cvt{rounding}{relu}.{to}.f32"),
                    out: "b32",
                    operands: vec!["f32"; 2],
                });
            }
        }
    }
    for relu in ["", ".relu"] {
        for eight in ["e4m3x2", "e5m2x2"] {
            let name = format!("cvt.rn.satfinite{relu}.{eight}");
            forms.push(Form { name: format!("{name}.f32"), out: "b16", operands: vec!["f32"; 2] });
            forms.push(Form { name: format!("{name}.f16x2"), out: "b16", operands: vec!["b32"] });
            forms.push(Form { name: format!("cvt.rn{relu}.f16x2.{eight}"), out: "b32", operands: vec!["b16"] });
        }
    }
}

/// PTX ISA 9.7.6 and 9.7.7.
fn comparisons(forms: &mut Vec<Form>) {
    let of = |ty: &str| -> &[&str] {
        match &ty[..1] {
            "u" => &["eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"],
            "s" => &["eq", "ne", "lt", "le", "gt", "ge"],
            _ => &["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"],
        }
    };
    for ty in INTEGERS[1..4].iter().chain(&INTEGERS[5..]).chain(&FLOATS) {
        for op in of(ty) {
            for ftz in if matches!(*ty, "f32" | "f16") { &["", ".ftz"][..] } else { &[""] } {
                forms.push(Form { name: format!("setp.{op}{ftz}.{ty}"), out: "pred", operands: vec![*ty; 2] });
                for to in ["u32", "s32", "f32"] {
                    forms.push(Form { name: format!("set.{op}{ftz}.{to}.{ty}"), out: to, operands: vec![*ty; 2] });
                }
            }
        }
    }
    for ty in ["f16x2", "bf16x2"] {
        for op in of("f") {
            for to in ["f16x2", "bf16x2"] {
                forms.push(Form { name: format!("set.{op}.{to}.{ty}"), out: "b32", operands: vec!["b32"; 2] });
            }
        }
    }
    for ty in ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"] {
        for (by, ftz) in [("s32", ""), ("f32", ""), ("f32", ".ftz")] {
            forms.push(Form { name: format!("slct{ftz}.{ty}.{by}"), out: ty, operands: vec![ty, ty, by] });
        }
    }
}

/// PTX ISA 9.7.3 to 9.7.5.
fn floats(forms: &mut Vec<Form>) {
    let mut add = |name: String, register, count| {
        forms.push(Form { name, out: register, operands: vec![register; count] });
    };
    for (ty, register) in
        [("f16", "f16"), ("bf16", "bf16"), ("f16x2", "b32"), ("bf16x2", "b32"), ("f32", "f32"), ("f64", "f64")]
    {
        for ftz in ["", ".ftz"] {
            // A driver takes the other modes for 16 bits, too, and makes other instructions of some.
            let wide = matches!(ty, "f32" | "f64");
            for rounding in if wide { &["", ".rn", ".rz", ".rm", ".rp"][..] } else { &["", ".rn"] } {
                for sat in ["", ".sat"] {
                    ["add", "sub", "mul"]
                        .iter()
                        .for_each(|op| add(format!("{op}{rounding}{ftz}{sat}.{ty}"), register, 2));
                    add(format!("fma{rounding}{ftz}{sat}.{ty}"), register, 3);
                }
                ["rcp", "sqrt"].iter().for_each(|op| add(format!("{op}{rounding}{ftz}.{ty}"), register, 1));
                add(format!("div{rounding}{ftz}.{ty}"), register, 2);
            }
            add(format!("fma.rn{ftz}.relu.{ty}"), register, 3);
            ["abs", "neg"].iter().for_each(|op| add(format!("{op}{ftz}.{ty}"), register, 1));
            for nan in ["", ".NaN"] {
                for sign in ["", ".xorsign.abs"] {
                    ["min", "max"].iter().for_each(|op| add(format!("{op}{ftz}{nan}{sign}.{ty}"), register, 2));
                }
            }
        }
    }
}

/// PTX ISA 9.7.18: the video instructions on four bytes, which hardware since sm_50 has as programs.
fn bytes(forms: &mut Vec<Form>) {
    let signs = ["u32", "s32"];
    for op in ["vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4"] {
        for (to, (a, b)) in signs.iter().flat_map(|to| signs.map(|a| signs.map(|b| (to, (a, b)))).into_iter().flatten())
        {
            for mode in ["", ".sat", ".add"] {
                let name = format!("{op}.{to}.{a}.{b}{mode}");
                forms.push(Form { name, out: "b32", operands: vec!["b32"; 3] });
            }
        }
    }
}
