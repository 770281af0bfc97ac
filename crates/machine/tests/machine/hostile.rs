//! Damaged PTX: whatever it says, the machine answers with a result or a fault and never panics.

use fusion_machine::{Launch, Machine, Options, Profile};

use crate::support::{FAULTS, KERNELS};

/// A small deterministic generator (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Swaps, drops and repeats lines, and exchanges words between them.
fn damage(ptx: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = ptx.lines().map(str::to_string).collect();
    for _ in 0..1 + random.below(6) {
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(5) {
            0 => lines.swap(a, b),
            1 => drop(lines.remove(a)),
            2 => lines.insert(a, lines[b].clone()),
            3 => {
                let word = |line: &str, n: usize| line.split_whitespace().nth(n).unwrap_or("").to_string();
                let (from, to) = (word(&lines[a], 1), word(&lines[b], 1));
                if !from.is_empty() {
                    lines[a] = lines[a].replacen(&from, &to, 1);
                }
            }
            _ => {
                let digits = ["0", "1", "4", "7", "63", "4294967295", "-1", "-9223372036854775808"];
                let digit = digits[random.below(digits.len())];
                if let Some(at) = lines[a].rfind(|c: char| c.is_ascii_digit()) {
                    lines[a].replace_range(at..=at, digit);
                }
            }
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_modules_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let options = Options { instruction_budget: 1 << 14, workers: 1, ..Options::default() };
    let launch = Launch { grid: [2, 1, 1], block: [40, 1, 1], dynamic_shared: 256, cooperative: false, cluster: None };
    for round in 0..ROUNDS {
        let ptx = damage(if round % 2 == 0 { KERNELS } else { FAULTS }, &mut random);
        let machine = Machine::new(Profile::default(), options);
        let buffer = machine.memory().alloc(1024, fusion_machine::AllocationKind::Device).unwrap();
        let Ok(loaded) = machine.load(fusion_ptx::parse(&ptx).module, &ptx) else { continue };
        for name in loaded.kernel_names() {
            let Some(kernel) = loaded.kernel(name) else { continue };
            let bytes = loaded.info(kernel).param_bytes as usize;
            let params: Vec<u8> = buffer.to_le_bytes().iter().copied().cycle().take(bytes).collect();
            let _ = machine.launch(&loaded, kernel, &launch, &params);
        }
    }
}

const ROUNDS: usize = 300;

/// Runs `k(.param .u64 x)` with that argument, and returns whether it ended without a fault.
fn ends(body: &str, launch: &Launch, x: u64) -> bool {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
         .global .align 1 .b8 format[14] = {{37, 99, 37, 100, 37, 108, 108, 100, 37, 99, 37, 102, 10, 0}};\n\
         .visible .entry k(.param .u64 x) {{ .reg .b64 %x; ld.param.u64 %x, [x]; {body} ret; }}"
    );
    let machine = Machine::new(Profile::default(), Options::default());
    let loaded = machine.load(fusion_ptx::parse(&ptx).module, &ptx).unwrap();
    machine.launch(&loaded, loaded.kernel("k").unwrap(), launch, &x.to_le_bytes()).is_ok()
}

#[test]
fn arguments_to_print_may_lie_anywhere() {
    let body = "{ .reg .b64 %f; .param .b64 f; .param .b64 a; .param .b32 r;
        mov.u64 %f, format; cvta.global.u64 %f, %f; st.param.b64 [f], %f; st.param.b64 [a], %x; call (r), vprintf, (f, a); }";
    let launch = Launch { grid: [1; 3], block: [1; 3], dynamic_shared: 0, cooperative: false, cluster: None };
    for below in 0..40 {
        let _ = ends(body, &launch, 0u64.wrapping_sub(below));
    }
}

#[test]
fn the_largest_grid_is_begun() {
    let launch = Launch {
        grid: [u32::MAX >> 1, 65535, 65535],
        block: [1024, 1, 1],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
    };
    assert!(!ends("trap;", &launch, 0));
}
