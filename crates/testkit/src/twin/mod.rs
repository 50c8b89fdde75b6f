//! In-memory twins of the ports around a run: processes that follow a script, time that passes when nothing else
//! can happen, a workspace of texts.
//!
//! Together with [`MemoryStore`](crate::store::MemoryStore) they let the real driver run without a disk, a process or
//! waiting, and the same way every time: see [`play`].

mod clock;
pub mod contract;
mod process;
mod workspace;

pub use clock::{VirtualClock, play};
pub use process::{Living, Script, TwinProcess, World};
pub use workspace::MemoryWorkspace;
