//! Server-sent events out of bytes, however they were cut on their way.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What it carries; several lines are joined with line ends.
    pub(crate) data: String,
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
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.returned) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.fits(rest)?;
                self.line.extend_from_slice(rest);
                break;
            };
            let whole = &rest[..end];
            self.returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.fits(whole)?;
            if self.line.is_empty() {
                // Nearly every line comes in one piece, and is not copied.
                events.extend(self.end_of(whole)?);
            } else {
                self.line.extend_from_slice(whole);
                let line = std::mem::take(&mut self.line);
                events.extend(self.end_of(&line)?);
            }
        }
        Ok(events)
    }

    fn fits(&self, bytes: &[u8]) -> Result<(), TooLong> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if bytes.len() > self.most.saturating_sub(held) { Err(TooLong) } else { Ok(()) }
    }

    /// Takes a whole line; an empty one ends the event.
    fn end_of(&mut self, line: &[u8]) -> Result<Option<Event>, TooLong> {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if line.is_empty() {
            // An event without data is none, and what the event is called stands in its data too.
            let text = |data| {
                String::from_utf8(data)
                    .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
            };
            return Ok(self.data.take().map(|data| Event { data: text(data) }));
        }
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            // A comment, or a field that says nothing to us.
            _ => return Ok(None),
        };
        match &mut self.data {
            None => self.data = Some(value.to_vec()),
            Some(data) if data.len() + value.len() < self.most => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            Some(_) => return Err(TooLong),
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        Reader::new(1000).take(bytes).unwrap().into_iter().map(|event| event.data).collect()
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
