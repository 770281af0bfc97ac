//! What the compiler made of a kernel: what it takes, and the PTX of its hottest place beside the lines of its source.

use fusion_device::{Device, Program};
use fusion_machine::report::account::Account;
use fusion_ptx::ast::{Function, LocId, Module, Op};

use super::{Compiled, Launch, Ptx};
use crate::takes::Takes;

impl Launch {
    /// Adds what became of its kernel, where the program has it.
    pub(crate) fn compiled(&mut self, device: &Device, program: &Program) {
        let Ok(function) = program.kernel(&self.kernel) else { return };
        let ptx = &program.compiled.ptx;
        let capability = device.properties.compute_capability;
        let usage = device.compiler().ok().and_then(|compiler| compiler.usage(ptx, capability));
        let used = usage.and_then(|usage| usage.get(&self.kernel).copied());
        let hottest = self.account.as_deref().and_then(hottest_line);
        let (hot, is_loop) = hottest.map(|line| hot(ptx, &self.kernel, line)).unwrap_or_default();
        self.compiled = Some(Compiled {
            takes: Takes::of(device, &function, self.block, self.shared_bytes),
            spills: used.map(|used| (used.spill_stores, used.spill_loads)),
            hot,
            is_loop,
        });
    }
}

/// The line at which warps spend most of their time. Where they wait for what another line asked for, it is still the one that waits.
fn hottest_line(account: &Account) -> Option<u32> {
    let most = account.lines.iter().max_by(|one, other| one.share().total_cmp(&other.share()))?;
    most.source.as_ref().map(|source| source.line)
}

/// The PTX of the smallest loop that has an instruction of this line, or of the line alone; and whether it is a loop.
fn hot(ptx: &str, kernel: &str, line: u32) -> (Vec<Ptx>, bool) {
    let module = fusion_ptx::parse(ptx).module;
    let Some(function) = module.functions.iter().find(|function| function.name == kernel) else {
        return Default::default();
    };
    let lines: Vec<Option<u32>> =
        function.body.iter().map(|it| it.loc.map(|loc| of_kernels_file(&module, loc))).collect();
    let of_line = |index: &usize| lines.get(*index) == Some(&Some(line));
    let loops = loops(function).filter(|(first, last)| (*first..=*last).any(|index| of_line(&index)));
    let smallest = loops.min_by_key(|(first, last)| last - first);
    let indices: Vec<usize> = match smallest {
        Some((first, last)) => (first..=last).collect(),
        None => (0..lines.len()).filter(of_line).collect(),
    };
    let mut shown = Vec::new();
    for index in indices {
        if smallest.is_some() {
            let labels = function.labels.iter().filter(|label| label.target as usize == index);
            shown.extend(labels.map(|label| Ptx { line: None, text: format!("{}:", label.name) }));
        }
        let span = function.body[index].span;
        let text = ptx.get(span.start as usize..span.end as usize).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        shown.push(Ptx { line: lines[index], text: text.trim_end_matches(';').to_owned() + ";" });
    }
    (shown, smallest.is_some())
}

/// The first and the last instruction of each loop: what branches back, and where to.
fn loops(function: &Function) -> impl Iterator<Item = (usize, usize)> + '_ {
    function.body.iter().enumerate().filter_map(|(index, instruction)| {
        let Op::Bra { target, .. } = &instruction.op else { return None };
        let first = function.labels.get(target.0 as usize)?.target as usize;
        (first <= index).then_some((first, index))
    })
}

/// The line of the kernel's own file: of a function that was inlined, the line that called it.
fn of_kernels_file(module: &Module, mut loc: LocId) -> u32 {
    // A caller has a smaller index, so this ends.
    while let Some(caller) = module.locations.get(loc.0 as usize).and_then(|location| location.inlined_at) {
        loc = caller;
    }
    module.locations.get(loc.0 as usize).map_or(0, |location| location.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n\
.loc 1 2 5\nmov.u32 %r1, 0;\nL0:\n.loc 1 3 5\nadd.s32 %r1, %r1, 1;\nL1:\n.loc 1 4 5\nadd.s32 %r2, %r2, 1;\n\
setp.lt.s32 %p1, %r2, 9;\n@%p1 bra L1;\n.loc 1 3 5\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra L0;\n.loc 1 5 1\nret;\n}\n.file 1 \"a.cu\"\n";

    #[test]
    fn the_smallest_loop_around_a_line_is_shown() {
        let texts = |line| -> (Vec<String>, bool) {
            let (shown, is_loop) = hot(PTX, "k", line);
            (shown.into_iter().map(|it| format!("{} {}", it.line.unwrap_or_default(), it.text)).collect(), is_loop)
        };
        let inner = ["0 L1:", "4 add.s32 %r2, %r2, 1;", "4 setp.lt.s32 %p1, %r2, 9;", "4 @%p1 bra L1;"];
        assert_eq!(texts(4), (inner.map(str::to_owned).to_vec(), true));
        let (outer, is_loop) = texts(3);
        assert_eq!((outer.len(), outer[0].as_str(), is_loop), (8, "0 L0:", true));
        assert_eq!(texts(2), (vec!["2 mov.u32 %r1, 0;".to_owned()], false));
        assert_eq!(texts(99), (Vec::new(), false));
        assert_eq!(hot("no PTX", "k", 1), (Vec::new(), false));
    }
}
