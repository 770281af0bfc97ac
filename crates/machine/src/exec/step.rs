//! The interpreter's loop.
//!
//! It is compiled twice, for any processor and for those with AVX2 and FMA; everything hot is
//! inlined into it so that it is compiled so too. Results do not depend on which one runs.

pub(crate) mod builtin;
mod call;
mod matrix;
mod slow;
pub(crate) mod turn;
mod warpgroup;

use pulp::WithSimd;

use super::context::{Common, Worker};
use super::fault::trap::Trapped;
use super::memory::{self, Load, Request, Store, param};
use super::state::address::addresses;
use super::state::lanes::{FULL, View, each, lanes};
use super::state::stack::Stack;
use super::state::warp::{Flow, Split, Warp};
use crate::arith::approx;
use crate::arith::round::RN;
use crate::arith::{double, single};
use crate::code::{Compared, D4, MicroOp, TRUE};
use fusion_ptx::ast::{BoolOp, Compare};

/// Runs one split until it must stop: its lanes part or leave, it reaches `meeting` (where others
/// wait), it has to wait, or it has executed `limit` instructions.
pub(crate) fn run(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    meeting: u32,
    limit: u64,
) -> Trapped {
    let arch = worker.arch;
    arch.dispatch(Step { worker, common, warp, split, meeting, limit })
}

struct Step<'s, 'a> {
    worker: &'s mut Worker<'a>,
    common: &'s mut Common,
    warp: &'s mut Warp,
    split: &'s mut Split,
    meeting: u32,
    limit: u64,
}

