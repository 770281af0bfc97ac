//! The inside of a function: statements, one after and inside the other.

use std::fmt::Write as _;

use fastrand::Rng;

use super::template::{Class, Operand, Template, templates};
use crate::mutate::NUMBERS;

/// Where a body stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Kernel,
    /// The number of the function.
    Function(usize),
}

/// A body under construction. Data lives in the pools of [`Class`]; addresses and loop counters have
/// registers that no instruction of a template writes.
#[derive(Debug)]
pub(super) struct Body<'a> {
    rng: &'a mut Rng,
    place: Place,
    /// How many functions there are to call.
    functions: usize,
    /// Writes to global memory go to the thread's own part of it only.
    private: bool,
    text: String,
    labels: u32,
    /// Loops around the statement.
    loops: u32,
    statements: u32,
}

/// Numbers at the edges of what a float can be.
const FLOATS: [f32; 10] =
    [0.0, -0.0, 1.0, -1.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45];
/// Loops inside of one another.
const DEPTH: u32 = 3;

impl<'a> Body<'a> {
    pub(super) fn new(rng: &'a mut Rng, place: Place, functions: usize, private: bool) -> Self {
        Self { rng, place, functions, private, text: String::new(), labels: 0, loops: 0, statements: 0 }
    }

    pub(super) fn text(mut self) -> String {
        self.prologue();
        let count = match self.place {
            Place::Kernel => self.rng.u32(2..40),
            Place::Function(_) => self.rng.u32(1..12),
        };
        self.block(count, 0);
        self.epilogue();
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str("    ");
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.u32(0..n) == 0
    }

    fn prologue(&mut self) {
        for class in Class::ALL {
            let (prefix, count, ty) = class.pool();
            self.line(&format!(".reg .{ty} {prefix}<{count}>;"));
        }
        self.line(".reg .b64 %own, %in, %con, %loc, %gen, %call, %any;");
        self.line(".reg .b32 %sh, %loop<4>, %lin, %arg;");
        self.line(".reg .pred %again, %deep;");
        self.line(".shared .align 16 .b8 tile[4096];");
        self.line(".local .align 16 .b8 stack[64];");
        self.line("mov.u32 %lin, %tid.x;");
        if self.place == Place::Kernel {
            // A number of the thread in the grid, from 0: x of its block first.
            for line in [
                "mov.u32 %r0, %tid.z; mov.u32 %r1, %ntid.y; mov.u32 %r2, %tid.y;",
                "mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r1, %ntid.x; mad.lo.u32 %lin, %r0, %r1, %lin;",
                "mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y;",
                "mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x;",
                "mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r1, %ntid.x; mov.u32 %r2, %ntid.y;",
                "mul.lo.u32 %r1, %r1, %r2; mov.u32 %r2, %ntid.z; mul.lo.u32 %r1, %r1, %r2;",
                "ld.param.u64 %own, [a]; cvta.to.global.u64 %own, %own;",
                "ld.param.u64 %in, [b]; cvta.to.global.u64 %in, %in;",
                "mad.lo.u32 %r2, %r0, %r1, %lin; mad.wide.u32 %own, %r2, 64, %own;",
                "mad.wide.u32 %in, %lin, 16, %in;",
            ] {
                self.line(line);
            }
        } else {
            self.line("ld.param.b32 %arg, [x]; ld.param.b64 %own, [y]; ld.param.b64 %in, [z];");
        }
        self.line(
            "mov.u32 %sh, tile; mad.lo.u32 %sh, %lin, 16, %sh; cvt.u64.u32 %gen, %sh; cvta.shared.u64 %gen, %gen;",
        );
        self.line("mov.u64 %loc, stack; mov.u64 %con, constants; cvta.local.u64 %any, %loc;");
        for class in Class::ALL {
            let (prefix, count, _) = class.pool();
            for i in 0..count {
                // A few are left as they are: what was never set is an input too.
                if !self.one_in(12) {
                    let line = self.initial(class, &format!("{prefix}{i}"));
                    self.line(&line);
                }
            }
        }
    }

