//! From the parser's typed module to the interpreter's micro-operations, one kernel at a time.
//!
//! A kernel is lowered together with every function that it can reach, because the shared memory
//! that it needs, and so the addresses of its variables, are its own.

mod blocks;
mod flow;
mod frame;
mod memory;
mod roots;
mod select;
mod suspects;

use std::collections::HashMap;

use fusion_ptx::ast::{
    self, Callee, FunctionId, GlobalId, LocalId, Module, Op, Operand, Ordering, RegId, Scope, Space, Special,
};

use crate::code::{Code, CopyBulk, CopyTensor, Inst, MicroOp, Origin, Root, SharedVariable, SlowOp, TRUE};
use select::Selector;
pub(crate) use suspects::checked;

/// Where the module's variables lie.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// Indexed by [`GlobalId`]: device addresses of `.global` and `.const` variables, and where in each thread's local
    /// memory a `.local` one lies.
    pub(crate) globals: Vec<Option<u64>>,
    /// What the `.local` variables take of each thread's local memory. A kernel's own frame lies behind them.
    pub(crate) local_bytes: u32,
}

/// What a block keeps of shared memory for the system's own use, from sm_80 on (PTX ISA 10, `%reserved_smem_offset_cap`).
pub(crate) const RESERVED_SHARED: u32 = 1024;

/// Lowers the kernel `entry`.
pub(crate) fn lower(module: &Module, entry: FunctionId, addresses: &Addresses) -> Code {
    let reachable = reachable(module, entry);
    let mut code = Code { functions: vec![None; module.functions.len()], entry: entry.0, ..Code::default() };
    let kernel = &module.functions[entry.index()];
    code.param_bytes = kernel.params.iter().map(|p| p.offset + p.size).max().unwrap_or(0);
    code.uses_heap = reachable.iter().any(|f| uses_heap(module, &module.functions[f.index()]));
    // Which block of the heap a thread gets depends on who came before it.
    code.communicates = code.uses_heap || reachable.iter().any(|f| communicates(&module.functions[f.index()]));
    code.waits = code.uses_heap || reachable.iter().any(|f| waits(&module.functions[f.index()]));
    let shared = SharedLayout::new(module, &reachable, &mut code);
    for &id in &reachable {
        lower_function(module, id, addresses, &shared, &mut code);
    }
    cluster(&mut code);
    code
}

/// What a kernel does with the other blocks of its cluster.
fn cluster(code: &mut Code) {
    let barrier = |pc: usize| match code.slow_at(pc as u32) {
        Some(&SlowOp::ClusterBarrier { wait, relaxed, .. }) => Some((wait, relaxed)),
        _ => None,
    };
    let guard = |pc: usize| code.insts.get(pc).map(|inst| (inst.guard, inst.negated));
    let arrives = |pc: &usize| matches!(barrier(*pc), Some((false, _)));
    let meets = |pc: usize| {
        barrier(pc) == Some((false, false)) && matches!(barrier(pc + 1), Some((true, _))) && guard(pc) == guard(pc + 1)
    };
    let all = 0..code.insts.len();
    let (barriers, syncs) = (all.clone().any(|pc| barrier(pc).is_some()), all.clone().filter(arrives).all(meets));
    (code.cluster_barriers, code.cluster_syncs) = (barriers, syncs);
    code.maps = code.slow.iter().any(|op| match op {
        SlowOp::MapAddress { .. } => true,
        SlowOp::CopyBulk(CopyBulk { multicast, .. }) | SlowOp::CopyTensor(CopyTensor { multicast, .. }) => {
            multicast.is_some()
        }
        _ => false,
    });
    code.fences = code.slow.iter().any(|op| matches!(op, SlowOp::Fence(order) if !order.narrow || order.clustered));
}

