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
    let launch = Launch { grid: [2, 1, 1], block: [40, 1, 1], dynamic_shared: 256, cooperative: false };
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
