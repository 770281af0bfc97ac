//! No text makes the parser panic, and none makes it slow.

#![allow(clippy::unwrap_used)]

use fusion_ptx::{parse, parse_bytes, position};
use std::ops::Range;

/// xorshift64*: the same changes on every run.
struct Random(u64);

impl Random {
    fn next(&mut self, range: Range<usize>) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        range.start + value as usize % range.len().max(1)
    }
}

fn fixtures() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvrtc");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).filter(|text| text.len() < 12_000).collect()
}

/// Parses, and checks that what came out can be used without bounds checks of one's own.
fn survive(text: &str) {
    let parsed = parse(text);
    for diagnostic in &parsed.diagnostics {
        assert!(diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end as usize <= text.len());
        assert!(text.is_char_boundary(diagnostic.span.start as usize));
    }
    if let Some(diagnostic) = parsed.diagnostics.first() {
        position(text, diagnostic.span);
    }
    for function in &parsed.module.functions {
        assert!(function.labels.iter().all(|label| label.target as usize <= function.body.len()));
        assert!(function.body.iter().all(|instruction| instruction.span.end as usize <= text.len()));
    }
    let locations = &parsed.module.locations;
    assert!(locations.iter().enumerate().all(|(id, location)| location.inlined_at.is_none_or(|at| at.index() < id)));
}

#[test]
fn truncated_anywhere() {
    for text in fixtures() {
        // Every end in the first part, where all kinds of declarations are, then a sample.
        let ends = (0..text.len().min(1500)).chain((1500..text.len()).step_by(37));
        ends.filter(|&end| text.is_char_boundary(end)).for_each(|end| survive(&text[..end]));
    }
}

#[test]
fn pieces_deleted_doubled_swapped_and_replaced() {
    let fragments =
        ["{", "}", "(", ")", "[", "]", ";", ",", ":", "|", "@", "-", "%", ".", "<", ">", "0x", "_", ".reg", "é"];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for text in fixtures() {
        let words: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
        for _ in 0..150 {
            let mut changed = words.clone();
            for _ in 0..random.next(1..6) {
                let (at, other) = (random.next(0..changed.len()), random.next(0..changed.len()));
                match random.next(0..4) {
                    0 => drop(changed.remove(at)),
                    1 => changed.insert(at, changed[other]),
                    2 => changed.swap(at, other),
                    _ => changed[at] = fragments[random.next(0..fragments.len())],
                }
            }
            survive(&changed.concat());
        }
    }
}

#[test]
fn random_bytes_and_random_words() {
    let words = [
        ".version 9.0\n",
        ".target sm_90\n",
        ".entry",
        ".func",
        " k ",
        "(",
        ")",
        "{",
        "}",
        ".reg",
        ".b32",
        ".param",
        " %r",
        "<4>",
        "ld.global",
        ".v4",
        "mov",
        ".u64",
        "[",
        "]",
        "+",
        "-",
        "4",
        ",",
        ";",
        "\n",
        "=",
        ".align",
        ".global",
        "@",
        "!",
        "%p",
        "bra",
        "L",
        ":",
        "call",
        ".loc",
        "1 2 3",
        "inlined_at",
        "0f3F800000",
        ".section",
        ".debug_str",
        "|",
        "_",
        "/*",
        "\"",
        ".branchtargets",
        ".shared",
        "generic",
        "0xFF",
        "?",
        "<<",
        "(.u64)",
        "brx.idx",
        "9999999999",
    ];
    let mut random = Random(42);
    for _ in 0..3000 {
        let bytes: Vec<u8> = (0..random.next(0..200)).map(|_| random.next(0..256) as u8).collect();
        parse_bytes(&bytes);
        let mut text = String::from(".version 9.0\n.target sm_90\n.entry k () {\n");
        (0..random.next(0..80)).for_each(|_| {
            text.push_str(words[random.next(0..words.len())]);
            text.push(' ');
        });
        survive(&text);
    }
}

#[test]
fn deep_nesting_is_bounded() {
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let head = ".version 9.0\n.target sm_90\n";
    survive(&format!("{head}.global .b32 a = {};", deep("(", ")")));
    survive(&format!("{head}.global .b32 a = {};", deep("-", "")));
    survive(&format!("{head}.global .b32 a = {};", deep("1?", ":1")));
    survive(&format!("{head}.global .b32 a[1] = {};", deep("{", "}")));
    survive(&format!("{head}.global .b32 a{} = {};", "[1]".repeat(50_000), deep("{", "}")));
    survive(&format!("{head}.entry k () {{ {} }}", deep("{", "}")));
    survive(&format!("{head}.entry k () {{ mov.b32 {}; }}", deep("{", "}")));
    survive(&format!("{head}.entry k () {{ ld.b32 {}; }}", deep("[", "]")));
}

#[test]
fn declared_registers_cost_nothing_until_used() {
    let text = ".version 9.0 .target sm_90 .entry k () { .reg .b32 %r<4294967295>; mov.b32 %r4294967294, 1; }";
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics, []);
    assert_eq!(parsed.module.functions[0].registers.len(), 1);
}

/// So many lines of so many variables would be a hundred million.
#[test]
fn copies_of_variables_are_counted_over_the_module() {
    let head = ".version 9.0 .target sm_90 ";
    let parsed = parse(&format!("{head}{}", ".shared .b8 a<65536>; .entry k () { .local .b8 b<65536>; }".repeat(1000)));
    assert!(
        parsed.module.variables.len() + parsed.module.functions.iter().map(|f| f.variables.len()).sum::<usize>()
            <= 1 << 16
    );
    assert!(!parsed.diagnostics.is_empty());
    assert_eq!(parse(&format!("{head}.shared .b8 a<65000>, b<536>;")).diagnostics, []);
}

/// Inputs that would take hours if anything in the parser were quadratic; here they take a blink.
#[test]
fn large_inputs_take_linear_time() {
    let body = |count: usize, line: &str| {
        let head =
            ".version 9.0\n.target sm_90\n.address_size 64\n.entry k () {\n.reg .b32 %r<99>;\n.reg .pred %p<2>;\n";
        format!("{head}{}}}\n", line.repeat(count))
    };
    survive(&body(60_000, "    add.s32 %r1, %r2, %r3;\n"));
    survive(
        &body(30_000, "    @%p1 bra AWAY;\n{ .reg .b32 t; mov.b32 t, 1; bra OUT; }\n")
            .replace("}\n}\n", "}\nAWAY: OUT: ret; }\n"),
    );
    survive(&body(60_000, "    add.s32 %r1 %r2\n"));
    survive(&body(200_000, "{"));
    survive(&body(100_000, "@"));
    survive(&body(1, &format!("add{} %r1;", ".s32".repeat(200_000))));
    survive(&body(1, &format!("add.s32 {};", "%r1,".repeat(200_000))));
    survive(&body(1, &format!("mov.b32 %{};", "r".repeat(1_000_000))));
    survive(&body(1, &format!("mov.b32 %r{}, 1;", "1".repeat(1_000_000))));
    survive(&".loc 1 2 3\n".repeat(100_000));
    survive(&".entry\n".repeat(100_000));
    survive(&"/*".repeat(500_000));
    survive(&"\"".repeat(500_000));
}
