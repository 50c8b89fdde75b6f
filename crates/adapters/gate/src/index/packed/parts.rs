//! Bytes in parts: how they are written, where a part is, and how one is read without the others.

use crate::index::packed::Label;
use crate::index::{Agents, Restricted};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// How much of a file is read at first: the head of nearly every index.
const FIRST: usize = 4096;

/// Returns a number that other bytes, or the same ones elsewhere, do not have: FNV-1a, which tells every change of one byte.
pub(super) fn sum(start: usize, bytes: &[u8]) -> u32 {
    let start = u32::try_from(start).unwrap_or(u32::MAX).to_le_bytes();
    start
        .iter()
        .chain(bytes)
        .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Where a part is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) sum: u32,
}

impl Part {
    /// How many bytes say where a part is.
    pub(super) const SIZE: usize = 12;

    pub(super) fn pack(self, out: &mut Packer) {
        out.number(self.start);
        out.number(self.length);
        out.0.extend(self.sum.to_le_bytes());
    }

    pub(super) fn unpack(from: &mut Unpacker<'_>) -> Option<Self> {
        Some(Self { start: from.number()?, length: from.number()?, sum: u32::from_le_bytes(from.take()?) })
    }

    /// Reads the part; nothing if it is not what was written.
    pub(super) fn read<'a>(self, kept: &'a Kept<'_>) -> Option<Cow<'a, [u8]>> {
        kept.read(self.start, self.length).filter(|bytes| sum(self.start, bytes) == self.sum)
    }
}

/// An index as it is kept.
pub(in crate::index) enum Kept<'a> {
    /// All of it.
    Bytes(Cow<'a, [u8]>),
    /// A file of some length, with what it begins with.
    File { file: &'a File, length: usize, first: Vec<u8> },
}

impl<'a> Kept<'a> {
    /// Takes a file, of which all is read at once if all of it is wanted.
    pub(in crate::index) fn in_file(file: &'a File, length: u64, all: bool) -> Option<Self> {
        let length = usize::try_from(length).ok()?;
        let mut first = vec![0; if all { length } else { length.min(FIRST) }];
        file.read_exact_at(&mut first, 0).ok()?;
        Some(if first.len() == length {
            Self::Bytes(first.into())
        } else {
            Self::File { file, length, first }
        })
    }

    pub(super) fn length(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::File { length, .. } => *length,
        }
    }

    /// Reads some of it; nothing if there is not so much.
    pub(super) fn read(&self, start: usize, length: usize) -> Option<Cow<'_, [u8]>> {
        let end = start.checked_add(length).filter(|end| *end <= self.length())?;
        match self {
            Self::Bytes(bytes) => bytes.get(start..end).map(Cow::Borrowed),
            Self::File { first, .. } if end <= first.len() => first.get(start..end).map(Cow::Borrowed),
            Self::File { file, .. } => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, start as u64).ok()?;
                Some(bytes.into())
            }
        }
    }
}

/// Bytes that grow.
#[derive(Default)]
pub(in crate::index) struct Packer(pub(in crate::index) Vec<u8>);

impl Packer {
    /// Writes a number: what is counted here has at most as many bytes as a file of the gate may have.
    pub(in crate::index) fn number(&mut self, number: usize) {
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(in crate::index) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }

    pub(in crate::index) fn list<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(list.len());
        for item in list {
            each(self, item);
        }
    }

    /// Adds a part to those that begin at a place of the file, and writes where it is.
    pub(super) fn part(&mut self, begin: usize, parts: &mut Self, fill: impl FnOnce(&mut Self)) {
        let before = parts.0.len();
        fill(parts);
        let start = begin + before;
        let bytes = &parts.0[before..];
        Part { start, length: bytes.len(), sum: sum(start, bytes) }.pack(self);
    }
}

/// Bytes that are taken from the front.
pub(in crate::index) struct Unpacker<'a>(pub(super) &'a [u8]);

impl<'a> Unpacker<'a> {
    /// Takes bytes that have a form of their own.
    pub(in crate::index) fn of(bytes: &'a [u8], form: &[u8]) -> Option<Self> {
        bytes.strip_prefix(form).map(Self)
    }

    pub(in crate::index) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::index) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(in crate::index) fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.take()?)).ok()
    }

    pub(in crate::index) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(in crate::index) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn path(&mut self) -> Option<&'a Path> {
        self.bytes().map(|bytes| Path::new(OsStr::from_bytes(bytes)))
    }

    pub(super) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // A number that is damaged must not ask for memory: each item has at least four bytes.
        let mut list = Vec::with_capacity(count.min(self.0.len() / 4));
        for _ in 0..count {
            list.push(each(self)?);
        }
        Some(list)
    }

    fn texts(&mut self) -> Option<Vec<String>> {
        self.list(|unpacker| unpacker.text().map(str::to_owned))
    }

    pub(super) fn label(&mut self) -> Option<Label> {
        let mut text = || self.text().map(str::to_owned);
        Some(Label { version: text()?, triggers: text()?, written: text()? })
    }

    /// Reads the abilities that not every agent may run, and what agents' own profiles name.
    pub(super) fn rights(&mut self) -> Option<(Vec<Restricted>, Agents)> {
        let restricted =
            self.list(|one| Some(Restricted { ability: one.text()?.to_owned(), agents: one.texts()? }))?;
        let agents = self.list(|one| Some((one.text()?.to_owned(), one.texts()?)))?;
        Some((restricted, agents))
    }
}