impl WithSimd for Step<'_, '_> {
    type Output = Trapped;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Trapped {
        let Step { worker, common, warp, split, meeting, limit } = self;
        let mut pc = split.pc;
        let mut counts = Counts::default();
        let result = execute::<S>(worker, common, warp, split, &mut pc, &mut counts, meeting, limit);
        counts.flush(worker, warp);
        match result {
            Ok(true) => {
                split.pc = pc;
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(mut trap) => {
                trap.pc.get_or_insert(pc);
                split.pc = pc;
                Err(trap)
            }
        }
    }
}

/// Instructions executed since the last time they were added up.
#[derive(Default)]
struct Counts {
    executed: u64,
    warp: u64,
    thread: u64,
}

impl Counts {
    #[inline(always)]
    fn flush(&mut self, worker: &mut Worker<'_>, warp: &mut Warp) {
        warp.clock += self.executed;
        worker.counters.warp_instructions += self.warp;
        worker.counters.thread_instructions += self.thread;
        *self = Self::default();
    }
}

/// Says whether the split goes on at `pc`; if not, it has been told itself.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the state of one loop, kept in registers")]
fn execute<S: pulp::Simd>(
    worker: &mut Worker<'_>,
    common: &mut Common,
    warp: &mut Warp,
    split: &mut Split,
    at: &mut u32,
    counts: &mut Counts,
    meeting: u32,
    limit: u64,
) -> Trapped<bool> {
    let code = worker.run.code;
    let mask = split.mask;
    let mut regs = warp.regs.view(split.bases);
    let mut pc = *at;
    let mut left = limit.max(1);
    let mut shadowed = common.checks.shadowed(warp.index);
    let recorded = worker.watch.records();
    let followed = common.checks.follows_registers();
    loop {
        let inst = &code.insts[pc as usize];
        let m = match inst.guard {
            TRUE => mask,
            p => mask & regs.predicate(p, inst.negated),
        };
        if inst.counted {
            counts.warp += 1;
            counts.thread += u64::from(m.count_ones());
        }
        counts.executed += 1;
        *at = pc;
        let r = &mut regs;
        // One test for what is rare.
        if shadowed | recorded | followed {
            if followed && m != 0 {
                worker.watch.pc = pc;
                worker.watch.accesses_registers(&mut common.checks, split.bases, pc);
            }
            if recorded {
                worker.watch.step(pc, m);
                if let MicroOp::DivF32(s) = inst.op {
                    let float = |slot, lane: usize| f32::from_bits(r.word(slot)[lane]);
                    let by_routine = |lane| single::is_divided_by_routine(float(s.a, lane), float(s.b, lane));
                    worker.watch.divides(each(m).any(by_routine));
                }
            }
            if shadowed {
                shadowed = worker.watch.follow(&mut common.checks, split, r, pc, m);
            }
        }
        // An instruction that no lane executes: only a branch has a guard of its own.
        if m != 0 {
            match inst.op {
                MicroOp::Add32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_add),
                MicroOp::Sub32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_sub),
                MicroOp::Mul32(s) => r.words2(s.d, s.a, s.b, m, u32::wrapping_mul),
                MicroOp::Mad32(s) => {
                    r.words3(s.d, [s.a, s.b, s.c], m, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
                }
                MicroOp::And32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a & b),
                MicroOp::Or32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a | b),
                MicroOp::Xor32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a ^ b),
                MicroOp::Not32(s) => r.words1(s.d, s.a, m, |a| !a),
                MicroOp::Neg32(s) => r.words1(s.d, s.a, m, u32::wrapping_neg),
                // Shifts by the width or more give zero, or the sign.
                MicroOp::Shl32(s) => r.words2(s.d, s.a, s.b, m, |a, b| if b < 32 { a << (b & 31) } else { 0 }),
                MicroOp::ShrU32(s) => r.words2(s.d, s.a, s.b, m, |a, b| if b < 32 { a >> (b & 31) } else { 0 }),
                MicroOp::ShrS32(s) => r.words2(s.d, s.a, s.b, m, |a, b| (a as i32 >> b.min(31)) as u32),
                MicroOp::MinU32(s) => r.words2(s.d, s.a, s.b, m, u32::min),
                MicroOp::MaxU32(s) => r.words2(s.d, s.a, s.b, m, u32::max),
                MicroOp::MinS32(s) => r.words2(s.d, s.a, s.b, m, |a, b| (a as i32).min(b as i32) as u32),
                MicroOp::MaxS32(s) => r.words2(s.d, s.a, s.b, m, |a, b| (a as i32).max(b as i32) as u32),
                MicroOp::Lop3(s, lut) => {
                    let on = |bit: u8| if lut >> bit & 1 == 1 { FULL } else { 0 };
                    let terms: [u32; 8] = std::array::from_fn(|bit| on(bit as u8));
                    r.words3(s.d, [s.a, s.b, s.c], m, |a, b, c| {
                        let low = !a & (!b & (!c & terms[0] | c & terms[1]) | b & (!c & terms[2] | c & terms[3]));
                        let high = a & (!b & (!c & terms[4] | c & terms[5]) | b & (!c & terms[6] | c & terms[7]));
                        low | high
                    });
                }
                MicroOp::MulWideU(s) => r.widen(s.d, s.a, s.b, m, |a, b| u64::from(a) * u64::from(b)),
                MicroOp::MulWideS(s) => {
                    r.widen(s.d, s.a, s.b, m, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64);
                }
                MicroOp::MadWideU(s) => {
                    let c = *r.double(s.c);
                    let (a, b) = (*r.word(s.a), *r.word(s.b));
                    let value = lanes(|i| (u64::from(a[i]) * u64::from(b[i])).wrapping_add(c[i]));
                    r.put_double(s.d, m, &value);
                }
                MicroOp::MadWideS(s) => {
                    let c = *r.double(s.c);
                    let (a, b) = (*r.word(s.a), *r.word(s.b));
                    let product = |i: usize| (i64::from(a[i] as i32) * i64::from(b[i] as i32)) as u64;
                    r.put_double(s.d, m, &lanes(|i| product(i).wrapping_add(c[i])));
                }
                MicroOp::Add64(s) => r.doubles2(s.d, s.a, s.b, m, u64::wrapping_add),
                MicroOp::Sub64(s) => r.doubles2(s.d, s.a, s.b, m, u64::wrapping_sub),
                MicroOp::Mul64(s) => r.doubles2(s.d, s.a, s.b, m, u64::wrapping_mul),
                MicroOp::Mad64(s) => {
                    r.doubles3(s.d, [s.a, s.b, s.c], m, |a, b, c| a.wrapping_mul(b).wrapping_add(c));
                }
                MicroOp::And64(s) => r.doubles2(s.d, s.a, s.b, m, |a, b| a & b),
                MicroOp::Or64(s) => r.doubles2(s.d, s.a, s.b, m, |a, b| a | b),
                MicroOp::Xor64(s) => r.doubles2(s.d, s.a, s.b, m, |a, b| a ^ b),
                MicroOp::Shl64(s) => r.shift(s.d, s.a, s.b, m, |a, b| if b < 64 { a << (b & 63) } else { 0 }),
                MicroOp::ShrU64(s) => r.shift(s.d, s.a, s.b, m, |a, b| if b < 64 { a >> (b & 63) } else { 0 }),
                MicroOp::ShrS64(s) => r.shift(s.d, s.a, s.b, m, |a, b| (a as i64 >> b.min(63)) as u64),

