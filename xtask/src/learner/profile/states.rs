//! The shares of warps' time by state, as Nsight Compute counts them.

use std::collections::BTreeMap;

use super::ncu::Launch;

/// By the state's name.
pub(super) type Shares = BTreeMap<String, f64>;

/// What the profiler collects for them.
pub(super) const ASKED: &[&str] = &["--section", "WarpStateStats"];

/// What the metrics of warp states begin and end with.
const BEFORE: &str = "smsp__average_warps_issue_stalled_";
const BEHIND: &str = "_per_issue_active.ratio";

/// The shares of each kernel. Of several launches of a kernel the first counts.
pub(super) fn shares(launches: &[Launch]) -> BTreeMap<String, Shares> {
    let mut found = BTreeMap::new();
    for launch in launches {
        let ratio = |(title, &value): (&String, &f64)| {
            let state = title.strip_prefix(BEFORE)?.strip_suffix(BEHIND)?;
            // Others say how much of it lies where nothing is issued.
            (!state.ends_with("_not_issued")).then(|| (state.to_owned(), value))
        };
        let ratios: Shares = launch.metrics.iter().filter_map(ratio).collect();
        let all: f64 = ratios.values().sum();
        if all > 0.0 {
            let shares = ratios.into_iter().map(|(state, ratio)| (state, ratio / all)).collect();
            found.entry(launch.kernel.clone()).or_insert(shares);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use assert_approx_eq::assert_approx_eq;

    use super::*;

    #[test]
    fn the_first_launch_of_a_kernel_counts() {
        let launch = |states: &[(&str, f64)]| Launch {
            kernel: "softmax_naive".to_owned(),
            metrics: states.iter().map(|(state, ratio)| (format!("{BEFORE}{state}{BEHIND}"), *ratio)).collect(),
        };
        let first = launch(&[("barrier", 2.5), ("long_scoreboard", 1007.5), ("barrier_not_issued", 9.0)]);
        let found = shares(&[first, launch(&[("barrier", 1.0)]), Launch::default()]);
        assert_eq!(found.len(), 1);
        let shares = &found["softmax_naive"];
        assert_eq!(shares.len(), 2);
        assert_approx_eq!(shares["barrier"], 2.5 / 1010.0);
    }
}
