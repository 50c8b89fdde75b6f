//! Server-sent events out of bytes, however they were cut on their way.

use memchr::memchr2;
use std::borrow::Cow;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event<'b> {
    /// What it carries; several lines are joined with line ends. Borrowed where it came in one piece, as nearly all do.
    pub(crate) data: Cow<'b, str>,
}

/// More bytes than one event may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Reads events; nothing is kept but the event that is being read.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The line that has not ended yet.
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// Whether the last byte was a carriage return, after which a line feed ends nothing.
    returned: bool,
    most: usize,
}

impl Reader {
    /// Starts at the beginning of a stream whose events have at most so many bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self { line: Vec::new(), data: None, returned: false, most }
    }

    /// Takes bytes as they came, and returns the events that they complete.
    pub(crate) fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<Vec<Event<'b>>, TooLong> {
        let mut events = Vec::new();
        let mut data = self.data.take().map(Cow::Owned);
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let held = self.line.len() + data.as_ref().map_or(0, |data: &Cow<'_, [u8]>| data.len());
            let fits =
                |more: &[u8]| if more.len() > self.most.saturating_sub(held) { Err(TooLong) } else { Ok(()) };
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                fits(rest)?;
                self.line.extend_from_slice(rest);
                break;
            };
            let whole = &rest[..end];
            fits(whole)?;
            self.returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = if self.line.is_empty() {
                Cow::Borrowed(whole)
            } else {
                self.line.extend_from_slice(whole);
                Cow::Owned(std::mem::take(&mut self.line))
            };
            events.extend(end_of(line, &mut data, self.most)?);
        }
        self.data = data.map(Cow::into_owned);
        Ok(events)
    }
}

/// Takes a whole line; an empty one ends the event.
fn end_of<'b>(
    line: Cow<'b, [u8]>,
    data: &mut Option<Cow<'b, [u8]>>,
    most: usize,
) -> Result<Option<Event<'b>>, TooLong> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let mark = if line.starts_with(MARK) { MARK.len() } else { 0 };
    let field = &line[mark..];
    if field.is_empty() {
        // An event without data is none, and what the event is called stands in its data too.
        return Ok(data.take().map(|data| Event { data: text(data) }));
    }
    let start = mark
        + match field.strip_prefix(b"data") {
            Some([]) => 4,
            Some([b':', b' ', ..]) => 6,
            Some([b':', ..]) => 5,
            // A comment, or a field that says nothing to us.
            _ => return Ok(None),
        };
    let value = match line {
        Cow::Borrowed(line) => Cow::Borrowed(&line[start..]),
        Cow::Owned(mut line) => {
            line.drain(..start);
            Cow::Owned(line)
        }
    };
    match data {
        None => *data = Some(value),
        Some(known) if known.len() + value.len() < most => {
            let known = known.to_mut();
            known.push(b'\n');
            known.extend_from_slice(&value);
        }
        Some(_) => return Err(TooLong),
    }
    Ok(None)
}

fn text(data: Cow<'_, [u8]>) -> Cow<'_, str> {
    let lossy = |data: &[u8]| Cow::Owned(String::from_utf8_lossy(data).into_owned());
    match data {
        Cow::Borrowed(data) => std::str::from_utf8(data).map_or_else(|_| lossy(data), Cow::Borrowed),
        Cow::Owned(data) => String::from_utf8(data).map_or_else(|bad| lossy(bad.as_bytes()), Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        Reader::new(1000).take(bytes).unwrap().into_iter().map(|event| event.data.into_owned()).collect()
    }

    #[test]
    fn events_are_read_in_every_spelling() {
        assert_eq!(read(b"event: x\ndata: {\"a\":1}\n\ndata:b\n\n"), ["{\"a\":1}", "b"]);
        assert_eq!(read(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n"), ["a", "b", "c"]);
        assert_eq!(read(b"data: a\r\ndata: b\r\n\r\n"), ["a\nb"], "a line end of two bytes is one line end");
        assert_eq!(read(b"\xef\xbb\xbfdata: a\ndata: b\ndata\n\n"), ["a\nb\n"]);
        assert_eq!(read(b": ping\n\nretry: 5\nid: 1\n\ndatabase: x\n\n"), [""; 0]);
        assert_eq!(read(b"data: not ended\n"), [""; 0], "an event that is not ended is none");
    }

    #[test]
    fn an_event_is_bounded_however_it_grows() {
        let long = [b'x'; 1001];
        assert_eq!(Reader::new(1000).take(&long), Err(TooLong));
        let mut reader = Reader::new(1000);
        let lines = "data: 0123456789\n".repeat(200);
        assert_eq!(reader.take(lines.as_bytes()), Err(TooLong));
        let mut reader = Reader::new(1000);
        for _ in 0..10_000 {
            assert_eq!(reader.take(b": a comment is not kept\n"), Ok(vec![]));
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_were_cut(
            text in "(data: ?[a-zü]{0,6}|event: x|: c|)(\r\n|\n|\r)(data: y\n\n|\r\n)?",
            repeat in 1_usize..4,
            cuts in prop::collection::vec(0_usize..80, 0..6),
        ) {
            let bytes = text.repeat(repeat).into_bytes();
            let whole = Reader::new(1000).take(&bytes).unwrap();
            let mut reader = Reader::new(1000);
            let mut found = Vec::new();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let mut start = 0;
            for cut in cuts {
                found.extend(reader.take(&bytes[start..cut]).unwrap());
                start = cut;
            }
            prop_assert_eq!(found, whole);
        }
    }
}
