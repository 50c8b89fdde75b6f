//! What there is on this machine that a skill may require. Each thing is looked for once, when the first skill asks.

use crate::Surroundings;
use crate::capabilities::{Reach, capabilities, in_memory};
use crate::runs::block_on;
use crate::session::Session;
use abide_catalog::{Catalog, Place, Status};
use abide_core::capability::CapabilityStatus;
use abide_core::skill::requires::World;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Why something cannot be used; nothing when it can.
type State = Result<(), Option<String>>;

/// Why things cannot be used, by name; nothing for those that can.
type Reasons = HashMap<String, Option<String>>;

/// This machine, this project.
pub(super) struct Here<'a> {
    surroundings: &'a Surroundings,
    catalog: RefCell<&'a mut Catalog>,
    /// Why capabilities cannot be used, by the MCP server that was reached to find out; without one, all the others.
    capabilities: RefCell<HashMap<Option<String>, Reasons>>,
    abilities: OnceCell<HashMap<String, bool>>,
    programs: RefCell<HashMap<String, bool>>,
}

impl<'a> Here<'a> {
    pub(super) fn new(surroundings: &'a Surroundings, catalog: &'a mut Catalog) -> Self {
        Self {
            surroundings,
            catalog: RefCell::new(catalog),
            capabilities: RefCell::default(),
            abilities: OnceCell::new(),
            programs: RefCell::default(),
        }
    }
}

impl Here<'_> {
    fn is_server(&self, name: &str) -> bool {
        let catalog = self.catalog.borrow();
        catalog.configuration().config.capabilities.iter().any(|(id, _)| id.as_str() == name)
    }

    /// Looks for a capability; `server` is the one MCP server that is started or reached for that.
    fn capability_of(&self, id: &str, server: Option<String>) -> State {
        let mut known = self.capabilities.borrow_mut();
        let found = known.entry(server.clone()).or_insert_with(|| {
            states(self.surroundings.clone(), self.catalog.borrow().place().clone(), server)
        });
        match found.get(id) {
            None => Err(None),
            Some(None) => Ok(()),
            Some(Some(why)) => Err(Some(why.clone())),
        }
    }
}

/// Returns the capabilities, each with the reason why it cannot be used, if there is one.
///
/// On a thread of its own, because whoever asks may be in the middle of other work.
fn states(surroundings: Surroundings, place: Place, server: Option<String>) -> Reasons {
    let looked = std::thread::spawn(move || {
        let (mut out, mut talk) = (std::io::sink(), std::io::sink());
        let session = Session::quiet(&surroundings, place, &mut out, &mut talk);
        let reached: Vec<&str> = server.as_deref().into_iter().collect();
        block_on(capabilities(&session, in_memory(), Reach::Only(&reached)))
            .map(|found| found.registry.list())
            .unwrap_or_default()
    });
    let why = |status: &CapabilityStatus| match status {
        CapabilityStatus::Available | CapabilityStatus::Deprecated => None,
        CapabilityStatus::ComingSoon => Some("it is not made yet".to_owned()),
        CapabilityStatus::Unavailable { why } => Some(why.clone()),
    };
    let infos = looked.join().unwrap_or_default();
    infos.iter().map(|info| (info.id.to_string(), why(&info.status))).collect()
}

impl World for Here<'_> {
    fn mcp(&self, server: &str) -> State {
        if !self.is_server(server) {
            return Err(None);
        }
        self.capability_of(server, Some(server.to_owned()))
    }

    fn program(&self, name: &str) -> bool {
        if let Some(known) = self.programs.borrow().get(name) {
            return *known;
        }
        let path = self.surroundings.variable("PATH").unwrap_or_default();
        let found = !name.contains('/')
            && path
                .split(':')
                .filter(|folder| folder.starts_with('/'))
                .any(|folder| is_program(&Path::new(folder).join(name)));
        self.programs.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn variable(&self, name: &str) -> bool {
        self.surroundings.variable(name).is_some()
    }

    fn capability(&self, id: &str) -> State {
        let server = self.is_server(id).then(|| id.to_owned());
        self.capability_of(id, server)
    }

    fn ability(&self, name: &str) -> State {
        let abilities = self.abilities.get_or_init(|| {
            let listing = self.catalog.borrow_mut().scan();
            let usable = |entry: &abide_catalog::Entry| entry.status() == Status::Usable;
            let winners = listing.abilities.iter().filter(|entry| entry.shadowed_by.is_none());
            winners.map(|entry| (entry.name.to_string(), usable(entry))).collect()
        });
        match abilities.get(name) {
            None => Err(None),
            Some(true) => Ok(()),
            Some(false) => Err(Some(format!("`abide validate {name}` says what is wrong with it"))),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "whether a program can be executed is asked of the disk alone")]
fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
