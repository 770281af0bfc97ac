//! Shared memory, and its elements.

/// A block's shared memory, as words.
pub(crate) type Shared = [u32];

#[inline(always)]
pub(crate) fn load_element(shared: &Shared, addr: u64, element: u32) -> u64 {
    let word = (addr / 4) as usize;
    let low = u64::from(shared[word]);
    match element {
        4 => low,
        8 => low | u64::from(shared[word + 1]) << 32,
        _ => low >> (8 * (addr % 4)) & ((1 << (8 * element)) - 1),
    }
}

#[inline(always)]
pub(crate) fn store_element(shared: &mut Shared, addr: u64, element: u32, value: u64) {
    let word = (addr / 4) as usize;
    match element {
        4 => shared[word] = value as u32,
        8 => {
            shared[word] = value as u32;
            shared[word + 1] = (value >> 32) as u32;
        }
        _ => {
            let shift = 8 * (addr % 4) as u32;
            let mask = ((1u32 << (8 * element)) - 1) << shift;
            shared[word] = shared[word] & !mask | (value as u32) << shift & mask;
        }
    }
}
