//! A PostgreSQL of its own, from the programs of Debian's package.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A database that ends with the test.
pub(crate) struct Database {
    folder: TempDir,
    pub(crate) port: u16,
}

fn programs() -> PathBuf {
    let versions =
        std::fs::read_dir("/usr/lib/postgresql").expect("Debian's package postgresql is installed");
    let newest = versions.map(|entry| entry.unwrap().path()).max().unwrap();
    newest.join("bin")
}

/// Returns a program, started as a user who is not root if the tester is: PostgreSQL refuses root.
fn program(name: &str) -> Command {
    let path = programs().join(name);
    if rustix::process::getuid().is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(path);
        command.current_dir("/");
        return command;
    }
    Command::new(path)
}

fn run(command: &mut Command) {
    let done = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Database {
    /// Starts an empty one.
    pub(crate) fn start() -> Self {
        let database = Self::folder();
        run(program("initdb").args(["--auth=trust", "--username=abide", "-D"]).arg(database.data()));
        database.begin();
        database
    }

    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        Self { folder, port: free_port() }
    }

    /// Starts one that follows another, which from now on acknowledges nothing that this one does not have.
    pub(crate) fn standby(of: &Self) -> Self {
        let standby = Self::folder();
        run(program("pg_basebackup")
            .args(["-h", "127.0.0.1", "-U", "abide", "-R", "-X", "stream", "-p"])
            .arg(of.port.to_string())
            .arg("-D")
            .arg(standby.data()));
        standby.begin();
        of.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
        of.sql("SELECT pg_reload_conf()");
        standby
    }

    /// Makes a standby the one that is written to.
    pub(crate) fn promote(&self) {
        self.sql("ALTER SYSTEM RESET synchronous_standby_names");
        run(program("pg_ctl").args(["promote", "-w", "-D"]).arg(self.data()));
    }

    /// Runs a statement.
    pub(crate) fn sql(&self, text: &str) {
        run(Command::new(programs().join("psql"))
            .args(["-q", "-h", "127.0.0.1", "-U", "abide", "-d", "postgres", "-c", text, "-p"])
            .arg(self.port.to_string()));
    }

    /// Returns the number that a statement answers.
    pub(crate) fn number(&self, text: &str) -> u64 {
        let asked = Command::new(programs().join("psql"))
            .args(["-qtA", "-h", "127.0.0.1", "-U", "abide", "-d", "postgres", "-c", text, "-p"])
            .arg(self.port.to_string())
            .output()
            .unwrap();
        String::from_utf8(asked.stdout).unwrap().trim().parse().unwrap()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts it, for the first time or again.
    pub(crate) fn begin(&self) {
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=300",
            self.port,
            self.folder.path().display()
        );
        let log = self.folder.path().join("log");
        run(program("pg_ctl")
            .args(["start", "-w", "-o", &options, "-l"])
            .arg(log)
            .arg("-D")
            .arg(self.data()));
    }

    /// Ends it as a power cut would.
    pub(crate) fn cut(&self) {
        run(program("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(self.data()));
    }

    pub(crate) fn url(&self) -> String {
        url(self.port)
    }
}

pub(crate) fn url(port: u16) -> String {
    format!("postgres://abide@127.0.0.1:{port}/postgres")
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut stop = program("pg_ctl");
        stop.args(["stop", "-m", "immediate", "-D"]).arg(self.data());
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        // What another user made there only that user removes.
        let _ = program_of_user("rm").arg("-rf").arg(self.data()).status();
    }
}

fn program_of_user(name: &str) -> Command {
    if rustix::process::getuid().is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", name]);
        command.current_dir("/");
        return command;
    }
    Command::new(name)
}

/// An address that leads to one database, and later to another, as that of a cluster does.
pub(crate) struct Address {
    pub(crate) port: u16,
    leads_to: Arc<Mutex<u16>>,
}

impl Address {
    pub(crate) fn of(database: &Database) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let leads_to = Arc::new(Mutex::new(database.port));
        let shared = Arc::clone(&leads_to);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let to = SocketAddr::from(([127, 0, 0, 1], *shared.lock().unwrap()));
                if let Ok(called) = TcpStream::connect_timeout(&to, Duration::from_secs(1)) {
                    join(&caller, &called);
                    join(&called, &caller);
                }
            }
        });
        Self { port, leads_to }
    }

    pub(crate) fn lead_to(&self, database: &Database) {
        *self.leads_to.lock().unwrap() = database.port;
    }
}

/// Passes on what one says to the other, until one of them is gone.
fn join(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
    });
}

/// Waits until something holds, and says what did not.
pub(crate) fn until(seconds: u64, what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !holds() {
        assert!(Instant::now() < end, "it never came: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns the lines of a file, none if it is not there.
pub(crate) fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}
