//! Occupancy queries: how many blocks of a kernel fit on a multiprocessor.

use std::ffi::{c_int, c_uint};

use fusion_machine::Profile;
use fusion_machine::occupancy::Limits;

use crate::attribute::multiprocessors;
use crate::boundary::{In, Out, export};
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::{BlockToShared, Handle, LaunchConfig};
use crate::function::Function;
use crate::launch;

/// How many blocks of that many threads run on a multiprocessor at once.
fn blocks_per_sm(profile: &Profile, function: &Function, threads: u32, dynamic_shared: u32) -> u32 {
    let shared = function.info.static_shared.saturating_add(dynamic_shared);
    function.resources().occupancy(profile, threads, shared).blocks
}

/// How many can run at once for all that is known: with as few registers as can be where their number is an estimate.
pub(crate) fn most_blocks_per_sm(profile: &Profile, function: &Function, threads: u32, dynamic_shared: u32) -> u32 {
    let shared = function.info.static_shared.saturating_add(dynamic_shared);
    function.resources().most_occupancy(profile, threads, shared).blocks
}

/// What a query asks a function about.
struct Query {
    session: Session,
    function: Handle,
}

impl Query {
    fn begin(function: Handle) -> Result<Self> {
        let session = Session::begin()?;
        session.state.functions.get(function)?;
        Ok(Self { session, function })
    }

    fn function(&self) -> Result<(&Profile, &Function)> {
        Ok((self.session.driver.machine.profile(), self.session.state.functions.get(self.function)?))
    }

    fn blocks(&self, block_size: c_int, dynamic_shared: usize) -> Result<u32> {
        let (profile, function) = self.function()?;
        let threads = u32::try_from(block_size).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
        let dynamic_shared = u32::try_from(dynamic_shared).unwrap_or(u32::MAX);
        if threads > function.max_threads() || dynamic_shared > function.max_dynamic_shared(profile) {
            return Ok(0);
        }
        Ok(blocks_per_sm(profile, function, threads, dynamic_shared))
    }
}

fn max_active_blocks(out: Out<c_int>, function: Handle, block_size: c_int, dynamic_shared: usize) -> Result {
    out.set(Query::begin(function)?.blocks(block_size, dynamic_shared)? as c_int)
}

/// The block size that keeps the most threads on a multiprocessor; of equals the largest.
fn best_block_size(
    min_grid_size: Out<c_int>,
    block_size: Out<c_int>,
    function: Handle,
    shared_of: BlockToShared,
    dynamic_shared: usize,
    limit: c_int,
) -> Result {
    min_grid_size.required()?;
    block_size.required()?;
    if limit < 0 {
        return Err(Error::INVALID_VALUE);
    }
    let most = {
        let query = Query::begin(function)?;
        let most = query.function()?.1.max_threads() as c_int;
        if limit == 0 { most } else { most.min(limit) }
    };
    let (mut best, mut blocks_of_best) = (0, 0);
    for size in (1..=most).rev().filter(|size| size % 32 == 0 || *size == most) {
        let shared = match shared_of {
            // The tables are not held: the function is the caller's, and may call the driver.
            // SAFETY: the caller passes a function that takes a block size.
            Some(shared_of) => unsafe { shared_of(size) },
            None => dynamic_shared,
        };
        let blocks = Query::begin(function)?.blocks(size, shared)? as c_int;
        if blocks * size > best * blocks_of_best {
            (best, blocks_of_best) = (size, blocks);
        }
    }
    let sms = multiprocessors(Query::begin(function)?.function()?.0) as c_int;
    block_size.set(best)?;
    min_grid_size.set(blocks_of_best * sms)
}

fn available_shared(out: Out<usize>, function: Handle, blocks: c_int, block_size: c_int) -> Result {
    let query = Query::begin(function)?;
    let (profile, function) = query.function()?;
    let blocks = u32::try_from(blocks).ok().filter(|n| *n > 0).ok_or(Error::INVALID_VALUE)?;
    if !(1..=Profile::MAX_THREADS_PER_BLOCK as c_int).contains(&block_size) || query.blocks(block_size, 0)? < blocks {
        return Err(Error::INVALID_VALUE);
    }
    out.set(Limits::of(profile).shared_for(blocks).saturating_sub(function.info.static_shared) as usize)
}

/// How many clusters of a launch run at once.
fn max_active_clusters(out: Out<c_int>, function: Handle, config: In<LaunchConfig>) -> Result {
    let shape = launch::shape(&config.get()?)?;
    let query = Query::begin(function)?;
    let (profile, found) = query.function()?;
    let cluster = shape.cluster.or(found.info.required_cluster).unwrap_or([1; 3]);
    let size = cluster.iter().fold(1u32, |size, &n| size.saturating_mul(n));
    if size == 0 || size > found.max_cluster(profile) {
        return Err(Error::INVALID_CLUSTER_SIZE);
    }
    let threads = c_int::try_from(shape.threads()).map_err(|_| Error::INVALID_VALUE)?;
    let blocks = query.blocks(threads, shape.dynamic_shared as usize)?;
    let sms = profile.sms_for_clusters(size).min(multiprocessors(profile));
    out.set((blocks.min(Profile::MAX_CLUSTER_BLOCKS_PER_SM) * sms / size) as c_int)
}

/// The largest cluster that a launch may ask for.
fn max_cluster_size(out: Out<c_int>, function: Handle, config: In<LaunchConfig>) -> Result {
    let shape = launch::shape(&config.get()?)?;
    let query = Query::begin(function)?;
    let (profile, found) = query.function()?;
    let threads = c_int::try_from(shape.threads()).map_err(|_| Error::INVALID_VALUE)?;
    let fits = query.blocks(threads, shape.dynamic_shared as usize)? > 0;
    out.set(if fits { found.max_cluster(profile) as c_int } else { 0 })
}

export! {
    fn cuOccupancyMaxActiveClusters(clusters: Out<c_int>, function: Handle, config: In<LaunchConfig>) {
        max_active_clusters(clusters, function, config)
    }

    fn cuOccupancyMaxPotentialClusterSize(size: Out<c_int>, function: Handle, config: In<LaunchConfig>) {
        max_cluster_size(size, function, config)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>,
        function: Handle,
        block_size: c_int,
        dynamic_shared: usize,
    ) {
        max_active_blocks(blocks, function, block_size, dynamic_shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>,
        function: Handle,
        block_size: c_int,
        dynamic_shared: usize,
        flags: c_uint,
    ) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        max_active_blocks(blocks, function, block_size, dynamic_shared)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        min_grid_size: Out<c_int>,
        block_size: Out<c_int>,
        function: Handle,
        shared_of: BlockToShared,
        dynamic_shared: usize,
        limit: c_int,
    ) {
        best_block_size(min_grid_size, block_size, function, shared_of, dynamic_shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid_size: Out<c_int>,
        block_size: Out<c_int>,
        function: Handle,
        shared_of: BlockToShared,
        dynamic_shared: usize,
        limit: c_int,
        flags: c_uint,
    ) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        best_block_size(min_grid_size, block_size, function, shared_of, dynamic_shared, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: Out<usize>,
        function: Handle,
        blocks: c_int,
        block_size: c_int,
    ) {
        available_shared(bytes, function, blocks, block_size)
    }
}
