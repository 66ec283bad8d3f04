//! One configured value: how a row's text becomes a checked value, and how a value is printed.
//!
//! `Kind` names the syntax, `Value` holds what was read. Called by `Config` when it reads or
//! changes a row, and by `print`. A text is accepted whole or refused; whatever is printed can be
//! read again.

use super::units;

/// How a row's text is parsed and checked; the syntax is UCX's own for each type.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `y`, `n` and their usual spellings.
    Bool,
    /// `yes`, `no`, `try`.
    Ternary,
    /// `yes`, `no`, `try`, `auto`.
    TernaryAuto,
    /// `on`, `off`.
    OnOff,
    /// `on`, `off`, `auto`.
    OnOffAuto,
    /// 32 bits, signed; `0x` and octal forms too.
    Int,
    /// 32 bits, unsigned; `inf` is the largest.
    UInt,
    /// Unsigned with `inf` and `auto`.
    ULong,
    /// Unsigned without names for special values.
    PlainULong,
    Double,
    /// Above zero, or `auto`.
    PositiveDouble,
    /// Bytes: `8k`, `1m`, `inf`, `auto`.
    MemUnits,
    /// Seconds as `10us`, `1.5s`, `inf`, `auto`.
    Time,
    /// Seconds without `auto`.
    PlainTime,
    /// Bytes a second: `10GBs`, `800Mbps`, `auto`.
    Bandwidth,
    Str,
    /// Comma-separated strings.
    StrArray,
    /// Colon-separated strings.
    ColonArray,
    /// Comma-separated values of one kind.
    Array(&'static Kind),
    /// One of these names, in any case; the value is its index.
    Enum(&'static [&'static str]),
    /// Comma-separated names; the value is a bit mask of indices.
    Bitmap(&'static [&'static str]),
    /// Names, `all`, or a list behind `^`.
    AllowList,
    /// As `AllowList`, and `prefix[first-last]suffix` stands for many names.
    AllowRanges,
    /// `first-last` or one number.
    RangeSpec,
    /// `0x…` or `auto`.
    Hex,
    /// A signal's name, with or without `SIG`, or its number.
    Signal,
    /// `key:value` for the named keys (name, what it means); a value without a key is for all keys
    /// that are not named.
    KeyValue(&'static [(&'static str, &'static str)], &'static Kind),
    /// `device:bandwidth`, comma-separated.
    DeviceBandwidth,
    /// Accepted, checked and printed as the other kind. Nobody reads it, for this reason.
    NoEffect(&'static Kind, &'static str),
    /// Accepted and ignored; printed as deprecated.
    Deprecated,
    /// An older name of another row of the table; shown only on request.
    Alias(&'static str),
    /// In a table with a parent: only the default differs from the parent's row.
    Inherited,
}

/// `yes`, `no`, `try` and `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ternary {
    No,
    Yes,
    Try,
    Auto,
}

/// `off`, `on` and `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOff {
    Off,
    On,
    Auto,
}

/// What an allow list lets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowList {
    All,
    Only(Vec<String>),
    AllBut(Vec<String>),
}

impl AllowList {
    /// Whether `name` passes. Names are compared exactly.
    pub fn allows(&self, name: &str) -> bool {
        match self {
            AllowList::All => true,
            AllowList::Only(names) => names.iter().any(|n| n == name),
            AllowList::AllBut(names) => names.iter().all(|n| n != name),
        }
    }

