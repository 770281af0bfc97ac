//! What stands around the code: directives, variables, functions, kernels.

use fastrand::Rng;

use super::body::{Body, Place};

/// A module's text.
pub(super) fn module(rng: &mut Rng, private: bool) -> String {
    let mut text = String::from(".version 8.7\n.target ");
    text.push_str(["sm_90", "sm_90a", "sm_80", "sm_100", "sm_75"][rng.usize(..5)]);
    text.push_str("\n.address_size 64\n");
    text.push_str(".file 1 \"kernel.cu\"\n.file 2 \"include/header.cuh\"\n");
    text.push_str(".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);\n");
    text.push_str(
        ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n",
    );
    text.push_str(
        ".global .align 1 .b8 message[16] = { 37, 100, 32, 37, 102, 32, 37, 115, 37, 112, 32, 37, 108, 10, 0 };\n",
    );
    text.push_str(".const .align 16 .b8 constants[256] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };\n");
    text.push_str(".extern .shared .align 16 .b8 dynamic[];\n");
    for i in 0..rng.u32(0..4) {
        text.push_str(&variable(rng, i));
    }
    let functions = rng.usize(0..4);
    for i in 0..functions {
        text.push_str(&format!(".func (.param .b32 result) f{i}(.param .b32 x, .param .b64 y, .param .b64 z);\n"));
    }
    if functions > 0 {
        let names: Vec<String> = (0..functions).map(|i| format!("f{i}")).collect();
        text.push_str(&format!(".global .align 8 .u64 table[{functions}] = {{ {} }};\n", names.join(", ")));
    }
    for i in 0..functions {
        text.push_str(&format!(".func (.param .b32 result) f{i}(.param .b32 x, .param .b64 y, .param .b64 z)\n{{\n"));
        text.push_str(&Body::new(rng, Place::Function(i), functions, private).text());
        text.push_str("}\n");
    }
    for i in 0..if rng.u32(0..4) == 0 { 2 } else { 1 } {
        let place = if rng.bool() { ".visible " } else { "" };
        text.push_str(&format!(
            "{place}.entry kernel{i}(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 s, .param .align 16 .b8 st[32], .param .u64 c)"
        ));
        text.push_str(directive(rng));
        text.push_str("\n{\n");
        text.push_str(&Body::new(rng, Place::Kernel, functions, private).text());
        text.push_str("}\n");
    }
    text.push_str(
        "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95,90,53,102,101,116,99,104,80,75,102,105,0\n\t}\n",
    );
    text
}

fn directive(rng: &mut Rng) -> &'static str {
    let all = [
        ".maxntid 128, 1, 1",
        ".maxntid 1024",
        ".reqntid 32, 1, 1",
        ".reqntid 64",
        ".minnctapersm 2",
        ".maxnreg 32",
        ".maxnreg 0",
        ".reqnctapercluster 2, 1, 1",
        ".maxntid 0, 0, 0",
        ".pragma \"nounroll\";",
    ];
    if rng.u32(0..4) == 0 { all[rng.usize(..all.len())] } else { "" }
}

fn variable(rng: &mut Rng, i: u32) -> String {
    let linkage = [".visible ", "", ".weak ", ""][rng.usize(..4)];
    let space = [".global", ".global", ".const", ".shared"][rng.usize(..4)];
    let align = [1, 2, 4, 8, 16, 128][rng.usize(..6)];
    let (ty, value) = [
        ("b8", "255"),
        ("u8", "7"),
        ("s16", "-3"),
        ("b32", "0xdeadbeef"),
        ("f32", "0f3F800000"),
        ("f64", "1.5"),
        ("u64", "message"),
        ("u64", "generic(message)+3"),
        ("v4 .f32", "{1.0, 2.0, 3.0, 4.0}"),
    ][rng.usize(..9)];
    let size = match rng.u32(0..30) {
        0 => "[1000000000000]",
        1 => "[9223372036854775807]",
        2 => "[100000000]",
        3 => "[65536][65536][65536]",
        4 => "[0]",
        5 => "[70000]",
        6..=18 => "[4]",
        _ => "",
    };
    // The elements of a vector are set one by one.
    let initial = match (space, size, ty) {
        (".shared", ..) | (_, _, "v4 .f32") => String::new(),
        (_, "", _) if rng.bool() => format!(" = {value}"),
        (_, "[4]", _) => format!(" = {{ {value}, {value} }}"),
        _ => String::new(),
    };
    format!("{linkage}{space} .align {align} .{ty} variable{i}{size}{initial};\n")
}
