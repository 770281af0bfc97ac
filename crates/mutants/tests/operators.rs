//! What each operator makes of a line of a kernel.
#![allow(clippy::unwrap_used)]

use fusion_mutants::mutants;

/// The mutated lines that one operator makes of these lines of a kernel's body, in order.
#[track_caller]
fn check(operator: &str, body: &str, expected: &[&str]) {
    let source = format!("__global__ void k(const float* a, const float* b, float* out, size_t n) {{\n{body}\n}}\n");
    let made = mutants(&source);
    let found: Vec<String> = (made.iter().filter(|mutant| mutant.operator.name == operator))
        .map(|mutant| mutant.diff().lines().nth(1).unwrap_or_default().trim_start_matches("+ ").to_owned())
        .collect();
    assert_eq!(found, expected, "{operator} of\n{body}");
}

#[test]
fn barriers_are_dropped_weakened_and_moved() {
    let body = "s[t] = 1;\n__syncthreads();\nout[t] = s[0];";
    check("drop-barrier", body, &[";"]);
    check("block-to-warp", body, &["__syncwarp();"]);
    check("barrier-up", body, &["__syncthreads();"]);
    check("barrier-down", body, &["out[t] = s[0];"]);
    check("drop-barrier", "__syncwarp();", &[";"]);
    check("drop-barrier", "cg::sync(block);", &[";"]);
    check("drop-barrier", "grid.sync();", &[";"]);
    check("drop-barrier", "int sync = f(n);", &[]);
}

#[test]
fn a_barrier_moves_within_its_block() {
    let source =
        "void k() {\n    one();\n    if (x) {\n        two();\n        __syncthreads();\n    }\n    three();\n}\n";
    let moved = |operator: &str| {
        let found: Vec<String> =
            mutants(source).into_iter().filter(|it| it.operator.name == operator).map(|it| it.text).collect();
        found
    };
    assert_eq!(
        moved("barrier-up"),
        [source.replace("two();\n        __syncthreads();", "__syncthreads();\n        two();")]
    );
    assert_eq!(moved("barrier-down"), [""; 0]);
}

#[test]
fn fences_are_dropped_and_weakened() {
    check("drop-fence", "__threadfence();", &[";"]);
    check("fence-to-block", "__threadfence();", &["__threadfence_block();"]);
    check("fence-to-block", "__threadfence_block();", &[]);
    check("drop-volatile", "volatile float* p = out;", &["float* p = out;"]);
}

#[test]
fn only_calls_have_arguments() {
    let swapped = |source: &str| mutants(source).iter().filter(|it| it.operator.name == "swap-arguments").count();
    assert_eq!(swapped("KERNEL(256, 4)\nKERNEL(512, 8)\n"), 0);
    assert_eq!(swapped("int f() {\n    return g(256, 4);\n}\nKERNEL(256, 4)\n"), 1);
    assert_eq!(swapped("constexpr int BOTH = g(256, 4);\n"), 1);
}

/// The first argument of a shuffle is its mask.
#[test]
fn a_value_for_a_mask_is_a_wrong_mask() {
    let made = mutants("void k(float x) {\n    x += __shfl_xor_sync(0xffffffff, x, 4);\n}\n");
    let swapped = made.iter().find(|it| it.operator.name == "swap-arguments").expect("it has arguments");
    assert!(swapped.operator.admits("fault E-SYNC-MASK") && swapped.operator.admits("values"));
}

/// What moves a pointer may lead anywhere; what adds to a number may not.
#[test]
fn moving_a_pointer_is_indexing() {
    let source = "void k(const float* x, float sum, size_t n) {\n    x += n * 4;\n    sum += n * 4;\n}\n";
    for (line, anywhere) in [(2, true), (3, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.any(|it| it.operator.admits("fault E-OOB-GLOBAL") == anywhere), "line {line}");
    }
}

