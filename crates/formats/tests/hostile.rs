//! Hostile files end in a clear diagnostic or a correct result, in time that grows with their size.
#![expect(
    clippy::disallowed_methods,
    reason = "time is what is measured here, and the kernel tells it in a file"
)]

#[path = "hostile/cases.rs"]
mod cases;

use abide_core::diagnostic::{Diagnostic, Problems};
use abide_formats::{ability, text};
use cases::{CHECKING, Case, PARSING, problems};
use std::time::{Duration, Instant};

/// The size of the small file that the large one, ten times as large, is compared with.
///
/// Large enough that what is quadratic outweighs what is linear: with files a tenth of this size, comparing
/// all pairs of keys went unnoticed.
const SMALL: usize = 80_000;
/// Ten times the input may take this many times as long: linear work, with room for colder caches.
const MOST_TIMES: u32 = 20;
/// Differences below this are noise.
const NOISE: Duration = Duration::from_millis(50);

fn timed(case: &Case, source: &str) -> (Duration, Vec<Diagnostic>) {
    let start = Instant::now();
    let before = on_cpu();
    let found = problems(case.format, source);
    // The clock on the wall also counts what other processes of a busy machine do.
    let time =
        on_cpu().zip(before).map_or_else(|| start.elapsed(), |(after, before)| after.saturating_sub(before));
    (time, found)
}

/// Returns how long this thread has been on a processor, where the system tells.
fn on_cpu() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Returns what is wrong with the answer, if anything is.
fn complaint(case: &Case, found: &[Diagnostic]) -> Option<String> {
    let mut errors = found.iter().filter(|problem| problem.is_error());
    let expected = match case.error {
        Some(code) => errors.any(|problem| problem.code == code),
        None => errors.next().is_none(),
    };
    let first: Vec<String> =
        found.iter().take(3).map(|problem| format!("{} {}", problem.code, problem.message)).collect();
    if !expected {
        return Some(format!("expected {:?}, found {first:?}", case.error));
    }
    if found.len() > 4 * Problems::MOST {
        return Some(format!("{} problems", found.len()));
    }
    let long = found.iter().find(|problem| problem.message.len() > 1_000 || problem.message.contains('\n'));
    long.map(|problem| format!("a message of {} bytes: {:.200}", problem.message.len(), problem.message))
}

#[test]
fn what_is_hard_to_parse_gets_its_answer_in_linear_time() {
    answers_in_linear_time(PARSING);
}

#[test]
fn what_is_hard_to_check_gets_its_answer_in_linear_time() {
    answers_in_linear_time(CHECKING);
}

fn answers_in_linear_time(cases: &[Case]) {
    let mut failures = Vec::new();
    for case in cases {
        let small = (case.make)(SMALL);
        let large = (case.make)(SMALL * 10);
        let (first, found) = timed(case, &small);
        failures.extend(complaint(case, &found).map(|why| format!("{}: {why}", case.name)));
        // A short time is measured again, because it may have been an unlucky one.
        let again = if first < NOISE { 2 } else { 0 };
        let base = (0..again).map(|_| timed(case, &small).0).fold(first, Duration::min);
        let (time, found) = timed(case, &large);
        failures.extend(complaint(case, &found).map(|why| format!("{}: {why}", case.name)));
        if time > base * MOST_TIMES + NOISE {
            let (small, large) = (small.len(), large.len());
            failures.push(format!("{}: {small} bytes in {base:?}, {large} in {time:?}", case.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn ten_thousand_steps_and_a_chain_of_fifty_thousand_are_read_whole() {
    let head = "description: d\nsteps:\n";
    let step = |index: u32| format!("- {{ id: s{index}, run: x }}\n");
    let waiting = |index: u32| format!("- {{ id: s{index}, run: x, needs: s{} }}\n", index + 1);
    let wide = (0..10_000).map(step).collect::<Vec<_>>().concat();
    let chain = (0..50_000).map(waiting).collect::<Vec<_>>().concat();
    let wide = format!("{head}{wide}");
    let deep = format!("{head}{chain}- {{ id: s50000, run: x }}\n");
    let circle = format!("{head}{chain}- {{ id: s50000, run: x, needs: s0 }}\n");
    for (source, steps, problems) in [(wide, 10_000, 0), (deep, 50_001, 0), (circle, 50_001, 1)] {
        let reading = ability::read(&source, "large");
        assert_eq!(reading.ability.map(|ability| ability.steps.len()), Some(steps));
        assert_eq!(reading.problems.len(), problems, "{:?}", reading.problems.first());
    }
}

#[test]
fn bytes_that_are_not_text_are_refused_and_line_ends_do_not_matter() {
    let source = "description: d\nsteps:\n  - id: a\n    run: |\n      x\n      y\n";
    let utf16: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&[0xFF, 0xFE][..], &utf16].concat();
    for bytes in [&marked[..], &utf16, b"a: \0", b"a: \xC3", &vec![b'a'; text::LARGEST_FILE + 1]] {
        assert!(text::decode(bytes).is_err());
    }
    let windows = format!("\u{feff}{}", source.replace('\n', "\r\n"));
    let read = |source: &str| ability::read(text::decode(source.as_bytes()).unwrap(), "a");
    assert_eq!(read(&windows).problems, []);
    assert_eq!(read(&windows).ability, read(source).ability);
}
