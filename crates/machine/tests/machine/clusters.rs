//! Clusters of blocks: which are refused, what the halves of their barrier order, and that results are the same on every number of workers.

use fusion_machine::report::{Code, Kind, kind};
use fusion_machine::{Checks, Fault, Launch, Machine, Options, Profile};

use crate::support::{Arg, Device, config, races};

fn module(directives: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 z) {directives} {{\n\
         .shared .align 8 .b32 s[64];\n.reg .pred %p<4>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<6>;\n{body}\nret;\n}}\n"
    )
}

fn refused(profile: &str, directives: &str, launch: Launch) -> Option<kind::Refusal> {
    let ptx = module(directives, "");
    let machine = Machine::new(Profile::named(profile).unwrap().clone(), Options::default());
    let loaded = machine.load(fusion_ptx::parse(&ptx).module, &ptx).unwrap();
    match machine.launch(&loaded, loaded.kernel("k").unwrap(), &launch, &[0; 24]) {
        Ok(_) => None,
        Err(fault) => match fault.kind {
            Kind::Refusal(refusal) => Some(refusal),
            kind => panic!("{kind:?}"),
        },
    }
}

#[test]
fn clusters_that_are_no_clusters_are_refused() {
    use kind::Refusal::*;
    let of = |grid: [u32; 3], cluster: [u32; 3]| Launch { grid, cluster: Some(cluster), ..config(1, 32) };
    assert_eq!(refused("h200", "", of([4, 2, 1], [2, 2, 1])), None);
    assert!(matches!(refused("h200", "", of([5, 1, 1], [2, 1, 1])), Some(ClusterGrid { .. })));
    assert!(matches!(refused("h200", "", of([4, 1, 1], [0, 1, 1])), Some(ClusterGrid { .. })));
    assert_eq!(refused("h200", "", of([16, 1, 1], [16, 1, 1])), None);
    assert!(matches!(refused("h200", "", of([32, 1, 1], [32, 1, 1])), Some(ClusterTooLarge { most: 16, .. })));
    assert!(matches!(refused("rtxpro6000", "", of([16, 1, 1], [16, 1, 1])), Some(ClusterTooLarge { most: 8, .. })));
    let most = ".maxclusterrank 4";
    assert!(matches!(refused("h200", most, of([8, 1, 1], [8, 1, 1])), Some(ClusterTooLarge { most: 4, .. })));
    assert!(matches!(refused("a100", "", of([4, 1, 1], [2, 1, 1])), Some(NoClusters { .. })));
    assert_eq!(refused("a100", "", of([4, 1, 1], [1, 1, 1])), None);
    assert_eq!(refused("h200", ".explicitcluster", config(2, 32)), Some(NoCluster));
    let two = ".explicitcluster .reqnctapercluster 2, 1, 1";
    assert_eq!(refused("h200", two, config(2, 32)), None);
    assert!(matches!(refused("h200", two, config(3, 32)), Some(ClusterGrid { .. })));
    assert!(matches!(refused("h200", two, of([4, 1, 1], [4, 1, 1])), Some(OtherCluster { .. })));
}

