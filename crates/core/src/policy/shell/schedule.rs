//! Programs that run something later, when nobody asks any more: `at`, `batch` and `crontab`.

use super::Blind;
use super::reader::{Input, Reader};

impl Reader<'_> {
    /// Takes what `at` and `batch` are told to run: the file of `-f`, or else their input.
    pub(super) fn later(&mut self, words: &[String], input: &Input) {
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            match word.as_str() {
                // They list, show or remove what is planned.
                "-l" | "-r" | "-d" | "-c" | "-V" => return,
                "-f" => return self.file(rest.as_slice(), &words[0]),
                _ => {
                    if let Some(file) = word.strip_prefix("-f").filter(|_| !word.starts_with("--")) {
                        return self.file(&[file.to_owned()], &words[0]);
                    }
                }
            }
        }
        self.shell_input(&words[0], input);
    }

    /// Takes `crontab`: a table is not a script, so one that is put in place counts as unknown.
    pub(super) fn crontab(&mut self, words: &[String]) {
        if !words[1..].iter().any(|word| matches!(word.as_str(), "-l" | "-r" | "-V")) {
            self.world.blind(Blind::Input(words[0].clone()));
        }
    }
}
