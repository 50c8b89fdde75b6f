//! Whole processes: `abide status` beside `/bin/true`, and other tools that run the same chain.

use super::bars::Bars;
use super::stack::{Shape, Stack, ability};
use crate::measure::{Cost, process};
use crate::validate::abide;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `abide status` takes at most so many times as long as `/bin/true`.
const MOST: f64 = 3.0;
/// How many steps the chain of the other tools has.
const STEPS: usize = 100;

/// Measures `abide status` on a run of 33 steps, which has about 100 events.
pub(crate) fn status(rounds: usize, bars: &mut Bars) -> anyhow::Result<()> {
    let project = tempfile::tempdir()?;
    let state = project.path().join(".abide/state");
    std::fs::create_dir_all(&state)?;
    let run = Stack::open(&state, ability(Shape::Chain, 33, "'true'"))?.run()?;
    let folder = project.path().as_os_str();
    let status: Vec<OsString> = vec!["-C".into(), folder.into(), "status".into(), run.as_str().into()];
    let sides: [(OsString, Vec<OsString>); 2] = [("/bin/true".into(), Vec::new()), (abide()?, status)];
    let mut least = [Cost { wall: Duration::MAX, cpu: Duration::MAX, memory: u64::MAX }; 2];
    for _ in 0..rounds {
        for (least, (program, arguments)) in least.iter_mut().zip(&sides) {
            let cost = process(program, arguments)?;
            least.wall = least.wall.min(cost.wall);
            least.cpu = least.cpu.min(cost.cpu);
        }
    }
    println!(
        "\nanswering, in microseconds; the least of {rounds} processes each\n{:<14}{:>8}{:>8}",
        "", "wall", "cpu"
    );
    for (name, cost) in ["/bin/true", "abide status"].iter().zip(least) {
        println!("{name:<14}{:>8}{:>8}", cost.wall.as_micros(), cost.cpu.as_micros());
    }
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64().max(1e-6);
    bars.hold("`abide status`, wall: to /bin/true", ratio(least[1].wall, least[0].wall), MOST);
    bars.hold("`abide status`, CPU: to /bin/true", ratio(least[1].cpu, least[0].cpu), MOST);
    Ok(())
}

/// Prints what other tools take for a chain of `/bin/true`; none of them keeps a durable log, and they are not held.
pub(crate) fn others(rounds: usize) -> anyhow::Result<()> {
    println!(
        "\na chain of {STEPS} times `/bin/true` by other tools, from start to end, for one step in microseconds"
    );
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let rules = |line: fn(usize) -> String| (0..STEPS).map(line).collect::<String>();
    std::fs::write(
        file("Makefile"),
        rules(|step| match step {
            0 => ".PHONY: step-0\nstep-0:\n\t@/bin/true\n".to_owned(),
            _ => format!(".PHONY: step-{step}\nstep-{step}: step-{}\n\t@/bin/true\n", step - 1),
        }),
    )?;
    std::fs::write(
        file("justfile"),
        rules(|step| match step {
            0 => "step-0:\n    @/bin/true\n".to_owned(),
            _ => format!("step-{step}: step-{}\n    @/bin/true\n", step - 1),
        }),
    )?;
    let mut workflow = "type: chain\nsteps:\n".to_owned();
    for step in 0..STEPS {
        let _ = writeln!(workflow, "  - name: step-{step}\n    command: /bin/true");
    }
    std::fs::write(file("chain.yaml"), workflow)?;
    let goal = format!("step-{}", STEPS - 1);
    let here = folder.path().as_os_str();
    let makefile = [OsStr::new("-C"), here, OsStr::new(&goal)];
    let justfile = file("justfile");
    let justfile = [OsStr::new("--justfile"), justfile.as_os_str(), OsStr::new(&goal)];
    let workflow = file("chain.yaml");
    let workflow = [OsStr::new("start"), workflow.as_os_str()];
    let tools: [(&str, &[&OsStr]); 3] = [("make", &makefile), ("just", &justfile), ("dagu", &workflow)];
    for (tool, arguments) in tools {
        let Some(program) = find(tool) else {
            println!("{tool:<14}is not installed");
            continue;
        };
        let mut least = (f64::MAX, f64::MAX);
        for _ in 0..rounds {
            let Ok(cost) = process(program.as_os_str(), arguments) else {
                println!("{tool:<14}could not run the chain");
                break;
            };
            #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
            let each = |time: Duration| time.as_secs_f64() * 1e6 / STEPS as f64;
            least = (least.0.min(each(cost.wall)), least.1.min(each(cost.cpu)));
        }
        if least.0 < f64::MAX {
            println!("{tool:<14}{:>8.0}{:>8.0}", least.0, least.1);
        }
    }
    Ok(())
}

/// Finds a program as a shell does.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
