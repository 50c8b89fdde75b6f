//! `[[ … ]]`: operators are syntax there, so values are data, except where bash does arithmetic.

use super::flow::Evaluates;
use super::frame::{Condition, FrameKind, Operand};
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::Symbol;

impl Scanner {
    fn condition(&mut self) -> &mut Condition {
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Condition(condition)) => condition,
            _ => unreachable!("steps of a condition are taken only inside one"),
        }
    }

    fn in_condition(&self) -> bool {
        matches!(self.frames.last().map(|frame| &frame.kind), Some(FrameKind::Condition(_)))
    }

    pub(super) fn condition_step(&mut self, symbol: Symbol) {
        let Symbol::Byte(byte) = symbol else {
            if self.condition().nested > 0 && symbol != Symbol::End {
                self.refuse(self.at..self.at + 1, &RefusalKind::PatternParentheses);
            }
            if symbol == Symbol::End {
                self.condition_word();
                if self.in_condition() {
                    self.end();
                }
                return;
            }
            return self.word_step(symbol);
        };
        if matches!(byte, b'<' | b'>') && self.sees(1, b'(') {
            return self.lose("a process substitution stands inside `[[ … ]]`");
        }
        let doubled = self.sees(1, byte);
        let condition = self.condition();
        if condition.nested > 0 {
            return match byte {
                b'(' | b')' => {
                    condition.nested = if byte == b'(' { condition.nested + 1 } else { condition.nested - 1 };
                    self.literal(byte);
                }
                b'\n' => self.lose("a pattern goes on in the next line"),
                _ => self.word_step(symbol),
            };
        }
        match byte {
            b' ' | b'\t' => {
                self.condition_word();
                // At the end of the condition the blank belongs to the commands around it.
                if self.in_condition() {
                    self.at += 1;
                }
            }
            b'\n' => {
                self.condition_word();
                if self.in_condition() {
                    self.condition().previous = None;
                    self.quoted_newline();
                    if self.in_condition() {
                        self.condition().word = None;
                    }
                }
            }
            b';' | b'&' | b'|' | b')'
                if condition.word.as_ref().is_some_and(|word| word.reserved() == b"]]") =>
            {
                self.condition_word();
            }
            b'&' | b'|' if doubled => {
                self.condition_word();
                self.operator(2);
            }
            b'<' | b'>' if condition.operand != Operand::Pattern => {
                self.condition_word();
                self.operator(1);
            }
            b'(' if condition.word.is_some() || condition.operand == Operand::Pattern => {
                condition.nested = 1;
                self.literal(byte);
            }
            b'(' => {
                condition.groups += 1;
                self.operator(1);
            }
            b')' if condition.groups > 0 => {
                self.condition_word();
                if self.in_condition() {
                    self.condition().groups -= 1;
                    self.operator(1);
                }
            }
            b'#' if condition.word.is_none() && condition.operand != Operand::Pattern => {
                self.lose("a comment stands inside `[[ … ]]`");
            }
            b';' | b'&' | b'|' | b'<' | b'>' | b')' => {
                self.lose("an operator stands inside `[[ … ]]` that does not belong there");
            }
            _ => self.word_step(symbol),
        }
    }

    fn operator(&mut self, length: usize) {
        if let Some(FrameKind::Condition(condition)) = self.frames.last_mut().map(|frame| &mut frame.kind) {
            condition.previous = None;
            condition.operand = Operand::Data;
            self.at += length;
        }
    }

    /// Ends the word being read and decides what it was; `]]` ends the condition.
    fn condition_word(&mut self) {
        let at = self.at;
        let condition = self.condition();
        let Some(word) = condition.word.take() else { return };
        let range = word.start..at;
        if word.reserved() == b"]]" {
            if condition.groups > 0 {
                return self.lose("a `(` inside `[[ … ]]` is not closed");
            }
            self.close();
            return;
        }
        let operand = std::mem::take(&mut condition.operand);
        let text = if word.literal { word.text.as_slice() } else { b"" };
        match text {
            b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                condition.operand = Operand::Arithmetic;
                if let Some(previous) = condition.previous.take() {
                    self.sink(previous, Evaluates::Names, RefusalKind::Arithmetic);
                }
                return;
            }
            b"-v" | b"-R" => {
                condition.operand = Operand::Name;
                return;
            }
            b"=" | b"==" | b"!=" | b"=~" => {
                condition.operand = Operand::Pattern;
                return;
            }
            _ => condition.previous = Some(range.clone()),
        }
        match operand {
            Operand::Arithmetic => self.sink(range, Evaluates::Names, RefusalKind::Arithmetic),
            Operand::Name => self.sink(range, Evaluates::Expansions, RefusalKind::VariableName),
            Operand::Data | Operand::Pattern => {}
        }
    }
}
