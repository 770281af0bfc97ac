//! Calls and returns.

use super::builtin;
use crate::code::{Argument, Call, MicroOp, Reg, SlowOp, Target, window};
use crate::exec::check::Placed;
use crate::exec::context::{Common, Worker};
use crate::exec::fault::trap::{Trap, Trapped};
use crate::exec::state::lanes::{Bases, Lanes, each};
use crate::exec::state::local;
use crate::exec::state::warp::{Flow, Frame, Split, Warp};
use crate::exec::sync::exit::exit;
use crate::profile::Profile;
use crate::report::kind::{Stop, Unsupported};

/// Calls inside of calls.
const MAX_DEPTH: usize = 256;

pub(crate) fn call(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    mask: u32,
    Call { target, args, returns }: &Call,
) -> Trapped<Flow> {
    let code = worker.run.code;
    let (callee, mask) = match target {
        Target::Builtin(name) => {
            builtin::call(worker, common, warp, split, mask, name, args, returns)?;
            return Ok(Flow::Next);
        }
        Target::Direct(id) => {
            warp.detach(split, mask);
            (id.0, mask)
        }
        Target::Indirect(slot) => {
            let chosen = *warp.regs.view(split.bases).double(*slot);
            let address = chosen[mask.trailing_zeros() as usize & 31];
            let same = each(mask).fold(0, |same, lane| same | u32::from(chosen[lane] == address) << lane);
            warp.detach(split, mask);
            // Lanes that call something else come back to this instruction.
            let here = split.pc;
            warp.detach_to(split, same, here);
            let id = address.wrapping_sub(window::FUNCTION);
            if !id.is_multiple_of(16) || id / 16 > u64::from(u32::MAX) {
                return Err(Trap::new(Stop::NoFunction { address }, same));
            }
            ((id / 16) as u32, same)
        }
    };
    let Some(function) = code.function(callee) else {
        return Err(Trap::new(Unsupported::NoBody, mask));
    };
    let Some(caller) = code.function(split.function) else { return Ok(Flow::Next) };
    let bases = Bases {
        words: split.bases.words + caller.words,
        doubles: split.bases.doubles + caller.doubles,
        predicates: split.bases.predicates + caller.predicates,
    };
    let local_base = split.local_base + caller.frame_bytes;
    if split.callers.len() >= MAX_DEPTH || local_base + function.frame_bytes > Profile::MAX_LOCAL_PER_THREAD {
        let depth = split.callers.len() as u64;
        let kind = Stop::StackOverflow { function: function.name.clone(), depth, local_bytes: local_base };
        return Err(Trap::new(kind, mask));
    }
    warp.enter(worker.run, common.id, function, bases, mask);
    common.checks.enter(warp.index, function, bases, local_base, mask);
    warp.local.grow(((local_base + function.frame_bytes) / 4) as usize);
    for (from, to) in args.iter().zip(&function.params) {
        pass(common, warp, mask, (*from, split.bases, split.local_base), (*to, bases, local_base));
    }
    let frame = Frame { call: split.pc, function: split.function, bases: split.bases, local_base: split.local_base };
    split.callers.push(frame);
    split.function = callee;
    split.bases = bases;
    split.local_base = local_base;
    split.pc = function.start;
    Ok(Flow::Leave)
}

pub(crate) fn ret(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    mask: u32,
) -> Trapped<Flow> {
    let code = worker.run.code;
    let Some(&frame) = split.callers.last() else { return exit(&mut worker.watch, common, warp, split, mask) };
    warp.detach(split, mask);
    let returns = match code.insts.get(frame.call as usize).map(|i| i.op) {
        Some(MicroOp::Slow(index)) => match &code.slow[index as usize] {
            SlowOp::Call(call) => call.returns.as_slice(),
            _ => &[],
        },
        _ => &[],
    };
    if let Some(function) = code.function(split.function) {
        for (from, to) in function.returns.iter().zip(returns) {
            pass(common, warp, mask, (*from, split.bases, split.local_base), (*to, frame.bases, frame.local_base));
        }
    }
    common.checks.leave(warp.index, split.bases, mask);
    split.callers.pop();
    split.function = frame.function;
    split.bases = frame.bases;
    split.local_base = frame.local_base;
    split.pc = frame.call + 1;
    Ok(Flow::Leave)
}

/// Copies an argument from one frame to another.
fn pass(common: &mut Common, warp: &mut Warp, mask: u32, from: Placed, to: Placed) {
    common.checks.pass(warp.index, mask, from, to);
    match (from.0, to.0) {
        (Argument::Register(a), Argument::Register(d)) => {
            let value = warp.regs.view(from.1).get(a);
            warp.regs.view(to.1).put(d, mask, &value);
        }
        (Argument::Register(a), Argument::Frame { offset, size }) => {
            let value = warp.regs.view(from.1).get(a);
            let size = size.min(u32::from(a.bits).div_ceil(8).max(1));
            for lane in each(mask) {
                store(warp, lane, to.2 + offset, size, value[lane]);
            }
        }
        (Argument::Frame { offset, size }, Argument::Register(d)) => {
            let mut value = [0; 32];
            for lane in each(mask) {
                value[lane] = load(warp, lane, from.2 + offset, size.min(bytes(d)));
            }
            warp.regs.view(to.1).put(d, mask, &value);
        }
        (Argument::Frame { offset: a, size }, Argument::Frame { offset: d, size: room }) => {
            for row in 0..size.min(room).div_ceil(4) {
                let from = ((from.2 + a) / 4 + row) as usize;
                let to = ((to.2 + d) / 4 + row) as usize;
                let Some(Lanes(values)) = warp.local.get(from).copied() else { continue };
                if let Some(Lanes(target)) = warp.local.get_mut(to) {
                    for lane in each(mask) {
                        target[lane] = values[lane];
                    }
                }
            }
        }
    }
}

fn bytes(reg: Reg) -> u32 {
    u32::from(reg.bits).div_ceil(8)
}

/// Reads an element of a frame; what is not there is zero.
pub(crate) fn load(warp: &Warp, lane: usize, at: u32, size: u32) -> u64 {
    let size = if size == 3 { 2 } else { size.clamp(1, 8) };
    let size = if size > 4 && size < 8 { 4 } else { size };
    if (at + size) as usize > 4 * warp.local.len() {
        return 0;
    }
    local::load_element(&warp.local, lane, u64::from(at), size)
}

fn store(warp: &mut Warp, lane: usize, at: u32, size: u32, value: u64) {
    if (at + size) as usize <= 4 * warp.local.len() {
        local::store_element(&mut warp.local, lane, u64::from(at), size, value);
    }
}

/// The value of an argument in one lane of the caller.
pub(crate) fn argument(warp: &mut Warp, split: &Split, lane: usize, argument: Option<&Argument>) -> u64 {
    match argument {
        Some(Argument::Register(reg)) => warp.regs.view(split.bases).get_lane(*reg, lane),
        Some(Argument::Frame { offset, size }) => load(warp, lane, split.local_base + offset, *size),
        None => 0,
    }
}