/// The parts of a value may be pointers: their types are not said where they get names.
#[test]
fn moving_a_part_may_be_indexing() {
    let source = "void k(const Tensor* all, float sum, size_t n) {\n    auto [x, size] = all[1];\n    x += n * 4;\n    sum += n * 4;\n}\n";
    for (line, anywhere) in [(3, true), (4, false)] {
        let made = mutants(source);
        let mut sums = made.iter().filter(|it| it.line == line && it.operator.name == "add-to-sub");
        assert!(sums.any(|it| it.operator.admits("fault E-OOB-GLOBAL") == anywhere), "line {line}");
    }
}

/// What is added to a pointer leads to an address, and what is added to a number does not.
#[test]
fn adding_to_a_pointer_is_indexing() {
    let source = "void k(const float* x, float sum, size_t n) {\n    const float* p = x + n;\n    sum = load(x + n * 4, 1);\n    \
                  sum = twice(sum + n * 4, 1);\n    sum = twice(sum + x[1] * 4, 1);\n    sum += n * 4;\n}\n";
    for (line, anywhere) in [(3, true), (4, false), (5, false), (6, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.any(|it| it.operator.admits("fault E-MISALIGNED") == anywhere), "line {line}");
    }
}

/// What is asked before a `?` decides what is read, also from within brackets.
#[test]
fn asking_before_a_question_mark_is_indexing() {
    let source = "void k(const float* x, float* out, size_t n) {\n    out[0] = (n * 4 < 9) ? x[n] : 0;\n    out[0] = n * 4 < 9 ? x[n] : \
                  0;\n    out[0] = n < 9 ? x[n] * 4 : 0;\n    out[0] = n < 9 ? 0 : (x[n] * 4);\n    out[0] = x[n] * 4;\n    {\n\
                  \x20       out[1] = x[n] * 4;\n    }\n    return n < 9 ? 1 : 0;\n}\n";
    for (line, anywhere) in [(2, true), (3, true), (4, false), (5, false), (6, false), (8, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.any(|it| it.operator.admits("fault E-OOB-GLOBAL") == anywhere), "line {line}");
    }
}

/// A number that a bound on launches has by its name can be too small for them, too.
#[test]
fn numbers_may_bound_launches_by_their_names() {
    let source = "const int THREADS = 128, ROWS = 4;\nconst int WIDTH = 32;\nvoid __launch_bounds__(THREADS) k(float* x) {\n    \
                  const int half = 16;\n}\n";
    for (line, launch) in [(1, true), (2, false), (4, false)] {
        let made = mutants(source);
        let mut short = made.iter().filter(|it| it.line == line && it.operator.name == "constant-minus-one");
        assert!(short.any(|it| it.operator.admits("launch") == launch), "line {line}");
    }
    let made = mutants(source);
    let short: Vec<_> = made.iter().filter(|it| it.line == 1 && it.operator.name == "constant-minus-one").collect();
    assert_eq!(short.iter().filter(|it| it.operator.admits("launch")).count(), 1, "ROWS bounds no launch");
}

/// How often a loop turns may be too often: where it is said, and where a name gets the number.
#[test]
fn bounds_of_loops_may_take_too_long() {
    let source = "const int WIDTH = 32 / 4;\nvoid k(float* x, int n) {\n    for (int i = 0; i < WIDTH / 2; i++) x[i] = 1;\n    \
                  x[n / 2] = 2;\n    int half = n / 2;\n}\n";
    for (line, late) in [(1, true), (3, true), (4, false), (5, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "div-to-mul");
        assert!(products.any(|it| it.operator.admits("timeout") == late), "line {line}");
    }
}

/// Where something lies is asked of a function that hands it back.
#[test]
fn handing_a_place_back_is_indexing() {
    let source = "void place(size_t n, unsigned& row, float& sum) {\n    row = 2 * n;\n    sum = 2 * n;\n}\n";
    for (line, anywhere) in [(2, true), (3, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.any(|it| it.operator.admits("fault E-RACE-BLOCKS") == anywhere), "line {line}");
    }
}

/// Numbers that are passed or returned together say where something lies; the elements of an array are values.
#[test]
fn what_is_passed_in_braces_is_indexing() {
    let source = "void k(float a, size_t n) {\n    x = of(a, {n * 4, n});\n    float t[2][2] = {{a * 4, a}, {a * 4, a}};\n}\n\
                  Task task(size_t n) {\n    return {n, n * 4};\n}\n\
                  Pair pair(float a) {\n    return {1.0f, a * 4};\n}\n";
    for (line, anywhere) in [(2, true), (3, false), (6, true), (9, false)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.all(|it| it.operator.admits("fault E-OOB-GLOBAL") == anywhere), "line {line}");
    }
}

