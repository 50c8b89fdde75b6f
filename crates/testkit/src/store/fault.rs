//! Faults that a simulation puts into a store.

use abide_engine::port::StoreError;
use std::collections::VecDeque;

/// What an append fails with, with nothing written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full.
    FullDisk,
    /// Somebody else has appended in between.
    Conflict,
    /// Somebody else has taken over.
    LostLease,
}

/// The faults that are still to come.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Each with the number of appends that succeed before it, counted from the fault before it.
    coming: VecDeque<(usize, Fault)>,
}

impl Faults {
    pub(super) fn plan(&mut self, after: usize, fault: Fault) {
        self.coming.push_back((after, fault));
    }

    /// Returns what an append fails with, if its time has come.
    pub(super) fn next(&mut self, stream: &str, expected: u64) -> Option<StoreError> {
        let (after, fault) = self.coming.front_mut()?;
        if *after > 0 {
            *after -= 1;
            return None;
        }
        let error = match fault {
            Fault::FullDisk => {
                StoreError::Unwritable { place: "memory".to_owned(), reason: "the disk is full".to_owned() }
            }
            Fault::Conflict => {
                StoreError::Conflict { stream: stream.to_owned(), expected, found: expected + 1 }
            }
            Fault::LostLease => StoreError::LeaseLost(stream.to_owned()),
        };
        self.coming.pop_front();
        Some(error)
    }
}
