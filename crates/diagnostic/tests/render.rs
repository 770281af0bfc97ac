//! Every form that a report can take, beside its expected text in `tests/render/`.

#[path = "support/bless.rs"]
mod bless;

use std::borrow::Cow;

use fusion_diagnostic::{Buffer, Diagnostic, Look, Related, Sources, Text, all, render, sites};
use fusion_machine::report::{Blame, PtxPosition, Severity, SourcePosition};

const ADD: &str = "\
#include \"fetch.cuh\"
extern \"C\" __global__ void add(float* out, const float* x, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = fetch(x, i);
    out[i] = tile[threadIdx.x ^ 1];
}
";
const FETCH: &str = "\
__device__ inline float fetch(const float* x, int i) {
    return x[i + 1];
}
";

fn at(file: &str, line: u32, column: u32, function: Option<&str>) -> SourcePosition {
    SourcePosition { file: file.into(), line, column, function: function.map(str::to_owned) }
}

fn ptx() -> Option<PtxPosition> {
    Some(PtxPosition { line: 31, text: "ld.global.nc.f32 \t%f1, [%rd4+4];".into(), line_table: false })
}

/// A read past the end, at line 6.
fn oob() -> Diagnostic {
    Diagnostic {
        label: "read of 4 bytes here".into(),
        notes: vec!["`x` has 1,200 bytes: 300 elements of 4. This is index 300.".into()],
        help: vec!["compare `i` with `n` before the access: `if (i < n)`".into()],
        kernel: "add".into(),
        source: vec![at("add.cu", 6, 14, None)],
        ptx: ptx(),
        block: Some([1, 0, 0]),
        thread: Some([44, 0, 0]),
        lanes: 20,
        count: 20,
        ..Diagnostic::new("E-OOB-GLOBAL", "read of 4 bytes past the end of `x`")
    }
}

fn race() -> Diagnostic {
    Diagnostic {
        label: "this read".into(),
        source: vec![at("add.cu", 6, 14, None)],
        count: 1024,
        related: vec![Related {
            label: "races with this write".into(),
            source: vec![at("add.cu", 5, 5, None)],
            block: Some([1, 0, 0]),
            thread: Some([45, 0, 0]),
            ..Related::default()
        }],
        notes: vec!["nothing orders them: there is no barrier between the two".into()],
        help: vec!["put `__syncthreads();` between line 5 and line 6".into()],
        ..Diagnostic::new("E-RACE-SHARED", "two threads of a block access `tile` at once, and one writes")
    }
    .with_thread()
}

trait WithThread {
    fn with_thread(self) -> Self;
}

impl WithThread for Diagnostic {
    fn with_thread(self) -> Self {
        Diagnostic { kernel: "add".into(), block: Some([1, 0, 0]), thread: Some([44, 0, 0]), ..self }
    }
}

const FILES: [(&str, &str); 2] = [("add.cu", ADD), ("fetch.cuh", FETCH)];

fn wide() -> Look {
    Look { color: false, width: Some(100) }
}

fn narrow() -> Look {
    Look { color: false, width: Some(40) }
}

#[track_caller]
fn check(name: &str, actual: &str) {
    if let Err(difference) = bless::compare(&format!("tests/render/{name}.txt"), &format!("{}\n", actual.trim_end())) {
        panic!("{difference}");
    }
}

#[test]
fn one_place() {
    check("one_place", &render(&oob(), &FILES, wide()));
}

#[test]
fn two_places_in_one_file() {
    check("two_places", &render(&race(), &FILES, wide()));
}

#[test]
fn an_inlined_header_shows_its_caller() {
    let inlined = vec![at("fetch.cuh", 2, 12, Some("fetch(float const*, int)")), at("add.cu", 5, 25, None)];
    check("inlined", &render(&Diagnostic { source: inlined, ..oob() }, &FILES, wide()));
}

