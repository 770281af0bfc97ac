//! Looking at graphs: nodes, edges, kinds.

use std::ffi::c_int;

use crate::boundary::{Out, Raw, export};
use crate::driver::{State, driver};
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::operation::{Marker, Operation};

/// `CUgraphNodeType`.
fn kind(operation: &Operation) -> c_int {
    match operation {
        Operation::Launch(_) => 0,
        Operation::Copy(_) => 1,
        Operation::Fill(_) => 2,
        Operation::Call(_) => 3,
        Operation::Child(_) => 4,
        Operation::Nothing(Marker::Empty) => 5,
        Operation::Wait(..) => 6,
        Operation::Record(..) => 7,
        Operation::Nothing(Marker::Allocation(_)) => 10,
        Operation::Free(_) => 11,
    }
}

/// Answers a query for a list: how many there are when no room is given, else as many as fit. What is left of the room is cleared.
fn list(items: Vec<Handle>, out: Out<Handle>, count: Out<usize>) -> Result {
    if out.is_null() {
        return count.set(items.len());
    }
    let room = count.get()?;
    count.set(items.len().min(room))?;
    out.set_all(items.into_iter().chain(std::iter::repeat(0)).take(room))
}

fn edges(state: &State, graph: Handle) -> Result<Vec<(Handle, Handle)>> {
    let mut edges = Vec::new();
    for to in &state.graphs.get(graph)?.nodes {
        edges.extend(state.nodes.get(*to)?.dependencies.iter().map(|from| (*from, *to)));
    }
    Ok(edges)
}

fn list_edges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) -> Result {
    let edges = edges(&driver()?.state(), graph)?;
    if from.is_null() != to.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let room = if from.is_null() { 0 } else { count.get()? };
    list(edges.iter().map(|(from, _)| *from).collect(), from, count)?;
    if !to.is_null() {
        to.set_all(edges.into_iter().map(|(_, to)| to).chain(std::iter::repeat(0)).take(room))?;
    }
    Ok(())
}

fn dependencies(node: Handle, out: Out<Handle>, count: Out<usize>) -> Result {
    list(driver()?.state().nodes.get(node)?.dependencies.clone(), out, count)
}

fn dependents(node: Handle, out: Out<Handle>, count: Out<usize>) -> Result {
    let state = driver()?.state();
    let graph = state.nodes.get(node)?.graph;
    list(edges(&state, graph)?.into_iter().filter(|(from, _)| *from == node).map(|(_, to)| to).collect(), out, count)
}

export! {
    fn cuGraphGetNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        list(driver()?.state().graphs.get(graph)?.nodes.clone(), nodes, count)
    }

    fn cuGraphGetRootNodes(graph: Handle, nodes: Out<Handle>, count: Out<usize>) {
        let state = driver()?.state();
        let mut roots = state.graphs.get(graph)?.nodes.clone();
        roots.retain(|node| state.nodes.get(*node).is_ok_and(|node| node.dependencies.is_empty()));
        list(roots, nodes, count)
    }

    fn cuGraphGetEdges(graph: Handle, from: Out<Handle>, to: Out<Handle>, count: Out<usize>) {
        list_edges(graph, from, to, count)
    }

    fn cuGraphGetEdges_v2(graph: Handle, from: Out<Handle>, to: Out<Handle>, edge_data: Raw, count: Out<usize>) {
        if !edge_data.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        list_edges(graph, from, to, count)
    }

    fn cuGraphGetId(graph: Handle, id: Out<u32>) {
        driver()?.state().graphs.get(graph)?;
        id.set(graph as u32)
    }

    fn cuGraphNodeGetType(node: Handle, out: Out<c_int>) {
        out.set(kind(&driver()?.state().nodes.get(node)?.operation))
    }

    fn cuGraphNodeGetContainingGraph(node: Handle, graph: Out<Handle>) {
        graph.set(driver()?.state().nodes.get(node)?.graph)
    }

    fn cuGraphNodeGetDependencies(node: Handle, out: Out<Handle>, count: Out<usize>) {
        dependencies(node, out, count)
    }

    fn cuGraphNodeGetDependencies_v2(node: Handle, out: Out<Handle>, edge_data: Raw, count: Out<usize>) {
        if !edge_data.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        dependencies(node, out, count)
    }

    fn cuGraphNodeGetDependentNodes(node: Handle, out: Out<Handle>, count: Out<usize>) {
        dependents(node, out, count)
    }

    fn cuGraphNodeGetDependentNodes_v2(node: Handle, out: Out<Handle>, edge_data: Raw, count: Out<usize>) {
        if !edge_data.is_null() {
            return Err(Error::NOT_SUPPORTED);
        }
        dependents(node, out, count)
    }
}
