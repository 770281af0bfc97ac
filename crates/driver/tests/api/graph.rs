use std::ptr::null_mut;

use cudarc::driver::DevicePtr;
use cudarc::driver::sys::{self, CUresult::*};

use crate::support::{answers, context};

#[test]
fn a_graph_is_made_node_by_node() {
    let context = context();
    let stream = context.default_stream();
    let x = stream.alloc_zeros::<u32>(4).unwrap();
    let address = x.device_ptr(&stream).0;
    let memset =
        |value, width| sys::CUDA_MEMSET_NODE_PARAMS { dst: address, pitch: 0, value, elementSize: 4, width, height: 1 };
    let (mut graph, mut exec, mut first, mut second) = (null_mut(), null_mut(), null_mut(), null_mut());
    let mut count = 0;
    // SAFETY: handles are those that the driver gave, arrays as long as stated.
    unsafe {
        answers(sys::cuGraphCreate(&mut graph, 0), CUDA_SUCCESS);
        answers(
            sys::cuGraphAddMemsetNode(&mut second, graph, null_mut(), 0, &memset(2, 2), context.cu_ctx()),
            CUDA_SUCCESS,
        );
        answers(
            sys::cuGraphAddMemsetNode(&mut first, graph, null_mut(), 0, &memset(1, 4), context.cu_ctx()),
            CUDA_SUCCESS,
        );
        answers(sys::cuGraphAddDependencies(graph, &first, &second, 1), CUDA_SUCCESS);
        answers(sys::cuGraphGetNodes(graph, null_mut(), &mut count), CUDA_SUCCESS);
        assert_eq!(count, 2);
        answers(sys::cuGraphGetEdges(graph, null_mut(), null_mut(), &mut count), CUDA_SUCCESS);
        assert_eq!(count, 1);
        let mut kind = sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        answers(sys::cuGraphNodeGetType(first, &mut kind), CUDA_SUCCESS);
        assert_eq!(kind, sys::CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET);

        answers(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0), CUDA_SUCCESS);
        answers(sys::cuGraphLaunch(exec, null_mut()), CUDA_SUCCESS);
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [2, 2, 1, 1]);

        // What is instantiated keeps doing what it did, until it is updated.
        answers(sys::cuGraphMemsetNodeSetParams(first, &memset(9, 4)), CUDA_SUCCESS);
        answers(sys::cuGraphLaunch(exec, null_mut()), CUDA_SUCCESS);
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [2, 2, 1, 1]);
        let mut info = std::mem::zeroed();
        answers(sys::cuGraphExecUpdate_v2(exec, graph, &mut info), CUDA_SUCCESS);
        answers(sys::cuGraphLaunch(exec, null_mut()), CUDA_SUCCESS);
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [2, 2, 9, 9]);

        // A circle cannot run.
        answers(sys::cuGraphAddDependencies(graph, &second, &first, 1), CUDA_SUCCESS);
        let mut circle = null_mut();
        answers(sys::cuGraphInstantiateWithFlags(&mut circle, graph, 0), CUDA_ERROR_INVALID_VALUE);
        answers(sys::cuGraphExecDestroy(exec), CUDA_SUCCESS);
        answers(sys::cuGraphLaunch(exec, null_mut()), CUDA_ERROR_INVALID_HANDLE);
        answers(sys::cuGraphDestroy(graph), CUDA_SUCCESS);
    }
}