    /// The names that were listed; none for `all`.
    pub fn names(&self) -> &[String] {
        match self {
            AllowList::All => &[],
            AllowList::Only(names) | AllowList::AllBut(names) => names,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Ternary(Ternary),
    OnOff(OnOff),
    Int(i32),
    UInt(u32),
    /// Counts and bytes, with `INF` and `AUTO`; hexadecimal numbers.
    Size(usize),
    /// Seconds, bytes a second, plain numbers, with `AUTO_F64`.
    Float(f64),
    Str(String),
    List(Vec<String>),
    Values(Vec<Value>),
    Index(usize),
    Mask(u64),
    Allow(AllowList),
    Range(u32, u32),
    /// In the order of the kind's keys.
    Keys(Vec<Value>),
    /// Device and bandwidth.
    Devices(Vec<(String, f64)>),
    Nothing,
}

/// Signals in the order of their numbers on Linux, from 1.
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];
const LARGEST_SIGNAL: u32 = 64;

/// No list grows beyond this, however wide its ranges are.
const MAX_RANGE_NAMES: usize = 4096;

impl Kind {
    /// Reads `text`; `None` when it is not of this syntax.
    pub fn parse(self, text: &str) -> Option<Value> {
        let lower = || text.trim().to_ascii_lowercase();
        Some(match self {
            Kind::Bool => Value::Bool(yes_no(&lower())?),
            Kind::Ternary | Kind::TernaryAuto => Value::Ternary(match lower().as_str() {
                "try" => Ternary::Try,
                "auto" if matches!(self, Kind::TernaryAuto) => Ternary::Auto,
                word if yes_no(word)? => Ternary::Yes,
                _ => Ternary::No,
            }),
            Kind::OnOff | Kind::OnOffAuto => Value::OnOff(match lower().as_str() {
                "try" | "auto" if matches!(self, Kind::OnOffAuto) => OnOff::Auto,
                word if yes_no(word)? => OnOff::On,
                _ => OnOff::Off,
            }),
            Kind::Int => Value::Int(parse_int(text.trim())?),
            Kind::UInt => Value::UInt(match lower().as_str() {
                "inf" | "-1" => u32::MAX,
                number => number.parse().ok()?,
            }),
            Kind::ULong => Value::Size(units::parse_count(text)?),
            Kind::PlainULong => Value::Size(match text.trim() {
                "-1" => usize::MAX,
                number => number.parse().ok()?,
            }),
            Kind::Double => Value::Float(text.trim().parse().ok()?),
            Kind::PositiveDouble if lower() == "auto" => Value::Float(super::AUTO_F64),
            Kind::PositiveDouble => {
                let number: f64 = text.trim().parse().ok()?;
                if number.is_nan() || number <= 0.0 {
                    return None;
                }
                Value::Float(number)
            }
            Kind::MemUnits => Value::Size(units::parse_memory(text)?),
            Kind::Time => Value::Float(units::parse_time(text, true)?),
            Kind::PlainTime => Value::Float(units::parse_time(text, false)?),
            Kind::Bandwidth => Value::Float(units::parse_bandwidth(text)?),
            Kind::Str => Value::Str(text.to_owned()),
            Kind::StrArray => Value::List(split(text, ',')),
            Kind::ColonArray => Value::List(split(text, ':')),
            Kind::Array(of) => Value::Values(
                split(text, ',')
                    .iter()
                    .map(|part| of.parse(part))
                    .collect::<Option<_>>()?,
            ),
            Kind::Enum(names) => Value::Index(index_of(names, text.trim())?),
            Kind::Bitmap(names) => {
                let mut mask = 0u64;
                for part in split(text, ',') {
                    mask |= 1u64.checked_shl(index_of(names, &part)? as u32)?;
                }
                Value::Mask(mask)
            }
            Kind::AllowList => Value::Allow(parse_allow(text, false)?),
            Kind::AllowRanges => Value::Allow(parse_allow(text, true)?),
            Kind::RangeSpec => {
                let (first, last) = parse_range(text.trim())?;
                Value::Range(first, last)
            }
            Kind::Hex if lower() == "auto" => Value::Size(super::AUTO),
            Kind::Hex => {
                let text = text.trim();
                let digits = text
                    .strip_prefix("0x")
                    .or_else(|| text.strip_prefix("0X"))?;
                Value::Size(usize::from_str_radix(digits, 16).ok()?)
            }
            Kind::Signal => Value::UInt(parse_signal(text.trim())?),
            Kind::KeyValue(keys, of) => Value::Keys(parse_keys(keys, *of, text)?),
            Kind::DeviceBandwidth => Value::Devices(
                split(text, ',')
                    .iter()
                    .map(|part| {
                        let (device, bandwidth) = part.rsplit_once(':')?;
                        Some((device.to_owned(), units::parse_bandwidth(bandwidth)?))
                    })
                    .collect::<Option<_>>()?,
            ),
            Kind::NoEffect(of, _) => of.parse(text)?,
            Kind::Deprecated => Value::Nothing,
            Kind::Alias(_) | Kind::Inherited => return None,
        })
    }

    /// What its texts look like: itself, or that of a row without effect.
    pub fn shape(self) -> Kind {
        match self {
            Kind::NoEffect(of, _) => *of,
            kind => kind,
        }
    }

    /// Why a row of this kind has no effect.
    pub fn no_effect(self) -> Option<&'static str> {
        match self {
            Kind::NoEffect(_, why) => Some(why),
            _ => None,
        }
    }

