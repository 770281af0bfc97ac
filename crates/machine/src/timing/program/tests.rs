use super::{Program, Step};
use crate::lower::{Addresses, lower};
use crate::profile::Profile;
use crate::timing::{Model, Rates};

/// The program of these instructions, in which `%r1` is a lane's number and `%rd1` an argument.
fn program(body: &str) -> Program {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .pred %p<12>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<12>;\n.shared .align 16 .b8 tile[8192];\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %laneid;\n{body}\nret;\n}}"
    );
    let module = fusion_ptx::parse(&ptx).module;
    let addresses = Addresses { globals: vec![None; module.variables.len()], local_bytes: 0 };
    let code = lower(&module, fusion_ptx::ast::FunctionId(0), &addresses);
    let text = |pc: u32| {
        let span = code.origins[pc as usize].span;
        ptx.get(span.start as usize..span.end as usize).unwrap_or_default().to_string()
    };
    let profile = Profile::default();
    Program::new(&code, &profile.units, &Model::new(Rates::of(&profile), None), text)
}

/// How many instructions cost something.
fn costly(body: &str) -> usize {
    program(body).ops.iter().filter(|op| !op.is_folded()).count()
}

const LOADS: &str = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];\n\
                     ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r4];\n\
                     add.s32 %r8, %r8, %r9;\n";

#[test]
fn a_constant_is_part_of_the_access() {
    let sums = "shl.b32 %r2, %r1, 4;\nadd.s32 %r3, %r2, 32;\nadd.s32 %r4, %r3, 64;\n";
    let two = format!("{sums}{LOADS}st.global.u32 [%rd1], %r8;");
    let base = two.replace(sums, "shl.b32 %r2, %r1, 4;\n").replace("%r3]", "%r2]").replace("%r4]", "%r2]");
    assert_eq!(costly(&two), costly(&base));
    // What is read as a number, too, is computed.
    let as_numbers = two.replace("add.s32 %r8, %r8, %r9;", "add.s32 %r8, %r8, %r4;\nadd.s32 %r8, %r8, %r3;");
    assert_eq!(costly(&as_numbers), costly(&two) + 3);
}

#[test]
fn addresses_of_one_register_are_one() {
    // As halves of addresses of 64 bits, the way NVVM leaves them: all are in use in the loop.
    let sums: String =
        (2..8).map(|at| format!("add.s64 %rd{at}, %rd9, {};\ncvt.u32.u64 %r{at}, %rd{at};\n", 64 * at)).collect();
    let loads: String =
        (2..8).map(|at| format!("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r8}}, [%r{at}];\n")).collect();
    let program = program(&format!(
        "mul.wide.u32 %rd9, %r1, 16;\n{sums}$again:\n{loads}st.global.u32 [%rd1], %r8;\n\
         setp.ne.s32 %p1, %r8, 0;\n@%p1 bra $again;"
    ));
    let own = &program.ops[..program.spills as usize];
    let store = own.iter().rposition(|op| op.kind.reaches_memory()).expect("the loop has one");
    // The base of 64 bits, and what is stored: the argument is a constant.
    assert_eq!(program.live.before(store as u32), 3);
}

#[test]
fn what_was_extended_is_as_wide_as_it_was() {
    let in_use = |made: &str| {
        let program = program(&format!(
            "{made}\n$again:\nld.global.u32 %r2, [%rd1];\nadd.s64 %rd3, %rd2, 1;\nst.global.u64 [%rd1], %rd3;\n\
             setp.ne.s32 %p1, %r2, 0;\n@%p1 bra $again;"
        ));
        let load = program.ops.iter().position(|op| matches!(op.kind, super::Kind::Load(crate::code::Place::Global)));
        program.live.before(load.expect("the loop has one") as u32)
    };
    assert_eq!(in_use("mul.wide.s32 %rd2, %r1, 4;"), 2);
    assert_eq!(in_use("cvt.s64.s32 %rd2, %r1;"), 1);
}

#[test]
fn comparisons_and_sums_do_something_on_the_side() {
    let both = "setp.lt.s32 %p1, %r1, 9;\nsetp.gt.s32 %p2, %r1, 2;\nand.pred %p3, %p1, %p2;\n";
    let one = "setp.lt.s32 %p1, %r1, 9;\nsetp.gt.s32 %p3, %r1, 2;\n";
    let stores = "@%p3 st.global.u32 [%rd1], %r1;";
    assert_eq!(costly(&format!("{both}{stores}")), costly(&format!("{one}{stores}")));
    // Both are of use elsewhere, too.
    let others = "@%p1 st.global.u32 [%rd1], 1;\n@%p2 st.global.u32 [%rd1], 2;\n";
    assert_eq!(
        costly(&format!("{both}{others}{stores}")),
        costly(&format!("{one}{others}{stores}").replace("@%p2", "@%p3")) + 1
    );
    let halved = "shr.u32 %r2, %r1, 31;\nadd.s32 %r3, %r1, %r2;\nst.global.u32 [%rd1], %r3;";
    assert_eq!(costly(halved), costly("add.s32 %r3, %r1, 1;\nst.global.u32 [%rd1], %r3;"));
    // By a number of places that is not known.
    assert_eq!(costly(&halved.replace("31;", "%r1;")), costly(halved) + 1);
}

