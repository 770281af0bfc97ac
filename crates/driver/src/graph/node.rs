//! Adding nodes to graphs, and reading and changing what they do.

use std::ffi::c_uint;
use std::sync::Arc;

use crate::boundary::{In, Out, export};
use crate::copy;
use crate::driver::Session;
use crate::error::{Error, Result};
use crate::ffi::{Handle, HostNodeParams, KernelNodeParams, KernelNodeParamsV2, Memcpy3D, MemsetNodeParams};
use crate::graph::Node;
use crate::launch::{self, Launch};
use crate::memset::Fill;
use crate::operation::{Callback, Marker, Operation};

/// Adds a node whose operation is made once the graph is known to exist.
fn add(
    out: Out<Handle>,
    graph: Handle,
    dependencies: In<Handle>,
    count: usize,
    operation: impl FnOnce(&Session) -> Result<Operation>,
) -> Result {
    let mut session = Session::begin()?;
    out.required()?;
    session.state.graphs.get(graph)?;
    let dependencies = dependencies.get_all(count)?;
    let operation = operation(&session)?;
    out.set(session.state.add_node(Node::new(graph, operation, dependencies))?)
}

pub(super) fn kernel(session: &Session, params: KernelNodeParams) -> Result<Operation> {
    let KernelNodeParams { function, grid, block, shared_bytes, kernel_params, extra } = params;
    let shape = fusion_machine::Launch { grid, block, dynamic_shared: shared_bytes, cooperative: false, cluster: None };
    Ok(Operation::Launch(Arc::new(Launch::new(session, function, shape, kernel_params, extra)?)))
}

pub(super) fn kernel_v2(session: &Session, params: KernelNodeParamsV2) -> Result<Operation> {
    let function = if params.base.function == 0 { params.kernel } else { params.base.function };
    kernel(session, KernelNodeParams { function, ..params.base })
}

fn memset(session: &Session, params: MemsetNodeParams) -> Result<Operation> {
    let MemsetNodeParams { dst, pitch, value, element_size, width, height } = params;
    let fill = Fill { address: dst, pitch, value, element: element_size as usize, width, height };
    fill.check(session.driver)?;
    Ok(Operation::Fill(fill))
}

fn host(params: HostNodeParams) -> Result<Operation> {
    let function = params.function.ok_or(Error::INVALID_VALUE)?;
    Ok(Operation::Call(Callback::Plain { function, data: params.user_data.0 }))
}

fn event(session: &Session, event: Handle, operation: Operation) -> Result<Operation> {
    session.state.events.get(event)?;
    Ok(operation)
}

/// Puts another operation of the same kind into a node.
fn change(node: Handle, operation: impl FnOnce(&Session) -> Result<Operation>) -> Result {
    let mut session = Session::begin()?;
    let new = operation(&session)?;
    let old = &mut session.state.nodes.get_mut(node)?.operation;
    if std::mem::discriminant(old) != std::mem::discriminant(&new) {
        return Err(Error::INVALID_VALUE);
    }
    *old = new;
    Ok(())
}

/// An attribute of a kernel node's launch; those that change no result are not kept.
fn attribute_of(node: Handle, attribute: c_uint) -> Result<[u64; 8]> {
    let session = Session::begin()?;
    match &session.state.nodes.get(node)?.operation {
        Operation::Launch(launch) => launch::value_of(launch.shape(), attribute).ok_or(Error::NOT_SUPPORTED),
        _ => Err(Error::INVALID_VALUE),
    }
}

/// Changes an attribute of a kernel node's launch.
fn set_attribute_of(node: Handle, attribute: c_uint, value: [u64; 8]) -> Result {
    let mut session = Session::begin()?;
    let Operation::Launch(old) = &session.state.nodes.get(node)?.operation else { return Err(Error::INVALID_VALUE) };
    let mut shape = *old.shape();
    launch::apply(&mut shape, attribute, value);
    let new = old.reshaped(&session, shape)?;
    session.state.nodes.get_mut(node)?.operation = Operation::Launch(Arc::new(new));
    Ok(())
}

/// Other parameters for a kernel node, which keeps its attributes.
fn change_kernel(node: Handle, params: impl FnOnce(&Session) -> Result<Operation>) -> Result {
    change(node, |session| {
        let new = params(session)?;
        match (&session.state.nodes.get(node)?.operation, &new) {
            (Operation::Launch(old), Operation::Launch(launch)) => {
                let fusion_machine::Launch { cooperative, cluster, .. } = *old.shape();
                let shape = fusion_machine::Launch { cooperative, cluster, ..*launch.shape() };
                Ok(Operation::Launch(Arc::new(launch.reshaped(session, shape)?)))
            }
            _ => Ok(new),
        }
    })
}

