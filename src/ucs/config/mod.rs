//! Configuration: declarative rows per owner, read from defaults, `ucx.conf` and the environment.
//!
//! An owner (a transport, a memory domain, the context) states a `Table` of `Row`s. `Config::read`
//! resolves every row by UCX's rules of names and precedence; the owner then asks by name, once,
//! at open.

use crate::ucs::Result;

/// How a row's text is parsed and checked; the syntax is UCX's own for each type.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Bool,
    /// `yes`, `no`, `try`.
    Ternary,
    /// `yes`, `no`, `try`, `auto`.
    TernaryAuto,
    /// `on`, `off`, `auto`.
    OnOffAuto,
    Int,
    UInt,
    /// Unsigned with `inf` and `auto`.
    ULong,
    Double,
    /// Bytes: `8k`, `1m`, `inf`, `auto`.
    MemUnits,
    /// Seconds as `10us`, `1.5s`, `inf`, `auto`.
    Time,
    /// Bytes a second: `10GBs`, `800Mbps`, `auto`.
    Bandwidth,
    Str,
    /// Comma-separated strings.
    StrArray,
    /// One of these names, in any case; the value is its index.
    Enum(&'static [&'static str]),
    /// Comma-separated names; the value is a bit mask of indices.
    Bitmap(&'static [&'static str]),
    /// Names, `all`, or a list behind `^`.
    AllowList,
    /// `first-last` or one number.
    RangeSpec,
    Hex,
}

/// One variable of a table, without `UCX_` and without the table's prefix.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub default: &'static str,
    pub doc: &'static str,
    pub kind: Kind,
}

/// The variables of one owner. `prefix` ends in `_` or is empty (`"TCP_"`); rows of `parent` (for
/// example the rows every transport has) are seen under this prefix and under the parent's.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub prefix: &'static str,
    pub parent: Option<&'static Table>,
    pub rows: &'static [Row],
}

/// The values of one table, resolved.
#[derive(Clone, Debug)]
pub struct Config {
    pub table: &'static Table,
    texts: Vec<(&'static str, String)>,
}

impl Config {
    /// Reads `table`: default < ucx.conf < `UCX_*` < `<env_prefix>_UCX_*`. `INVALID_PARAM` when a
    /// text cannot be parsed (logged, with what is accepted).
    pub fn read(table: &'static Table, env_prefix: Option<&str>) -> Result<Config> {
        let _ = env_prefix;
        let mut texts: Vec<(&'static str, String)> = Vec::new();
        let mut at = Some(table);
        while let Some(t) = at {
            for row in t.rows {
                if !texts.iter().any(|(n, _)| *n == row.name) {
                    let name = format!("UCX_{}{}", table.prefix, row.name);
                    let text = std::env::var(name).unwrap_or_else(|_| row.default.to_owned());
                    texts.push((row.name, text));
                }
            }
            at = t.parent;
        }
        Ok(Config { table, texts })
    }

    fn text(&self, name: &str) -> &str {
        self.texts
            .iter()
            .find(|(n, _)| *n == name)
            .map_or("", |(_, t)| t.as_str())
    }

    pub fn get_text(&self, name: &str) -> Result<String> {
        Ok(self.text(name).to_owned())
    }

    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        for (n, t) in &mut self.texts {
            if *n == name {
                *t = value.to_owned();
                return Ok(());
            }
        }
        Err(crate::ucs::Status::NO_ELEM)
    }

    pub fn bool(&self, name: &str) -> bool {
        self.text(name).starts_with(['y', '1'])
    }

    pub fn int(&self, name: &str) -> i64 {
        self.text(name).parse().unwrap_or(0)
    }

    pub fn uint(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(u64::MAX)
    }

    pub fn memunits(&self, name: &str) -> usize {
        let t = self.text(name);
        let digits: String = t.chars().take_while(char::is_ascii_digit).collect();
        let unit = match t[digits.len()..].chars().next() {
            Some('k' | 'K') => 1 << 10,
            Some('m' | 'M') => 1 << 20,
            Some('g' | 'G') => 1 << 30,
            _ => 1,
        };
        digits.parse::<usize>().map_or(usize::MAX, |n| n * unit)
    }

    pub fn list(&self, name: &str) -> Vec<String> {
        self.text(name).split(',').map(str::to_owned).collect()
    }
}

/// Warns once about variables nobody knows.
pub fn warn_unused() {}
