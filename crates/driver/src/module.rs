//! Modules and libraries: loaded PTX, its kernels and its variables.
//!
//! A `CUlibrary` is a module here and a `CUkernel` a function, under the same handles.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use fusion_machine::Loaded;

use crate::boundary::{In, Out, Raw, Text, export};
use crate::driver::{Driver, Session, State, driver};
use crate::error::{Error, Result};
use crate::ffi::{DevicePtr, Handle};
use crate::function::Function;
use crate::{jit, report};

#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: Handle,
    loaded: Arc<Loaded>,
    /// Handles of the functions that were asked for, by name.
    functions: BTreeMap<String, Handle>,
}

impl Module {
    /// Gives its functions and variables back. It must be out of the table.
    pub(crate) fn unload(self, driver: &Driver, state: &mut State) {
        for function in self.functions.into_values() {
            let _ = state.functions.remove(function);
        }
        driver.machine.unload(&self.loaded);
    }
}

impl Session {
    fn function(&mut self, module: Handle, name: &str) -> Result<Handle> {
        let found = self.state.modules.get(module)?;
        if let Some(handle) = found.functions.get(name) {
            return Ok(*handle);
        }
        let loaded = found.loaded.clone();
        let kernel = loaded.kernel(name).ok_or(Error::NOT_FOUND)?;
        let function = Function::new(module, loaded, kernel);
        let handle = self.state.functions.insert(function);
        self.state.modules.get_mut(module)?.functions.insert(name.to_owned(), handle);
        Ok(handle)
    }
}

fn load(out: Out<Handle>, compile: impl FnOnce(&Driver) -> Result<Loaded>) -> Result {
    // The tables are not held while a module is compiled; loading the same PTX from many threads takes its time.
    let driver = {
        let session = Session::begin_uncaptured()?;
        out.required()?;
        session.driver
    };
    let loaded = compile(driver)?;
    let mut session = Session::begin()?;
    let module = Module { context: session.context, loaded: Arc::new(loaded), functions: BTreeMap::new() };
    out.set(session.state.modules.insert(module))
}

fn load_image(out: Out<Handle>, image: Raw, options: &jit::Options) -> Result {
    load(out, |driver| jit::compile(&driver.machine, image, options))
}

fn load_file(out: Out<Handle>, path: Text, options: &jit::Options) -> Result {
    let path = path.get()?;
    load(out, |driver| jit::compile_file(&driver.machine, &path, options))
}

fn unload(module: Handle) -> Result {
    // Taken first, and then the tables: whatever runs on the machine ends before its variables go.
    let driver = driver()?;
    driver.settle();
    let _busy = driver.busy();
    let mut session = Session::begin_regardless()?;
    let removed = session.state.modules.remove(module)?;
    session.state.host_behind_all();
    removed.unload(session.driver, &mut session.state);
    session.sticky()
}

fn get_function(out: Out<Handle>, module: Handle, name: Text) -> Result {
    let mut session = Session::begin()?;
    out.required()?;
    let name = name.get()?;
    // A program may look for a name that need not be there: that is no fault.
    let function = session.function(module, &name).inspect_err(|_| report::no_kernel(&name))?;
    out.set(function)
}

fn get_global(address: Out<DevicePtr>, size: Out<usize>, module: Handle, name: Text) -> Result {
    let session = Session::begin()?;
    let name = name.get()?;
    let (base, bytes) = session.state.modules.get(module)?.loaded.global(&name).ok_or(Error::NOT_FOUND)?;
    address.set_if_wanted(base);
    size.set_if_wanted(bytes as usize);
    Ok(())
}

fn count(out: Out<c_uint>, module: Handle) -> Result {
    let session = Session::begin()?;
    out.set(session.state.modules.get(module)?.loaded.kernel_names().len() as c_uint)
}

fn enumerate(out: Out<Handle>, room: c_uint, module: Handle) -> Result {
    let mut session = Session::begin()?;
    let loaded = session.state.modules.get(module)?.loaded.clone();
    let names = loaded.kernel_names().into_iter().take(room as usize);
    let handles: Result<Vec<Handle>> = names.map(|name| session.function(module, name)).collect();
    out.set_all(handles?)
}

export! {
    fn cuModuleLoad(module: Out<Handle>, path: Text) {
        load_file(module, path, &jit::Options::none())
    }

    fn cuModuleLoadData(module: Out<Handle>, image: Raw) {
        load_image(module, image, &jit::Options::none())
    }

    fn cuModuleLoadDataEx(
        module: Out<Handle>,
        image: Raw,
        count: c_uint,
        options: In<c_uint>,
        values: Raw,
    ) {
        load_image(module, image, &jit::Options::read(count, options, values)?)
    }

    fn cuModuleLoadFatBinary(module: Out<Handle>, image: Raw) {
        load_image(module, image, &jit::Options::none())
    }

    fn cuModuleUnload(module: Handle) {
        unload(module)
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: Text) {
        get_function(function, module, name)
    }

    fn cuModuleGetGlobal_v2(address: Out<DevicePtr>, size: Out<usize>, module: Handle, name: Text) {
        get_global(address, size, module, name)
    }

    fn cuModuleGetFunctionCount(number: Out<c_uint>, module: Handle) {
        count(number, module)
    }

    fn cuModuleEnumerateFunctions(functions: Out<Handle>, room: c_uint, module: Handle) {
        enumerate(functions, room, module)
    }

    fn cuModuleGetLoadingMode(mode: Out<c_int>) {
        // CU_MODULE_EAGER_LOADING
        mode.set(1)
    }

    fn cuLibraryLoadData(
        library: Out<Handle>,
        image: Raw,
        options: In<c_uint>,
        values: Raw,
        count: c_uint,
        _library_options: Raw,
        _library_values: Raw,
        _library_count: c_uint,
    ) {
        load_image(library, image, &jit::Options::read(count, options, values)?)
    }

    fn cuLibraryLoadFromFile(
        library: Out<Handle>,
        path: Text,
        options: In<c_uint>,
        values: Raw,
        count: c_uint,
        _library_options: Raw,
        _library_values: Raw,
        _library_count: c_uint,
    ) {
        load_file(library, path, &jit::Options::read(count, options, values)?)
    }

    fn cuLibraryUnload(library: Handle) {
        unload(library)
    }

    fn cuLibraryGetKernel(kernel: Out<Handle>, library: Handle, name: Text) {
        get_function(kernel, library, name)
    }

    fn cuLibraryGetModule(module: Out<Handle>, library: Handle) {
        let session = Session::begin()?;
        session.state.modules.get(library)?;
        module.set(library)
    }

    fn cuLibraryGetGlobal(address: Out<DevicePtr>, size: Out<usize>, library: Handle, name: Text) {
        get_global(address, size, library, name)
    }

    fn cuLibraryGetKernelCount(number: Out<c_uint>, library: Handle) {
        count(number, library)
    }

    fn cuLibraryEnumerateKernels(kernels: Out<Handle>, room: c_uint, library: Handle) {
        enumerate(kernels, room, library)
    }
}
