//! `cuLink*`: units of PTX become one module image, a fat binary of one PTX text, which any load takes.

use std::ffi::c_uint;
use std::path::Path;

use fusion_ptx::Unit;

use crate::boundary::{In, Out, Raw, Text, export};
use crate::driver::{Driver, driver};
use crate::error::{Error, Result};
use crate::ffi::Handle;
use crate::{image, jit, peek};

/// The last of `CUjitInputType`: cubin, PTX, fat binary, object, library, NVVM.
const LAST_INPUT: c_uint = 5;

/// A link that is being made.
#[derive(Debug)]
pub(crate) struct Link {
    /// Name and PTX of each input.
    units: Vec<(String, String)>,
    /// Of `cuLinkCreate`: its logs are written until the link is destroyed.
    options: jit::Options,
    /// The image, whose address the caller has.
    image: Option<Vec<u8>>,
}

fn create(out: Out<Handle>, options: jit::Options) -> Result {
    let driver = driver()?;
    out.required()?;
    out.set(driver.state().links.insert(Link { units: Vec::new(), options, image: None }))
}

/// Adds bytes of any kind. What they are is seen by themselves: `cuLinkComplete` calls a fat binary a cubin.
fn add(driver: &Driver, link: Handle, kind: c_uint, bytes: &[u8], name: String) -> Result {
    let mut state = driver.state();
    let link = state.links.get_mut(link)?;
    if kind > LAST_INPUT {
        return Err(Error::INVALID_VALUE);
    }
    let capability = jit::capability(driver.machine.profile());
    let text = image::of(bytes, capability).map_err(|why| jit::refuse(format!("{name}: {why}"), &link.options))?;
    jit::check(&driver.machine, &text, &link.options)?;
    link.units.push((name, text));
    Ok(())
}

fn add_data(link: Handle, kind: c_uint, data: Raw, size: usize, name: Text) -> Result {
    let driver = driver()?;
    let bytes = peek::read(&[(data.0, size)]).map_err(|_| Error::INVALID_VALUE)?;
    // The name may be left out.
    add(driver, link, kind, &bytes, name.get().unwrap_or_else(|_| "<unnamed>".to_owned()))
}

fn add_file(link: Handle, kind: c_uint, path: Text) -> Result {
    let driver = driver()?;
    let path = path.get()?;
    let bytes = std::fs::read(Path::new(&path)).map_err(|_| Error::FILE_NOT_FOUND)?;
    add(driver, link, kind, &bytes, path)
}

fn complete(link: Handle, address: Out<Raw>, size: Out<usize>) -> Result {
    let driver = driver()?;
    address.required()?;
    let mut state = driver.state();
    let link = state.links.get_mut(link)?;
    if link.units.is_empty() {
        return Err(Error::INVALID_VALUE);
    }
    if link.image.is_none() {
        let units: Vec<Unit<'_>> = link.units.iter().map(|(name, text)| Unit { name, text }).collect();
        let text = jit::link(&driver.machine, &units, &link.options)?;
        link.image = Some(image::containing(&text, jit::capability(driver.machine.profile())));
    }
    let image = link.image.as_deref().unwrap_or_default();
    size.set_if_wanted(image.len());
    address.set(Raw(image.as_ptr() as usize))
}

export! {
    fn cuLinkCreate_v2(count: c_uint, options: In<c_uint>, values: Raw, link: Out<Handle>) {
        create(link, jit::Options::read(count, options, values)?)
    }

    fn cuLinkAddData_v2(
        link: Handle,
        kind: c_uint,
        data: Raw,
        size: usize,
        name: Text,
        _count: c_uint,
        _options: In<c_uint>,
        _values: Raw,
    ) {
        add_data(link, kind, data, size, name)
    }

    fn cuLinkAddFile_v2(
        link: Handle,
        kind: c_uint,
        path: Text,
        _count: c_uint,
        _options: In<c_uint>,
        _values: Raw,
    ) {
        add_file(link, kind, path)
    }

    fn cuLinkComplete(link: Handle, image: Out<Raw>, size: Out<usize>) {
        complete(link, image, size)
    }

    fn cuLinkDestroy(link: Handle) {
        driver()?.state().links.remove(link).map(|_| ())
    }
}
