//! Machine code is an ELF file. What the assembler has to tell the driver about kernels stands in its section `.nv.info`: records of a
//! format (one byte), an attribute (one byte), and for format 4 a size (two bytes) and so many bytes of value; the others
//! end with two bytes of value. The attributes that are read here hold the index of a symbol and a number.

use std::collections::HashMap;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolIndex};

use crate::Usage;

/// `EIFMT_SVAL`.
const SIZED: u8 = 4;
/// `EIATTR_REGCOUNT` and `EIATTR_MIN_STACK_SIZE`. The first is there for kernels and for functions that are called; the second
/// has what a kernel needs with all that it calls.
const REGISTERS: u8 = 0x2f;
const STACK: u8 = 0x12;

/// Registers and stack of what is in a cubin, by name. `None` where the file is none.
pub fn usage(file: &[u8]) -> Option<HashMap<String, Usage>> {
    let elf = ElfFile64::<Endianness>::parse(file).ok()?;
    let info = elf.section_by_name(".nv.info")?.data().ok()?;
    let mut found: HashMap<String, Usage> = HashMap::new();
    for (attribute, symbol, value) in Records(info) {
        let Ok(symbol) = elf.symbol_by_index(SymbolIndex(symbol as usize)) else { continue };
        let Ok(name) = symbol.name() else { continue };
        match attribute {
            REGISTERS => found.entry(name.to_owned()).or_default().registers = value,
            STACK => found.entry(name.to_owned()).or_default().local_bytes = value,
            _ => {}
        }
    }
    Some(found)
}

/// The records with a symbol and a number: attribute, symbol, number.
struct Records<'a>(&'a [u8]);

impl Iterator for Records<'_> {
    type Item = (u8, u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (&[format, attribute, low, high], rest) = self.0.split_first_chunk()?;
            if format != SIZED {
                self.0 = rest;
                continue;
            }
            let (value, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))?;
            self.0 = rest;
            if let &[a, b, c, d, e, f, g, h] = value {
                return Some((attribute, u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_other_forms_are_passed_over() {
        let bytes = [
            &[3, 0x19, 8, 0][..],
            &[4, 0x2f, 8, 0, 5, 0, 0, 0, 40, 0, 0, 0],
            &[4, 0x17, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            &[4, 0x12, 8, 0, 5, 0, 0, 0, 0x68, 4, 0, 0],
            &[4, 0x12, 8, 0, 5],
        ];
        assert_eq!(Records(&bytes.concat()).collect::<Vec<_>>(), [(0x2f, 5, 40), (0x12, 5, 1128)]);
        assert_eq!(usage(b"no file"), None);
    }
}
