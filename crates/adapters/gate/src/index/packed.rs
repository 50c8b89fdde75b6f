//! An index as bytes: what a hook reads at every call, without a text to parse.
//!
//! Numbers are four bytes, little end first; a text or path is its length and its bytes. The file ends with how long the
//! rest is, so one that was cut off is not taken for a short one. What a hook does not need comes last.

use super::{Agents, GuardedPath, GuardedRole, Index, Known, ReservedCall, Restricted};
use abide_core::definition::Protect;
use abide_core::policy::{Guarded, Reserved};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What the file begins with; another form begins otherwise, and is compiled anew.
const FORM: &[u8] = b"abide index 4\n";

/// Which index it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    /// Which abide compiled it.
    pub(super) version: String,
    /// Which triggers were compiled with it.
    pub(super) triggers: String,
    /// Which writing of it this is.
    pub(super) written: String,
}

/// Writes an index.
pub(super) fn pack(label: &Label, index: &Index) -> Vec<u8> {
    let mut out = Packer(FORM.to_vec());
    for text in [&index.version, &label.triggers, &label.written] {
        out.bytes(text.as_bytes());
    }
    out.list(&index.reserved, |out, call| {
        out.bytes(call.ability.as_bytes());
        out.bytes(call.pattern.as_bytes());
    });
    out.list(&index.guarded, |out, guarded| {
        out.number(guarded.role.number());
        out.bytes(guarded.path.as_os_str().as_bytes());
    });
    out.list(&index.restricted, |out, restricted| {
        out.bytes(restricted.ability.as_bytes());
        out.list(&restricted.agents, |out, agent| out.bytes(agent.as_bytes()));
    });
    out.list(&index.agents, |out, (name, abilities)| {
        out.bytes(name.as_bytes());
        out.list(abilities, |out, ability| out.bytes(ability.as_bytes()));
    });
    out.bytes(index.level.as_deref().unwrap_or_default().as_bytes());
    out.list(&index.reserved, |out, call| out.bytes(call.file.as_os_str().as_bytes()));
    let length = out.0.len();
    out.number(length);
    out.0
}

/// Reads which index it is and what the gate must know of it; nothing if it is damaged or of another form.
pub(super) fn known(bytes: &[u8]) -> Option<(Label, Known)> {
    let mut unpacker = Unpacker::open(bytes)?;
    let label = unpacker.label()?;
    let reserved = unpacker.list(|unpacker| {
        let ability = unpacker.text()?.into();
        Some(Reserved { ability, pattern: Protect::parse(unpacker.text()?).ok()? })
    })?;
    let guarded = unpacker.list(|unpacker| {
        let role = GuardedRole::numbered(unpacker.number()?)?.role();
        Some(Guarded { path: String::from_utf8_lossy(unpacker.bytes()?).into_owned(), role })
    })?;
    let (restricted, agents) = unpacker.rights()?;
    Some((label, Known { reserved, guarded, restricted, agents }))
}

/// Reads the whole of an index; nothing if it is damaged or of another form.
pub(super) fn unpack(bytes: &[u8]) -> Option<(Label, Index)> {
    let mut unpacker = Unpacker::open(bytes)?;
    let label = unpacker.label()?;
    let calls = unpacker.list(|unpacker| Some((unpacker.text()?.to_owned(), unpacker.text()?.to_owned())))?;
    let guarded = unpacker.list(|unpacker| {
        let role = GuardedRole::numbered(unpacker.number()?)?;
        Some(GuardedPath { role, path: unpacker.path()?.to_path_buf() })
    })?;
    let (restricted, agents) = unpacker.rights()?;
    let level = Some(unpacker.text()?.to_owned()).filter(|level| !level.is_empty());
    let mut calls = calls.into_iter();
    let reserved = unpacker.list(|unpacker| {
        let (ability, pattern) = calls.next()?;
        Some(ReservedCall { ability, pattern, file: unpacker.path()?.to_path_buf() })
    })?;
    let version = label.version.clone();
    Some((label, Index { version, level, reserved, guarded, restricted, agents }))
}

