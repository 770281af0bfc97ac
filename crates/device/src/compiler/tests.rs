//! These need NVRTC. A machine that has none passes them without a word about the compiler: `cargo test` must not fetch.

use super::*;

fn compiler() -> Option<Compiler> {
    let found = fusion_toolchain::find().inspect_err(|_| eprintln!("there is no NVRTC here: this test tests nothing"));
    // What another run has made says nothing of this one.
    Some(Compiler { kept: None, ..Compiler::open(&found.ok()?).unwrap() })
}

fn source(text: &str) -> Source<'_> {
    Source { name: "exercises/day22/src/k.cu", text }
}

#[track_caller]
fn ptx(text: &str, headers: &[Source], options: &Options) -> Option<Compiled> {
    Some(compiler()?.ptx(&source(text), headers, 90, options).map_err(|error| error.to_string()).unwrap())
}

#[test]
fn ptx_has_lines_of_the_names_that_were_given() {
    let headers = [Source {
        name: "twice.cuh",
        text: "#pragma once\n__device__ inline float twice(float x) { return x + x; }\n",
    }];
    let text = "#include \"twice.cuh\"\nextern \"C\" __global__ void k(float* x) { x[0] = twice(x[0]); }\n__global__ void other(float*) {}\n";
    let Some(compiled) = ptx(text, &headers, &Options::default()) else { return };
    assert!(compiled.ptx.contains("\"exercises/day22/src/k.cu\""), "{}", compiled.ptx);
    assert!(compiled.ptx.contains("\"twice.cuh\"") && compiled.ptx.contains("inlined_at"), "{}", compiled.ptx);
    assert_eq!(compiled.kernels(), ["k", "_Z5otherPf"]);
    assert_eq!((compiled.architecture, compiled.machine_code), (90, None));
    assert_eq!((compiled.log.as_str(), compiled.diagnostics.len()), ("", 0));
    assert!(compiled.ptx.ends_with("\n// parameters k: x\n"), "{}", compiled.ptx);
}

#[test]
fn a_byte_order_mark_is_no_character() {
    let headers = [Source { name: "one.cuh", text: "\u{feff}#define ONE 1\n" }];
    let text = "\u{feff}#include \"one.cuh\"\r\nextern \"C\" __global__ void k(int* x) { x[0] = ONE; }\r\n";
    let Some(compiled) = ptx(text, &headers, &Options::default()) else { return };
    assert_eq!((compiled.kernels(), compiled.log.as_str()), (vec!["k"], ""));
    assert!(compiled.ptx.ends_with("\n// parameters k: x\n"), "{}", compiled.ptx);
}

#[test]
fn machine_code_is_an_elf_image_with_its_ptx_beside_it() {
    let Some(compiler) = compiler() else { return };
    let compiled =
        compiler.machine_code(&source("extern \"C\" __global__ void k() {}"), &[], 90, &Options::default()).unwrap();
    assert!(compiled.machine_code.is_some_and(|code| code.starts_with(b"\x7fELF")));
    assert!(compiled.ptx.contains(".target sm_90"));
}

#[test]
fn unknown_architectures_fall_back() {
    let Some(compiler) = compiler() else { return };
    let (oldest, newest) = (compiler.architectures()[0], *compiler.architectures().last().unwrap());
    let text = source("extern \"C\" __global__ void k() {}");
    let ptx = |capability| compiler.ptx(&text, &[], capability, &Options::default()).unwrap().architecture;
    assert_eq!((ptx(10), ptx(9999)), (oldest, newest));
    let newer = compiler.machine_code(&text, &[], 9999, &Options::default()).unwrap();
    assert_eq!((newer.architecture, newer.machine_code), (newest, None));
    let error = compiler.machine_code(&text, &[], 10, &Options::default()).unwrap_err();
    assert!(matches!(error, CompileError::Architecture { capability: 10, .. }), "{error}");
}

#[test]
fn a_wrong_source_is_rejected_at_its_line() {
    let Some(compiler) = compiler() else { return };
    let text = "extern \"C\" __global__ void k(float* x)\n{\n    x[0] = y;\n}\n";
    let error = compiler.ptx(&source(text), &[], 90, &Options::default()).unwrap_err();
    let found: Vec<String> = error.diagnostics().iter().map(ToString::to_string).collect();
    // NVRTC 12.0 shows no caret, so there is no column in its messages.
    let column = if compiler.version() == (12, 0) { "" } else { ":12" };
    assert_eq!(found, [format!("exercises/day22/src/k.cu:3{column}: error: identifier \"y\" is undefined")]);
    assert!(error.to_string().starts_with("exercises/day22/src/k.cu does not compile:\n"), "{error}");
}

