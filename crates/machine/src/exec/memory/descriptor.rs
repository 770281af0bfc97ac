//! Where the elements of a matrix lie that a descriptor describes (PTX ISA 9.7.15.5.1.2, "Shared Memory Matrix
//! Layout").
//!
//! Memory is seen in pieces of 16 bytes. Eight of them, one for each of eight rows (or of eight columns of k, where the
//! elements of a column lie side by side), are a *core matrix*.

/// Bytes of a piece.
pub(crate) const PIECE: u32 = 16;

/// The fields of a descriptor, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    /// In rows of 128 bytes: where the pattern begins, if it does not at a multiple of its size.
    base: u32,
    /// Bytes of a row of the pattern: 32, 64 or 128; 16 where nothing is swizzled.
    width: u32,
}

impl Descriptor {
    pub(crate) fn of(bits: u64) -> Self {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * PIECE;
        let width = match bits >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        Self { start: field(0), leading: field(16), stride: field(32), base: (bits >> 49 & 7) as u32, width }
    }

    /// Where the matrix begins.
    pub(crate) fn start(&self) -> u64 {
        self.start.into()
    }

    /// Elements of a row lie side by side: a piece of a row of A, or of a column of B.
    pub(crate) fn along_k(&self, row: u32, piece: u32) -> u64 {
        let across = if self.width == PIECE { self.leading } else { PIECE };
        self.swizzled(row % 8 * self.width + row / 8 * self.stride + piece * across)
    }

    /// Elements of a column lie side by side: a piece of a column of A, or of a row of B.
    pub(crate) fn across_k(&self, piece: u32, k: u32) -> u64 {
        let wide = self.width / PIECE;
        self.swizzled(match self.width {
            PIECE => k % 8 * PIECE + k / 8 * self.leading + piece * self.stride,
            width => piece % wide * PIECE + piece / wide * self.leading + k % 8 * width + k / 8 * self.stride,
        })
    }

    /// The number of a piece in its row of 128 bytes is changed by the row's own: bits of the address by others, three
    /// above them.
    fn swizzled(&self, offset: u32) -> u64 {
        let at = self.start + offset;
        let row = (at >> 7).wrapping_sub(self.base) & (self.width / PIECE - 1);
        (at ^ row << 4).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor(start: u64, leading: u64, stride: u64, mode: u64) -> Descriptor {
        Descriptor::of(start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62)
    }

    /// The manual's examples, in elements: tf32 along k without and with 32 bytes, bf16 across k with 64 bytes (figures
    /// 166, 167, 170).
    #[test]
    fn layouts_are_those_of_the_manual() {
        let plain = descriptor(0, 64 * 4, 32 * 4, 0);
        assert_eq!([plain.along_k(1, 0), plain.along_k(8, 0), plain.along_k(0, 1)], [4 * 4, 32 * 4, 64 * 4]);
        let narrow = descriptor(0, 16, 64 * 4, 3);
        assert_eq!([narrow.along_k(1, 0), narrow.along_k(8, 0), narrow.along_k(0, 1)], [8 * 4, 64 * 4, 4 * 4]);
        // Rows 4 to 7 have their two pieces exchanged.
        assert_eq!([narrow.along_k(4, 0), narrow.along_k(4, 1)], [32 * 4 + 16, 32 * 4]);
        let across = descriptor(0, 256 * 2, 512 * 2, 2);
        assert_eq!([across.across_k(1, 0), across.across_k(4, 0), across.across_k(0, 8)], [8 * 2, 256 * 2, 512 * 2]);
        assert_eq!(across.across_k(0, 2), 2 * 32 * 2 + 16);
        let interleaved = descriptor(0, 128 * 2, 64 * 2, 0);
        let found = [interleaved.across_k(1, 0), interleaved.across_k(0, 1), interleaved.across_k(0, 8)];
        assert_eq!(found, [64 * 2, 8 * 2, 128 * 2]);
    }

    /// A step along k within the rows of the pattern changes the start only; and the pattern may begin elsewhere.
    #[test]
    fn the_pattern_is_that_of_addresses() {
        let at = |start| descriptor(start, 16, 1024, 1);
        assert_eq!(at(1024 + 32).along_k(3, 0), at(1024).along_k(3, 2));
        // Piece 2 of row 3 is the first one but one there.
        assert_eq!(at(1024).along_k(3, 2), 1024 + 3 * 128 + 16);
        let moved = Descriptor::of(0x80 >> 4 | 1024 >> 4 << 32 | 1 << 49 | 1 << 62);
        assert_eq!(moved.along_k(1, 0), 0x100 + 16);
    }
}
