//! Blocks that end while a bulk copy may still use their shared memory.

use fusion_machine::report::{Code, Kind, kind};
use fusion_machine::{Fault, Launch};

use crate::support::{config, races};

/// What is found of a kernel whose first thread executes a body. All others have ended by then.
fn found(body: &str, launch: Launch) -> Vec<Fault> {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {{\n\
         .shared .align 128 .b8 s[256];\n.shared .align 8 .b64 bar;\n\
         .reg .pred %p<4>;\n.reg .b16 %h<2>;\n.reg .b32 %r<10>;\n.reg .b64 %d<6>;\n\
         ld.param.u64 %d0, [x];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %cluster_ctarank;\n\
         mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %d1, %r2, 64;\nadd.u64 %d0, %d0, %d1;\n\
         setp.ne.u32 %p0, %r0, 0;\n@%p0 exit;\n\
         mbarrier.init.shared::cta.b64 [bar], 1;\nfence.proxy.async.shared::cta;\n{body}\nret;\n}}\n"
    );
    races(&ptx, "k", launch)
}

#[track_caller]
fn finished(body: &str) {
    let found = found(body, config(3, 64));
    assert!(found.is_empty(), "{body}\n{found:#?}");
}

/// All three blocks end too early for one copy.
#[track_caller]
fn unfinished(into: bool, body: &str) {
    let found = found(body, config(3, 64));
    let [fault] = &found[..] else { panic!("{body}\n{found:#?}") };
    assert_eq!((&fault.kind, fault.code()), (&Kind::Unfinished(kind::Unfinished { into }), Code::RaceAsync));
    assert_eq!((fault.count, fault.block, fault.thread), (3, Some([0; 3]), Some([0; 3])));
    assert_eq!(fault.buffer.as_ref().and_then(|buffer| buffer.name.identifier()), Some("s"));
}

const OUT: &str = "cp.async.bulk.global.shared::cta.bulk_group [%d0], [s], 64;\n";
const REDUCE: &str = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d0], [s], 64;\n";
const COMMIT: &str = "cp.async.bulk.commit_group;\n";

#[test]
fn a_copy_out_of_a_block_has_read_before_the_block_ends() {
    for copy in [OUT, REDUCE] {
        finished(&format!("{copy}{COMMIT}cp.async.bulk.wait_group.read 0;"));
        finished(&format!("{copy}{COMMIT}cp.async.bulk.wait_group 0;"));
        unfinished(false, &format!("{copy}{COMMIT}"));
        // A wait is for groups, and for those before it.
        unfinished(false, &format!("{copy}cp.async.bulk.wait_group.read 0;"));
        unfinished(false, &format!("cp.async.bulk.wait_group.read 0;{copy}{COMMIT}"));
        unfinished(false, &format!("{copy}{COMMIT}cp.async.bulk.wait_group.read 1;"));
    }
}

const INTO: &str = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n\
     cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 64, [bar];\n";

fn wait(order: &str, parity: u32, label: &str) -> String {
    format!("{label}: mbarrier.try_wait.parity{order}.shared::cta.b64 %p1, [bar], {parity};\n@!%p1 bra {label};\n")
}

#[test]
fn somebody_sees_that_a_copy_into_a_block_is_complete_before_the_block_ends() {
    let (acquire, relaxed) = (wait("", 0, "a"), wait(".relaxed.cta", 0, "a"));
    finished(&format!("{INTO}{acquire}"));
    finished(&format!("{INTO}{relaxed}"));
    unfinished(true, INTO);
    // The second one is of the next phase.
    let again = INTO.replace("[s]", "[s+64]");
    unfinished(true, &format!("{INTO}{acquire}{again}"));
    // Who reads before it has waited is told that, and no more.
    let read = found(&format!("{INTO}ld.shared.u32 %r3, [s];\nst.global.u32 [%d0+1024], %r3;"), config(3, 64));
    assert!(matches!(&read[..], [Fault { kind: Kind::Race(_), .. }]), "{read:#?}");
}

#[test]
fn a_copy_into_both_blocks_of_a_cluster_is_waited_for_by_the_one_that_starts_it() {
    let body = |who: &str| {
        format!(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n\
             barrier.cluster.arrive;\nbarrier.cluster.wait;\nsetp.ne.u32 %p2, %r1, 0;\nmov.b16 %h0, 3;\n\
             @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
             [s], [%d0], 64, [bar], %h0;\n{who}{}end:",
            wait("", 0, "a")
        )
    };
    let launch = || Launch { cluster: Some([2, 1, 1]), ..config(2, 1) };
    let both = found(&body(""), launch());
    assert!(both.is_empty(), "{both:#?}");
    let one = found(&body("@!%p2 bra end;\n"), launch());
    assert_eq!(one.iter().map(Fault::code).collect::<Vec<_>>(), [Code::RaceAsync]);
}
