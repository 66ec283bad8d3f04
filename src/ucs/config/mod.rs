//! Configuration: declarative rows per owner, read from defaults, `ucx.conf` and the environment.
//!
//! An owner (a transport, a memory domain, the context) states a `Table` of `Row`s. `Config::read`
//! resolves every row by UCX's rules of names and precedence; the owner then asks once, at open:
//! `config.time(var!(TABLE, "TIMEOUT"))`, which does not compile for a name that the table does not have, or for a
//! getter of another kind (`var`).
//!
//! Names: a row is seen as `UCX_<PREFIX><NAME>` under the prefix of its own table and of every table
//! that inherits it (`UCX_SM_BW`, `UCX_MM_BW`, `UCX_POSIX_BW`), the most specific one wins. With the
//! application prefix `MPI`, `MPI_UCX_*` comes before every `UCX_*`.
#![forbid(unsafe_code)]

pub mod env;
mod file;
pub mod global;
mod known;
pub mod print;
pub mod ucm;
pub mod units;
mod value;
mod var;

pub use crate::sys::file::matches_pattern;
use env::Source;
pub use known::{
    is_known, is_of_foreign_component, nearest, used_variables, warn_unused, warn_unused_with,
};
pub use value::{AllowList, Kind, OnOff, Ternary, Value};
pub(crate) use var::var;
pub use var::*;

use crate::sys::fork::ForkLocked;
use crate::ucs::{Result, Status};
use crate::{ucs_error, ucs_warn};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Every variable begins so.
pub const PREFIX: &str = "UCX_";
/// `inf` of counts and bytes.
pub const INF: usize = usize::MAX;
/// `auto` of counts, bytes and hexadecimal numbers.
pub const AUTO: usize = usize::MAX - 1;
/// `auto` of times, bandwidths and positive numbers; `inf` of these is `f64::INFINITY`.
pub const AUTO_F64: f64 = -2.0;

/// One variable of a table, without `UCX_` and without the table's prefix.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub default: &'static str,
    pub doc: &'static str,
    pub kind: Kind,
}

impl Row {
    pub const fn new(
        name: &'static str,
        default: &'static str,
        kind: Kind,
        doc: &'static str,
    ) -> Row {
        Row {
            name,
            default,
            doc,
            kind,
        }
    }

    /// A row that is accepted, checked and printed, and that nobody reads: `why` is told to who sets it.
    pub const fn without_effect(
        name: &'static str,
        default: &'static str,
        kind: &'static Kind,
        doc: &'static str,
        why: &'static str,
    ) -> Row {
        Row::new(name, default, Kind::NoEffect(kind, why), doc)
    }

    /// A row of a table with a parent that has its own default for a row of the parent.
    pub const fn inherited(name: &'static str, default: &'static str) -> Row {
        Row::new(name, default, Kind::Inherited, "")
    }
}

/// The variables of one owner. `prefix` ends in `_` or is empty (`"TCP_"`); rows of `parent` (for
/// example the rows every transport has) are seen under this prefix and under the parent's.
#[derive(Debug)]
pub struct Table {
    /// The title in the output of `ucx_info -c -f`.
    pub name: &'static str,
    pub prefix: &'static str,
    pub parent: Option<&'static Table>,
    pub rows: &'static [Row],
}

impl Table {
    /// Whether it has a row of this name behind `UCX_`, or that a pattern means.
    pub fn has(&'static self, name: &str) -> bool {
        self.resolve().iter().any(|entry| entry.is_shown_as(name))
    }

    /// This table and its ancestors, nearest first.
    fn chain(&'static self) -> impl Iterator<Item = &'static Table> {
        core::iter::successors(Some(self), |table| table.parent)
    }

    /// All rows, the oldest ancestor's first, defaults replaced by those of the nearest table.
    fn resolve(&'static self) -> Vec<ConfigEntry> {
        let mut entries: Vec<ConfigEntry> = Vec::new();
        let chain: Vec<_> = self.chain().collect();
        for (depth, table) in chain.iter().enumerate().rev() {
            let prefixes: Arc<[_]> = chain.iter().take(depth + 1).map(|t| t.prefix).collect();
            for row in table.rows {
                if let Some(entry) = entries.iter_mut().find(|entry| entry.name == row.name) {
                    entry.default = row.default;
                    if !matches!(row.kind, Kind::Inherited) {
                        (entry.kind, entry.doc) = (row.kind, row.doc);
                    }
                    continue;
                }
                entries.push(ConfigEntry {
                    name: row.name,
                    default: row.default,
                    doc: row.doc,
                    kind: row.kind,
                    prefixes: Arc::clone(&prefixes),
                    value: Value::Nothing,
                });
            }
        }
        entries
    }
}

/// One resolved row.
#[derive(Clone, Debug)]
pub struct ConfigEntry {
    /// Without any prefix.
    pub name: &'static str,
    pub default: &'static str,
    pub doc: &'static str,
    pub kind: Kind,
    /// Prefixes under which it is seen, the most specific first.
    pub prefixes: Arc<[&'static str]>,
    pub value: Value,
}

impl ConfigEntry {
    /// The most specific complete name, `base` being `UCX_` or `MPI_UCX_`.
    pub fn name_under(&self, base: &str) -> String {
        format!(
            "{base}{}{}",
            self.prefixes.first().copied().unwrap_or(""),
            self.name
        )
    }

