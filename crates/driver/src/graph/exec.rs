//! Graphs that can be launched: a graph's operations in order, as they were when it was instantiated.

use std::ffi::{c_char, c_int};
use std::mem::discriminant;
use std::sync::Arc;

use crate::boundary::{In, Out, export};
use crate::driver::{Session, driver};
use crate::error::{Error, Result};
use crate::ffi::{GraphExecUpdateResultInfo, GraphInstantiateParams, Handle, KernelNodeParams, KernelNodeParamsV2};
use crate::graph::node;
use crate::operation::{Operation, Step};

/// `CUgraphInstantiate_flags`.
const AUTO_FREE_ON_LAUNCH: u64 = 1;
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 15;
/// `CUgraphExecUpdateResult`.
const UPDATE_SUCCESS: c_int = 0;
const UPDATE_TOPOLOGY_CHANGED: c_int = 2;
const UPDATE_TYPE_CHANGED: c_int = 3;

#[derive(Debug)]
pub(crate) struct Exec {
    /// Nodes of the graph that it was made from, and what they do.
    steps: Vec<(Handle, Step)>,
    flags: u64,
}

fn instantiate(out: Out<Handle>, graph: Handle, flags: u64) -> Result {
    let mut session = Session::begin()?;
    out.required()?;
    let contradictory = flags & DEVICE_LAUNCH != 0 && flags & (AUTO_FREE_ON_LAUNCH | UPLOAD) != 0;
    if flags & !FLAGS != 0 || contradictory {
        return Err(Error::INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        return Err(Error::NOT_SUPPORTED);
    }
    let steps = session.state.ordered(graph)?;
    out.set(session.state.execs.insert(Exec { steps, flags }))
}

/// Replaces what an instantiated graph does by what another graph of the same shape does.
fn update(exec: Handle, graph: Handle) -> Result<std::result::Result<(), c_int>> {
    let mut session = Session::begin()?;
    let steps = session.state.ordered(graph)?;
    let exec = session.state.execs.get_mut(exec)?;
    if steps.len() != exec.steps.len() {
        return Ok(Err(UPDATE_TOPOLOGY_CHANGED));
    }
    if steps.iter().zip(&exec.steps).any(|(new, old)| discriminant(&new.1.operation) != discriminant(&old.1.operation))
    {
        return Ok(Err(UPDATE_TYPE_CHANGED));
    }
    // The nodes by which the steps are known stay those of the first graph.
    for (old, (_, new)) in exec.steps.iter_mut().zip(steps) {
        old.1 = new;
    }
    Ok(Ok(()))
}

fn set_kernel(exec: Handle, node: Handle, operation: impl FnOnce(&Session) -> Result<Operation>) -> Result {
    let mut session = Session::begin()?;
    let new = operation(&session)?;
    let steps = &mut session.state.execs.get_mut(exec)?.steps;
    let step = steps.iter_mut().find(|step| step.0 == node).ok_or(Error::INVALID_VALUE)?;
    if !matches!(step.1.operation, Operation::Launch(_)) {
        return Err(Error::INVALID_VALUE);
    }
    step.1.operation = new;
    Ok(())
}

export! {
    fn cuGraphInstantiateWithFlags(exec: Out<Handle>, graph: Handle, flags: u64) {
        instantiate(exec, graph, flags)
    }

    fn cuGraphInstantiate_v2(
        exec: Out<Handle>,
        graph: Handle,
        error_node: Out<Handle>,
        _log: Out<c_char>,
        _log_size: usize,
    ) {
        error_node.set_if_wanted(0);
        instantiate(exec, graph, 0)
    }

    fn cuGraphInstantiateWithParams(exec: Out<Handle>, graph: Handle, params: Out<GraphInstantiateParams>) {
        let given = params.get()?;
        let result = instantiate(exec, graph, given.flags);
        // CUDA_GRAPH_INSTANTIATE_SUCCESS or CUDA_GRAPH_INSTANTIATE_ERROR
        params.set(GraphInstantiateParams { error_node: 0, result: c_int::from(result.is_err()), ..given })?;
        result
    }

    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        let session = Session::begin()?;
        let stream = session.stream(stream)?;
        let steps = &session.state.execs.get(exec)?.steps;
        let steps = steps.iter().map(|(_, step)| step.clone()).collect();
        session.submit(stream, Operation::Child(Arc::new(steps)))
    }

    fn cuGraphUpload(exec: Handle, stream: Handle) {
        let session = Session::begin()?;
        session.stream(stream)?;
        session.state.execs.get(exec).map(|_| ())
    }

    fn cuGraphExecDestroy(exec: Handle) {
        driver()?.state().execs.remove(exec).map(|_| ())
    }

    fn cuGraphExecGetFlags(exec: Handle, flags: Out<u64>) {
        flags.set(driver()?.state().execs.get(exec)?.flags)
    }

    fn cuGraphExecKernelNodeSetParams(exec: Handle, node: Handle, params: In<KernelNodeParams>) {
        set_kernel(exec, node, |session| node::kernel(session, params.get()?))
    }

    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: In<KernelNodeParamsV2>) {
        set_kernel(exec, node, |session| node::kernel_v2(session, params.get()?))
    }

    fn cuGraphExecUpdate(exec: Handle, graph: Handle, error_node: Out<Handle>, result: Out<c_int>) {
        error_node.set_if_wanted(0);
        let updated = update(exec, graph)?;
        result.set_if_wanted(updated.err().unwrap_or(UPDATE_SUCCESS));
        updated.map_err(|_| Error::GRAPH_EXEC_UPDATE_FAILURE)
    }

    fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: Out<GraphExecUpdateResultInfo>) {
        info.required()?;
        let updated = update(exec, graph)?;
        let result = updated.err().unwrap_or(UPDATE_SUCCESS);
        info.set(GraphExecUpdateResultInfo { result, error_node: 0, error_from_node: 0 })?;
        updated.map_err(|_| Error::GRAPH_EXEC_UPDATE_FAILURE)
    }
}