                MicroOp::AddF32(s) => r.words2(s.d, s.a, s.b, m, single2(single::add::<RN, false, false>)),
                MicroOp::SubF32(s) => r.words2(s.d, s.a, s.b, m, single2(single::sub::<RN, false, false>)),
                MicroOp::MulF32(s) => r.words2(s.d, s.a, s.b, m, single2(single::mul::<RN, false, false>)),
                MicroOp::FmaF32(s) => fma::<S, false>(r, s, m),
                MicroOp::DivF32(s) => r.words2(s.d, s.a, s.b, m, single2(single::div::<RN, false>)),
                MicroOp::AddF32Ftz(s) => r.words2(s.d, s.a, s.b, m, single2(single::add::<RN, true, false>)),
                MicroOp::SubF32Ftz(s) => r.words2(s.d, s.a, s.b, m, single2(single::sub::<RN, true, false>)),
                MicroOp::MulF32Ftz(s) => r.words2(s.d, s.a, s.b, m, single2(single::mul::<RN, true, false>)),
                MicroOp::FmaF32Ftz(s) => fma::<S, true>(r, s, m),
                MicroOp::MinF32(s) => {
                    r.words2(s.d, s.a, s.b, m, single2(single::min_max::<false, false, false, false>));
                }
                MicroOp::MaxF32(s) => {
                    r.words2(s.d, s.a, s.b, m, single2(single::min_max::<true, false, false, false>));
                }
                MicroOp::NegF32(s) => r.words1(s.d, s.a, m, single1(single::neg::<false>)),
                MicroOp::AbsF32(s) => r.words1(s.d, s.a, m, single1(single::abs::<false>)),
                MicroOp::CopysignF32(s) => r.words2(s.d, s.a, s.b, m, single2(single::copysign)),
                MicroOp::RcpF32(s) => r.put_word(s.d, m, &approx::rcp::<false, 32>(*r.word(s.a))),
                MicroOp::RcpF32Ftz(s) => r.put_word(s.d, m, &approx::rcp::<true, 32>(*r.word(s.a))),
                MicroOp::Ex2F32(s) => r.put_word(s.d, m, &approx::ex2::<false, 32>(*r.word(s.a))),
                MicroOp::Ex2F32Ftz(s) => r.put_word(s.d, m, &approx::ex2::<true, 32>(*r.word(s.a))),
                MicroOp::AddF64(s) => r.doubles2(s.d, s.a, s.b, m, double2(double::add::<RN>)),
                MicroOp::SubF64(s) => r.doubles2(s.d, s.a, s.b, m, double2(double::sub::<RN>)),
                MicroOp::MulF64(s) => r.doubles2(s.d, s.a, s.b, m, double2(double::mul::<RN>)),
                MicroOp::FmaF64(s) => r.doubles3(s.d, [s.a, s.b, s.c], m, |a, b, c| {
                    double::bits(double::fma::<RN>(double::from(a), double::from(b), double::from(c)))
                }),

