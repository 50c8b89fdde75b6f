//! What is promised, beside what was found.

/// Promises, each with what was found.
#[derive(Debug, Default)]
pub(crate) struct Bars(Vec<Bar>);

#[derive(Debug)]
struct Bar {
    what: String,
    found: f64,
    most: f64,
}

impl Bars {
    /// Holds a number against the most that it may be.
    pub(crate) fn hold(&mut self, what: impl Into<String>, found: f64, most: f64) {
        self.0.push(Bar { what: what.into(), found, most });
    }

    /// Prints a line for each and returns whether all are kept.
    pub(crate) fn report(&self) -> bool {
        println!();
        for Bar { what, found, most } in &self.0 {
            let word = if found <= most { "kept  " } else { "BROKEN" };
            println!("{word}  {found:>5.2} of {most:.2}  {what}");
        }
        self.0.iter().all(|bar| bar.found <= bar.most)
    }
}
