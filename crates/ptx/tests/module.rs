//! Declarations, functions, locations and what happens after an error.

#![allow(clippy::unwrap_used)]

use expect_test::{Expect, expect};
use fusion_ptx::ast::{Init, Module, Op};
use fusion_ptx::{Parsed, Severity, parse, parse_bytes, position};

fn module(text: &str) -> Parsed {
    parse(&format!(".version 9.0\n.target sm_90\n.address_size 64\n{text}\n"))
}

/// Each module variable on a line, then the complaints.
#[track_caller]
fn check_variables(text: &str, expected: Expect) {
    let parsed = module(text);
    let mut lines: Vec<String> = parsed
        .module
        .variables
        .iter()
        .map(|variable| {
            let init: Vec<String> = variable.initializer.iter().map(|piece| initial(&parsed.module, piece)).collect();
            format!(
                "{:?} .{} {}: {} bytes by {} [{}]",
                variable.linkage,
                variable.space.name(),
                variable.name,
                variable.size,
                variable.align,
                init.join(", ")
            )
        })
        .collect();
    lines.extend(complaints(&parsed));
    expected.assert_eq(&lines.join("\n"));
}

fn initial(module: &Module, piece: &Init) -> String {
    match piece {
        Init::Bytes { offset, bytes } => format!("{offset}: {bytes:02x?}"),
        Init::Address { offset, size, from, target, addend, generic } => {
            let name = &module.variables[target.index()].name;
            let generic = if *generic { "generic " } else { "" };
            format!("{offset}: {generic}{name}{addend:+}{} in {size}", part(*from))
        }
        Init::Function { offset, size, from, target } => {
            format!("{offset}: {}{} in {size}", module.functions[target.index()].name, part(*from))
        }
    }
}

fn part(from: u8) -> String {
    if from == 0 { String::new() } else { format!(" from byte {from}") }
}

fn complaints(parsed: &Parsed) -> Vec<String> {
    let line = |diagnostic: &fusion_ptx::Diagnostic| format!("{:?}: {}", diagnostic.severity, diagnostic.message);
    parsed.diagnostics.iter().map(line).collect()
}