    /// The text of `value`, in the form UCX prints it.
    pub fn print(self, value: &Value) -> String {
        if let Kind::NoEffect(of, _) = self {
            return of.print(value);
        }
        match value {
            Value::Bool(on) => if *on { "y" } else { "n" }.into(),
            Value::Ternary(word) => match word {
                Ternary::No => "n",
                Ternary::Yes => "y",
                Ternary::Try => "try",
                Ternary::Auto => "auto",
            }
            .into(),
            Value::OnOff(word) => match word {
                OnOff::Off => "off",
                OnOff::On => "on",
                OnOff::Auto => "auto",
            }
            .into(),
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => match self {
                Kind::Signal => match SIGNALS.get((*number as usize).wrapping_sub(1)) {
                    Some(name) => (*name).into(),
                    None => number.to_string(),
                },
                _ if *number == u32::MAX => "inf".into(),
                _ => number.to_string(),
            },
            Value::Size(number) => match self {
                Kind::MemUnits => units::print_memory(*number),
                Kind::Hex if *number != super::AUTO => format!("{number:#x}"),
                Kind::PlainULong => number.to_string(),
                _ => units::print_count(*number),
            },
            Value::Float(number) => match self {
                Kind::Time | Kind::PlainTime => units::print_time(*number),
                Kind::Bandwidth => units::print_bandwidth(*number),
                Kind::PositiveDouble if *number == super::AUTO_F64 => "auto".into(),
                _ => format!("{number:.3}"),
            },
            Value::Str(text) => text.clone(),
            Value::List(list) => list.join(if matches!(self, Kind::ColonArray) {
                ":"
            } else {
                ","
            }),
            Value::Values(values) => {
                let of = match self {
                    Kind::Array(of) => *of,
                    _ => self,
                };
                let texts: Vec<_> = values.iter().map(|value| of.print(value)).collect();
                texts.join(",")
            }
            Value::Index(index) => self.names().get(*index).copied().unwrap_or("").into(),
            Value::Mask(mask) => {
                let set = (0u32..).zip(self.names()).filter_map(|(bit, name)| {
                    (mask.checked_shr(bit).unwrap_or(0) & 1 == 1).then_some(*name)
                });
                set.collect::<Vec<_>>().join(",")
            }
            Value::Allow(AllowList::All) => "all".into(),
            Value::Allow(AllowList::Only(names)) => names.join(","),
            Value::Allow(AllowList::AllBut(names)) => format!("^{}", names.join(",")),
            Value::Range(first, last) if first == last => first.to_string(),
            Value::Range(first, last) => format!("{first}-{last}"),
            Value::Keys(values) => {
                let Kind::KeyValue(keys, of) = self else {
                    return String::new();
                };
                let texts: Vec<_> = keys
                    .iter()
                    .zip(values)
                    .map(|((key, _), value)| format!("{key}:{}", of.print(value)))
                    .collect();
                texts.join(",")
            }
            Value::Devices(devices) => {
                let texts: Vec<_> = devices
                    .iter()
                    .map(|(device, bw)| format!("{device}:{}", units::print_bandwidth(*bw)))
                    .collect();
                texts.join(",")
            }
            Value::Nothing => String::new(),
        }
    }

    /// What is accepted, as `ucx_info -c -f` and the error message say it.
    pub fn syntax(self) -> String {
        match self {
            Kind::Bool => "<y|n>".into(),
            Kind::Ternary => "<yes|no|try>".into(),
            Kind::TernaryAuto => "<yes|no|try|auto>".into(),
            Kind::OnOff => "<on|off>".into(),
            Kind::OnOffAuto => "<on|off|auto>".into(),
            Kind::Int => "integer".into(),
            Kind::UInt => "unsigned integer".into(),
            Kind::ULong => r#"unsigned long: <number>, "inf", or "auto""#.into(),
            Kind::PlainULong => "unsigned long".into(),
            Kind::Double => "floating point number".into(),
            Kind::PositiveDouble => r#"positive floating point number or "auto""#.into(),
            Kind::MemUnits => r#"memory units: <number>[b|kb|mb|gb], "inf", or "auto""#.into(),
            Kind::Time => r#"time value: <number>[m|s|ms|us|ns], "inf", or "auto""#.into(),
            Kind::PlainTime => "time value: <number>[m|s|ms|us|ns]".into(),
            Kind::Bandwidth => r#"bandwidth value: <number>[T|G|M|K]B|b[[p|/]s] or "auto""#.into(),
            Kind::Str => "string".into(),
            Kind::StrArray => "comma-separated list of: string".into(),
            Kind::ColonArray => "colon-separated list of: string".into(),
            Kind::Array(of) => format!("comma-separated list of: {}", of.syntax()),
            Kind::Enum(names) => format!("[{}]", names.join("|")),
            Kind::Bitmap(names) => format!("comma-separated list of: [{}]", names.join("|")),
            Kind::AllowList => "comma-separated list (prepend '^' for negation, or set to \"all\" \
                                for including all items) of: string"
                .into(),
            Kind::AllowRanges => "comma-separated list (prepend '^' for negation, use format \
                                  \"prefix[start-end]suffix\" for ranges, or set to \"all\" for \
                                  including all items) of: string"
                .into(),
            Kind::RangeSpec => "numbers range: <number>-<number>".into(),
            Kind::Hex => r#"hex representation of a number or "auto""#.into(),
            Kind::Signal => "system signal (number or SIGxxx)".into(),
            Kind::KeyValue(keys, of) => {
                let names: Vec<_> = keys.iter().map(|(name, _)| *name).collect();
                format!(
                    "comma-separated list of value or key:value pairs, where key is one of [{}] \
                     and value is: {}. A value without a key is the default.",
                    names.join(","),
                    of.syntax()
                )
            }
            Kind::DeviceBandwidth => "comma-separated list of: \
                                      device_name:<number>[T|G|M|K]B|b[[p|/]s] or device_name:auto"
                .into(),
            Kind::NoEffect(of, _) => of.syntax(),
            Kind::Deprecated => "N/A".into(),
            Kind::Alias(_) | Kind::Inherited => String::new(),
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Kind::Enum(names) | Kind::Bitmap(names) => names,
            _ => &[],
        }
    }
}