/// The entry and every function that calls, or addresses that are taken, lead to.
fn reachable(module: &Module, entry: FunctionId) -> Vec<FunctionId> {
    let mut seen = vec![false; module.functions.len()];
    let mut stack = vec![entry];
    let mut found = Vec::new();
    while let Some(id) = stack.pop() {
        let Some(function) = module.functions.get(id.index()) else { continue };
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        found.push(id);
        for instruction in &function.body {
            match &instruction.op {
                Op::Call { callee: Callee::Direct(target), .. } => stack.push(*target),
                // The target may have come from anywhere: a table in memory, another kernel.
                Op::Call { callee: Callee::Indirect(_), .. } => {
                    let all = module.functions.iter().enumerate().filter(|(_, f)| !f.is_entry && f.has_body);
                    stack.extend(all.map(|(i, _)| FunctionId(i as u32)));
                }
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found
}

/// Whether a function holds an instruction by which blocks talk to each other.
fn communicates(function: &ast::Function) -> bool {
    let global = |space: Space| matches!(space, Space::Global | Space::Generic);
    function.body.iter().any(|i| match &i.op {
        Op::Atom { space, .. } => global(*space),
        // Reading, computing and writing are one only where blocks take turns.
        Op::CopyBulk { reduce: Some(_), .. } | Op::CopyTensor { reduce: Some(_), .. } => true,
        Op::Ld { space, ordering, .. } | Op::St { space, ordering, .. } => {
            global(*space) && *ordering != Ordering::Weak
        }
        Op::Fence { scope, .. } => matches!(scope, Scope::Gpu | Scope::Sys),
        _ => false,
    })
}

/// Whether what a function does may depend on what other blocks do: it reads what an atomic found, or loads what others may just have
/// stored.
fn waits(function: &ast::Function) -> bool {
    let global = |space: Space| matches!(space, Space::Global | Space::Generic);
    let reads = |register: RegId| {
        let mut found = false;
        for instruction in &function.body {
            instruction.op.operands(&mut |operand| found |= *operand == Operand::Reg(register), &mut |_| {});
        }
        found
    };
    function.body.iter().any(|i| match &i.op {
        Op::Atom { space, .. } if global(*space) => {
            let mut written = Vec::new();
            i.op.operands(&mut |_| {}, &mut |register| written.push(register));
            written.into_iter().any(reads)
        }
        Op::Ld { space, ordering, .. } => global(*space) && *ordering != Ordering::Weak,
        _ => false,
    })
}

/// The function of the device runtime that a call goes to.
fn runtime_function<'a>(module: &'a Module, callee: &'a Callee) -> Option<&'a str> {
    match callee {
        Callee::Builtin(name) => Some(name),
        Callee::Direct(id) => module.functions.get(id.index()).filter(|f| !f.has_body).map(|f| f.name.as_str()),
        Callee::Indirect(_) => None,
    }
}

fn uses_heap(module: &Module, function: &ast::Function) -> bool {
    function.body.iter().any(|i| match &i.op {
        Op::Call { callee, .. } => matches!(runtime_function(module, callee), Some("malloc" | "free")),
        _ => false,
    })
}

/// Offsets of the shared variables that a kernel uses.
struct SharedLayout {
    globals: HashMap<GlobalId, u32>,
    locals: HashMap<(FunctionId, LocalId), u32>,
    /// Of the variables that have a size: offset and index into [`Code::shared`].
    sized: HashMap<u32, u32>,
}

impl SharedLayout {
    fn new(module: &Module, reachable: &[FunctionId], code: &mut Code) -> Self {
        let mut used = vec![false; module.variables.len()];
        let mut reserved = 0;
        for id in reachable {
            for instruction in &module.functions[id.index()].body {
                let mut read = |operand: &Operand| match operand {
                    Operand::Global(g, _) => used.get_mut(g.index()).into_iter().for_each(|used| *used = true),
                    // A kernel that never asks where it lies cannot tell that there is none.
                    Operand::Special(Special::ReservedSmem(_)) => reserved = RESERVED_SHARED,
                    _ => {}
                };
                instruction.op.operands(&mut read, &mut |_| {});
            }
        }
        enum Id {
            Global(GlobalId),
            Local(FunctionId, LocalId),
        }
        let is_shared = |v: &ast::Variable| matches!(v.space, Space::Shared | Space::SharedCluster);
        let globals = module.variables.iter().enumerate().filter(|(i, v)| used[*i] && is_shared(v));
        let mut variables: Vec<(Id, &ast::Variable)> =
            globals.map(|(i, v)| (Id::Global(GlobalId(i as u32)), v)).collect();
        for &f in reachable {
            let locals = module.functions[f.index()].variables.iter().enumerate().filter(|(_, v)| is_shared(v));
            variables.extend(locals.map(|(i, v)| (Id::Local(f, LocalId(i as u32)), v)));
        }
        let mut layout = Self { globals: HashMap::new(), locals: HashMap::new(), sized: HashMap::new() };
        let mut place = |id: Id, offset: u32| match id {
            Id::Global(g) => layout.globals.insert(g, offset),
            Id::Local(f, l) => layout.locals.insert((f, l), offset),
        };
        let (sized, unsized_): (Vec<_>, Vec<_>) = variables.into_iter().partition(|(_, v)| v.size > 0);
        let mut end = reserved;
        if reserved > 0 {
            let name = "the shared memory that is reserved for the system".to_string();
            code.shared.push(SharedVariable { name, offset: 0, size: reserved });
        }
        let mut sized_at = HashMap::new();
        for (id, variable) in sized {
            let offset = end.next_multiple_of(variable.align.max(1));
            let size = u32::try_from(variable.size).unwrap_or(u32::MAX);
            end = offset.saturating_add(size).min(1 << 30);
            sized_at.insert(offset, code.shared.len() as u32);
            code.shared.push(SharedVariable { name: variable.name.clone(), offset, size });
            place(id, offset);
        }
        code.static_shared = end - reserved;
        code.reserved_shared = reserved;
        let align = unsized_.iter().map(|(_, v)| v.align.max(1)).max().unwrap_or(1);
        code.dynamic_shared_offset = end.next_multiple_of(align);
        for (id, _) in unsized_ {
            place(id, code.dynamic_shared_offset);
        }
        layout.sized = sized_at;
        layout
    }

    fn is_empty(&self) -> bool {
        self.sized.is_empty()
    }

    /// The variable as the root of an address, if its size is known.
    fn root_of_global(&self, id: GlobalId) -> Option<Root> {
        self.globals.get(&id).and_then(|offset| self.sized.get(offset)).map(|&index| Root::Shared(index))
    }

    fn root_of_local(&self, function: FunctionId, id: LocalId) -> Option<Root> {
        self.locals.get(&(function, id)).and_then(|offset| self.sized.get(offset)).map(|&index| Root::Shared(index))
    }
}

fn lower_function(module: &Module, id: FunctionId, addresses: &Addresses, shared: &SharedLayout, code: &mut Code) {
    let function = &module.functions[id.index()];
    let blocks = blocks::split(function);
    let order = blocks::order(&blocks);
    let liveness = flow::liveness(function, &blocks);
    let start = code.insts.len() as u32;
    let mut selector = Selector::new(module, id, addresses, shared, code);
    let mut starts = vec![u32::MAX; blocks.len()];
    // Branches name blocks until every block has its place.
    let mut branches = Vec::new();
    for (position, &b) in order.iter().enumerate() {
        let block = &blocks[b];
        starts[b] = selector.here();
        for instruction in &function.body[block.start..block.end] {
            selector.at(instruction);
            match &instruction.op {
                Op::Bra { target, .. } => {
                    let at = selector.branch(instruction.guard);
                    branches.push((at, *target));
                }
                op => selector.select(op, instruction.guard),
            }
        }
        let falls_to = order.get(position + 1).copied();
        let last_leaves =
            function.body[block.start..block.end].last().is_some_and(|i| i.guard.is_none() && blocks::leaves(&i.op));
        match block.next {
            Some(next) if Some(next) != falls_to => selector.jump_to_block(next),
            None if !last_leaves => selector.implicit_return(),
            _ => {}
        }
    }
    if order.is_empty() {
        selector.implicit_return();
    }
    let (mut lowered, block_jumps) = selector.finish(&liveness);
    lowered.start = start;
    lowered.end = code.insts.len() as u32;
    let begins = |block: usize| function.nounroll.binary_search(&(blocks[block].start as u32)).is_ok();
    lowered.nounroll = order.iter().filter(|&&block| begins(block)).map(|&block| starts[block]).collect();
    let label_start = |label: ast::LabelId| {
        let target = function.labels.get(label.index())?.target as usize;
        let block = blocks.binary_search_by_key(&target, |b| b.start).ok()?;
        (starts[block] != u32::MAX).then_some(starts[block])
    };
    // A label at the body's very end: an implicit return there.
    let mut tail = None;
    let mut tail_start = |code: &mut Code| {
        *tail.get_or_insert_with(|| {
            let slow = code.slow.len() as u32;
            code.slow.push(SlowOp::Return);
            code.insts.push(Inst { op: MicroOp::Slow(slow), guard: TRUE, negated: false, counted: false });
            code.origins.push(code.origins.last().copied().unwrap_or(Origin::default()));
            code.insts.len() as u32 - 1
        })
    };
    for (at, label) in branches {
        let to = label_start(label).unwrap_or_else(|| tail_start(code));
        match &mut code.insts[at as usize].op {
            MicroOp::Jump(target) | MicroOp::Branch { target, .. } => *target = to,
            _ => {}
        }
    }
    for (at, block) in block_jumps {
        if let MicroOp::Jump(target) = &mut code.insts[at as usize].op {
            *target = starts[block];
        }
    }
    for i in lowered.start..lowered.end {
        let MicroOp::Slow(slow) = code.insts[i as usize].op else { continue };
        let SlowOp::BranchTable { targets, .. } = &code.slow[slow as usize] else { continue };
        let resolved: Vec<u32> = targets
            .clone()
            .into_iter()
            .map(|label| label_start(ast::LabelId(label)).unwrap_or_else(|| tail_start(code)))
            .collect();
        if let SlowOp::BranchTable { targets, .. } = &mut code.slow[slow as usize] {
            *targets = resolved;
        }
    }
    lowered.end = code.insts.len() as u32;
    code.functions[id.index()] = Some(lowered);
}
