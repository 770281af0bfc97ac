//! Reading memory that may not be there.
//!
//! A launch is told how many parameters there are by the kernel, not by its caller: when the caller passes too few, the
//! driver reads past the end of the caller's array. Here that is an error with a message, not a crash.

/// The bytes at each of these places (address and length), one after another. Of a place that cannot be read, its index.
pub(crate) fn read(places: &[(usize, usize)]) -> Result<Vec<u8>, usize> {
    if let Some(null) = places.iter().position(|(address, len)| *address == 0 && *len > 0) {
        return Err(null);
    }
    #[cfg(target_os = "linux")]
    if let Some(read) = linux::read(places) {
        return read;
    }
    let mut bytes = Vec::new();
    for (address, len) in places {
        // SAFETY: by the CUDA API's contract the caller's parameters are readable; nothing on this system lets us ask first.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(*address as *const u8, *len) });
    }
    Ok(bytes)
}

/// Whether the process has memory at an address, where the system lets us ask.
pub(crate) fn is_readable(address: u64) -> bool {
    #[cfg(target_os = "linux")]
    return usize::try_from(address).is_ok_and(|at| at != 0 && matches!(linux::read(&[(at, 1)]), Some(Ok(_))));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = address;
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use libc::{c_void, iovec, process_vm_readv};

    /// The most places that one call reads (`IOV_MAX`).
    const AT_ONCE: usize = 1024;

    /// Asks the kernel for the bytes, which checks addresses. None where the kernel does not offer that.
    pub(super) fn read(places: &[(usize, usize)]) -> Option<Result<Vec<u8>, usize>> {
        let mut bytes = Vec::new();
        for (i, places) in places.chunks(AT_ONCE).enumerate() {
            let total: usize = places.iter().map(|(_, len)| len).sum();
            let mut part = vec![0u8; total];
            let local = iovec { iov_base: part.as_mut_ptr().cast(), iov_len: total };
            let remote: Vec<iovec> = places
                .iter()
                .map(|(address, len)| iovec { iov_base: *address as *mut c_void, iov_len: *len })
                .collect();
            // SAFETY: `local` is a buffer of our own of that length; the other side is only asked for, and checked by the kernel.
            let done = unsafe {
                process_vm_readv(std::process::id() as i32, &local, 1, remote.as_ptr(), remote.len() as u64, 0)
            };
            let done = match usize::try_from(done) {
                Ok(done) => done,
                Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT) => 0,
                Err(_) => return None,
            };
            if done < total {
                let mut end = 0;
                let unread = places.iter().position(|(_, len)| {
                    end += len;
                    end > done
                });
                return Some(Err(i * AT_ONCE + unread.unwrap_or(0)));
            }
            bytes.append(&mut part);
        }
        Some(Ok(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_readable, read};

    #[test]
    fn places_are_read_in_order_and_the_first_bad_one_is_named() {
        let values = [1u8, 2, 3, 4];
        let address = values.as_ptr() as usize;
        assert_eq!(read(&[(address + 2, 2), (address, 1)]), Ok(vec![3, 4, 1]));
        assert_eq!(read(&[(address, 4), (0, 8)]), Err(1));
        #[cfg(target_os = "linux")]
        assert_eq!(read(&[(address, 4), (8, 8), (address, 4)]), Err(1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_of_the_process_is_known() {
        let value = Box::new(1u8);
        assert!(is_readable(&raw const *value as u64));
        assert!(!is_readable(0) && !is_readable(8) && !is_readable(u64::MAX));
    }
}