/// A condition turned around, and what a step of its two sides is.
const TURNED: &str = "setp.gt.s32 %p1, %r1, 5;\nmov.u32 %r3, 0;\n$again:\n@%p1 bra $one;\nbra.uni $other;\n\
                      $one:\nshr.s32 %r2, %r1, 1;\nbra.uni $meet;\n\
                      $other:\nmul.lo.s32 %r2, %r1, 3;\n\
                      $meet:\nadd.s32 %r3, %r3, %r2;\nsetp.lt.s32 %p2, %r3, 99;\n@%p2 bra $again;\n\
                      st.global.u32 [%rd1], %r3;";

#[test]
fn both_sides_of_a_condition_that_is_turned_around_have_a_predicate() {
    let program = program(TURNED);
    let (&begin, &end) = program.predicated.iter().next().expect("the branch is one of these");
    assert_eq!((begin..end).filter(|&pc| !program.ops[pc as usize].is_folded()).count(), 2);
    // Lanes part: those of one side go first, and then the others. Without them, a side is issued for no lane.
    let of = |pc: u32| Step { pc, lanes: 1, ..Step::default() };
    let both: Vec<Step> = (begin..=end).map(of).collect();
    assert_eq!(program.issued(both.clone()).len(), both.len());
    let one: Vec<Step> = [begin, begin + 2, begin + 3, end].map(of).to_vec();
    let issued: Vec<(u32, u32)> = program.issued(one).iter().map(|step| (step.pc, step.lanes.into())).collect();
    let expected = (begin..=end).map(|pc| (pc, u32::from([begin, begin + 2, begin + 3, end].contains(&pc))));
    assert_eq!(issued, expected.collect::<Vec<_>>());
}

#[test]
fn a_side_that_goes_on_is_none() {
    // The first side does something before it jumps: what follows the second is no place where they meet.
    let longer = TURNED.replace("bra.uni $other;", "add.s32 %r3, %r3, 1;\nbra.uni $other;");
    assert!(program(&longer).predicated.is_empty());
}

#[test]
fn sums_that_go_in_a_circle_end() {
    let circle = "add.s32 %r2, %r3, 4;\nadd.s32 %r3, %r2, 4;\nld.shared.u32 %r4, [%r3];\nst.global.u32 [%rd1], %r4;";
    assert!(costly(circle) > 0);
}

#[test]
fn a_sum_stays_where_its_base_is_written_again_and_where_an_access_has_no_room() {
    let sum = |made: &str, constant: u32| {
        format!(
            "shl.b32 %r2, %r1, 4;\n{made}add.s32 %r3, %r2, {constant};\n\
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r8}}, [%r3];\nst.global.u32 [%rd1], %r8;"
        )
    };
    let folded = costly(&sum("", 64));
    assert_eq!(costly(&sum("", 0x80_0000)), folded + 1);
    assert_eq!(costly(&sum("add.s32 %r2, %r2, 1;\n", 64)), folded + 2);
    assert_eq!(costly(&sum("setp.lt.s32 %p1, %r1, 4;\n@%p1 ", 64)), folded + 2);
    // The number of a thread is not there for nothing.
    let special = |made: &str| format!("{made}ld.shared.u8 %r3, [%r2];\nst.global.u32 [%rd1], %r3;");
    let (of_a_lane, sum) = ("mov.u32 %r4, %tid.x;\n", "add.u32 %r2, %r4, 64;\n");
    let costs_more =
        |made: &str| costly(&special(&format!("{of_a_lane}{made}"))) - costly(&special("mov.u32 %r2, 0;\n"));
    assert!(costs_more(sum) >= 1);
}

#[test]
fn what_an_instruction_of_two_costs_is_counted_once() {
    let addressed = |made: &str| {
        format!("{made}\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r8}}, [%r3];\nst.global.u32 [%rd1], %r8;")
    };
    let one = costly(&addressed("shr.u32 %r3, %r1, 3;"));
    assert_eq!(costly(&addressed("shr.u32 %r2, %r1, 3;\nadd.s32 %r3, %r2, 32;")), one);
    let wide = |made: &str| format!("{made}\nld.global.u32 %r8, [%rd3];\nst.global.u32 [%rd1], %r8;");
    let one = costly(&wide("mul.wide.u32 %rd3, %r1, 16;"));
    assert_eq!(costly(&wide("mul.wide.u32 %rd2, %r1, 16;\nadd.s64 %rd3, %rd2, 64;")), one);
}