/// Each function on a line, then the complaints with their lines.
#[track_caller]
fn check_functions(text: &str, expected: Expect) {
    let header = ".version 9.0\n.target sm_90\n.address_size 64\n";
    let text = format!("{header}{text}\n");
    let parsed = parse(&text);
    let mut lines: Vec<String> = parsed
        .module
        .functions
        .iter()
        .map(|function| {
            let params: Vec<String> =
                function.params.iter().map(|param| format!("{}@{}+{}", param.name, param.offset, param.size)).collect();
            format!(
                "{:?} {}{} ({}) -> {} {}",
                function.linkage,
                if function.is_entry { "entry " } else { "" },
                function.name,
                params.join(", "),
                function.returns.len(),
                if function.has_body { format!("{} instructions", function.body.len()) } else { "declared".into() }
            )
        })
        .collect();
    lines.extend(parsed.diagnostics.iter().map(|diagnostic| {
        let place = position(&text, diagnostic.span);
        format!("{:?} {}:{}: {}", diagnostic.severity, place.line - 3, place.column, diagnostic.message)
    }));
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn variables_have_sizes_and_alignments() {
    check_variables(
        ".visible .global .align 16 .b8 a[64]; .global .f64 b; .const .v4 .f32 c[2]; .shared .u16 d[3][5];
         .extern .shared .align 8 .b8 e[]; .weak .global .b32 f, g[2]; .common .global .u32 h;
         .global .attribute(.managed) .align 4 .u32 i;",
        expect![[r#"
            Visible .global a: 64 bytes by 16 []
            Internal .global b: 8 bytes by 8 []
            Internal .const c: 32 bytes by 16 []
            Internal .shared d: 30 bytes by 2 []
            Extern .shared e: 0 bytes by 8 []
            Weak .global f: 4 bytes by 4 []
            Weak .global g: 8 bytes by 4 []
            Common .global h: 4 bytes by 4 []
            Internal .global i: 4 bytes by 4 []"#]],
    );
}

#[test]
fn initialisers_become_bytes() {
    check_variables(
        ".global .u32 a = 5; .global .s16 b[4] = {-1, 2, 0x7fff}; .global .f32 c[] = {1.0, 0f40000000};
         .global .f64 d = -0.5; .global .b8 e[2][3] = {{1, 2}, {3}}; .global .u8 f[] = {(1 << 4) | 3, 7};
         .const .v2 .b16 g[2] = {{1, 2}, {3, 4}}; .global .b64 h = 0d3FF0000000000000;",
        expect![[r#"
            Internal .global a: 4 bytes by 4 [0: [05, 00, 00, 00]]
            Internal .global b: 8 bytes by 2 [0: [ff, ff, 02, 00, ff, 7f]]
            Internal .global c: 8 bytes by 4 [0: [00, 00, 80, 3f, 00, 00, 00, 40]]
            Internal .global d: 8 bytes by 8 [0: [00, 00, 00, 00, 00, 00, e0, bf]]
            Internal .global e: 6 bytes by 1 [0: [01, 02], 3: [03]]
            Internal .global f: 2 bytes by 1 [0: [13, 07]]
            Internal .const g: 8 bytes by 4 [0: [01, 00, 02, 00, 03, 00, 04, 00]]
            Internal .global h: 8 bytes by 8 [0: [00, 00, 00, 00, 00, 00, f0, 3f]]"#]],
    );
}

#[test]
fn initialisers_may_hold_addresses() {
    check_variables(
        ".global .u64 early = late; .global .b32 late[4]; .func f () { ret; }
         .global .u64 a[4] = {late+8, generic(late)+4, generic(late+12), f};
         .global .u8 b[9] = {7, 0xFF(late), 0xFF00(late), 0xFF0000(late), 0xFF000000(late), 0xFF00000000(late),
                             0xFF0000000000(late), 0xFF000000000000(late), 0xFF00000000000000(late)};
         .global .u8 c[4] = {0xFF00(late), 0xFF(late), 0xFF00(f), 0xFF0000(f)};",
        expect![[r#"
            Internal .global early: 8 bytes by 8 [0: late+0 in 8]
            Internal .global late: 16 bytes by 4 []
            Internal .global a: 32 bytes by 8 [0: late+8 in 8, 8: generic late+4 in 8, 16: generic late+12 in 8, 24: f in 8]
            Internal .global b: 9 bytes by 1 [0: [07], 1: late+0 in 8]
            Internal .global c: 4 bytes by 1 [0: late+0 from byte 1 in 1, 1: late+0 in 1, 2: f from byte 1 in 2]"#]],
    );
}

#[test]
fn declarations_that_nobody_looks_into_load() {
    check_variables(
        ".global .texref t; .global .surfref u[2];
         .visible .global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };
         .global .attribute(.managed, .unified(19, 95)) .u32 m;
         .func .attribute(.unified(0xAB, 0xCD)) f () .abi_preserve 8 { ret; }
         .global .u32 n<2>;",
        expect![[r#"
            Internal .global t: 8 bytes by 8 []
            Internal .global u: 16 bytes by 8 []
            Visible .global s: 8 bytes by 8 []
            Internal .global m: 4 bytes by 4 []
            Internal .global n0: 4 bytes by 4 []
            Internal .global n1: 4 bytes by 4 []"#]],
    );
}

#[test]
fn wrong_variables_are_named() {
    check_variables(
        ".global .b32 a[2] = {1, 2, 3};\n.global .b32 b[2] = {{1}, {2}};\n.global .u64 c = nothing;\n.global x;\n
         .global .align 3 .b32 d;\n.global .b32 e[-1];\n.global .b32 f; .global .b32 f;\n.global .b8 g[3] = {0xFFF0(f)};\n
         .global .b64 h[0x7fffffffffffffff];\n.global .quux i;\n.global .b32 j = 1 / 0;\n.global .b32 k[2][2] = {1, 2};\n.global .f32 l = 1; .global .u32 m = 1.5;\n.global .b32 fine;",
        expect![[r#"
            Internal .global c: 8 bytes by 8 [0: []]
            Internal .global f: 4 bytes by 4 []
            Internal .global fine: 4 bytes by 4 []
            Error: more initial values than the array has elements
            Error: more braces than the array has dimensions
            Error: `nothing` is no variable or function of this module
            Error: this declaration has no type, such as `.b32`
            Error: an alignment is a power of two of at most 65536
            Error: an array cannot have a negative extent
            Error: `f` is already declared in this scope
            Error: a mask takes one byte of an address: 0xff(name), 0xff00(name), up to 0xff00000000000000(name)
            Error: `h` is too large
            Error: `.quux` is no type of a variable
            Error: division by zero
            Error: each row of an array has its own braces
            Error: a floating-point constant must stand here, such as 2.0 or 0f40000000
            Error: an integer must stand here, or the bits of a floating-point constant of the same size"#]],
    );
}

#[test]
fn an_extern_declaration_is_completed() {
    check_variables(
        ".extern .global .b32 a[4]; .visible .global .b32 a[4] = {1};",
        expect!["Visible .global a: 16 bytes by 4 [0: [01, 00, 00, 00]]"],
    );
}

#[test]
fn functions_have_parameters_and_directives() {
    check_functions(
        ".visible .entry k (.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 8 .b8 c[12], .param .u16 d)
         .maxntid 256, 2 .minnctapersm 3 .maxnreg 64 { ret; }
         .entry none () .reqntid 32 .reqnctapercluster 2, 1, 1 .explicitcluster { }
         .entry bare { exit; }
         .func (.param .b32 r) f (.param .b32 a, .reg .f64 b) ;
         .weak .func (.reg .b32 r) g (.reg .b32 a) .noreturn { trap; }
         .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v) ;",
        expect![[r#"
            Visible entry k (a@0+1, b@8+8, c@16+12, d@28+2) -> 0 1 instructions
            Internal entry none () -> 0 0 instructions
            Internal entry bare () -> 0 1 instructions
            Internal f (a@0+4, b@8+8) -> 1 declared
            Weak g (a@0+4) -> 1 1 instructions
            Extern vprintf (f@0+8, v@8+8) -> 1 declared"#]],
    );
    let parsed = module(".entry k () .maxntid 256, 2 .reqnctapercluster 2 .maxnreg 64 .pragma \"x\"; { ret; }");
    let directives = &parsed.module.functions[0].directives;
    assert_eq!(directives.max_threads, Some([256, 2, 1]));
    assert_eq!(directives.required_cluster, Some([2, 1, 1]));
    assert_eq!(directives.max_registers, Some(64));
}

#[test]
fn declarations_and_definitions_are_one_function() {
    check_functions(
        ".func (.param .b32 r) f (.param .b32 a);
         .func f2 (.param .b32 a) { .param .b32 x; call (x), f, (a); call f2, (a); ret; }
         .func (.param .b32 r) f (.param .b32 a) { ret; }
         .func other () { ret; }
         .alias same, other;",
        expect![[r#"
            Internal f (a@0+4) -> 1 1 instructions
            Internal f2 (a@0+4) -> 0 3 instructions
            Internal other () -> 0 1 instructions"#]],
    );
}

#[test]
fn an_alias_is_called_as_its_function() {
    let parsed = module(".func real () { ret; } .func other (); .alias other, real; .entry k () { call other; ret; }");
    assert_eq!(parsed.diagnostics, []);
    let Op::Call { callee, .. } = &parsed.module.functions[2].body[0].op else { panic!("no call") };
    assert_eq!(format!("{callee:?}"), "Direct(FunctionId(0))");
    assert_eq!(parsed.module.function("k").map(|id| id.index()), Some(2));
    assert_eq!(parsed.module.function("nobody"), None);
}

#[test]
fn parsing_goes_on_after_an_error() {
    check_functions(
        ".entry a () {
    .reg .b32 %r<4>;
    add.s32 %r1, %r2, %r3
    add.s32 %r1, %r2, %r3;
    add.s32 %r1 %r2;
    .reg .b32;
    mov.u32 %r9, 1;
    !
    bra away;
    ret;
}
.frobnicate 5;
.entry b () { ret; }
stray tokens here
.entry c () { ret;
.entry d () { ret; }
.entry a () { ret; }
.func e (.param .b32) { ret; }
.entry f () { { ret; }",
        expect![[r#"
            Internal entry a () -> 0 1 instructions
            Internal entry b () -> 0 1 instructions
            Internal entry c () -> 0 1 instructions
            Internal entry d () -> 0 1 instructions
            Internal entry f () -> 0 1 instructions
            Error 3:25: missing `;` after this
            Error 5:17: expected `,` or `;`, found `%r2`
            Error 6:14: expected the name of a register, found `;`
            Error 7:13: the register `%r9` is not declared
            Error 8:5: expected an instruction, found `!`
            Error 9:9: there is no label `away` in this function
            Error 12:1: `.frobnicate` is no directive of a module
            Error 14:1: expected a directive such as `.entry` or `.global`, found `stray`
            Error 16:1: the function before this is not closed; `}` is missing
            Error 17:8: `a` is already declared in this scope
            Error 18:21: expected a name, found `)`
            Error 19:8: the body of `f` is never closed; `}` is missing"#]],
    );
}

#[test]
fn a_text_needs_a_version_and_a_target() {
    let first = |text: &str| parse(text).diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    assert_eq!(first("").unwrap(), "no `.version` directive, with which every PTX text begins");
    assert_eq!(first(".version 8.0").unwrap(), "no `.target` directive, such as `.target sm_90`");
    assert!(first(".version x\n.target sm_90").unwrap().starts_with("no `.version`"));
    assert_eq!(first(".version 8.0 .target sm_90a, debug .address_size 64"), None);
    let narrow = first(".version 8.0 .target sm_75 .address_size 32").unwrap();
    assert!(narrow.contains("only 64-bit addresses") && narrow.contains("`.address_size 64`"), "{narrow}");
    assert_eq!(parse(".version 8.0 .target sm_90").module.address_size, 64, "as NVIDIA's assembler has it");
    let module = parse(".version 8.7 .target sm_100a, debug .address_size 64").module;
    assert_eq!((module.version, module.sm, &*module.target, module.address_size), ((8, 7), 100, "sm_100a", 64));
}

#[test]
fn locations_know_their_files_and_functions() {
    let parsed = module(
        r#".entry k () {
    .loc 1 10 3
    ret;
    .loc 2 5 7, function_name $names+4, inlined_at 1 10 3
    ret;
    .loc 2 9 1, function_name $more, inlined_at 2 5 7
    ret;
    .loc 1 10 3
    ret;
}
.file 1 "a.cu"
.file 2 "b.h", 12345, 678
.section .debug_info { .b32 5 .b8 1, 2 }
.section .debug_str
{
$names:
.b8 111, 110, 101, 0, 116, 119, 111, 0
$more:
.b8 51, 0
}"#,
    );
    assert_eq!(parsed.diagnostics, []);
    let module = &parsed.module;
    let locs: Vec<_> = module.functions[0].body.iter().map(|instruction| instruction.loc.unwrap().0).collect();
    assert_eq!(locs, [0, 1, 2, 0]);
    let names: Vec<_> = module.locations.iter().map(|location| location.function.as_deref()).collect();
    assert_eq!(names, [None, Some("two"), Some("3")]);
    let outer: Vec<_> = module.locations.iter().map(|location| location.inlined_at.map(|id| id.0)).collect();
    assert_eq!(outer, [None, Some(0), Some(1)]);
    assert_eq!(module.files[module.locations[1].file.index()].path, "b.h");
}

#[test]
fn bytes_may_be_anything_up_to_a_nul() {
    let text = b".version 9.0 .target sm_90 .address_size 64 .entry k () { ret; }\0 garbage \xff";
    assert_eq!(parse_bytes(text).diagnostics, []);
    let parsed = parse_bytes(b".version 9.0 // \xff\xfe\n.target sm_90 .address_size 64");
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].severity, Severity::Warning);
    assert_eq!(parsed.module.sm, 90);
}

#[test]
fn unknown_instructions_only_warn() {
    let parsed = module(".entry k () { quux.b32 %nothing, [[{(]; ret; }");
    assert_eq!(
        complaints(&parsed),
        ["Warning: `quux.b32` cannot be executed: it is not an instruction that the emulator knows"]
    );
    assert!(!parsed.has_errors());
    assert!(matches!(&parsed.module.functions[0].body[0].op, Op::Unsupported { opcode, .. } if opcode == "quux.b32"));
}

/// As the assembler does: an older target lacks them.
#[test]
fn instructions_of_newer_targets_are_refused() {
    let refused = |sm: u32, instruction: &str| {
        let text = format!(
            ".version 8.7\n.target sm_{sm}\n.address_size 64\n.entry k () {{ .reg .b32 %r<9>; .reg .f64 %d<9>; {instruction} ret; }}"
        );
        parse(&text).diagnostics.first().map(|diagnostic| diagnostic.message.clone())
    };
    let since = [
        (75, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];"),
        (90, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};"),
        (75, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2};"),
        (
            80,
            "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, %r8}, {%r1, %r2};",
        ),
        (80, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};"),
        (89, "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2};"),
        (
            90,
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d1, %d2, %d3, %d4}, {%d5, %d6}, {%d7}, {%d1, %d2, %d3, %d4};",
        ),
    ];
    for (since, instruction) in since {
        assert_eq!(refused(since, instruction), None, "{instruction}");
        let message = refused(since - 1, instruction).unwrap();
        assert!(message.contains(&format!("requires `.target sm_{since}` or higher")), "{message}");
    }
}
