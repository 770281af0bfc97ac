//! All symbols of this library, and looking one up by name (`cuGetProcAddress`).

use std::ffi::c_int;

use crate::boundary::{Export, Out, Raw, Text, export};
use crate::error::{Error, Result};

/// `CUdriverProcAddressQueryResult`.
const FOUND: c_int = 0;
const NOT_FOUND: c_int = 1;

/// Functions whose plain name came to mean another version with a later CUDA, and with which.
/// Where both exist and nothing is said here, the plain name means the plain function.
const NEWER: &[(&str, c_int, &str)] = &[
    ("cuCtxCreate", 13000, "_v4"),
    ("cuDeviceGetUuid", 11040, "_v2"),
    ("cuEventElapsedTime", 12080, "_v2"),
    ("cuGetProcAddress", 12000, "_v2"),
    ("cuGraphAddDependencies", 13000, "_v2"),
    ("cuGraphAddKernelNode", 12000, "_v2"),
    ("cuGraphExecKernelNodeSetParams", 12000, "_v2"),
    ("cuGraphExecUpdate", 12000, "_v2"),
    ("cuGraphGetEdges", 13000, "_v2"),
    ("cuGraphKernelNodeGetParams", 12000, "_v2"),
    ("cuGraphKernelNodeSetParams", 12000, "_v2"),
    ("cuGraphNodeGetDependencies", 13000, "_v2"),
    ("cuGraphNodeGetDependentNodes", 13000, "_v2"),
    ("cuGraphRemoveDependencies", 13000, "_v2"),
    ("cuMemAdvise", 13000, "_v2"),
    ("cuMemPrefetchAsync", 13000, "_v2"),
    ("cuStreamGetCaptureInfo", 13000, "_v3"),
    ("cuStreamGetCaptureInfo", 11030, "_v2"),
    ("cuStreamBatchMemOp", 12000, "_v2"),
    ("cuStreamWaitValue32", 12000, "_v2"),
    ("cuStreamWaitValue64", 12000, "_v2"),
    ("cuStreamWriteValue32", 12000, "_v2"),
    ("cuStreamWriteValue64", 12000, "_v2"),
];

/// Every exported function of the driver API.
pub(crate) fn all() -> impl Iterator<Item = &'static Export> {
    let tables = [
        EXPORTS,
        crate::capture::EXPORTS,
        crate::context::EXPORTS,
        crate::copy::EXPORTS,
        crate::device::EXPORTS,
        crate::driver::EXPORTS,
        crate::error::EXPORTS,
        crate::event::EXPORTS,
        crate::function::EXPORTS,
        crate::host::EXPORTS,
        crate::launch::EXPORTS,
        crate::link::EXPORTS,
        crate::memory::EXPORTS,
        crate::memset::EXPORTS,
        crate::module::EXPORTS,
        crate::occupancy::EXPORTS,
        crate::pointer::EXPORTS,
        crate::pool::EXPORTS,
        crate::profiler::EXPORTS,
        crate::stream::EXPORTS,
        crate::tensor_map::EXPORTS,
        crate::unsupported::EXPORTS,
    ];
    tables.into_iter().chain(crate::graph::ALL_EXPORTS).flatten()
}

fn find(name: &str) -> Option<*const ()> {
    all().find(|export| export.name == name).map(Export::address)
}

fn look_up(name: &str, version: c_int) -> Option<*const ()> {
    let newer = NEWER.iter().find(|(base, since, _)| *base == name && version >= *since);
    newer
        .and_then(|(base, _, suffix)| find(&format!("{base}{suffix}")))
        .or_else(|| find(name))
        .or_else(|| find(&format!("{name}_v2")))
}

fn get(symbol: Text, function: Out<Raw>, version: c_int, status: Out<c_int>) -> Result {
    function.required()?;
    let address = look_up(&symbol.get()?, version);
    status.set_if_wanted(if address.is_some() { FOUND } else { NOT_FOUND });
    function.set(Raw(address.map_or(0, |address| address as usize)))?;
    address.map(|_| ()).ok_or(Error::NOT_FOUND)
}

export! {
    fn cuGetProcAddress(symbol: Text, function: Out<Raw>, version: c_int, _flags: u64) {
        get(symbol, function, version, Raw::NULL.as_out())
    }

    fn cuGetProcAddress_v2(
        symbol: Text,
        function: Out<Raw>,
        version: c_int,
        _flags: u64,
        status: Out<c_int>,
    ) {
        get(symbol, function, version, status)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_symbol_is_there_once() {
        let mut seen = HashSet::new();
        assert!(all().all(|export| seen.insert(export.name)));
        for (base, _, suffix) in NEWER {
            assert!(seen.contains(format!("{base}{suffix}").as_str()), "{base}{suffix}");
        }
    }

    #[test]
    fn plain_names_mean_the_version_of_their_time() {
        assert_eq!(look_up("cuMemAlloc", 12000), find("cuMemAlloc_v2"));
        assert_eq!(look_up("cuCtxCreate", 12000), find("cuCtxCreate_v2"));
        assert_eq!(look_up("cuCtxCreate", 13000), find("cuCtxCreate_v4"));
        assert_eq!(look_up("cuEventElapsedTime", 12000), find("cuEventElapsedTime"));
        assert_eq!(look_up("cuNoSuchThing", 13000), None);
    }
}