                MicroOp::Mov32(s) => r.words1(s.d, s.a, m, |a| a),
                MicroOp::Mov64(s) => {
                    let a = *r.double(s.a);
                    r.put_double(s.d, m, &a);
                }
                MicroOp::Select32 { a, b, p, negated, d } => {
                    let p = r.predicate(p, negated);
                    let (a, b) = (*r.word(a), *r.word(b));
                    r.put_word(d, m, &lanes(|i| if p & 1 << i != 0 { a[i] } else { b[i] }));
                }
                MicroOp::Select64 { a, b, p, negated, d } => {
                    let p = r.predicate(p, negated);
                    let (a, b) = (*r.double(a), *r.double(b));
                    r.put_double(d, m, &lanes(|i| if p & 1 << i != 0 { a[i] } else { b[i] }));
                }
                MicroOp::ZeroExtend64(s) => {
                    let a = *r.word(s.a);
                    r.put_double(s.d, m, &lanes(|i| u64::from(a[i])));
                }
                MicroOp::SignExtend64(s) => {
                    let a = *r.word(s.a);
                    r.put_double(s.d, m, &lanes(|i| i64::from(a[i] as i32) as u64));
                }
                MicroOp::Truncate64(s) => {
                    let a = *r.double(s.a);
                    r.put_word(s.d, m, &lanes(|i| a[i] as u32));
                }
                MicroOp::ZeroExtend32(s, bits) => {
                    let keep = (1u32 << bits) - 1;
                    r.words1(s.d, s.a, m, |a| a & keep);
                }
                MicroOp::SignExtend32(s, bits) => {
                    let shift = 32 - u32::from(bits);
                    r.words1(s.d, s.a, m, |a| ((a << shift) as i32 >> shift) as u32);
                }
                MicroOp::S32ToF32(s) => r.words1(s.d, s.a, m, |a| (a as i32 as f32).to_bits()),
                MicroOp::U32ToF32(s) => r.words1(s.d, s.a, m, |a| (a as f32).to_bits()),
                MicroOp::Pack32To64(s) => r.widen(s.d, s.a, s.b, m, |a, b| u64::from(a) | u64::from(b) << 32),
                MicroOp::Unpack64To32 { low, high, a } => {
                    let a = *r.double(a);
                    r.put_word(low, m, &lanes(|i| a[i] as u32));
                    r.put_word(high, m, &lanes(|i| (a[i] >> 32) as u32));
                }
                MicroOp::Pack16To32(s) => r.words2(s.d, s.a, s.b, m, |a, b| a & 0xffff | b << 16),
                MicroOp::Unpack32To16 { low, high, a } => {
                    let a = *r.word(a);
                    r.put_word(low, m, &lanes(|i| a[i] & 0xffff));
                    r.put_word(high, m, &lanes(|i| a[i] >> 16));
                }

