//! An index as bytes: looked into by a hook at every call, and read as a whole only when a call could be anything.
//!
//! Numbers are four bytes, little end first; a text or path is its length and its bytes. The file begins with how long it is, so
//! one that was cut off is not taken for a short one. Then comes the head, which every call reads, and after it parts that are
//! read when they are sought: reservations by the name of their program, in a table of hashes, and guarded paths by folder. Each
//! part has a sum, told where it is pointed to, so what is damaged is not believed to hold less. What no hook needs comes last.

mod parts;

use super::{GuardedPath, GuardedRole, Index, Known, ReservedCall};
use abide_core::definition::Protect;
use abide_core::policy::{Guarded, Reserved, Sought, Standing, folder_of_guarded, name_of_reserved};
pub(super) use parts::{Kept, Packer, Unpacker};
use parts::{Part, sum};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// What the file begins with; another form begins otherwise, and is compiled anew.
const FORM: &[u8] = b"abide index 6\n";
/// What stands before the head: the form, the length of the file, and where the head is.
const BEFORE_HEAD: usize = FORM.len() + 4 + Part::SIZE;

/// The standings of reservations, by the numbers that stand for them.
const STANDINGS: [Standing; 3] = [Standing::Current, Standing::Replaced, Standing::Gone];

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
    let mut always = Vec::new();
    let count = index.reserved.len().next_power_of_two();
    let mut buckets = vec![Vec::new(); count];
    for (place, call) in index.reserved.iter().enumerate() {
        // One that is no pattern is noticed by whoever reads all of them; the first says that there are any.
        let name =
            Protect::parse(&call.pattern).ok().as_ref().and_then(name_of_reserved).filter(|_| place > 0);
        match name {
            Some(name) => buckets[bucket_of(&name, count)].push((place, call)),
            None => always.push((place, call)),
        }
    }
    let mut folders: BTreeMap<String, Vec<(usize, &GuardedPath)>> = BTreeMap::new();
    for (place, guarded) in index.guarded.iter().enumerate() {
        let folder = folder_of_guarded(&guarded.path.to_string_lossy()).unwrap_or_default();
        folders.entry(folder).or_default().push((place, guarded));
    }
    let mut head = Packer::default();
    for text in [&index.version, &label.triggers, &label.written] {
        head.bytes(text.as_bytes());
    }
    head.list(&index.restricted, |out, restricted| {
        out.bytes(restricted.ability.as_bytes());
        out.list(&restricted.agents, |out, agent| out.bytes(agent.as_bytes()));
    });
    head.list(&index.agents, |out, (name, abilities)| {
        out.bytes(name.as_bytes());
        out.list(abilities, |out, ability| out.bytes(ability.as_bytes()));
    });
    head.bytes(index.stopped.as_deref().unwrap_or_default().as_bytes());
    calls(&mut head, &always);
    // The head says where the parts are, which depends on how long it is: what follows has a length that is known.
    let names: usize = folders.keys().map(|folder| 4 + folder.len() + Part::SIZE).sum();
    let end = BEFORE_HEAD + head.0.len() + 4 + names + 2 * Part::SIZE;
    let mut parts = Packer::default();
    head.number(folders.len());
    for (folder, paths) in &folders {
        head.bytes(folder.as_bytes());
        head.part(end, &mut parts, |out| {
            out.list(paths, |out, (place, guarded)| {
                out.number(*place);
                out.number(guarded.role.number());
                out.bytes(guarded.path.as_os_str().as_bytes());
            });
        });
    }
    let mut table = Packer::default();
    for bucket in &buckets {
        table.part(end, &mut parts, |out| calls(out, bucket));
    }
    // The table is too long to be summed at each call: each of its places is a part with a sum, and an empty one too.
    head.part(end, &mut parts, |out| out.0.extend(&table.0));
    head.part(end, &mut parts, |out| {
        out.bytes(index.level.as_deref().unwrap_or_default().as_bytes());
        out.list(&index.reserved, |out, call| out.bytes(call.file.as_os_str().as_bytes()));
    });
    let mut out = Packer(FORM.to_vec());
    out.number(end + parts.0.len());
    Part { start: BEFORE_HEAD, length: head.0.len(), sum: sum(BEFORE_HEAD, &head.0) }.pack(&mut out);
    out.0.extend(head.0);
    out.0.extend(parts.0);
    out.0
}

fn calls(out: &mut Packer, calls: &[(usize, &ReservedCall)]) {
    out.list(calls, |out, (place, call)| {
        out.number(*place);
        out.bytes(call.ability.as_bytes());
        out.bytes(call.pattern.as_bytes());
        out.bytes(call.root.as_os_str().as_bytes());
        out.number(STANDINGS.iter().position(|one| *one == call.standing).unwrap_or_default());
    });
}

/// Returns where in a table of some length the reservations of a name stand.
fn bucket_of(name: &str, buckets: usize) -> usize {
    sum(0, name.as_bytes()) as usize & (buckets - 1)
}