    /// The value as text.
    pub fn text(&self) -> String {
        self.kind.print(&self.value)
    }

    /// What the default says; `Nothing` for a default that is not of the row's kind, which the
    /// tests of the tables exclude.
    pub fn default_value(&self) -> Value {
        self.kind.parse(self.default).unwrap_or(Value::Nothing)
    }

    /// Whether `name`, with or without one of the prefixes, means this row.
    fn answers_to(&self, name: &str) -> bool {
        self.name == name
            || self
                .prefixes
                .iter()
                .any(|prefix| name.strip_prefix(prefix) == Some(self.name))
    }

    /// Whether `name` is one of the row's names behind `UCX_`, or a pattern of one.
    pub fn is_shown_as(&self, name: &str) -> bool {
        let pattern = name.contains(['*', '?']);
        self.prefixes.iter().any(|prefix| {
            let shown = format!("{prefix}{}", self.name);
            shown == name || pattern && matches_pattern(name, &shown)
        })
    }

    /// Parses `text` as the value of `shown_name`.
    fn assign(&mut self, shown_name: &str, text: &str) -> Result<()> {
        match self.kind.parse(text) {
            Some(value) => {
                if let Some(why) = self.kind.no_effect()
                    && value != self.value
                {
                    warn_of_no_effect(shown_name, why);
                }
                self.value = value;
                Ok(())
            }
            None => {
                ucs_error!(
                    "invalid value '{text}' for {shown_name}, expected: {}",
                    self.kind.syntax()
                );
                Err(Status::INVALID_PARAM)
            }
        }
    }

    /// The name and the text that `source` has for this row; `given` are all its names.
    fn find(&self, source: &Source, given: &[&str], bases: &[String]) -> Option<(String, String)> {
        // Few variables are given: the names of most rows need not be composed.
        if !given.iter().any(|name| name.ends_with(self.name)) {
            return None;
        }
        let names = bases.iter().flat_map(|base| {
            self.prefixes
                .iter()
                .map(move |prefix| format!("{base}{prefix}{}", self.name))
        });
        names.into_iter().find_map(|name| {
            let text = source.lookup(&name)?;
            Some((name, text))
        })
    }

    fn take_default(&mut self) -> Result<()> {
        if let Some(value) = self.kind.parse(self.default) {
            self.value = value;
            return Ok(());
        }
        self.assign(&self.name_under(PREFIX), self.default)
    }
}

/// Says once of each name that it does nothing here.
fn warn_of_no_effect(name: &str, why: &str) {
    static TOLD: ForkLocked<BTreeSet<String>> = ForkLocked::new(BTreeSet::new());
    if TOLD.with(|told| told.insert(name.to_owned())) {
        ucs_warn!("{name} has no effect here: {why}");
    }
}

/// The values of one table, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    pub table: &'static Table,
    entries: Vec<ConfigEntry>,
    /// The application prefix that it was read with.
    application: Option<String>,
    /// Options of other tables, for `Others`.
    others: Vec<(String, String)>,
}

impl Config {
    /// Reads `table`: default < ucx.conf < `UCX_*` < `<env_prefix>_UCX_*`. `INVALID_PARAM` when a
    /// text cannot be parsed (logged, with what is accepted).
    pub fn read(table: &'static Table, env_prefix: Option<&str>) -> Result<Config> {
        Config::read_with(table, env_prefix, &Source::now(), Err)
    }

    /// As `read`, but a text that cannot be parsed is reported and the default used.
    pub fn read_lenient(table: &'static Table) -> Config {
        let read = Config::read_with(table, None, &Source::now(), |_| Ok(()));
        read.unwrap_or(Config {
            table,
            entries: Vec::new(),
            application: None,
            others: Vec::new(),
        })
    }

    /// What the environment and the files say now, for reading other tables.
    pub fn others(&self) -> Others<'_> {
        Others {
            owner: self,
            source: Source::now(),
        }
    }

