//! Looking in the hooks' stead.
//!
//! To look at a thousand files takes longer than everything else that a hook does. A process that is there anyway can do
//! it before a hook asks, as long as hooks ask.

use super::{Compiled, Index, current, sources_file};
use crate::Gate;
use crate::files::GateError;
use abide_core::policy::Sought;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a keeper takes what it looked at for unchanged: less than it pauses between two looks.
const SETTLED: Duration = Duration::from_millis(200);

impl Gate {
    /// Looks whether the index of a project still holds, and compiles it anew if not, so that hooks need not.
    ///
    /// Done often enough, hooks find that somebody looked less than a second ago. Returns whether there is anything to keep:
    /// what hooks have not asked for yet is left to them.
    pub fn keep_index(
        &self,
        root: &Path,
        version: &str,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<bool, GateError> {
        let path = self.index_file(root);
        if !sources_file(&path).is_file() {
            return Ok(false);
        }
        if current(&path, version, now, SETTLED, &Sought::nothing()).is_none() {
            self.compile(root, now, compile)?;
        }
        Ok(true)
    }

    /// Waits until an index is read, by whomever and of whichever project.
    pub fn wait_for_hooks(&self) -> Result<(), GateError> {
        let folder = self.folder.join("index");
        fs::create_dir_all(&folder).map_err(GateError::io("make", &folder))?;
        let opened = inotify::init(CreateFlags::CLOEXEC).and_then(|watch| {
            inotify::add_watch(&watch, &folder, WatchFlags::OPEN)?;
            Ok(watch)
        });
        let opened = opened.map_err(std::io::Error::from);
        // What it was, and how often, does not matter.
        opened
            .and_then(|watch| File::from(watch).read(&mut [0; 4096]))
            .map(drop)
            .map_err(GateError::io("watch", &folder))
    }
}
