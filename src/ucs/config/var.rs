//! How an owner reads the values of its variables.
//!
//! `var!(TABLE, "NAME")` is a `Var`. It does not compile where the table and those it inherits from have no row of this
//! name, or where the row is of another kind than the getter.
#![forbid(unsafe_code)]

use super::{AllowList, Config, ConfigEntry, Kind, OnOff, Table, Ternary, Value};
use core::marker::PhantomData;

/// A variable whose value has the shape `S`.
pub struct Var<S> {
    name: &'static str,
    /// Of the `key:value` pairs of the row.
    key: &'static str,
    shape: PhantomData<S>,
}

impl<S> Clone for Var<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Var<S> {}

impl<S> Var<S> {
    /// Without `UCX_` and the table's prefix.
    pub fn name(self) -> &'static str {
        self.name
    }
}

/// What a getter returns.
pub trait Shape {
    const ID: Id;
}

macro_rules! shapes {
    ($($(#[$doc:meta])* $shape:ident: $kinds:pat,)*) => {
        #[derive(Clone, Copy)]
        pub enum Id {
            $($shape,)*
        }
        $(
            $(#[$doc])*
            pub struct $shape;
            impl Shape for $shape {
                const ID: Id = Id::$shape;
            }
        )*
        const fn fits(id: Id, kind: &Kind) -> bool {
            match id {
                $(Id::$shape => matches!(kind, $kinds),)*
            }
        }
    };
}

shapes! {
    Bool: Kind::Bool,
    YesNoTry: Kind::Ternary | Kind::TernaryAuto,
    OnOrOff: Kind::OnOff | Kind::OnOffAuto,
    Int: Kind::Int,
    /// `inf` is `u32::MAX`.
    UInt: Kind::UInt | Kind::Signal,
    /// May be `INF` or `AUTO`.
    Count: Kind::ULong | Kind::PlainULong | Kind::Hex,
    /// May be `INF` or `AUTO`.
    Bytes: Kind::MemUnits,
    /// May be `AUTO_F64`.
    Double: Kind::Double | Kind::PositiveDouble,
    /// May be `f64::INFINITY` or `AUTO_F64`.
    Seconds: Kind::Time | Kind::PlainTime,
    /// Bytes a second; may be `AUTO_F64`.
    Bandwidth: Kind::Bandwidth,
    Text: Kind::Str,
    Texts: Kind::StrArray | Kind::ColonArray,
    ListOfBytes: Kind::Array(Kind::MemUnits),
    ListOfSignals: Kind::Array(Kind::Signal),
    /// Indices of names.
    ListOfChoices: Kind::Array(Kind::Enum(_)),
    /// The index of a name.
    Choice: Kind::Enum(_),
    /// A bit for each name.
    Mask: Kind::Bitmap(_),
    Allowed: Kind::AllowList | Kind::AllowRanges,
    Range: Kind::RangeSpec,
    /// One of several values in bytes.
    KeyedBytes: Kind::KeyValue(_, Kind::MemUnits),
    /// One of several values in seconds.
    KeyedSeconds: Kind::KeyValue(_, Kind::Time | Kind::PlainTime),
    /// The value as it is printed.
    Printed: _,
}

/// `==` of strings for constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Table {
    /// The kind of the row `name`, of the ancestor that says it.
    const fn kind_of(&self, name: &str) -> Kind {
        let mut table = self;
        loop {
            let mut i = 0;
            while i < table.rows.len() {
                let row = &table.rows[i];
                if same(row.name, name) && !matches!(row.kind, Kind::Inherited) {
                    return row.kind;
                }
                i += 1;
            }
            table = match table.parent {
                Some(parent) => parent,
                None => panic!("the table has no variable of this name"),
            };
        }
    }

    /// For `var!`: panics where `Var` would be wrong, which is an error of the compiler there.
    pub const fn var<S: Shape>(&self, name: &'static str, key: &'static str) -> Var<S> {
        let kind = self.kind_of(name);
        assert!(fits(S::ID, &kind), "the variable is of another kind");
        if let Kind::KeyValue(keys, _) = kind {
            let mut i = 0;
            while i < keys.len() && !same(keys[i].0, key) {
                i += 1;
            }
            assert!(i < keys.len(), "the variable has no such key");
        }
        Var {
            name,
            key,
            shape: PhantomData,
        }
    }
}

/// `var!(TABLE, "NAME")`: the variable `NAME` of a table. `var!(TABLE, "NAME", "key")`: one of its values.
macro_rules! var {
    ($table:expr, $name:literal) => {
        const { $table.var($name, "") }
    };
    ($table:expr, $name:literal, $key:literal) => {
        const { $table.var($name, $key) }
    };
}
pub(crate) use var;

impl Config {
    fn entry<S>(&self, var: Var<S>) -> &ConfigEntry {
        match self.entries().iter().find(|entry| entry.name == var.name) {
            Some(entry) => entry,
            None => panic!("table '{}' has no row {}", self.table.name, var.name),
        }
    }

    fn value<S>(&self, var: Var<S>) -> &Value {
        &self.entry(var).value
    }

    #[cold]
    fn mismatch<S>(&self, var: Var<S>) -> ! {
        panic!(
            "row {} of table '{}' is of another kind",
            var.name, self.table.name
        )
    }

    pub fn bool(&self, var: Var<Bool>) -> bool {
        match self.value(var) {
            Value::Bool(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn ternary(&self, var: Var<YesNoTry>) -> Ternary {
        match self.value(var) {
            Value::Ternary(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn on_off(&self, var: Var<OnOrOff>) -> OnOff {
        match self.value(var) {
            Value::OnOff(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn int(&self, var: Var<Int>) -> i32 {
        match self.value(var) {
            Value::Int(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn uint(&self, var: Var<UInt>) -> u32 {
        match self.value(var) {
            Value::UInt(value) => *value,
            _ => self.mismatch(var),
        }
    }

    fn size<S>(&self, var: Var<S>) -> usize {
        match self.value(var) {
            Value::Size(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn ulong(&self, var: Var<Count>) -> usize {
        self.size(var)
    }

    pub fn memunits(&self, var: Var<Bytes>) -> usize {
        self.size(var)
    }

    fn float<S>(&self, var: Var<S>) -> f64 {
        match self.value(var) {
            Value::Float(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn double(&self, var: Var<Double>) -> f64 {
        self.float(var)
    }

    pub fn time(&self, var: Var<Seconds>) -> f64 {
        self.float(var)
    }

    pub fn bandwidth(&self, var: Var<Bandwidth>) -> f64 {
        self.float(var)
    }

    pub fn str(&self, var: Var<Text>) -> &str {
        match self.value(var) {
            Value::Str(value) => value,
            _ => self.mismatch(var),
        }
    }

    pub fn list(&self, var: Var<Texts>) -> &[String] {
        match self.value(var) {
            Value::List(value) => value,
            _ => self.mismatch(var),
        }
    }

    /// The elements of an array, each by `of`.
    fn elements<S, T>(&self, var: Var<S>, of: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let Value::Values(values) = self.value(var) else {
            self.mismatch(var)
        };
        let elements = values.iter().map(of).collect::<Option<Vec<T>>>();
        elements.unwrap_or_else(|| self.mismatch(var))
    }

    pub fn sizes(&self, var: Var<ListOfBytes>) -> Vec<usize> {
        self.elements(var, |value| match value {
            Value::Size(bytes) => Some(*bytes),
            _ => None,
        })
    }

    /// Their numbers.
    pub fn signals(&self, var: Var<ListOfSignals>) -> Vec<u32> {
        self.elements(var, |value| match value {
            Value::UInt(number) => Some(*number),
            _ => None,
        })
    }

    /// In the order given.
    pub fn enum_list(&self, var: Var<ListOfChoices>) -> Vec<usize> {
        self.elements(var, |value| match value {
            Value::Index(index) => Some(*index),
            _ => None,
        })
    }

    pub fn enum_index(&self, var: Var<Choice>) -> usize {
        match self.value(var) {
            Value::Index(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn bitmap(&self, var: Var<Mask>) -> u64 {
        match self.value(var) {
            Value::Mask(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn allow_list(&self, var: Var<Allowed>) -> &AllowList {
        match self.value(var) {
            Value::Allow(value) => value,
            _ => self.mismatch(var),
        }
    }

    pub fn range(&self, var: Var<Range>) -> (u32, u32) {
        match self.value(var) {
            Value::Range(first, last) => (*first, *last),
            _ => self.mismatch(var),
        }
    }

    fn keyed<S>(&self, var: Var<S>) -> &Value {
        let entry = self.entry(var);
        if let (Kind::KeyValue(keys, _), Value::Keys(values)) = (entry.kind, &entry.value) {
            let found = keys
                .iter()
                .zip(values)
                .find(|((key, _), _)| *key == var.key);
            if let Some((_, value)) = found {
                return value;
            }
        }
        self.mismatch(var)
    }

    pub fn key_time(&self, var: Var<KeyedSeconds>) -> f64 {
        match self.keyed(var) {
            Value::Float(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn key_size(&self, var: Var<KeyedBytes>) -> usize {
        match self.keyed(var) {
            Value::Size(value) => *value,
            _ => self.mismatch(var),
        }
    }

    pub fn printed(&self, var: Var<Printed>) -> String {
        self.entry(var).text()
    }
}