/// A copy that is three calls deep in CUDA's headers, races with one at another line.
fn copies() -> Diagnostic {
    let chain = |line| {
        vec![
            at("/usr/include/cuda_pipeline_helpers.h", 203, 23, Some("ns::Chooser<4ul>::copy<float>(float*)")),
            at(
                "/usr/include/cuda_pipeline_primitives.h",
                69,
                5,
                Some("_INTERNAL_1_a_cu::__pipeline_memcpy_async(void*)"),
            ),
            at("add.cu", line, 5, None),
        ]
    };
    let other = Related { label: "and here".into(), source: chain(6), ..Related::default() };
    Diagnostic { source: chain(5), related: vec![other], ..oob() }
}

#[test]
fn cudas_headers_are_left_out() {
    check("cuda_headers", &render(&copies(), &FILES, wide()));
    // Their text makes no difference.
    let texts = [FILES[0], ("/usr/include/cuda_pipeline_helpers.h", "text\n")];
    check("cuda_headers", &render(&copies(), &texts, wide()));
    // Two calls of one function are two places.
    let second = Diagnostic { source: copies().related[0].source.clone(), related: vec![], ..copies() };
    let first = Diagnostic { related: vec![], ..copies() };
    assert_eq!(all(&[first, second], &FILES, wide()).matches("error[").count(), 2);
}

#[test]
fn a_header_without_text_gives_way_to_its_caller() {
    let inlined = vec![at("fetch.cuh", 2, 12, Some("fetch(float const*, int)")), at("add.cu", 5, 25, None)];
    check("header_without_text", &render(&Diagnostic { source: inlined, ..oob() }, &FILES[..1], wide()));
}

#[test]
fn an_allocation_in_rust() {
    let main = [("src/main.rs", "fn main() {\n    let x = stream.alloc_zeros::<f32>(300)?;\n}\n"), FILES[0]];
    let allocation = Related {
        label: "`x` is allocated here".into(),
        source: vec![at("src/main.rs", 2, 20, None)],
        ..Related::default()
    };
    check("allocation", &render(&Diagnostic { related: vec![allocation], ..oob() }, &main, wide()));
}

#[test]
fn titles_say_whose_mistake_it_is() {
    let unsupported = Diagnostic {
        blame: Blame::Unsupported,
        title: "`wgmma.mma_async` is not emulated".into(),
        code: "E-UNSUPPORTED-INSTRUCTION".into(),
        notes: vec![],
        help: vec![],
        ..oob()
    };
    let environment = Diagnostic {
        notes: vec!["expected `.version`, found `hello`".into()],
        blame: Blame::Environment,
        ..Diagnostic::new("E-MODULE", "the module is not PTX")
    };
    let warning =
        Diagnostic { severity: Severity::Warning, code: "L-SHIFT".into(), title: "a shift by 32".into(), ..oob() };
    let advice =
        Diagnostic { severity: Severity::Advice, code: "P-DIVERGENT".into(), title: "a branch".into(), ..oob() };
    let texts = [&oob(), &unsupported, &environment, &warning, &advice].map(|fault| render(fault, &FILES, wide()));
    check("titles", &texts.join("\n\n"));
}

#[test]
fn without_a_line_table_the_ptx_is_shown() {
    check("no_line_table", &render(&Diagnostic { source: vec![], ..oob() }, &FILES, wide()));
    let other = Related { label: "the other access".into(), ptx: ptx(), ..Related::default() };
    let race = Diagnostic { source: vec![], ptx: ptx(), related: vec![other], ..race() };
    check("no_line_table_race", &render(&race, &FILES, wide()));
    let ptx = ptx().map(|ptx| PtxPosition { line_table: true, ..ptx });
    check("no_line", &render(&Diagnostic { source: vec![], ptx, ..oob() }, &FILES, wide()));
}

#[test]
fn without_text_the_position_is_told() {
    check("no_text", &render(&race(), &(), wide()));
}

struct Edited;

impl Sources for Edited {
    fn text(&self, path: &str) -> Text<'_> {
        if path == "add.cu" { Text::Changed } else { Text::Missing }
    }
}