                MicroOp::SetpS32(c) => match c.cmp {
                    Compare::Eq => r.compare_words(c.p, c.a, c.b, m, |a, b| a == b),
                    Compare::Ne => r.compare_words(c.p, c.a, c.b, m, |a, b| a != b),
                    Compare::Lt => r.compare_words(c.p, c.a, c.b, m, |a, b| (a as i32) < b as i32),
                    Compare::Le => r.compare_words(c.p, c.a, c.b, m, |a, b| a as i32 <= b as i32),
                    Compare::Gt => r.compare_words(c.p, c.a, c.b, m, |a, b| a as i32 > b as i32),
                    _ => r.compare_words(c.p, c.a, c.b, m, |a, b| a as i32 >= b as i32),
                },
                MicroOp::SetpU32(c) => match c.cmp {
                    Compare::Eq => r.compare_words(c.p, c.a, c.b, m, |a, b| a == b),
                    Compare::Ne => r.compare_words(c.p, c.a, c.b, m, |a, b| a != b),
                    Compare::Lt => r.compare_words(c.p, c.a, c.b, m, |a, b| a < b),
                    Compare::Le => r.compare_words(c.p, c.a, c.b, m, |a, b| a <= b),
                    Compare::Gt => r.compare_words(c.p, c.a, c.b, m, |a, b| a > b),
                    _ => r.compare_words(c.p, c.a, c.b, m, |a, b| a >= b),
                },
                MicroOp::SetpS64(c) => match c.cmp {
                    Compare::Eq => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a == b),
                    Compare::Ne => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a != b),
                    Compare::Lt => r.compare_doubles(c.p, c.a, c.b, m, |a, b| (a as i64) < b as i64),
                    Compare::Le => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a as i64 <= b as i64),
                    Compare::Gt => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a as i64 > b as i64),
                    _ => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a as i64 >= b as i64),
                },
                MicroOp::SetpU64(c) => match c.cmp {
                    Compare::Eq => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a == b),
                    Compare::Ne => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a != b),
                    Compare::Lt => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a < b),
                    Compare::Le => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a <= b),
                    Compare::Gt => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a > b),
                    _ => r.compare_doubles(c.p, c.a, c.b, m, |a, b| a >= b),
                },
                MicroOp::SetpF32(c) => compare_f32(r, c, m, f32::from_bits),
                MicroOp::SetpF32Ftz(c) => compare_f32(r, c, m, |x| single::flush(f32::from_bits(x))),
                MicroOp::Setp(index) => {
                    let c = &code.comparisons[index as usize];
                    slow::compare(r, c, m);
                }
                MicroOp::LogicP(s, op) => {
                    let (a, b) = (r.predicate(s.a, false), r.predicate(s.b, false));
                    let value = match op {
                        BoolOp::And => a & b,
                        BoolOp::Or => a | b,
                        BoolOp::Xor => a ^ b,
                    };
                    r.put_predicate(s.d, m, value);
                }

                MicroOp::Unary(f, d, a) => {
                    let mut value = r.get(a);
                    for v in &mut value {
                        *v = f(*v);
                    }
                    r.put(d, m, &value);
                }
                MicroOp::Binary(f, d, a, b) => {
                    let (a, b) = (r.get(a), r.get(b));
                    r.put(d, m, &lanes(|i| f(a[i], b[i])));
                }
                MicroOp::Ternary(index) => {
                    let t = &code.ternaries[index as usize];
                    let (a, b, c) = (r.get(t.a), r.get(t.b), r.get(t.c));
                    r.put(t.d, m, &lanes(|i| (t.f)(a[i], b[i], c[i])));
                }
                MicroOp::Quaternary(index) => slow::quaternary(r, &code.quaternaries[index as usize], m),
                MicroOp::LoadParam(index) => param::load_known(worker.run, r, &code.accesses[index as usize], m)?,
                MicroOp::Load(index) => {
                    worker.watch.pc = pc;
                    let access = &code.accesses[index as usize];
                    let addrs = addresses(r, &access.address, split.local_base);
                    let request = Request { index, access, mask: m, addrs: &addrs };
                    let stack = Stack { local: &mut warp.local, split };
                    memory::access(worker, common, stack, &mut Load(r), request)?;
                    if worker.watch.undefined {
                        shadowed = worker.watch.followed(&mut common.checks, split, pc);
                    }
                }
                MicroOp::Store(index) => {
                    worker.watch.pc = pc;
                    let access = &code.accesses[index as usize];
                    let addrs = addresses(r, &access.address, split.local_base);
                    let request = Request { index, access, mask: m, addrs: &addrs };
                    let stack = Stack { local: &mut warp.local, split };
                    memory::access(worker, common, stack, &mut Store(r), request)?;
                    warp.bypass.stores(pc, m);
                    if warp.bypass.waited_for {
                        warp.bypass.store(&warp.splits, pc, m);
                    }
                }
                MicroOp::Jump(target) => {
                    pc = target;
                    left -= 1;
                    // Others may stand anywhere: the warp looks for a meeting after every jump.
                    if meeting != u32::MAX || !warp.splits.is_empty() || left == 0 {
                        *at = pc;
                        return Ok(true);
                    }
                    continue;
                }
                MicroOp::Branch { p, negated, target } => {
                    let taken = m & r.predicate(p, negated);
                    worker.counters.branches += 1;
                    left -= 1;
                    if taken == 0 {
                        pc += 1;
                    } else if taken == m {
                        pc = target;
                    } else {
                        worker.counters.divergent_branches += 1;
                        worker.watch.part(split, pc, warp.alive);
                        let stays = Split { pc: pc + 1, mask: m & !taken, ..split.clone() };
                        warp.splits.push(stays);
                        split.mask = taken;
                        *at = target;
                        return Ok(true);
                    }
                    if !warp.splits.is_empty() || left == 0 {
                        *at = pc;
                        return Ok(true);
                    }
                    continue;
                }
                MicroOp::Slow(index) => {
                    counts.flush(worker, warp);
                    worker.watch.pc = pc;
                    split.pc = pc;
                    let flow = slow::execute(worker, common, warp, split, &code.slow[index as usize], m)?;
                    match flow {
                        Flow::Next => {
                            regs = warp.regs.view(split.bases);
                            if shadowed || worker.watch.undefined {
                                shadowed = worker.watch.followed(&mut common.checks, split, pc);
                            }
                        }
                        Flow::Leave => return Ok(false),
                    }
                }
            }
        }
        pc += 1;
        left -= 1;
        if pc == meeting || left == 0 {
            *at = pc;
            return Ok(true);
        }
    }
}

