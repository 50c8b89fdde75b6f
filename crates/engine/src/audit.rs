//! The note about a change, on its way to the store that makes the change.
//!
//! A change and the note about it belong into one transaction, and the ports of what is changed know nothing of notes. So the note
//! travels with the task: a store takes it along with the first thing that it writes for that task. What no store has taken is
//! still there when the work is done, and is written then.

use crate::port::NewNote;
use std::cell::RefCell;
use std::future::Future;

tokio::task_local! {
    static PENDING: RefCell<Option<NewNote>>;
}

/// Does something that is to be noted; returns the note, too, if no store has taken it.
pub async fn noting<T>(note: Option<NewNote>, work: impl Future<Output = T>) -> (T, Option<NewNote>) {
    PENDING.scope(RefCell::new(note), async { (work.await, take()) }).await
}

/// Says what is changed, where that is known only now: the id of something new.
pub fn about(subject: &str) {
    let _ = PENDING.try_with(|pending| {
        if let Some(note) = pending.borrow_mut().as_mut() {
            subject.clone_into(&mut note.subject);
        }
    });
}

/// Takes the note of this task, to write it beside the change.
pub fn take() -> Option<NewNote> {
    PENDING.try_with(|pending| pending.borrow_mut().take()).ok().flatten()
}

/// Gives a note back whose transaction came to nothing.
pub fn put_back(note: NewNote) {
    let _ = PENDING.try_with(|pending| *pending.borrow_mut() = Some(note));
}