#[test]
fn a_changed_source_is_not_pointed_into() {
    check("changed", &render(&race(), &Edited, wide()));
    // It has fewer lines than it had.
    let shorter = [("add.cu", "only one line\n")];
    check("shorter", &render(&oob(), &shorter, wide()));
}

#[test]
fn bytes_that_are_not_text() {
    struct Latin;
    impl Sources for Latin {
        fn text(&self, _: &str) -> Text<'_> {
            Text::Lines { first: 6, bytes: Cow::Borrowed(b"    /* gr\xf6\xdfer */ out[i] = x[i]; // \x1b[31m\n") }
        }
    }
    check("not_utf8", &render(&Diagnostic { source: vec![at("add.cu", 6, 27, None)], ..oob() }, &Latin, wide()));
}

#[test]
fn a_very_long_line_is_cut_around_the_place() {
    let line = format!("{}out[i] = x[i + 1];{}", "a = b + c; ".repeat(50_000), " d = e + f;".repeat(50_000));
    let column = 11 * 50_000 + 10;
    let fault = Diagnostic { source: vec![at("long.cu", 1, column, None)], ..oob() };
    let text = render(&fault, &[("long.cu", &line)], wide());
    check("long_line", &text);
    check("long_line_narrow", &render(&fault, &[("long.cu", &line)], narrow()));
}

#[test]
fn tabs_and_wide_characters() {
    let source = "\t\tfloat\tv = /* 漢字 😀 */ x[i];\n";
    let fault = Diagnostic { source: vec![at("tabs.cu", 1, 31, None)], ..oob() };
    check("tabs", &render(&fault, &[("tabs.cu", source)], wide()));
}

#[test]
fn forty_columns() {
    let text = render(&race(), &FILES, narrow());
    check("narrow", &text);
    let inlined = vec![at("fetch.cuh", 2, 12, Some("fetch(float const*, int)")), at("add.cu", 5, 25, None)];
    check("narrow_inlined", &render(&Diagnostic { source: inlined, ..oob() }, &FILES, narrow()));
    check("narrow_no_text", &render(&oob(), &(), narrow()));
}

#[test]
fn colour_only_when_asked() {
    let look = Look { color: true, width: Some(100) };
    assert!(!render(&race(), &FILES, wide()).contains('\u{1b}'));
    check("colour", &render(&race(), &FILES, look).replace('\u{1b}', "<ESC>"));
}

#[test]
fn many_faults_are_bounded_and_the_gravest_come_first() {
    let mut faults = vec![Diagnostic { severity: Severity::Advice, code: "P-DIVERGENT".into(), ..oob() }];
    for line in 1..=30 {
        // The same place, again and again.
        for _ in 0..1000 {
            faults.push(Diagnostic { source: vec![at("add.cu", line % 6 + 1, line, None)], ..oob() });
        }
    }
    let text = all(&faults, &FILES, wide());
    assert_eq!(text.matches("error[E-OOB-GLOBAL]").count(), 10, "{text}");
    assert!(text.contains("and 19,999 times more"), "{text}");
    assert!(text.contains("and 21 more sites: 20 E-OOB-GLOBAL, 1 P-DIVERGENT"), "{text}");
    check("two_severities", &all(&[faults[0].clone(), race()], &FILES, narrow()));
}

/// A function that two kernels call has a mistake for each of them; instances of one template, and launches of one
/// kernel, have one.
#[test]
fn what_two_kernels_do_at_one_place_is_two_mistakes() {
    let of = |kernel: &str| Diagnostic { kernel: kernel.into(), ..oob() };
    let shown = |kernels: &[&str]| sites(&kernels.iter().map(|name| of(name)).collect::<Vec<_>>(), &FILES).len();
    assert_eq!(shown(&["one", "two", "one"]), 2);
    assert_eq!(shown(&["_Z3addIiEvPT_", "_Z3addIfEvPT_"]), 1);
    let text = all(&[of("one"), of("two")], &FILES, wide());
    assert!(text.contains("of `one`") && text.contains("of `two`"), "{text}");
}