/// A number of a type is an extent, and one in the bounds of a launch can only be too small for it.
#[test]
fn extents_and_launch_bounds_have_reasons_of_their_own() {
    let source = "void __launch_bounds__(128) k(float sum) {\n    using Held = Row<32>;\n    sum += 2 * sum;\n}\n";
    let made = mutants(source);
    for (line, launch, memory) in [(1, true, false), (2, false, true), (3, false, false)] {
        let short = made.iter().find(|it| it.line == line && it.operator.name == "constant-minus-one").unwrap();
        assert_eq!(short.operator.admits("launch"), launch, "line {line}");
        assert_eq!(short.operator.admits("fault E-UNINIT-GLOBAL"), memory, "line {line}");
    }
}

#[test]
fn comparisons_change() {
    check("lt-to-le", "while (i < n) i++;", &["while (i <= n) i++;"]);
    check("lt-to-gt", "x = i < n;", &["x = i > n;"]);
    check("ge-to-gt", "if (i >= n) return;", &["if (i > n) return;"]);
    check("eq-to-ne", "x = i == n;", &["x = i != n;"]);
    check("both-to-either", "x = i < n && j < n;", &["x = i < n || j < n;"]);
    check("negate-condition", "if (i >= n) return;", &["if (!(i >= n)) return;"]);
    check("lt-to-le", "f<4>(a); auto p = static_cast<float*>(q); // i < n", &[]);
}

#[test]
fn choices_are_made_beforehand() {
    check("take-first", "size_t v = ok ? n / 4 : 0;", &["size_t v = n / 4;"]);
    check("take-second", "size_t v = ok ? n / 4 : 0;", &["size_t v = 0;"]);
    check("take-second", "f(x ? 1 : 2, 3);", &["f(2, 3);"]);
}

#[test]
fn guards_and_tails_are_dropped() {
    check("drop-guard", "if (i < n) out[i] = 1;", &["out[i] = 1;"]);
    check("drop-guarded", "if (i < n) out[i] = 1;", &[";"]);
    check("drop-guarded", "if (i < n) f(); else g();", &["g();"]);
    check("drop-else", "if (i < n) f(); else g();", &["if (i < n) f();"]);
    check("drop-return", "if (i >= n) return;", &["if (i >= n) ;"]);
    check("drop-loop", "for (int i = 0; i < n; i++) f(i);", &[";"]);
    check("loop-once", "for (int i = 0; i < n; i++) f(i);", &["for (int i = 0; i < n; i++) { f(i); break; }"]);
}

#[test]
fn loops_go_wrong_at_either_end() {
    let body = "for (int i = t; i < n; i += 32) f(i);";
    check("start-plus-one", body, &["for (int i = (t) + 1; i < n; i += 32) f(i);"]);
    check("bound-minus-one", body, &["for (int i = t; i < (n) - 1; i += 32) f(i);"]);
    check("step-plus-one", body, &["for (int i = t; i < n; i += (32) + 1) f(i);"]);
    check("drop-step", body, &["for (int i = t; i < n;) f(i);"]);
    check("up-to-down", "i++;", &["i--;"]);
}

#[test]
fn indices_go_wrong() {
    check("index-plus-one", "x = a[i];", &["x = a[(i) + 1];"]);
    check("index-minus-one", "x = a[i];", &["x = a[(i) - 1];"]);
    check("thread-to-block", "i = threadIdx.x;", &["i = blockIdx.x;"]);
    check("block-to-grid", "i = blockDim.x;", &["i = gridDim.x;"]);
    check("next-axis", "i = threadIdx.x;", &["i = threadIdx.y;"]);
    check("next-component", "x = v.w;", &["x = v.x;"]);
    check("other-name", "x = a[0];", &["x = b[0];"]);
    check("swap-arguments", "x = f(p, q);", &["x = f(q, p);"]);
    check("swap-arguments", "x = fmaxf(p, q);", &[]);
    check("array-short", "float s[32];", &["float s[(32) - 1];"]);
}