/// Bytes that grow.
pub(super) struct Packer(pub(super) Vec<u8>);

impl Packer {
    /// Writes a number: what is counted here has at most as many bytes as a file of the gate may have.
    pub(super) fn number(&mut self, number: usize) {
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }

    pub(super) fn list<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(list.len());
        for item in list {
            each(self, item);
        }
    }
}

/// Bytes that are taken from the front.
pub(super) struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let (body, length) = bytes.split_last_chunk()?;
        let whole = usize::try_from(u32::from_le_bytes(*length)) == Ok(body.len());
        whole.then(|| body.strip_prefix(FORM).map(Self))?
    }

    /// Takes bytes that have a form of their own.
    pub(super) fn of(bytes: &'a [u8], form: &[u8]) -> Option<Self> {
        bytes.strip_prefix(form).map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.take()?)).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn path(&mut self) -> Option<&'a Path> {
        self.bytes().map(|bytes| Path::new(OsStr::from_bytes(bytes)))
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
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

    fn label(&mut self) -> Option<Label> {
        let mut text = || self.text().map(str::to_owned);
        Some(Label { version: text()?, triggers: text()?, written: text()? })
    }

    /// Reads the abilities that not every agent may run, and what agents' own profiles name.
    fn rights(&mut self) -> Option<(Vec<Restricted>, Agents)> {
        let restricted =
            self.list(|one| Some(Restricted { ability: one.text()?.to_owned(), agents: one.texts()? }))?;
        let agents = self.list(|one| Some((one.text()?.to_owned(), one.texts()?)))?;
        Some((restricted, agents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let call = |pattern: &str, file: &str| ReservedCall {
            ability: "deploy".into(),
            pattern: pattern.into(),
            file: file.into(),
        };
        Index {
            version: "1".into(),
            level: Some("strict".into()),
            reserved: vec![call("Bash(./deploy.sh *)", "/p/a.yaml"), call("mcp__x", "/p/b.yaml")],
            guarded: vec![
                GuardedPath { path: "/p/a.yaml".into(), role: GuardedRole::Reservation },
                GuardedPath { path: OsStr::from_bytes(b"/p/\xff").into(), role: GuardedRole::State },
                GuardedPath { path: "/p/d".into(), role: GuardedRole::Definition },
                GuardedPath { path: "/p/.claude".into(), role: GuardedRole::Settings },
            ],
            restricted: vec![Restricted { ability: "wipe".into(), agents: vec!["root".into()] }],
            agents: vec![("ada".into(), vec!["deploy".into(), "wipe".into()]), ("bob".into(), Vec::new())],
        }
    }

    fn label() -> Label {
        Label { version: "1".into(), triggers: "t".into(), written: "w".into() }
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let bytes = pack(&label(), &index());
        assert_eq!(unpack(&bytes), Some((label(), index())));
        let (read, known) = known(&bytes).unwrap();
        assert_eq!(read, label());
        let patterns: Vec<String> = known.reserved.iter().map(|one| one.pattern.to_string()).collect();
        assert_eq!(patterns, ["Bash(./deploy.sh *)", "mcp__x"]);
        let paths: Vec<&str> = known.guarded.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["/p/a.yaml", "/p/\u{fffd}", "/p/d", "/p/.claude"]);
        assert_eq!((known.restricted, known.agents), (index().restricted, index().agents));
    }

    #[test]
    fn no_part_of_it_is_taken_for_the_whole_and_no_damage_is_believed_to_hold_less() {
        let bytes = pack(&label(), &index());
        for end in 0..bytes.len() {
            assert!(known(&bytes[..end]).is_none() && unpack(&bytes[..end]).is_none(), "{end}");
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                // A letter may be another letter; nothing may be lost, and nothing may panic.
                if let Some((_, known)) = known(&damaged) {
                    assert_eq!((known.reserved.len(), known.guarded.len()), (2, 4), "{at}: {value}");
                }
                let _ = unpack(&damaged);
            }
        }
        let mut bad = index();
        bad.reserved[0].pattern = "Bash(".into();
        assert!(known(&pack(&label(), &bad)).is_none(), "a pattern that is none");
    }
}
