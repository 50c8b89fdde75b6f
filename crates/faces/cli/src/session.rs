//! What every command works with: where it was started, where it prints, and what it finds.

use crate::args::{Colour, Shared};
use crate::ui::Style;
use crate::{Exit, Failure};
use abide_catalog::{Catalog, Configuration, Entry, Found, Listing, Place};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The environment of the process, read once where things are wired.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The working folder.
    pub folder: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// The program itself.
    pub binary: Option<PathBuf>,
    /// Whether standard output is a terminal.
    pub terminal: bool,
    /// Whether standard input is a terminal, where a human can be asked.
    pub terminal_in: bool,
    /// Tells how many columns the terminal has now; a pipe has no limit.
    pub width: fn() -> Option<usize>,
}

impl Surroundings {
    /// Returns an environment variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    }
}

/// One run of the command line.
pub(crate) struct Session<'a> {
    /// The environment.
    pub(crate) surroundings: &'a Surroundings,
    /// Where definitions are looked for.
    pub(crate) place: Place,
    /// Whether output is one JSON document.
    pub(crate) json: bool,
    /// How output may look.
    pub(crate) style: Style,
    /// Whether what is done goes on when nobody reads what is told about it.
    unheard: Unheard,
    out: &'a mut dyn Write,
    talk: &'a mut dyn Write,
}

/// What follows when what is printed cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unheard {
    /// The command ends: it was there to print.
    Ends,
    /// It goes on, and prints for as long as somebody reads.
    GoesOn,
    /// It goes on, and nothing of it is printed any more.
    Silent,
}

impl<'a> Session<'a> {
    /// Opens a session.
    pub(crate) fn open(
        surroundings: &'a Surroundings,
        shared: &Shared,
        out: &'a mut dyn Write,
        talk: &'a mut dyn Write,
    ) -> Result<Self, Failure> {
        let start = match &shared.directory {
            Some(folder) => surroundings.folder.join(folder),
            None => surroundings.folder.clone(),
        };
        // Links are resolved, so that a folder has one name in every message and every comparison.
        let start = start.canonicalize().map_err(|source| {
            let shown = shared.directory.as_deref().unwrap_or(Path::new(".")).display();
            Failure::new(Exit::NotFound, format!("cannot work in {shown}: {source}"))
        })?;
        let home = surroundings.variable("HOME").map(PathBuf::from);
        let config_home = surroundings
            .variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home.as_ref().map(|home| home.join(".config")));
        let colour = match shared.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => surroundings.terminal && surroundings.variable("NO_COLOR").is_none(),
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| surroundings.variable(name));
        let ascii = locale.is_some_and(|locale| locale == "C" || locale == "POSIX") && surroundings.terminal;
        let width = (surroundings.width)().unwrap_or(Style::plain().width);
        let style = Style { colour, unicode: !ascii, width };
        Ok(Self {
            surroundings,
            place: Place { start, home, config_home },
            json: shared.json,
            style,
            unheard: Unheard::Ends,
            out,
            talk,
        })
    }

    /// Returns a session for looking things up, wherever it prints.
    pub(crate) fn quiet(
        surroundings: &'a Surroundings,
        place: Place,
        out: &'a mut dyn Write,
        talk: &'a mut dyn Write,
    ) -> Self {
        Self { surroundings, place, json: false, style: Style::plain(), unheard: Unheard::Ends, out, talk }
    }

    /// Returns a session in another folder, which sees nothing of the user's own definitions.
    pub(crate) fn alone_in(&mut self, start: PathBuf) -> Session<'_> {
        Session {
            surroundings: self.surroundings,
            place: Place { start, home: None, config_home: None },
            json: self.json,
            style: self.style,
            unheard: self.unheard,
            out: &mut *self.out,
            talk: &mut *self.talk,
        }
    }

    /// Reads the configuration and opens the catalog.
    pub(crate) fn catalog(&self) -> Catalog {
        Catalog::open(self.place.clone(), self.configuration())
    }

    /// Reads the configuration that applies.
    pub(crate) fn configuration(&self) -> Configuration {
        Configuration::load(&self.place, |name| self.surroundings.variable(name))
    }

    /// Returns how wide the terminal is now: a window can change.
    pub(crate) fn width(&self) -> usize {
        (self.surroundings.width)().unwrap_or(self.style.width)
    }

    /// From here on the work does not end because nobody reads about it: `abide run deploy | head` must not leave a deployment
    /// in the middle of a step.
    pub(crate) fn go_on_unheard(&mut self) {
        if self.unheard == Unheard::Ends {
            self.unheard = Unheard::GoesOn;
        }
    }

    /// Writes data to standard output.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        self.print_bytes(text.as_bytes())
    }

    /// Writes bytes to standard output as they are.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.unheard == Unheard::Silent {
            return Ok(());
        }
        match write(self.out, bytes) {
            Err(failure) if self.unheard == Unheard::GoesOn => {
                self.unheard = Unheard::Silent;
                // A reader that left is no news; a disk that is full is.
                let said = failure.to_string();
                if said.is_empty() {
                    Ok(())
                } else {
                    self.say(&format!("{said}  = the run goes on unseen\n"))
                }
            }
            written => written,
        }
    }

    /// Writes talk to standard error.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), Failure> {
        match write(self.talk, text.as_bytes()) {
            Err(_) if self.unheard != Unheard::Ends => Ok(()),
            written => written,
        }
    }

    /// Says that an ability was shown as far as it can be read, and ends like `abide validate` would.
    pub(crate) fn unusable(&mut self, entry: &Entry) -> Result<Exit, Failure> {
        self.say(&format!("\nit cannot be used: `abide validate {}` says why\n", entry.name))?;
        Ok(Exit::Problems)
    }

    /// Writes one JSON document to standard output.
    pub(crate) fn print_json(&mut self, value: &serde_json::Value) -> Result<(), Failure> {
        // A value of strings, numbers, lists and maps with text keys always serialises.
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        self.print(&format!("{text}\n"))
    }
}

fn write(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // The reader has seen enough, as in `abide list | head`: that is not a failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::silent(Exit::Done)),
        Err(error) => Err(Failure::new(Exit::System, format!("cannot write the output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Returns the ability of a name, or the failure that says which one was probably meant.
pub(crate) fn find<'l>(listing: &'l Listing, name: &str) -> Result<&'l Entry, Failure> {
    match listing.find(name) {
        Found::Ability(entry) => Ok(entry),
        Found::Nothing { .. } if listing.disabled => {
            Err(Failure::new(Exit::NotFound, "abilities are switched off by `abilities.enabled: false`")
                .help("set it to true in .abide/config.yaml, or unset ABIDE_ABILITIES_ENABLED"))
        }
        Found::Nothing { nearest } => {
            let failure = Failure::new(Exit::NotFound, format!("no ability is called `{name}`"));
            Err(match nearest {
                Some(nearest) => failure.help(format!("did you mean `{nearest}`?")),
                None => failure.help("`abide list` shows every ability by its name"),
            })
        }
    }
}

/// Returns the variables of the environment that named secrets come from: nothing that is started inherits them.
pub(crate) fn secret_variables(session: &Session<'_>) -> Vec<String> {
    session.configuration().config.secret_variables().map(str::to_owned).collect()
}