/// Whatever stands in a fault and in a source, text comes out of it, within bounds and without control characters.
#[test]
fn nothing_makes_it_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    let texts = [
        "",
        "\n",
        "a",
        "x[i",
        "漢字",
        "\t\t(",
        "a\u{1b}[2J\u{202e}b\u{0}",
        "ab\r\ncd\n\n",
        "😀;😀",
        "`´\u{301}\u{301}",
        "//",
    ];
    let bytes = |random: &mut fastrand::Rng| -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..8) {
            match random.u8(..4) {
                0 => bytes.extend((0..random.usize(..6)).map(|_| random.u8(..))),
                1 => bytes.extend(std::iter::repeat_n(random.u8(..), random.usize(..300))),
                _ => bytes.extend(texts[random.usize(..texts.len())].as_bytes()),
            }
        }
        bytes
    };
    for _ in 0..1000 {
        let files: Vec<(String, Vec<u8>)> =
            ["a.cu", "", "b\u{7}.cu"].map(|name| (name.to_owned(), bytes(&mut random))).into();
        let numbers = [0, 1, 2, 3, 5, 40, 1000, u32::MAX - 1, u32::MAX];
        let text = |random: &mut fastrand::Rng| texts[random.usize(..texts.len())].repeat(random.usize(..20));
        let chain = |random: &mut fastrand::Rng| -> Vec<SourcePosition> {
            let length = if random.u8(..50) == 0 { 5000 } else { random.usize(..4) };
            let mut number = || numbers[random.usize(..numbers.len())];
            let places: Vec<(u32, u32)> = (0..length).map(|_| (number(), number())).collect();
            let name = |random: &mut fastrand::Rng| ["a.cu", "", "b\u{7}.cu", "none.cu"][random.usize(..4)];
            places.into_iter().map(|(l, c)| at(name(random), l, c, random.bool().then_some("f\u{1b}("))).collect()
        };
        let ptx = |random: &mut fastrand::Rng| -> Option<PtxPosition> {
            let (line, text, line_table) = (numbers[random.usize(..9)], text(random), random.bool());
            random.bool().then_some(PtxPosition { line, text, line_table })
        };
        let related = |random: &mut fastrand::Rng| Related {
            label: text(random),
            names_thread: random.bool(),
            source: chain(random),
            ptx: ptx(random),
            block: random.bool().then_some([0, 1, u32::MAX]),
            thread: None,
        };
        let fault = Diagnostic {
            code: text(&mut random),
            blame: [Blame::Kernel, Blame::Unsupported, Blame::Environment][random.usize(..3)],
            severity: [Severity::Advice, Severity::Warning, Severity::Error][random.usize(..3)],
            title: text(&mut random),
            label: text(&mut random),
            notes: (0..random.usize(..3)).map(|_| text(&mut random)).collect(),
            help: (0..random.usize(..3)).map(|_| text(&mut random)).collect(),
            kernel: text(&mut random),
            source: chain(&mut random),
            ptx: ptx(&mut random),
            block: random.bool().then_some([7, 0, 0]),
            thread: random.bool().then_some([7, 0, 1]),
            lanes: numbers[random.usize(..9)],
            count: [0, 1, u64::MAX][random.usize(..3)],
            earlier: Vec::new(),
            related: (0..random.usize(..4)).map(|_| related(&mut random)).collect(),
            buffer: random.bool().then(|| Buffer { name: text(&mut random), offset: i64::MIN, ..Buffer::default() }),
        };
        let width = [None, Some(0), Some(1), Some(40), Some(u16::MAX)][random.usize(..5)];
        let look = Look { color: false, width };
        let rendered = render(&fault, files.as_slice(), look) + &all(&[fault.clone(), fault], files.as_slice(), look);
        assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
        assert!(rendered.len() < 200_000, "{}", rendered.len());
    }
}
