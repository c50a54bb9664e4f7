//! Sizes, symbols and code of a linked image: what `size`, `nm` and `objcopy` of the tool chain report,
//! read from the file itself. It reads little-endian ELF files of 32 or 64 bits.

/// A linked image.
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    wide: bool,
}

struct Section {
    kind: u64,
    flags: u64,
    address: u64,
    offset: usize,
    size: usize,
    link: usize,
}

/// Bytes of an image, counted as GNU `size` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImageSizes {
    pub(crate) text: usize,
    pub(crate) data: usize,
    pub(crate) bss: usize,
}

impl ImageSizes {
    /// Program memory: code, constants and initial values of variables.
    pub(crate) fn flash(&self) -> usize {
        self.text + self.data
    }

    /// RAM of variables.
    pub(crate) fn ram(&self) -> usize {
        self.data + self.bss
    }
}

const SYMBOLS: u64 = 2;
const NO_BITS: u64 = 8;
const WRITE: u64 = 1;
const ALLOC: u64 = 2;

impl<'a> Elf<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let wide = match bytes.get(..6)? {
            b"\x7fELF\x01\x01" => false,
            b"\x7fELF\x02\x01" => true,
            _ => return None,
        };
        Some(Self { bytes, wide })
    }

    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let field = self.bytes.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    /// A field of the width of an address, at the offset for files of 32 or of 64 bits.
    fn word(&self, base: usize, narrow: usize, wide: usize) -> Option<u64> {
        if self.wide { self.number(base + wide, 8) } else { self.number(base + narrow, 4) }
    }

    fn sections(&self) -> Option<Vec<Section>> {
        let start = self.word(0, 32, 40)? as usize;
        let (entry, count) = if self.wide { (58, 60) } else { (46, 48) };
        let (entry, count) = (self.number(entry, 2)? as usize, self.number(count, 2)? as usize);
        let section = |i: usize| {
            let at = start.checked_add(i * entry)?;
            Some(Section {
                kind: self.number(at + 4, 4)?,
                flags: self.word(at, 8, 8)?,
                address: self.word(at, 12, 16)?,
                offset: self.word(at, 16, 24)? as usize,
                size: self.word(at, 20, 32)? as usize,
                link: self.number(at + if self.wide { 40 } else { 24 }, 4)? as usize,
            })
        };
        (0..count).map(section).collect()
    }

    /// The sizes of the image.
    pub(crate) fn sizes(&self) -> Option<ImageSizes> {
        let mut sizes = ImageSizes::default();
        for section in self.sections()?.iter().filter(|s| s.flags & ALLOC != 0) {
            let of = match section {
                s if s.kind == NO_BITS => &mut sizes.bss,
                s if s.flags & WRITE != 0 => &mut sizes.data,
                _ => &mut sizes.text,
            };
            *of += section.size;
        }
        Some(sizes)
    }

    /// The value of a symbol.
    pub(crate) fn symbol(&self, name: &str) -> Option<u64> {
        let sections = self.sections()?;
        let table = sections.iter().find(|s| s.kind == SYMBOLS)?;
        let names = sections.get(table.link)?;
        let entry = if self.wide { 24 } else { 16 };
        (0..table.size / entry).find_map(|i| {
            let at = table.offset + i * entry;
            let start = names.offset + self.number(at, 4)? as usize;
            let found = self.bytes.get(start..start + name.len() + 1)?;
            let same = &found[..name.len()] == name.as_bytes() && found[name.len()] == 0;
            same.then(|| self.word(at, 4, 8))?
        })
    }

    /// Address and bytes of the section that contains an address.
    pub(crate) fn section_at(&self, address: u64) -> Option<(u64, &'a [u8])> {
        let sections = self.sections()?;
        let holds = |s: &&Section| {
            s.flags & ALLOC != 0
                && s.kind != NO_BITS
                && (s.address..s.address + s.size as u64).contains(&address)
        };
        let section = sections.iter().find(holds)?;
        let bytes = self.bytes.get(section.offset..section.offset.checked_add(section.size)?)?;
        Some((section.address, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_file_is_not_read() {
        assert!(Elf::new(b"").is_none());
        assert!(Elf::new(b"\x7fELF\x01\x02....").is_none());
    }

    #[test]
    fn a_truncated_file_has_no_sections() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(Elf::new(&own).unwrap().sizes().is_some_and(|s| s.text > 1000 && s.bss > 0));
        for end in [6, 40, 63, 64, own.len() / 2] {
            assert!(Elf::new(&own[..end]).unwrap().sizes().is_none(), "{end}");
        }
    }
}