/// Each block writes a word and reads the other one's. What stands between the two, and behind them.
fn exchange(before: &str, between: &str) -> Vec<Fault> {
    let body = format!(
        "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1;\n\
         {before}\n@%p0 st.shared.u32 [s], 1;\n{between}\n\
         mapa.shared::cluster.u32 %r3, s, %r2;\nld.shared::cluster.u32 %r4, [%r3];\n\
         barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    );
    races(&module(".explicitcluster .reqnctapercluster 2, 1, 1", &body), "k", config(2, 64))
}

#[test]
fn the_halves_of_the_barrier_order_what_comes_before_the_first_and_behind_the_second() {
    let (arrive, wait) = ("barrier.cluster.arrive;", "barrier.cluster.wait;");
    let codes = |found: Vec<Fault>| found.iter().map(Fault::code).collect::<Vec<_>>();
    assert_eq!(codes(exchange("", &format!("{arrive}{wait}"))), []);
    assert_eq!(codes(exchange("", &format!("{arrive} add.u32 %r5, %r0, 1; {wait}"))), []);
    // A write behind the arrival is not waited for.
    assert_eq!(codes(exchange(arrive, wait)), [Code::RaceCluster]);
    // Relaxed, the arrival orders nothing, unless a fence stands before it.
    let relaxed = "barrier.cluster.arrive.relaxed;";
    assert_eq!(codes(exchange("", &format!("{relaxed}{wait}"))), [Code::RaceCluster]);
    assert_eq!(codes(exchange("", &format!("fence.acq_rel.cluster; {relaxed}{wait}"))), []);
}

#[test]
fn a_flag_in_another_block_orders_what_fences_say() {
    let flag = |release: &str, acquire: &str| {
        let body = format!(
            "mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 1;\n\
             setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [s], 0;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\n\
             mapa.shared::cluster.u32 %r3, s, 1;\n@%p1 bra reader;\n\
             st.shared::cluster.u32 [%r3+4], 7;\nst.{release}.shared::cluster.u32 [%r3], 1;\nbra end;\n\
             reader: ld.{acquire}.shared.u32 %r4, [s]; setp.eq.u32 %p2, %r4, 0; @%p2 bra reader;\n\
             ld.shared.u32 %r5, [s+4];\n\
             end: barrier.cluster.arrive; barrier.cluster.wait;\n"
        );
        let found = races(&module(".explicitcluster .reqnctapercluster 2, 1, 1", &body), "k", config(2, 1));
        found.iter().map(Fault::code).collect::<Vec<_>>()
    };
    assert_eq!(flag("release.cluster", "acquire.cluster"), []);
    assert_eq!(flag("relaxed.cluster", "relaxed.cluster"), [Code::RaceCluster]);
}

#[test]
fn results_do_not_depend_on_the_number_of_workers() {
    // A sum over the cluster, by rank 0, into the cluster's element.
    let body = "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x; st.shared.u32 [s], %r2;\n\
                barrier.cluster.arrive; barrier.cluster.wait;\n\
                mapa.shared::cluster.u32 %r3, s, 0; setp.eq.u32 %p0, %r1, 0;\n\
                @!%p0 red.shared::cluster.add.u32 [%r3], %r2;\n\
                barrier.cluster.arrive; barrier.cluster.wait;\n\
                ld.param.u64 %rd0, [x]; mov.u32 %r4, %clusterid.x; mul.wide.u32 %rd1, %r4, 4; add.u64 %rd0, %rd0, %rd1;\n\
                ld.shared.u32 %r5, [s]; @%p0 st.global.u32 [%rd0], %r5;\n";
    let ptx = module(".explicitcluster .reqnctapercluster 4, 1, 1", body);
    let expected: Vec<i32> = (0..64).map(|cluster| (0..4).map(|rank| 4 * cluster + rank).sum()).collect();
    for workers in [1, 4] {
        let device = Device::with(&ptx, Options { workers, checks: Checks::NONE, ..Options::default() });
        let sums = device.buffer(256);
        let none = Arg::Pointer(0);
        device.launch("k", 256, 1, &[Arg::Pointer(sums), none, none]);
        assert_eq!(device.read_ints(sums, 64), expected);
    }
}

#[test]
fn the_time_of_a_launch_with_clusters_is_predicted() {
    let body = "mov.u32 %r1, %cluster_ctarank; xor.b32 %r2, %r1, 1; mov.u32 %r0, %tid.x; shl.b32 %r0, %r0, 2;\n\
                mov.u32 %r3, s; add.u32 %r3, %r3, %r0; st.shared.u32 [%r3], %r1;\n\
                barrier.cluster.arrive; barrier.cluster.wait;\n\
                mapa.shared::cluster.u32 %r4, %r3, %r2; ld.shared::cluster.u32 %r5, [%r4];\n\
                barrier.cluster.arrive; barrier.cluster.wait;\n\
                ld.param.u64 %rd0, [x]; cvt.u64.u32 %rd1, %r0; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r5;\n";
    let ptx = module(".explicitcluster .reqnctapercluster 2, 1, 1", body);
    let device = Device::with(&ptx, Options { times: true, checks: Checks::NONE, ..Options::default() });
    let buffer = device.buffer(256);
    let none = Arg::Pointer(0);
    let arguments = [Arg::Pointer(buffer), none, none];
    let report = device.launch("k", 512, 64, &arguments);
    assert!(report.account.is_some() && report.predicted_ns > 0.0, "{report:?}");
    let params: Vec<u8> = [buffer, 0, 0].iter().flat_map(|value: &u64| value.to_le_bytes()).collect();
    let kernel = device.loaded.kernel("k").unwrap();
    let estimate = device.machine.estimate(&device.loaded, kernel, &config(512, 64), &params).unwrap().unwrap();
    assert!(estimate.ns > 0.0);
}