#[test]
fn only_names_in_scope_are_taken_for_each_other() {
    check("other-name", "for (int i = 0; i < 4; i++) f(i);\nfor (int j = 0; j < 4; j++) g(j);", &[]);
    check("other-name", "int i = 1;\nint j = i;\nf(j);", &["f(i);"]);
}

#[test]
fn the_neighbours_slot_of_shared_memory_is_taken() {
    check("neighbour-slot", "__shared__ float s[32];\nx = s[t];", &["x = s[(t) ^ 1];"]);
    check("neighbour-slot", "float s[32];\nx = s[t];", &[]);
}

#[test]
fn shuffles_and_votes_change() {
    let body = "x += __shfl_down_sync(0xffffffff, x, d);";
    check("narrow-mask", body, &["x += __shfl_down_sync((0xffffffff) & 0x0000ffffu, x, d);"]);
    check("shuffle-offset", body, &["x += __shfl_down_sync(0xffffffff, x, (d) + 1);"]);
    check(
        "shuffle-direction",
        body,
        &["x += __shfl_up_sync(0xffffffff, x, d);", "x += __shfl_xor_sync(0xffffffff, x, d);"],
    );
    check("drop-shuffle", body, &["x += (x);"]);
    check("shuffle-direction", "y = __any_sync(m, x);", &["y = __all_sync(m, x);"]);
}

#[test]
fn atomics_are_weakened() {
    let body = "atomicAdd(&out[0], x);";
    check("atomic-to-plain", body, &["*(&out[0]) += x;"]);
    check("atomic-to-block", body, &["atomicAdd_block(&out[0], x);"]);
    check("drop-atomic", body, &[";"]);
    check("other-atomic", body, &["atomicExch(&out[0], x);"]);
    // What an atomic returns cannot be had from a plain statement.
    check("atomic-to-plain", "last = atomicAdd(p, 1u) == 7;", &[]);
}

#[test]
fn numbers_lose_bits() {
    check("double-to-float", "double sum = 0;", &["float sum = 0;"]);
    check("index-32-bits", "size_t i = n;", &["unsigned i = n;"]);
    check("drop-cast", "i = (size_t)p * q;", &["i = p * q;"]);
    check("signed-to-unsigned", "x = (signed char)q;", &["x = (unsigned char)q;"]);
    check(
        "narrow-to-half",
        "float s = 0;\ns += a[0];",
        &[
            "float s = __uint_as_float(__float_as_uint(0) & 0xffffe000u);",
            "s = __uint_as_float(__float_as_uint(s + (a[0])) & 0xffffe000u);",
        ],
    );
    check("narrow-to-int", "out[i] = x + y;", &["out[i] = (float)(int)(x + y);"]);
}

#[test]
fn rounding_and_clamps_change() {
    check(
        "change-rounding",
        "x = __float2int_rn(y);",
        &["x = __float2int_rz(y);", "x = __float2int_rd(y);", "x = __float2int_ru(y);"],
    );
    check("drop-clamp", "x = max(-128, q);", &["x = (-128);", "x = (q);"]);
    check("other-function", "x = rsqrtf(y);", &["x = sqrtf(y);"]);
    check("drop-call", "x = expf(y);", &["x = (y);"]);
    check("div-to-reciprocal", "x = y / z;", &["x = y * (1.0f / (z));"]);
}

#[test]
fn values_are_left_out() {
    check("drop-initial", "float s = 0;", &["float s ;"]);
    check("drop-initial", "const float s = 0;", &[]);
    check("drop-store", "s[t] = 0;", &[";"]);
    check("drop-left", "x = p + q * r;", &["x = q * r;", "x = p + r;"]);
    check("drop-right", "x = p + q * r;", &["x = p;", "x = p + q;"]);
}

