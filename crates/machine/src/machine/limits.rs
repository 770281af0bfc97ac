//! The limits of a launch: the device's, and the kernel's own.

use super::{KernelInfo, Launch};
use crate::profile::Profile;
use crate::report::kind::Refusal;

/// What a kernel may be launched with, where its own limits are narrower than the device's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread, where they are known exactly.
    pub registers: Option<u32>,
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared: u32,
    /// Blocks of a cluster.
    pub cluster: u32,
}

/// Blocks of a cluster: as the launch says, or the kernel, or one.
pub(super) fn cluster(info: &KernelInfo, launch: &Launch) -> [u32; 3] {
    launch.cluster.or(info.required_cluster).unwrap_or([1; 3])
}

impl Limits {
    /// Those of a kernel that may have all that the device has.
    pub fn of(profile: &Profile, info: &KernelInfo) -> Self {
        Self {
            threads: info.max_threads,
            registers: None,
            dynamic_shared: profile.shared_per_block_optin.saturating_sub(info.static_shared),
            cluster: profile.cluster_sizes().1,
        }
    }

    /// Checks a launch, the device's limits first.
    ///
    /// # Errors
    /// Why no GPU of the profile would launch it.
    pub fn check(self, profile: &Profile, info: &KernelInfo, launch: &Launch) -> Result<(), Refusal> {
        let threads = launch.threads();
        check_device(launch, threads)?;
        // Dimensions that a directive leaves out are 1.
        if let Some(required) = info.required_threads.map(|dims| dims.map(|n| n.max(1)))
            && required != launch.block
        {
            return Err(Refusal::OtherBlock { block: launch.block, required });
        }
        if threads > u64::from(self.threads) {
            let (compiled_for, registers) = (info.max_threads, self.registers);
            return Err(Refusal::TooManyForKernel { threads, most: self.threads, compiled_for, registers });
        }
        if info.local_bytes > Profile::MAX_LOCAL_PER_THREAD {
            return Err(Refusal::Local { bytes: info.local_bytes, most: Profile::MAX_LOCAL_PER_THREAD });
        }
        if launch.dynamic_shared > self.dynamic_shared {
            return Err(Refusal::Shared {
                dynamic: launch.dynamic_shared,
                most: self.dynamic_shared,
                fixed: info.static_shared,
                room: profile.shared_per_block,
                optin: profile.shared_per_block_optin,
            });
        }
        self.check_cluster(profile, info, launch)
    }

    fn check_cluster(self, profile: &Profile, info: &KernelInfo, launch: &Launch) -> Result<(), Refusal> {
        if info.explicit_cluster && launch.cluster.is_none() && info.required_cluster.is_none() {
            return Err(Refusal::NoCluster);
        }
        let (cluster, grid) = (cluster(info, launch), launch.grid);
        if let Some(required) = info.required_cluster.filter(|required| *required != cluster) {
            return Err(Refusal::OtherCluster { cluster, required });
        }
        let blocks = cluster.iter().fold(1u64, |product, &n| product.saturating_mul(n.into()));
        if blocks == 1 {
            return Ok(());
        }
        if !profile.has_clusters() {
            return Err(Refusal::NoClusters { cluster });
        }
        if cluster.iter().zip(grid).any(|(&n, blocks)| n == 0 || blocks % n != 0) {
            return Err(Refusal::ClusterGrid { cluster, grid });
        }
        let most = info.max_cluster.unwrap_or(u32::MAX).min(self.cluster);
        if blocks > u64::from(most) {
            return Err(Refusal::ClusterTooLarge { cluster, most, device: profile.cluster_sizes().1 });
        }
        Ok(())
    }
}

fn check_device(launch: &Launch, threads: u64) -> Result<(), Refusal> {
    let Launch { grid, block, .. } = *launch;
    let exceeds = |dims: [u32; 3], most: [u32; 3]| dims.iter().zip(most).any(|(n, most)| *n > most);
    if grid.contains(&0) {
        return Err(Refusal::EmptyGrid { grid });
    }
    if block.contains(&0) {
        return Err(Refusal::EmptyBlock { block });
    }
    if exceeds(grid, Profile::MAX_GRID) {
        return Err(Refusal::GridTooLarge { grid, most: Profile::MAX_GRID });
    }
    if threads > u64::from(Profile::MAX_THREADS_PER_BLOCK) {
        return Err(Refusal::TooManyThreads { threads, most: Profile::MAX_THREADS_PER_BLOCK });
    }
    if exceeds(block, Profile::MAX_BLOCK) {
        return Err(Refusal::BlockTooLarge { block, most: Profile::MAX_BLOCK });
    }
    Ok(())
}