/// Reads what the gate must know of an index for what is sought; nothing if it is damaged or of another form.
pub(super) fn known(kept: &Kept<'_>, sought: &Sought) -> Option<(Label, Known)> {
    let head = head(kept)?;
    let mut head = Unpacker(&head);
    let label = head.label()?;
    let (restricted, agents) = head.rights()?;
    let stopped = Some(head.text()?.to_owned()).filter(|why| !why.is_empty());
    let (calls, paths, _) = sections(kept, &mut head, sought)?;
    let reserved = calls.into_iter().map(|call| {
        Some(Reserved {
            ability: call.ability.into(),
            pattern: Protect::parse(&call.pattern).ok()?,
            root: call.root.to_string_lossy().into(),
            standing: call.standing,
        })
    });
    let guarded = paths.into_iter().map(|(role, path)| Guarded {
        path: String::from_utf8(path)
            .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned()),
        role: role.role(),
    });
    let (reserved, guarded) = (reserved.collect::<Option<_>>()?, guarded.collect());
    Some((label, Known { reserved, guarded, restricted, agents, stopped }))
}

/// Reads the whole of an index; nothing if it is damaged or of another form.
pub(super) fn unpack(bytes: &[u8]) -> Option<(Label, Index)> {
    let kept = Kept::Bytes(bytes.into());
    let head = head(&kept)?;
    let mut head = Unpacker(&head);
    let label = head.label()?;
    let (restricted, agents) = head.rights()?;
    let stopped = Some(head.text()?.to_owned()).filter(|why| !why.is_empty());
    let (calls, paths, last) = sections(&kept, &mut head, &Sought::everything())?;
    let last = last.read(&kept)?;
    let mut last = Unpacker(&last);
    let level = Some(last.text()?.to_owned()).filter(|level| !level.is_empty());
    let mut calls = calls.into_iter();
    let reserved = last.list(|last| {
        let Call { ability, pattern, root, standing } = calls.next()?;
        Some(ReservedCall { ability, pattern, file: last.path()?.to_path_buf(), root, standing })
    })?;
    let guarded =
        paths.into_iter().map(|(role, path)| GuardedPath { path: OsString::from_vec(path).into(), role });
    let version = label.version.clone();
    Some((label, Index { version, level, reserved, guarded: guarded.collect(), restricted, agents, stopped }))
}

/// Reads the head, and makes sure that the file is as long as it was written.
fn head<'a>(kept: &'a Kept<'_>) -> Option<Cow<'a, [u8]>> {
    let before = kept.read(0, BEFORE_HEAD)?;
    let mut before = Unpacker(before.strip_prefix(FORM)?);
    let whole = before.number()? == kept.length();
    let head = Part::unpack(&mut before)?;
    whole.then(|| head.read(kept)).flatten()
}

/// A reservation without the file that it is in, which no hook needs.
struct Call {
    ability: String,
    pattern: String,
    root: PathBuf,
    standing: Standing,
}

type Path = (GuardedRole, Vec<u8>);

/// Reads what is sought of the reservations and guarded paths, in the order in which they were compiled, and where the last part is.
fn sections(
    kept: &Kept<'_>,
    head: &mut Unpacker<'_>,
    sought: &Sought,
) -> Option<(Vec<Call>, Vec<Path>, Part)> {
    let call = |out: &mut Unpacker<'_>| {
        let place = out.number()?;
        let (ability, pattern) = (out.text()?.to_owned(), out.text()?.to_owned());
        let (root, standing) = (out.path()?.to_path_buf(), *STANDINGS.get(out.number()?)?);
        Some((place, Call { ability, pattern, root, standing }))
    };
    let path = |out: &mut Unpacker<'_>| {
        Some((out.number()?, (GuardedRole::numbered(out.number()?)?, out.bytes()?.to_vec())))
    };
    let mut calls = head.list(call)?;
    let mut paths = Vec::new();
    for _ in 0..head.number()? {
        let folder = head.text()?;
        let part = Part::unpack(head)?;
        if folder.is_empty() || sought.is_in(folder) {
            paths.extend(Unpacker(&part.read(kept)?).list(path)?);
        }
    }
    let (table, last) = (Part::unpack(head)?, Part::unpack(head)?);
    let buckets = table.length / Part::SIZE;
    let wanted: Vec<usize> = match sought.names() {
        None => (0..buckets).collect(),
        // A table has as many places as a power of two says.
        Some(names) => names.iter().map(|name| bucket_of(name, buckets.next_power_of_two())).collect(),
    };
    for bucket in wanted {
        let part = Part::unpack(&mut Unpacker(&kept.read(table.start + bucket * Part::SIZE, Part::SIZE)?))?;
        calls.extend(Unpacker(&part.read(kept)?).list(call)?);
    }
    Some((in_order(calls), in_order(paths), last))
}

/// Puts what was found into the order in which it was compiled; what was found twice is there once.
fn in_order<T>(mut found: Vec<(usize, T)>) -> Vec<T> {
    found.sort_by_key(|(place, _)| *place);
    found.dedup_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests;
