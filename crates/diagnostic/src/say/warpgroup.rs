//! Products of warp groups (`wgmma`), and what is done beside them.

use fusion_machine::report::kind::Warpgroup;

use super::Words;

const FENCE: &str = "`wgmma.fence.sync.aligned`";

pub(super) fn words(kind: &Warpgroup) -> Words {
    match *kind {
        Warpgroup::Missing { first, came, warps } => {
            let last = first + 3;
            let group = format!("warps {first} to {last}");
            let these: Vec<String> =
                (0..4).filter(|warp| came >> warp & 1 == 1).map(|warp| (first + warp).to_string()).collect();
            let who = match these.as_slice() {
                [one] => format!("of {group} only warp {one} came here"),
                several => format!("of {group} only warps {} came here", several.join(", ")),
            };
            let words = Words::new("not all four warps of a warp group execute `wgmma`").label(who);
            match warps > last {
                true => words.help(format!(
                    "let {group} come here together: a condition around `wgmma` must be the same for 128 threads, from a multiple of 128 on"
                )),
                false => words
                    .note(format!("the block has {warps} warps, and a warp group has four"))
                    .help("launch blocks whose number of threads is a multiple of 128"),
            }
        }
        Warpgroup::Different => Words::new("warps of one warp group execute different `wgmma`")
            .label("one of them is here")
            .help("let all four warps execute the same instruction: a condition around `wgmma` must be the same for 128 threads"),
        Warpgroup::Descriptors { lanes: true } => Words::new("lanes of a warp have different descriptors for one `wgmma`")
            .label("the descriptor differs here")
            .help("make the descriptor of what all 128 threads know alike: not of the thread's index"),
        Warpgroup::Descriptors { lanes: false } => {
            Words::new("warps of one warp group have different descriptors for one `wgmma`")
                .label("with other descriptors")
                .note("a descriptor is that of the whole tile: the hardware finds each warp's 16 rows of A itself")
                .help("make the descriptor of what all 128 threads know alike: not of the thread's or the warp's index")
        }
        Warpgroup::Register { written, factor, committed } => {
            let what = if factor { "a register of A" } else { "a register of the sum" };
            let does = if written { "written" } else { "read" };
            let words = Words::new(format!("{what} is {does} while `wgmma` may still be at work on it"))
                .label(format!("{does} here"));
            match committed {
                true => words
                    .note("`wgmma` goes on behind the warp's back until its group is waited for")
                    .help("put `wgmma.wait_group.sync.aligned 0` before this; with N in place of 0, the last N groups may still be under way"),
                false => words
                    .note("the product belongs to no group that was committed: no `wgmma.wait_group` waits for it")
                    .help("put `wgmma.commit_group.sync.aligned` behind the products, and `wgmma.wait_group.sync.aligned 0` before this"),
            }
        }
        Warpgroup::Fence { first: true } => Words::new("`wgmma` without a `wgmma.fence` before it")
            .label("the warp has executed no `wgmma.fence` yet")
            .help(format!("put {FENCE} before the first product: it orders what threads did with their registers before it")),
        Warpgroup::Fence { first: false } => Words::new("`wgmma` on a register that was accessed after the last `wgmma.fence`")
            .label("the product is here")
            .help(format!("put {FENCE} between that access and the product")),
        Warpgroup::Overwritten => Words::new("shared memory is overwritten while `wgmma` may still read it")
            .label("overwritten here")
            .note("a barrier does not wait for `wgmma`: it goes on behind the warp's back until its group is waited for")
            .help("let every warp that issued the product execute `wgmma.wait_group` before the barrier that lets others overwrite the tile"),
    }
}

/// Beneath the product that is under way.
pub(super) const PRODUCT: &str = "the product is issued here";

/// Beneath the access to a register.
pub(super) fn register(written: bool) -> String {
    format!("the register is {} here", if written { "written" } else { "read" })
}

/// Beneath the same product of another warp.
pub(super) fn other(warp: u32) -> String {
    format!("warp {warp} of the same group is here")
}