#[inline(always)]
fn single1(f: impl Fn(f32) -> f32) -> impl Fn(u32) -> u32 {
    #[inline(always)]
    move |a| f(f32::from_bits(a)).to_bits()
}

#[inline(always)]
fn single2(f: impl Fn(f32, f32) -> f32) -> impl Fn(u32, u32) -> u32 {
    #[inline(always)]
    move |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

/// The processor's own instruction where the loop is compiled for one that has it; the same result where not.
#[inline(always)]
fn fma<S: pulp::Simd, const FTZ: bool>(r: &mut View<'_>, s: D4, m: u32) {
    let (a, b, c) = (*r.word(s.a), *r.word(s.b), *r.word(s.c));
    let value = if S::IS_SCALAR {
        single::fma_lanes::<FTZ, 32>(&a, &b, &c)
    } else {
        single::fma_lanes_native::<FTZ, 32>(&a, &b, &c)
    };
    r.put_word(s.d, m, &value);
}

#[inline(always)]
fn double2(f: impl Fn(f64, f64) -> f64) -> impl Fn(u64, u64) -> u64 {
    #[inline(always)]
    move |a, b| double::bits(f(double::from(a), double::from(b)))
}

/// The comparisons of PTX ISA 9.3.1.2: ordered ones are false when an operand is NaN, `u` ones true.
#[inline(always)]
fn compare_f32(r: &mut View<'_>, c: Compared, m: u32, read: impl Fn(u32) -> f32) {
    let unordered = |a: f32, b: f32| a.is_nan() | b.is_nan();
    macro_rules! compare {
        (|$a:ident, $b:ident| $test:expr) => {
            r.compare_words(c.p, c.a, c.b, m, |a, b| {
                let ($a, $b) = (read(a), read(b));
                $test
            })
        };
    }
    match c.cmp {
        Compare::Eq => compare!(|a, b| a == b),
        Compare::Ne => compare!(|a, b| (a != b) & !unordered(a, b)),
        Compare::Lt | Compare::Lo => compare!(|a, b| a < b),
        Compare::Le | Compare::Ls => compare!(|a, b| a <= b),
        Compare::Gt | Compare::Hi => compare!(|a, b| a > b),
        Compare::Ge | Compare::Hs => compare!(|a, b| a >= b),
        Compare::Equ => compare!(|a, b| (a == b) | unordered(a, b)),
        Compare::Neu => compare!(|a, b| a != b),
        Compare::Ltu => compare!(|a, b| (a < b) | unordered(a, b)),
        Compare::Leu => compare!(|a, b| (a <= b) | unordered(a, b)),
        Compare::Gtu => compare!(|a, b| (a > b) | unordered(a, b)),
        Compare::Geu => compare!(|a, b| (a >= b) | unordered(a, b)),
        Compare::Num => compare!(|a, b| !unordered(a, b)),
        Compare::Nan => compare!(|a, b| unordered(a, b)),
    }
}
