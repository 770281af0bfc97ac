//! Every instruction form, decoded: `tests/decode/*.txt` holds instructions, and under each, indented,
//! what it is decoded to or what is wrong with it. After a change that is meant,
//! `UPDATE_EXPECT=1 cargo test -p fusion-ptx --test decode` writes the files anew.

#![allow(clippy::unwrap_used)]

use expect_test::expect_file;
use fusion_ptx::ast::{Function, Op};
use fusion_ptx::parse;

/// What the instructions of the tests may name.
const PREAMBLE: &str = "
.version 9.0
.target sm_100a
.address_size 64
.global .align 16 .b32 words[8];
.const .b32 table[8];
.shared .align 16 .b32 tile[32];
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);
.extern .func elsewhere (.param .b64 a);
.func (.reg .b32 sum) twice (.reg .b32 a) { add.s32 sum, a, a; ret; }
.func nothing () { ret; }
.visible .entry kernel (.param .b64 pointer, .param .align 8 .b8 block[16])
{
    .reg .pred %p<9>;
    .reg .b16 %h<9>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<9>;
    .reg .f64 %fd<9>;
    .reg .b128 %q<3>;
    .reg .v2 .f32 pair;
    .reg .v4 .b32 quad;
    .local .align 8 .b8 stack[64];
    .param .b64 argument0;
    .param .b64 argument1;
    .param .b32 result0;
    list: .branchtargets here, there;
    prototype: .callprototype (.param .b32 _) _ (.param .b64 _);
here:
";

#[test]
fn instructions_decode() {
    let files = [
        "integer",
        "float",
        "compare",
        "logic",
        "convert",
        "memory",
        "atomics",
        "warp",
        "control",
        "operands",
        "matrix",
        "warpgroup",
    ];
    for name in files {
        let path = format!("{}/tests/decode/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        // What is for one architecture alone is asked of that one.
        let preamble = if name == "warpgroup" { PREAMBLE.replace("sm_100a", "sm_90a") } else { PREAMBLE.to_string() };
        let actual: String = text
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| match line {
                "" => "\n".to_string(),
                line if line.starts_with('#') => format!("{line}\n"),
                line => format!("{line}\n    {}\n", decode(&preamble, line)),
            })
            .collect();
        expect_file![path].assert_eq(&actual);
    }
}

/// The last instruction of the line and all complaints, on one line.
fn decode(preamble: &str, line: &str) -> String {
    let text = format!("{preamble}    {line}\nthere:\n    ret;\n}}\n");
    let parsed = parse(&text);
    let kernel = &parsed.module.functions[parsed.module.function("kernel").unwrap().index()];
    let offset = preamble.len() as u32;
    let found = kernel.body.iter().rev().find(|instruction| text[instruction.span.start as usize..] != *"ret;\n}\n");
    let complaints = parsed.diagnostics.iter().map(|diagnostic| {
        let span = diagnostic.span.start as usize..diagnostic.span.end as usize;
        format!("{:?} at `{}`: {}", diagnostic.severity, &text[span], diagnostic.message)
    });
    let op = found.filter(|instruction| instruction.span.start > offset && !parsed.has_errors());
    let op = op.map(|instruction| compact(kernel, &instruction.op));
    op.into_iter().chain(complaints).collect::<Vec<_>>().join(" | ")
}

/// The debug form without spans and absent modifiers, with registers by name and constants that can be read.
fn compact(function: &Function, op: &Op) -> String {
    let mut text = format!("{op:?}");
    while let Some(start) = text.find(", span: Span {") {
        let end = start + text[start..].find('}').unwrap();
        text.replace_range(start..=end, "");
    }
    let mut rest = std::mem::take(&mut text);
    while let Some(start) = rest.find("Imm(") {
        let end = start + rest[start..].find(')').unwrap();
        let value = rest[start + 4..end].parse::<u64>().unwrap() as i64;
        let value = if (-9999..=9999).contains(&value) { value.to_string() } else { format!("{value:#x}") };
        text.push_str(&format!("{}{value}", &rest[..start]));
        rest.replace_range(..=end, "");
    }
    text.push_str(&rest);
    for (index, register) in function.registers.iter().enumerate() {
        for pattern in [format!("Reg(RegId({index}))"), format!("Some(RegId({index}))"), format!("RegId({index})")] {
            text = text.replace(&pattern, &register.name);
        }
    }
    let absent = |field: &str| [": false", ": None", ": Exact"].iter().any(|default| field.ends_with(default));
    let text = text.replace("{ ", "{ , ").replace(" }", ", }");
    let fields: Vec<&str> = text.split(", ").filter(|field| !absent(field)).collect();
    let text = fields.join(", ").replace("{ , ", "{ ").replace(", }", " }").replace("{, ", "{ ");
    text.replace(", mode: Mode { }", "").replace(", cache: Cache { }", "")
}
