//! The seats of sessions that abide itself starts for a step: which step they are held to, and whether they ask.
//!
//! A client gives its session an id when it is under way, so that such a session cannot be bound by its id before it
//! begins. Whoever starts it makes a seat instead, and names it in the environment of the client, whose hooks inherit it.
//! A session inside of a seat can take nothing off by that: a name that is not one of a seat is not taken for none, and one that
//! a client was started without is known by the process that the seat's own client is.

use crate::files::{self, GateError};
use crate::rules::Rules;
use crate::sessions::Bound;
use crate::{Family, Gate, Relative};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

/// The environment variable that names the seat.
pub const VARIABLE: &str = "ABIDE_SEAT";

/// The most that is kept of what a session has asked about: more cannot be told apart any more, and is not.
const MOST_ASKED: u64 = 4 * 1024 * 1024;
/// The longest id of a call that is kept.
const LONGEST_CALL: usize = 200;
/// How many seats are looked at for one that a process belongs to; a machine does not run as many clients.
const MOST_SEATS: usize = 1_000;

/// A seat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seat {
    /// What the session is held to.
    pub bound: Bound,
    /// The client that it is a session of.
    pub client: String,
    /// The rules of the agent that it is, if its profile has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
}

/// What a process that asks is seated in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seated {
    /// Nothing: it belongs to somebody's own session.
    Nowhere,
    /// This seat.
    In(Box<Seat>),
    /// A seat that there is no more, or that nobody looks after.
    Lost(String),
}

/// What a session has asked about so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AskedAbout {
    /// The calls, by the client's ids; one without has an empty one.
    pub calls: Vec<String>,
    /// Whether it has asked at all.
    pub anything: bool,
    /// Whether there was more than is kept.
    pub more: bool,
}

impl Gate {
    /// Makes a seat of a name that nobody else has.
    pub fn make_seat(&self, name: &str, seat: &Seat) -> Result<(), GateError> {
        self.forget_lost_seats();
        files::replace(&self.seat_file(name), seat)
    }

    /// Takes a seat away: a session that still names it may do nothing.
    pub fn remove_seat(&self, name: &str) -> Result<(), GateError> {
        let file = self.seat_file(name);
        files::remove(&file)?;
        files::remove(&file.with_extension("asked"))?;
        files::remove(&file.with_extension("client"))
    }

    /// Returns what the process that asks is seated in; `name` is what its environment says.
    pub fn seated(&self, name: Option<&str>) -> Result<Seated, GateError> {
        let found = match name {
            Some(name) => match files::read::<Seat>(&self.seat_file(name))? {
                Some(seat) => seat,
                None => return Ok(Seated::Lost("the step that it was started for is over".to_owned())),
            },
            None => match self.seat_above()? {
                Some(seat) => seat,
                None => return Ok(Seated::Nowhere),
            },
        };
        Ok(if found.bound.driver.lives() {
            Seated::In(Box::new(found))
        } else {
            Seated::Lost("the abide that started it is gone".to_owned())
        })
    }

    /// Notes that the session of a seat asks, and about which call.
    pub fn hear_seat(&self, name: &str, call: Option<&str>) -> Result<(), GateError> {
        let file = self.seat_file(name);
        let asked = file.with_extension("asked");
        let Some(Seat { bound, .. }) = files::read(&file)? else { return Ok(()) };
        let known = file.with_extension("client");
        if !known.exists() {
            let family = Family::of_this().0;
            let driver = family.iter().position(|relative| *relative == bound.driver);
            // The first process below the driver is the client, whatever it starts its hooks through.
            if let Some(client) = driver.and_then(|driver| family.get(driver.checked_sub(1)?)) {
                files::create(&known, client)?;
            }
        }
        let failed = |error| GateError::io("write", &asked)(error);
        let mut file = File::options().create(true).append(true).mode(0o600).open(&asked).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() >= MOST_ASKED {
            return Ok(());
        }
        let plain = |letter: &char| !letter.is_control();
        let line: String = match call {
            Some(call) => {
                format!("call {}\n", call.chars().filter(plain).take(LONGEST_CALL).collect::<String>())
            }
            None => "asked\n".to_owned(),
        };
        file.write_all(line.as_bytes()).map_err(failed)
    }