#[test]
fn arithmetic_changes() {
    check("add-to-sub", "x = p + q;", &["x = p - q;"]);
    check("mul-to-add", "float* r; x = *p * *q;", &["float* r; x = *p + *q;"]);
    check("swap-operands", "x = p - q - r;", &["x = (q) - (p) - r;", "x = (r) - (p - q);"]);
    check("accumulate-to-assign", "s += x;", &["s = x;"]);
    check("shr-to-sub", "d >>= 1;", &["d -= 1;"]);
    check("drop-minus", "x = -y;", &["x = y;"]);
    check("drop-not", "x = !y;", &["x = y;"]);
    check("half-constant", "x = 0.5f;", &["x = (0.5f * 0.5f);"]);
    check("zero-to-one", "x = 0.0f;", &["x = 1.0f;"]);
    check("drop-digits", "x = 0.044715f;", &["x = 0.044700f;"]);
    check("constant-plus-one", "x = 4;", &["x = (4 + 1);"]);
}

/// Everything that Day 22's kernels do without.
const REDUCE: &str = "
// Sums a row: a <- b is not code.
__device__ unsigned arrived = 0;

extern \"C\" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, volatile float* partial, int n) {
    __shared__ float slots[32];
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < blockDim.x / 32; w++) total += slots[w];
        partial[blockIdx.x] = total;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float total = 0.0f;
        for (int b = 0; b < gridDim.x; b++) total += partial[b];
        *out = total;
        arrived = 0;
    }
}
";

#[test]
fn ids_and_texts_are_unique_and_places_are_right() {
    let made = mutants(REDUCE);
    assert!(made.len() > 150, "{}", made.len());
    let (mut ids, mut texts) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    for mutant in &made {
        assert!(ids.insert(&mutant.id) && texts.insert(&mutant.text), "{} is there twice", mutant.id);
        assert_ne!(mutant.text, REDUCE);
        assert!(mutant.id.starts_with(&format!("{}@{}:{}", mutant.operator.name, mutant.line, mutant.column)));
        assert!(!mutant.operator.does.is_empty() && !mutant.operator.classes.is_empty(), "{}", mutant.id);
    }
    for id in [
        "drop-barrier@12:5",
        "barrier-down@12:5",
        "drop-volatile@5:90",
        "fence-to-block@17:9",
        "atomic-to-block@18:16",
        "neighbour-slot@15:66",
        "narrow-to-half@9:93",
    ] {
        assert!(ids.contains(&id.to_owned()), "{id} is not there: {ids:#?}");
    }
}

#[test]
fn mutating_is_deterministic() {
    assert_eq!(mutants(REDUCE), mutants(REDUCE));
}

/// Whatever the text is, the answer is a list.
#[test]
fn any_text_can_be_mutated() {
    for end in (0..REDUCE.len()).step_by(7) {
        mutants(&REDUCE[..end]);
        mutants(&REDUCE[end..]);
        // Brackets that do not fit.
        mutants(&REDUCE[end..].replace('(', "]"));
        mutants(&REDUCE[..end].replace('{', ""));
    }
    for text in [
        "",
        ")",
        "a[",
        "x = ? :",
        "if (",
        "for (;;",
        "for (int i = 0; i < n",
        "do x while",
        "é < ü;",
        "{{{{",
        "void f() {",
    ] {
        mutants(text);
    }
    mutants(&"{".repeat(1_000));
    mutants(&format!("void f() {}", "{".repeat(1_000) + &"}".repeat(1_000)));
}

/// What is passed in braces, and what a lambda does to pointers, leads to addresses. What it does to values does not.
#[test]
fn places_in_lambdas_and_braces_are_indexing() {
    let source = "void k(float* y, size_t n) {\n    for_each(y, [&](int at, float one) {\n        if (at * 4 < 5) return;\n        \
                  float* to = y + at * 4;\n        y[0] = one + one * 4;\n    });\n    const Sums s = sums(y, {n * 4, 1});\n}\n";
    for (line, anywhere) in [(3, true), (4, true), (5, false), (7, true)] {
        let made = mutants(source);
        let mut products = made.iter().filter(|it| it.line == line && it.operator.name == "mul-to-add");
        assert!(products.any(|it| it.operator.admits("fault E-OOB-GLOBAL") == anywhere), "line {line}");
    }
}