#[test]
fn warnings_come_with_the_result() {
    let Some(compiled) = ptx("extern \"C\" __global__ void k() { int unused; }", &[], &Options::default()) else {
        return;
    };
    assert_eq!(compiled.diagnostics[0].severity, Severity::Warning);
}

#[test]
fn options_reach_the_compiler() {
    let text = "extern \"C\" __global__ void k(float* x) { x[0] = BY / x[1]; }";
    let options = Options { fast_math: true, define: vec!["BY=3.0f".to_owned()], ..Options::default() };
    let Some(compiled) = ptx(text, &[], &options) else { return };
    assert!(compiled.ptx.contains("div.approx.ftz.f32"), "{}", compiled.ptx);
    let wrong = Options { arguments: vec!["--no-such-option".to_owned()], ..Options::default() };
    let error = compiler().unwrap().ptx(&source(""), &[], 90, &wrong).unwrap_err();
    assert!(error.to_string().contains("no-such-option"), "{error}");
}

#[test]
fn a_source_that_is_not_text_is_named_with_its_line() {
    let Some(compiler) = compiler() else { return };
    let error = compiler.ptx(&source("a\nb\0c"), &[], 90, &Options::default()).unwrap_err();
    assert!(error.to_string().starts_with("exercises/day22/src/k.cu:2: error: there is a NUL byte"), "{error}");
}

/// The standard ones each alone, then all together with CUDA's own, where this NVRTC has them.
#[test]
fn usual_headers_can_be_included() {
    let Some(compiler) = compiler() else { return };
    let mut headers: Vec<&str> = standard::HEADERS.iter().map(|&(name, _)| name).collect();
    let each: Vec<Vec<&str>> = headers.iter().map(|&header| vec![header]).collect();
    if !compiler.include.is_empty() {
        headers.extend(["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_runtime.h", "cuda_pipeline.h"]);
    }
    if compiler.include.len() > 1 {
        headers.extend(["cooperative_groups.h", "cuda/std/cstdint"]);
    }
    for headers in each.into_iter().chain([headers]) {
        let includes: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
        let text = format!("{includes}extern \"C\" __global__ void k(float* x) {{ x[0] = sqrtf(x[1]); }}");
        let result = compiler.ptx(&source(&text), &[], 90, &Options::default());
        assert!(result.is_ok(), "{includes}: {}", result.unwrap_err());
    }
}

#[test]
fn own_features_are_asked_for_where_they_are_named() {
    let header = |name, text| Source { name, text };
    let headers = [
        header("outer.cuh", "#pragma once\n#include \"inner.cuh\"\n"),
        header("inner.cuh", "// wgmma\n"),
        header("unused.cuh", "// setmaxnreg\n"),
    ];
    let of = |text: &str| own_features(&source(text), &headers, 90, 90);
    assert_eq!(of("// nothing, not even \"inner.cuh\"\n"), "");
    assert_eq!([of("#include \"outer.cuh\"\n"), of("  # include <inner.cuh>\n"), of("// setmaxnreg\n")], ["a"; 3]);
    assert_eq!(own_features(&source("// wgmma"), &headers, 100, 100), "");
}

#[test]
fn what_is_kept_is_what_was_made() {
    let Some(compiler) = compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    let store = Store::make(&root.path().join("lib/libnvrtc.so"), kept::KERNELS).unwrap();
    let keeping = Compiler { kept: Some(store), ..self::compiler().unwrap() };
    let (fine, warned) = ("__global__ void k(int* x) { x[0] = 1; }", "__global__ void k(int* x) { int unused; }");
    for text in [fine, warned] {
        let ptx = |compiler: &Compiler| compiler.ptx(&source(text), &[], 90, &Options::default()).unwrap();
        let made = ptx(&compiler);
        assert_eq!((ptx(&keeping), ptx(&keeping)), (made.clone(), made));
    }
    // What was warned of is said each time.
    assert_eq!(std::fs::read_dir(root.path().join(kept::KERNELS)).unwrap().count(), 1);
}
