//! Room for answers that take long to be taken: nobody holds all of it, and the server holds few long ones at a time.

use crate::bounds::{DOWNLOADS_AT_ONCE, DOWNLOADS_OF_ONE, ROOM, STREAMS_OF_ONE};
use crate::problem::{Code, Problem};
use crate::who::Who;
use http::{HeaderValue, header};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What takes room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Stream,
    Download,
}

type Open = HashMap<(Kind, String), usize>;

/// How much is open.
pub(crate) struct Rooms {
    downloads: Arc<Semaphore>,
    open: Arc<Mutex<Open>>,
}

/// Room that is given back when it is dropped.
pub(crate) struct Room {
    open: Arc<Mutex<Open>>,
    of: (Kind, String),
    permit: Option<OwnedSemaphorePermit>,
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        if let Some(count) = open.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.of);
            }
        }
    }
}

impl Default for Rooms {
    fn default() -> Self {
        Self { downloads: Arc::new(Semaphore::new(DOWNLOADS_AT_ONCE)), open: Arc::default() }
    }
}

impl Rooms {
    fn take(&self, kind: Kind, most: usize, who: &Who, what: &str) -> Result<Room, Problem> {
        let of = (kind, who.counted().to_owned());
        let mut open = lock(&self.open);
        let count = open.entry(of.clone()).or_default();
        if *count >= most {
            let problem =
                Problem::new(Code::TooMany, format!("{most} {what} of one caller are open already"));
            return Err(problem.header(header::RETRY_AFTER, HeaderValue::from_static("1")));
        }
        *count += 1;
        Ok(Room { open: Arc::clone(&self.open), of, permit: None })
    }

    /// Takes room for a stream, for as long as it is open.
    pub(crate) fn stream(&self, who: &Who) -> Result<Room, Problem> {
        self.take(Kind::Stream, STREAMS_OF_ONE, who, "streams")
    }

    /// Takes room for a long file that is held until it is sent.
    pub(crate) async fn download(&self, who: &Who) -> Result<Room, Problem> {
        let mut room = self.take(Kind::Download, DOWNLOADS_OF_ONE, who, "long files")?;
        let permit = tokio::time::timeout(ROOM, Arc::clone(&self.downloads).acquire_owned()).await;
        // The semaphore is never closed.
        let Ok(Ok(permit)) = permit else {
            let problem = Problem::new(Code::TooMany, "too many long files are being sent");
            return Err(problem.header(header::RETRY_AFTER, HeaderValue::from_static("10")));
        };
        room.permit = Some(permit);
        Ok(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_has_so_many_streams_and_those_that_end_make_room() {
        let rooms = Rooms::default();
        let mut open: Vec<Room> =
            (0..STREAMS_OF_ONE).map(|_| rooms.stream(&Who::Unsigned).unwrap()).collect();
        assert_eq!(rooms.stream(&Who::Unsigned).err().map(|problem| problem.code()), Some(Code::TooMany));
        open.pop();
        let again = rooms.stream(&Who::Unsigned);
        assert!(again.is_ok());
        drop((open, again));
        assert!(lock(&rooms.open).is_empty(), "nobody is remembered who has nothing open");
    }
}