    fn initial(&mut self, class: Class, name: &str) -> String {
        let number = self.rng.u32(..);
        match class {
            Class::Predicate => format!("setp.gt.u32 {name}, %lin, {};", self.rng.u32(0..64)),
            Class::B16 => format!("cvt.u16.u32 {name}, %lin;"),
            Class::B32 => match self.rng.u32(0..3) {
                0 => format!("mov.u32 {name}, {number};"),
                1 => format!("mov.u32 {name}, %lin;"),
                _ => format!("ld.global.u32 {name}, [%in+{}];", 4 * self.rng.u32(0..4)),
            },
            Class::B64 => format!("mul.wide.u32 {name}, %lin, {number};"),
            Class::F32 => format!("cvt.rn.f32.u32 {name}, %lin;"),
            Class::F64 => format!("cvt.rn.f64.s32 {name}, %lin;"),
        }
    }

    fn epilogue(&mut self) {
        if let Place::Function(_) = self.place {
            self.line("st.param.b32 [result], %r1;");
        } else {
            // What was computed shows in memory.
            for (i, register) in ["u32 %r1", "u32 %r4", "f32 %f1", "u64 %d2", "f64 %g1", "u16 %h1"].iter().enumerate() {
                let (ty, name) = register.split_once(' ').unwrap_or_default();
                self.line(&format!("st.global.{ty} [%own+{}], {name};", 8 * i));
            }
        }
        let end = if self.one_in(8) { "exit;" } else { "ret;" };
        self.line(end);
    }