    /// Returns what the session of a seat has asked about.
    pub fn asked_in_seat(&self, name: &str) -> AskedAbout {
        let text = fs::read_to_string(self.seat_file(name).with_extension("asked")).unwrap_or_default();
        let calls = text.lines().filter_map(|line| line.strip_prefix("call ")).map(str::to_owned).collect();
        AskedAbout { calls, anything: !text.is_empty(), more: text.len() as u64 >= MOST_ASKED }
    }

    /// Finds the seat whose client this process was started by, however far above it is.
    fn seat_above(&self) -> Result<Option<Seat>, GateError> {
        let mut family = None;
        for file in self.seat_files("client") {
            let Some(client) = files::read::<Relative>(&file)? else { continue };
            if family.get_or_insert_with(Family::of_this).0.contains(&client) {
                return files::read(&file.with_extension("seat"));
            }
        }
        Ok(None)
    }

    /// Removes the seats whose abide is gone; what carried its mark has been ended by whoever took its run up.
    fn forget_lost_seats(&self) {
        for file in self.seat_files("seat") {
            if let Ok(Some(Seat { bound, .. })) = files::read(&file)
                && !bound.driver.lives()
            {
                for end in ["asked", "client", "seat"] {
                    let _ = files::remove(&file.with_extension(end));
                }
            }
        }
    }

    fn seat_files(&self, end: &'static str) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(self.folder.join("seats")).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(move |path| path.extension().is_some_and(|found| found == end)).take(MOST_SEATS)
    }

    fn seat_file(&self, name: &str) -> PathBuf {
        self.folder.join("seats").join(files::name_of(name.as_bytes())).with_extension("seat")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(driver: Relative) -> Seat {
        Seat {
            bound: Bound {
                run: "r".into(),
                ability: "deploy".into(),
                level: "strict".into(),
                step: None,
                done: 0,
                total: 1,
                root: "/p".into(),
                log: "/p/log".into(),
                driver,
                sub_agent: None,
                guarded: Vec::new(),
            },
            client: "claude".into(),
            rules: None,
        }
    }

    fn parent() -> Relative {
        Family::of_this().0[0].clone()
    }

    #[test]
    fn a_seat_is_found_by_its_name_and_a_name_without_one_is_not_free() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        assert_eq!(gate.seated(None).unwrap(), Seated::Nowhere);
        assert!(matches!(gate.seated(Some("nobody's")).unwrap(), Seated::Lost(_)));
        let seat = seat(parent());
        gate.make_seat("one", &seat).unwrap();
        assert_eq!(gate.seated(Some("one")).unwrap(), Seated::In(Box::new(seat)));
        gate.remove_seat("one").unwrap();
        assert!(matches!(gate.seated(Some("one")).unwrap(), Seated::Lost(_)), "its session may do nothing");
        let dead = Relative { started: "0".into(), ..parent() };
        gate.make_seat("two", &self::seat(dead)).unwrap();
        assert!(matches!(gate.seated(Some("two")).unwrap(), Seated::Lost(_)));
        gate.make_seat("three", &self::seat(parent())).unwrap();
        assert_eq!(gate.seat_files("seat").count(), 1, "what nobody looks after is forgotten");
    }

    #[test]
    fn a_process_below_the_client_of_a_seat_is_in_it_without_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let family = Family::of_this().0;
        let [client, driver, ..] = &family[..] else { return };
        gate.make_seat("one", &seat(driver.clone())).unwrap();
        assert_eq!(
            gate.seated(None).unwrap(),
            Seated::Nowhere,
            "a script of the same run is nobody's client"
        );
        gate.hear_seat("one", None).unwrap();
        assert!(client.lives() && matches!(gate.seated(None).unwrap(), Seated::In(_)));
    }

    #[test]
    fn what_was_asked_about_is_known_to_whoever_made_the_seat() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        gate.make_seat("one", &seat(parent())).unwrap();
        assert_eq!(gate.asked_in_seat("one"), AskedAbout::default());
        gate.hear_seat("one", None).unwrap();
        assert!(gate.asked_in_seat("one").anything && gate.asked_in_seat("one").calls.is_empty());
        gate.hear_seat("one", Some("call\n1")).unwrap();
        assert_eq!(gate.asked_in_seat("one").calls, ["call1"]);
    }
}