    /// Keeps an option of other tables. It is not checked before one of them is read.
    pub fn keep_for_others(&mut self, name: &str, text: &str) {
        self.others.retain(|(known, _)| known != name);
        self.others.push((name.to_owned(), text.to_owned()));
    }

    /// What is kept, in the order in which it was set.
    pub fn kept_for_others(&self) -> &[(String, String)] {
        &self.others
    }

    fn read_with(
        table: &'static Table,
        env_prefix: Option<&str>,
        source: &Source,
        on_bad_text: impl Fn(Status) -> Result<()>,
    ) -> Result<Config> {
        let mut bases = vec![PREFIX.to_owned()];
        if let Some(application) = env_prefix.filter(|prefix| !prefix.is_empty()) {
            bases.insert(0, format!("{application}_{PREFIX}"));
        }
        let given = source.names_with(PREFIX);
        let mut entries = table.resolve();
        let second_names: Vec<ConfigEntry> = entries
            .iter()
            .filter(|entry| matches!(entry.kind, Kind::Alias(_)))
            .cloned()
            .collect();
        for entry in entries
            .iter_mut()
            .filter(|entry| !matches!(entry.kind, Kind::Alias(_)))
        {
            entry.take_default()?;
            let own = entry.find(source, &given, &bases);
            let found = own.or_else(|| {
                let mut same = second_names
                    .iter()
                    .filter(|second| matches!(second.kind, Kind::Alias(of) if of == entry.name));
                same.find_map(|second| second.find(source, &given, &bases))
            });
            let Some((name, text)) = found else { continue };
            if matches!(entry.kind, Kind::Deprecated) {
                ucs_warn!("{name} is deprecated and has no effect");
            }
            if let Err(status) = entry.assign(&name, &text) {
                on_bad_text(status)?;
            }
        }
        Ok(Config {
            table,
            entries,
            application: env_prefix.map(str::to_owned),
            others: Vec::new(),
        })
    }

    /// The row that `entry` is a second name of; `entry` itself otherwise.
    pub fn target<'a>(&'a self, entry: &'a ConfigEntry) -> &'a ConfigEntry {
        match entry.kind {
            Kind::Alias(of) => self.entries.iter().find(|e| e.name == of).unwrap_or(entry),
            _ => entry,
        }
    }

    /// All rows in the order of the table.
    pub fn entries(&self) -> &[ConfigEntry] {
        &self.entries
    }

    /// Changes every row that `name` means: a name with or without the table's prefix, or a pattern
    /// with `*` and `?`. `NO_ELEM` when there is none, `INVALID_PARAM` for a text that cannot be
    /// parsed; then nothing has changed.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        let pattern = name.contains(['*', '?']);
        self.set_entries(text, name, |entry| {
            entry.answers_to(name)
                || entry.is_shown_as(name)
                || pattern && matches_pattern(name, entry.name)
        })
    }

    fn set_entries(
        &mut self,
        text: &str,
        name: &str,
        meant: impl Fn(&ConfigEntry) -> bool,
    ) -> Result<()> {
        let mut changed: Vec<ConfigEntry> = Vec::new();
        for entry in &self.entries {
            if meant(entry) {
                let mut entry = self.target(entry).clone();
                entry.assign(name, text)?;
                changed.push(entry);
            }
        }
        if changed.is_empty() {
            return Err(Status::NO_ELEM);
        }
        for new in changed {
            if let Some(slot) = self.entries.iter_mut().find(|entry| entry.name == new.name) {
                *slot = new;
            }
        }
        Ok(())
    }

    /// The text of the row that `name` means, with or without the table's prefix.
    /// `NO_ELEM` when there is none.
    pub fn get_text(&self, name: &str) -> Result<String> {
        let found = self.entries.iter().find(|entry| entry.answers_to(name));
        found
            .map(|entry| self.target(entry).text())
            .ok_or(Status::NO_ELEM)
    }
}

/// Reads other tables for the owner of one: all from one look at the environment.
pub struct Others<'a> {
    owner: &'a Config,
    source: Source,
}

impl Others<'_> {
    /// Reads `table` with the owner's application prefix, and with what the owner keeps for it.
    pub fn read(&self, table: &'static Table) -> Result<Config> {
        let application = self.owner.application.as_deref();
        let mut other = Config::read_with(table, application, &self.source, Err)?;
        for (name, text) in &self.owner.others {
            // The text is of another kind than it has to be: reported, and the table stays as it is.
            let _ = other.set_entries(text, name, |entry| entry.is_shown_as(name));
        }
        Ok(other)
    }
}

#[cfg(test)]
mod tests;