    fn block(&mut self, count: u32, depth: u32) {
        for _ in 0..count {
            self.statements += 1;
            if self.statements > 200 {
                return;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        if self.one_in(6) {
            self.location();
        }
        match self.rng.u32(0..100) {
            0..=5 if depth < DEPTH => self.branch(depth),
            6..=11 if depth < DEPTH => self.repeat(depth),
            12 | 13 if depth < DEPTH => self.switch(depth),
            14..=18 => self.call(),
            // In code that all threads reach, most of the time.
            19..=22 if depth == 0 || self.one_in(10) => self.barrier(),
            23 => self.print(),
            24 => self.stray(),
            25 => self.leave(),
            26 if depth < DEPTH => {
                self.line("{");
                self.line(".reg .b32 inner; .local .align 4 .b32 more[3];");
                self.line("mov.u32 inner, %r1; st.local.u32 [more+4], inner; add.u32 %r2, inner, 1;");
                self.block(2, depth + 1);
                self.line("}");
            }
            27 => self.wild(),
            _ => self.instruction(),
        }
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn predicate(&mut self) -> String {
        let not = if self.rng.bool() { "!" } else { "" };
        format!("@{not}{}", self.register(Class::Predicate))
    }

    fn register(&mut self, class: Class) -> String {
        let (prefix, count, _) = class.pool();
        format!("{prefix}{}", self.rng.usize(..count))
    }

    fn location(&mut self) {
        let (line, column) = (self.rng.u32(0..60), self.rng.u32(0..80));
        let inlined = match self.rng.u32(0..4) {
            0 => format!(", function_name $L__info_string0, inlined_at 1 {} 5", self.rng.u32(1..60)),
            _ => String::new(),
        };
        let file = self.rng.u32(1..3);
        self.line(&format!(".loc {file} {line} {column}{inlined}"));
    }

    fn branch(&mut self, depth: u32) {
        let (other, end) = (self.label(), self.label());
        let predicate = self.predicate();
        let uniform = if self.one_in(10) { ".uni" } else { "" };
        self.line(&format!("{predicate} bra{uniform} {other};"));
        let count = self.rng.u32(0..5);
        self.block(count, depth + 1);
        self.line(&format!("bra {end};"));
        self.line(&format!("{other}:"));
        let count = self.rng.u32(0..5);
        self.block(count, depth + 1);
        self.line(&format!("{end}:"));
    }

    fn repeat(&mut self, depth: u32) {
        let start = self.label();
        let counter = format!("%loop{}", self.loops);
        let times = if self.one_in(30) { "%r3" } else { ["1", "2", "3", "5", "%lin"][self.rng.usize(..5)] };
        self.line(&format!("mov.u32 {counter}, 0;"));
        self.line(&format!("{start}:"));
        self.loops += 1;
        let count = self.rng.u32(1..5);
        self.block(count, depth + 1);
        self.loops -= 1;
        self.line(&format!("add.u32 {counter}, {counter}, 1; setp.lt.u32 %again, {counter}, {times};"));
        self.line(&format!("@%again bra {start};"));
    }

    fn switch(&mut self, depth: u32) {
        let (table, end) = (self.label(), self.label());
        let targets: Vec<String> = (0..self.rng.u32(1..5)).map(|_| self.label()).collect();
        let index = self.register(Class::B32);
        if !self.one_in(20) {
            self.line(&format!("rem.u32 {index}, {index}, {};", targets.len()));
        }
        self.line(&format!("{table}: .branchtargets {};", targets.join(", ")));
        self.line(&format!("brx.idx {index}, {table};"));
        for target in targets {
            self.line(&format!("{target}:"));
            self.block(1, depth + 1);
            if !self.one_in(4) {
                self.line(&format!("bra {end};"));
            }
        }
        self.line(&format!("{end}:"));
    }

    fn call(&mut self) {
        if self.functions == 0 {
            return self.instruction();
        }
        let callee = self.rng.usize(..self.functions);
        // Whoever calls itself or an earlier one does so ever less deep, most of the time.
        let guarded = matches!(self.place, Place::Function(own) if callee <= own) && !self.one_in(30);
        let skip = self.label();
        if guarded {
            self.line("and.b32 %arg, %arg, 7; setp.eq.u32 %deep, %arg, 0; sub.u32 %arg, %arg, 1;");
            self.line(&format!("@%deep bra {skip};"));
        }
        let argument = if self.place == Place::Kernel { "%r5" } else { "%arg" };
        self.line("{");
        self.line(".param .b32 x; .param .b64 y; .param .b64 z; .param .b32 result;");
        self.line(&format!("st.param.b32 [x], {argument}; st.param.b64 [y], %own; st.param.b64 [z], %in;"));
        let uniform = if self.one_in(4) { ".uni" } else { "" };
        if self.one_in(4) {
            let prototype = self.label();
            match self.rng.u32(0..12) {
                0 => self.line("mov.u64 %call, %d1;"),
                1 => self.line("ld.global.u64 %call, [table+4];"),
                2..=6 => self.line(&format!("mov.u64 %call, f{callee};")),
                _ => self.line(&format!("ld.global.u64 %call, [table+{}];", 8 * callee)),
            }
            self.line(&format!(
                "{prototype}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b64 _);"
            ));
            self.line(&format!("call{uniform} (result), %call, (x, y, z), {prototype};"));
        } else {
            let guard = if self.one_in(10) { self.predicate() } else { String::new() };
            self.line(&format!("{guard} call{uniform} (result), f{callee}, (x, y, z);"));
        }
        self.line("ld.param.b32 %r6, [result];");
        self.line("}");
        if guarded {
            self.line(&format!("{skip}:"));
        }
    }

    fn barrier(&mut self) {
        let guard = if self.one_in(30) { self.predicate() } else { String::new() };
        let id = if self.one_in(3) { self.rng.u32(0..16) } else { 16 * u32::from(self.one_in(50)) };
        let count = if self.one_in(10) { [33, 0, 1024, 2048][self.rng.usize(..4)] } else { 32 * self.rng.u32(1..5) };
        let (r, p) = (self.register(Class::B32), self.register(Class::Predicate));
        let text = match self.rng.u32(0..14) {
            0 => format!("bar.sync {id}, {count};"),
            1 => format!("bar.arrive {id}, {count};"),
            2 => format!("bar.red.popc.u32 {r}, {id}, {p};"),
            3 => format!("barrier.red.and.pred {p}, {id}, {count}, {p};"),
            4 if self.one_in(10) => format!("barrier.sync {r};"),
            5 => format!("bar.warp.sync {};", self.number("0xffffffff")),
            6 => format!("shfl.sync.bfly.b32 {r}, {r}, {}, 31, {};", self.rng.u32(0..40), self.number("-1")),
            7 => format!("vote.sync.ballot.b32 {r}, {p}, {r};"),
            8 => self.cluster(),
            9 => "cp.async.commit_group; cp.async.wait_group 0;".to_owned(),
            _ => "bar.sync 0;".to_owned(),
        };
        self.line(&format!("{guard} {text}"));
    }

    /// What reaches for the other blocks of a cluster, and waits for them.
    fn cluster(&mut self) -> String {
        let (a, b) = (self.register(Class::B32), self.register(Class::B32));
        let rank = self.rng.u32(0..3);
        match self.rng.u32(0..6) {
            0 => format!("mapa.shared::cluster.u32 {a}, {b}, {rank}; ld.shared::cluster.u32 {b}, [{a}];"),
            1 => format!("mapa.shared::cluster.u32 {a}, {b}, {rank}; red.shared::cluster.add.u32 [{a}], 1;"),
            2 => format!("getctarank.shared::cluster.u32 {a}, {b};"),
            3 => format!("barrier.cluster.{};", ["arrive", "wait", "arrive.relaxed"][self.rng.usize(..3)]),
            _ => "barrier.cluster.arrive; barrier.cluster.wait;".to_owned(),
        }
    }

    fn print(&mut self) {
        self.line("{ .param .b64 p; .param .b64 q; .param .b32 result;");
        self.line("st.local.u32 [stack], %r1; st.local.f64 [stack+8], %g1; st.local.u64 [stack+16], %d1;");
        let format = if self.one_in(8) { "%d2" } else { "%any" };
        self.line("mov.u64 %call, message; cvta.global.u64 %call, %call;");
        self.line(&format!("st.param.b64 [p], %call; st.param.b64 [q], {format};"));
        self.line("call.uni (result), vprintf, (p, q); }");
    }

    /// Code that goes nowhere, or anywhere.
    fn stray(&mut self) {
        let predicate = self.predicate();
        let label = self.rng.u32(1..=self.labels + 1);
        let new = label > self.labels;
        let target = if new { self.label() } else { format!("L{label}") };
        self.line(&format!("{predicate} bra {target};"));
        if new {
            self.line(&format!("{target}:"));
        }
    }

    fn leave(&mut self) {
        let predicate = self.predicate();
        let how = ["exit", "ret", "trap", "exit", "ret", "nanosleep.u32 100", "brkpt"][self.rng.usize(..7)];
        self.line(&format!("{predicate} {how};"));
    }

    /// An access to wherever a data register points.
    fn wild(&mut self) {
        if !self.one_in(3) {
            return self.instruction();
        }
        let space = ["", ".global", ".shared", ".local", ".const", ".param"][self.rng.usize(..6)];
        let (address, r) = (self.register(Class::B64), self.register(Class::B32));
        let predicate = self.predicate();
        self.line(&format!("{predicate} ld{space}.u32 {r}, [{address}];"));
    }

    /// Another number of the same kind, now and then.
    fn number(&mut self, usual: &str) -> String {
        if !self.one_in(3) {
            return usual.to_owned();
        }
        match usual.get(..2) {
            Some("0f" | "0F") => format!("0f{:08X}", FLOATS[self.rng.usize(..FLOATS.len())].to_bits()),
            Some("0d" | "0D") => format!("0d{:016X}", f64::from(FLOATS[self.rng.usize(..FLOATS.len())]).to_bits()),
            _ if usual.contains('.') => usual.to_owned(),
            _ => {
                let integers = NUMBERS.iter().filter(|number| number.parse::<i64>().is_ok()).collect::<Vec<_>>();
                integers[self.rng.usize(..integers.len())].to_string()
            }
        }
    }

    fn instruction(&mut self) {
        let all = templates();
        let template = &all[self.rng.usize(..all.len())];
        let meets =
            ["bar", "shfl", "vote", "match", "redux", "elect", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"];
        let meets = meets.iter().any(|word| template.opcode.starts_with(word));
        // A kernel's parameters are read only.
        if self.place == Place::Kernel && template.opcode.starts_with("st.param") {
            return;
        }
        // A matrix is larger than what a thread has for itself.
        if self.private && ["wmma.load", "wmma.store"].iter().any(|word| template.opcode.starts_with(word)) {
            return;
        }
        // Where threads meet, all must be there and the numbers must be right, or the kernel is over.
        if meets && !self.one_in(8) {
            return;
        }
        let mut text = if self.one_in(7) && !meets { format!("{} ", self.predicate()) } else { String::new() };
        text.push_str(&template.opcode);
        for (i, operand) in template.operands.iter().enumerate() {
            text.push_str(if i == 0 { " " } else { ", " });
            let operand = self.operand(template, i, operand);
            text.push_str(&operand);
        }
        text.push(';');
        self.line(&text);
    }

    fn operand(&mut self, template: &Template, at: usize, operand: &Operand) -> String {
        let several = |body: &mut Self, parts: &[Operand], between: &str| {
            parts.iter().map(|part| body.operand(template, at, part)).collect::<Vec<_>>().join(between)
        };
        match operand {
            Operand::Register(class) => {
                // A number instead of a source, now and then.
                let usual = match class {
                    Class::F32 => "0f3F800000",
                    Class::F64 => "0d3FF0000000000000",
                    _ => "1",
                };
                let has_numbers =
                    *class != Class::Predicate && !template.opcode.contains("f16") && !template.opcode.contains("cvt");
                if at > 0 && has_numbers && self.one_in(25) {
                    return self.number(usual);
                }
                self.register(*class)
            }
            Operand::Negated(class) => format!("!{}", self.register(*class)),
            Operand::Memory => self.memory(&template.opcode, at),
            Operand::Vector(parts) => format!("{{{}}}", several(self, parts, ", ")),
            Operand::Pair(parts) => several(self, parts, "|"),
            Operand::Number(usual) => self.number(usual),
            Operand::Word(word) => word.clone(),
        }
    }

    /// An address that an opcode may take.
    fn memory(&mut self, opcode: &str, at: usize) -> String {
        let has = |word: &str| opcode.contains(word);
        let writes = !opcode.starts_with("ld");
        let offset = match self.rng.u32(0..60) {
            0 => self.rng.i32(-20..80),
            1 => self.rng.i32(..),
            _ => 16 * self.rng.i32(0..3),
        };
        let mut text = String::new();
        // Never fails: it is a string.
        let _ = if has(".param") {
            let name = match self.place {
                Place::Kernel => ["n", "s", "st", "c"][self.rng.usize(..4)],
                Place::Function(_) if writes => "result",
                Place::Function(_) => ["x", "y"][self.rng.usize(..2)],
            };
            write!(text, "[{name}]")
        } else if opcode.starts_with("cp.async") {
            match at {
                0 => write!(text, "[%sh+{offset}]"),
                _ => write!(text, "[%in+{offset}]"),
            }
        } else if has(".shared") {
            match self.rng.u32(0..6) {
                0 => write!(text, "[tile+{offset}]"),
                1 => write!(text, "[dynamic+{offset}]"),
                _ => write!(text, "[%sh+{offset}]"),
            }
        } else if has(".local") {
            let base = if self.rng.bool() { "stack" } else { "%loc" };
            write!(text, "[{base}+{offset}]")
        } else if has(".const") {
            let base = if self.rng.bool() { "constants" } else { "%con" };
            write!(text, "[{base}+{offset}]")
        } else if has(".global") || self.rng.bool() {
            match writes {
                true if !self.private && self.one_in(6) => write!(text, "[%in+{offset}]"),
                true if self.private => write!(text, "[%own+{}]", 16 * self.rng.u32(0..3)),
                true => write!(text, "[%own+{offset}]"),
                false if self.one_in(3) => write!(text, "[%in+{offset}]"),
                // With an offset of its own only: what others write there may or may not be seen.
                false => write!(text, "[%own+{}]", 16 * self.rng.u32(0..3)),
            }
        } else {
            let base = if self.one_in(3) { "%any" } else { "%gen" };
            write!(text, "[{base}+{}]", 16 * self.rng.u32(0..3))
        };
        text
    }
}