fn yes_no(word: &str) -> Option<bool> {
    match word {
        "y" | "yes" | "on" | "1" => Some(true),
        "n" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Decimal, `0x` hexadecimal and `0` octal, as C's `%i`.
fn parse_int(text: &str) -> Option<i32> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => i64::from_str_radix(digits, 8),
        None => digits.parse(),
    }
    .ok()?;
    i32::try_from(if negative { -number } else { number }).ok()
}

/// Parts between separators, without white space around them; an empty text has no parts.
fn split(text: &str, separator: char) -> Vec<String> {
    text.split(separator)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn index_of(names: &[&str], text: &str) -> Option<usize> {
    names
        .iter()
        .position(|name| name.eq_ignore_ascii_case(text))
}

fn parse_allow(text: &str, ranges: bool) -> Option<AllowList> {
    let text = text.trim_matches([',', ' ', '\t']);
    let (negated, rest) = match text.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut names = Vec::new();
    for part in split(rest, ',') {
        match if ranges { range_of(&part) } else { None } {
            Some((prefix, first, last, suffix)) => {
                if (last - first) as usize >= MAX_RANGE_NAMES {
                    return None;
                }
                names.extend((first..=last).map(|number| format!("{prefix}{number}{suffix}")));
            }
            None => names.push(part),
        }
        if names.len() > MAX_RANGE_NAMES {
            return None;
        }
    }
    let all = names.iter().any(|name| name == "all");
    match (negated, all) {
        (false, true) if names.len() == 1 => Some(AllowList::All),
        (_, true) => None,
        (true, false) => Some(AllowList::AllBut(names)),
        (false, false) => Some(AllowList::Only(names)),
    }
}

/// `mlx5_[0-3]:1` stands for `mlx5_0:1` to `mlx5_3:1`; any other use of brackets is a plain name.
fn range_of(part: &str) -> Option<(&str, u32, u32, &str)> {
    let (prefix, rest) = part.split_once('[')?;
    let (range, suffix) = rest.split_once(']')?;
    if suffix.contains('[') || !range.contains('-') {
        return None;
    }
    let (first, last) = parse_range(range)?;
    Some((prefix, first, last, suffix))
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (first.trim().parse().ok()?, last.trim().parse().ok()?),
        None => {
            let number = text.parse().ok()?;
            (number, number)
        }
    };
    (first <= last).then_some((first, last))
}

fn parse_signal(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse::<u32>() {
        return (number <= LARGEST_SIGNAL).then_some(number);
    }
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS
        .iter()
        .position(|s| *s == name)
        .map(|index| index as u32 + 1)
}

/// One value for each key: the named one, else the one without a key.
fn parse_keys(keys: &[(&str, &str)], of: Kind, text: &str) -> Option<Vec<Value>> {
    let mut values: Vec<Option<Value>> = vec![None; keys.len()];
    let mut rest = None;
    for part in split(text, ',') {
        match part.split_once(':') {
            Some((key, value)) => {
                let at = keys.iter().position(|(name, _)| *name == key.trim())?;
                *values.get_mut(at)? = Some(of.parse(value)?);
            }
            None => rest = Some(of.parse(&part)?),
        }
    }
    values
        .into_iter()
        .map(|value| value.or_else(|| rest.clone()))
        .collect()
}