/// What a kernel node launches.
fn launch_of(node: Handle) -> Result<KernelNodeParams> {
    let session = Session::begin()?;
    match &session.state.nodes.get(node)?.operation {
        Operation::Launch(launch) => Ok(launch.node_params()),
        _ => Err(Error::INVALID_VALUE),
    }
}

export! {
    fn cuGraphAddKernelNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        params: In<KernelNodeParams>,
    ) {
        add(node, graph, dependencies, count, |session| kernel(session, params.get()?))
    }

    fn cuGraphAddKernelNode_v2(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        params: In<KernelNodeParamsV2>,
    ) {
        add(node, graph, dependencies, count, |session| kernel_v2(session, params.get()?))
    }

    fn cuGraphAddMemcpyNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        params: In<Memcpy3D>,
        _context: Handle,
    ) {
        add(node, graph, dependencies, count, |session| {
            let copy = copy::boxed(session.driver, &params.get()?)?;
            Ok(copy.map_or(Operation::Nothing(Marker::Empty), Operation::Copy))
        })
    }

    fn cuGraphAddMemsetNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        params: In<MemsetNodeParams>,
        _context: Handle,
    ) {
        add(node, graph, dependencies, count, |session| memset(session, params.get()?))
    }

    fn cuGraphAddHostNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        params: In<HostNodeParams>,
    ) {
        add(node, graph, dependencies, count, |_| host(params.get()?))
    }

    fn cuGraphAddChildGraphNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        child: Handle,
    ) {
        add(node, graph, dependencies, count, |session| {
            let steps = session.state.ordered(child)?.into_iter().map(|(_, step)| step);
            Ok(Operation::Child(Arc::new(steps.collect())))
        })
    }

    fn cuGraphAddEmptyNode(node: Out<Handle>, graph: Handle, dependencies: In<Handle>, count: usize) {
        add(node, graph, dependencies, count, |_| Ok(Operation::Nothing(Marker::Empty)))
    }

    fn cuGraphAddEventRecordNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        recorded: Handle,
    ) {
        add(node, graph, dependencies, count, |session| event(session, recorded, Operation::Record(recorded, None)))
    }

    fn cuGraphAddEventWaitNode(
        node: Out<Handle>,
        graph: Handle,
        dependencies: In<Handle>,
        count: usize,
        awaited: Handle,
    ) {
        add(node, graph, dependencies, count, |session| event(session, awaited, Operation::Wait(awaited, None)))
    }

    fn cuGraphKernelNodeGetParams(node: Handle, params: Out<KernelNodeParams>) {
        params.set(launch_of(node)?)
    }

    fn cuGraphKernelNodeGetParams_v2(node: Handle, params: Out<KernelNodeParamsV2>) {
        params.set(KernelNodeParamsV2 { base: launch_of(node)?, kernel: 0, context: 0 })
    }

    fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: c_uint, value: Out<[u64; 8]>) {
        value.set(attribute_of(node, attribute)?)
    }

    fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_uint, value: In<[u64; 8]>) {
        set_attribute_of(node, attribute, value.get()?)
    }

    fn cuGraphKernelNodeSetParams(node: Handle, params: In<KernelNodeParams>) {
        change_kernel(node, |session| kernel(session, params.get()?))
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, params: In<KernelNodeParamsV2>) {
        change_kernel(node, |session| kernel_v2(session, params.get()?))
    }

    fn cuGraphMemcpyNodeSetParams(node: Handle, params: In<Memcpy3D>) {
        change(node, |session| {
            let copy = copy::boxed(session.driver, &params.get()?)?;
            copy.map(Operation::Copy).ok_or(Error::INVALID_VALUE)
        })
    }

    fn cuGraphMemsetNodeGetParams(node: Handle, params: Out<MemsetNodeParams>) {
        let session = Session::begin()?;
        match &session.state.nodes.get(node)?.operation {
            Operation::Fill(fill) => params.set(fill.params()),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuGraphMemsetNodeSetParams(node: Handle, params: In<MemsetNodeParams>) {
        change(node, |session| memset(session, params.get()?))
    }

    fn cuGraphHostNodeSetParams(node: Handle, params: In<HostNodeParams>) {
        change(node, |_| host(params.get()?))
    }
}
