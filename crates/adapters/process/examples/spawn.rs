//! What a process costs through `LocalProcess`, beside the floor: the same program started by the standard library.
//!
//! `cargo run --release -p abide-process --example spawn [COUNT] [ROUNDS]`
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it measures processes and prints what it found"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use abide_engine::port::{Ending, Line, Process, Signal, Spec};
use abide_process::LocalProcess;
use rustix::time::{ClockId, clock_gettime};

/// Wall and CPU time: of this process and of the children that it has reaped.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: Duration,
    own: Duration,
    children: Duration,
}

fn measured(what: impl FnOnce()) -> Cost {
    let before = (Instant::now(), own_cpu(), children_cpu());
    what();
    Cost {
        wall: before.0.elapsed(),
        own: own_cpu().saturating_sub(before.1),
        children: children_cpu().saturating_sub(before.2),
    }
}

fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The time of reaped children, which only `/proc` tells without unsafe code, in ticks of 10 ms.
fn children_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace().collect();
    let ticks: u64 = fields[13..15].iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let count: u32 = arguments.next().unwrap_or(50);
    let rounds: u32 = arguments.next().unwrap_or(40);
    let folder = std::env::temp_dir();
    let spec = Spec {
        program: "/bin/true".to_owned(),
        arguments: Vec::new(),
        folder: folder.clone(),
        variables: Vec::new(),
        without: Vec::new(),
        longest: Some(60_000),
        mark: "spawn-example".to_owned(),
    };
    let local = LocalProcess::new().only_parent();
    let single = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let through = |count: u32| {
        let (local, spec) = (local.clone(), spec.clone());
        async move {
            for _ in 0..count {
                let ending =
                    local.run(spec.clone(), std::future::pending::<Signal>, |_: Line| async {}).await;
                assert_eq!(ending, Ok(Ending::Exited(0)));
            }
        }
    };
    let bare = || {
        for _ in 0..count {
            assert!(Command::new("/bin/true").status().expect("it starts").success());
        }
    };
    let piped = || {
        for _ in 0..count {
            let output = Command::new("/bin/true").current_dir(&folder).stdin(Stdio::null()).output();
            assert!(output.expect("it starts").status.success());
        }
    };
    let mut totals = [Cost::default(); 4];
    for _ in 0..rounds {
        let costs = [
            measured(bare),
            measured(piped),
            measured(|| single.block_on(through(count))),
            measured(|| many.block_on(async { many.spawn(through(count)).await.expect("it runs") })),
        ];
        for (total, cost) in totals.iter_mut().zip(costs) {
            total.wall += cost.wall;
            total.own += cost.own;
            total.children += cost.children;
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count * rounds);
    let floor = totals[0];
    println!(
        "{:<34}{:>10}{:>10}{:>12}{:>8}{:>8}",
        "per process", "wall µs", "own µs", "children µs", "wall ×", "CPU ×"
    );
    for (name, cost) in [
        "std, output inherited (the floor)",
        "std, output piped",
        "LocalProcess, one thread",
        "LocalProcess, two threads",
    ]
    .into_iter()
    .zip(totals)
    {
        println!(
            "{name:<34}{:>10.1}{:>10.1}{:>12.1}{:>8.3}{:>8.3}",
            each(cost.wall),
            each(cost.own),
            each(cost.children),
            cost.wall.as_secs_f64() / floor.wall.as_secs_f64(),
            (cost.own + cost.children).as_secs_f64() / (floor.own + floor.children).as_secs_f64(),
        );
    }
}
