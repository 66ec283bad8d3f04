//! Names, precedence and values, over tables and texts made for the tests.

use super::*;
use crate::ucs::test_rng::TestRng;

const COLORS: &[&str] = &["red", "green", "blue"];
const KEYS: &[(&str, &str)] = &[("intra", "on the node"), ("inter", "between nodes")];

static BASE: Table = Table {
    name: "every transport",
    prefix: "",
    parent: None,
    rows: &[
        Row {
            name: "ALLOC",
            default: "md,heap",
            doc: "d",
            kind: Kind::Array(&Kind::Enum(&["heap", "md"])),
        },
        Row {
            name: "FAILURE",
            default: "DIAG",
            doc: "d",
            kind: Kind::Enum(global::LOG_LEVELS),
        },
    ],
};
static MM: Table = Table {
    name: "memory",
    prefix: "MM_",
    parent: Some(&BASE),
    rows: &[
        Row {
            name: "FIFO_SIZE",
            default: "256",
            doc: "d",
            kind: Kind::UInt,
        },
        Row {
            name: "OLD_SIZE",
            default: "",
            doc: "",
            kind: Kind::Alias("FIFO_SIZE"),
        },
        Row::inherited("ALLOC", "heap"),
    ],
};
static POSIX: Table = Table {
    name: "posix",
    prefix: "POSIX_",
    parent: Some(&MM),
    rows: &[
        Row {
            name: "COLOR",
            default: "red",
            doc: "d",
            kind: Kind::Enum(COLORS),
        },
        Row {
            name: "THRESH",
            default: "auto",
            doc: "d",
            kind: Kind::KeyValue(KEYS, &Kind::MemUnits),
        },
        Row::inherited("FIFO_SIZE", "64"),
    ],
};

fn read(environment: &[(&str, &str)], files: &[(&str, &str)]) -> Result<Config> {
    Config::read_with(&POSIX, Some("MPI"), &Source::of(environment, files), Err)
}

#[test]
fn rows_come_from_the_oldest_table_on_with_the_nearest_default() {
    let config = read(&[], &[]).unwrap();
    let lines: Vec<_> = config
        .entries()
        .iter()
        .map(|entry| {
            format!(
                "{}={} {:?}",
                entry.name,
                config.target(entry).text(),
                entry.prefixes
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            r#"ALLOC=heap ["POSIX_", "MM_", ""]"#,
            r#"FAILURE=DIAG ["POSIX_", "MM_", ""]"#,
            r#"FIFO_SIZE=64 ["POSIX_", "MM_"]"#,
            r#"OLD_SIZE=64 ["POSIX_", "MM_"]"#,
            r#"COLOR=red ["POSIX_"]"#,
            r#"THRESH=intra:auto,inter:auto ["POSIX_"]"#,
        ]
    );
}

#[test]
fn the_most_specific_name_wins_and_the_application_before_all() {
    for (environment, files, expected) in [
        (&[][..], &[][..], 64),
        (&[("UCX_MM_FIFO_SIZE", "1")], &[], 1),
        (&[("UCX_FIFO_SIZE", "1")], &[], 64),
        (
            &[("UCX_MM_FIFO_SIZE", "1"), ("UCX_POSIX_FIFO_SIZE", "2")],
            &[],
            2,
        ),
        (
            &[("UCX_MM_FIFO_SIZE", "1")],
            &[("UCX_POSIX_FIFO_SIZE", "3")],
            3,
        ),
        (
            &[("UCX_POSIX_FIFO_SIZE", "1")],
            &[("UCX_POSIX_FIFO_SIZE", "3")],
            1,
        ),
        (
            &[("UCX_POSIX_FIFO_SIZE", "2"), ("MPI_UCX_MM_FIFO_SIZE", "4")],
            &[],
            4,
        ),
        (&[("X_UCX_POSIX_FIFO_SIZE", "2")], &[], 64),
        (&[("UCX_POSIX_OLD_SIZE", "5")], &[], 5),
        (
            &[("UCX_POSIX_OLD_SIZE", "5"), ("UCX_MM_FIFO_SIZE", "6")],
            &[],
            6,
        ),
    ] {
        let config = read(environment, files).unwrap();
        assert_eq!(
            config.uint(var!(POSIX, "FIFO_SIZE")),
            expected,
            "{environment:?} {files:?}"
        );
    }
}

#[test]
fn bad_texts_are_refused() {
    for (name, text) in [
        ("UCX_POSIX_FIFO_SIZE", "1k"),
        ("UCX_POSIX_FIFO_SIZE", ""),
        ("UCX_POSIX_FIFO_SIZE", "0x10"),
        ("UCX_POSIX_FIFO_SIZE", "4294967296"),
        ("UCX_POSIX_COLOR", "yellow"),
        ("UCX_ALLOC", "heap,bad"),
        ("UCX_POSIX_THRESH", "intra:8k"),
        ("UCX_POSIX_THRESH", "far:8k,1"),
        ("UCX_POSIX_THRESH", ""),
    ] {
        assert_eq!(
            read(&[(name, text)], &[]).err(),
            Some(Status::INVALID_PARAM),
            "{name}={text}"
        );
    }
    let lenient = Config::read_with(
        &POSIX,
        None,
        &Source::of(
            &[("UCX_POSIX_COLOR", "yellow"), ("UCX_POSIX_FIFO_SIZE", "7")],
            &[],
        ),
        |_| Ok(()),
    );
    let lenient = lenient.unwrap();
    assert_eq!(
        (
            lenient.enum_index(var!(POSIX, "COLOR")),
            lenient.uint(var!(POSIX, "FIFO_SIZE"))
        ),
        (0, 7)
    );
}

#[test]
fn values_have_their_getters() {
    let config = read(
        &[
            ("UCX_POSIX_COLOR", "BLUE"),
            ("UCX_POSIX_THRESH", "16K,intra:8k"),
            ("UCX_POSIX_ALLOC", "md,heap,md"),
            ("UCX_POSIX_FIFO_SIZE", "inf"),
        ],
        &[],
    )
    .unwrap();
    assert_eq!(config.enum_index(var!(POSIX, "COLOR")), 2);
    assert_eq!(config.key_size(var!(POSIX, "THRESH", "intra")), 8192);
    assert_eq!(config.key_size(var!(POSIX, "THRESH", "inter")), 16384);
    assert_eq!(config.enum_list(var!(POSIX, "ALLOC")), [1, 0, 1]);
    assert_eq!(config.uint(var!(POSIX, "FIFO_SIZE")), u32::MAX);
}

#[test]
fn changes_take_names_prefixed_names_and_patterns() {
    let mut config = read(&[], &[]).unwrap();
    config.set("COLOR", "green").unwrap();
    config.set("MM_FIFO_SIZE", "8").unwrap();
    assert_eq!(config.get_text("POSIX_COLOR").unwrap(), "green");
    assert_eq!(config.get_text("OLD_SIZE").unwrap(), "8");
    config.set("*_SIZE", "9").unwrap();
    assert_eq!(config.uint(var!(POSIX, "FIFO_SIZE")), 9);
    assert_eq!(config.set("SIZE", "9").err(), Some(Status::NO_ELEM));
    assert_eq!(config.get_text("SIZE").err(), Some(Status::NO_ELEM));
    // One of two rows does not take the text: none is changed.
    assert_eq!(
        config.set("*O*", "green").err(),
        Some(Status::INVALID_PARAM)
    );
    assert_eq!(config.get_text("COLOR").unwrap(), "green");
    assert_eq!(config.uint(var!(POSIX, "FIFO_SIZE")), 9);
}

/// A kind, texts with what they print as, and texts that are refused.
type Case = (
    Kind,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

/// Reads, prints, and reads again: the value must stay.
#[test]
fn every_kind_reads_what_it_prints() {
    let cases: &[Case] = &[
        (
            Kind::Bool,
            &[
                ("y", "y"),
                ("YES", "y"),
                ("on", "y"),
                ("1", "y"),
                ("n", "n"),
                ("Off", "n"),
                ("0", "n"),
            ],
            &["true", "2", "try", ""],
        ),
        (
            Kind::Ternary,
            &[("try", "try"), ("TRY", "try"), ("1", "y"), ("no", "n")],
            &["auto", "x"],
        ),
        (
            Kind::TernaryAuto,
            &[("auto", "auto"), ("try", "try"), ("y", "y")],
            &["x"],
        ),
        (
            Kind::OnOffAuto,
            &[
                ("on", "on"),
                ("n", "off"),
                ("try", "auto"),
                ("AUTO", "auto"),
            ],
            &["x"],
        ),
        (
            Kind::Int,
            &[
                ("-1", "-1"),
                ("0x10", "16"),
                ("010", "8"),
                (" 1 ", "1"),
                ("0", "0"),
            ],
            &["", "1k", "1.5", "inf", "99999999999", "--1", "0x"],
        ),
        (
            Kind::UInt,
            &[("1", "1"), ("INF", "inf"), ("-1", "inf"), ("010", "10")],
            &["1k", "auto", "-2"],
        ),
        (
            Kind::ULong,
            &[
                ("auto", "auto"),
                ("-1", "inf"),
                ("99999999999", "99999999999"),
            ],
            &["1.5", ""],
        ),
        (Kind::PlainULong, &[("7", "7")], &["inf", "auto"]),
        (
            Kind::Double,
            &[("1e3", "1000.000"), ("inf", "inf"), ("-1.5", "-1.500")],
            &["1.5x", ""],
        ),
        (
            Kind::PositiveDouble,
            &[("AUTO", "auto"), ("2", "2.000")],
            &["0", "-1", "nan"],
        ),
        (Kind::MemUnits, &[("8256", "8256"), ("1k", "1K")], &["1x"]),
        (
            Kind::Time,
            &[
                ("auto", "auto"),
                ("10us", "10.00us"),
                ("1m", "60000000.00us"),
            ],
            &["1h"],
        ),
        (Kind::PlainTime, &[("1ms", "1000.00us")], &["auto"]),
        (
            Kind::Bandwidth,
            &[("15360MBs", "15360.00MBps"), ("auto", "auto")],
            &["15360"],
        ),
        (Kind::Str, &[("a b", "a b"), ("", "")], &[]),
        (
            Kind::StrArray,
            &[("a,b", "a,b"), ("a, b", "a,b"), ("", "")],
            &[],
        ),
        (Kind::ColonArray, &[("/a:/b", "/a:/b"), ("", "")], &[]),
        (
            Kind::Array(&Kind::MemUnits),
            &[("64,1024", "64,1K"), ("", "")],
            &["64,x"],
        ),
        (
            Kind::Array(&Kind::RangeSpec),
            &[("1-2,5", "1-2,5")],
            &["1-"],
        ),
        (Kind::Enum(COLORS), &[("GREEN", "green")], &["", "2"]),
        (
            Kind::Bitmap(COLORS),
            &[("blue,red", "red,blue"), ("red,red", "red"), ("", "")],
            &["red,x"],
        ),
        (
            Kind::AllowList,
            &[
                ("all", "all"),
                ("^a,b", "^a,b"),
                ("a", "a"),
                ("", ""),
                ("\\a", "\\a"),
                ("x[0-1]", "x[0-1]"),
            ],
            &["all,a", "^all"],
        ),
        (
            Kind::AllowRanges,
            &[
                ("eth[0-2]", "eth0,eth1,eth2"),
                ("^m_[08-10]:1,lo", "^m_8:1,m_9:1,m_10:1,lo"),
                ("eth[3-1]", "eth[3-1]"),
                ("eth[1]", "eth[1]"),
                ("a[0-1]b[2-3]", "a[0-1]b[2-3]"),
                ("eth[0-1", "eth[0-1"),
            ],
            &["eth[0-4000000000]"],
        ),
        (
            Kind::RangeSpec,
            &[("1-2", "1-2"), ("7", "7"), ("0-0", "0")],
            &["5-", "-5", "a", "1-2-3", "2-1"],
        ),
        (
            Kind::Hex,
            &[("0x10", "0x10"), ("AUTO", "auto")],
            &["10", "ff", "0xg"],
        ),
        (
            Kind::Signal,
            &[
                ("hup", "HUP"),
                ("SIGSEGV", "SEGV"),
                ("11", "SEGV"),
                ("64", "64"),
            ],
            &["65", "BAD"],
        ),
        (
            Kind::KeyValue(KEYS, &Kind::MemUnits),
            &[("8k", "intra:8K,inter:8K")],
            &["intra:1"],
        ),
        (
            Kind::DeviceBandwidth,
            &[("mlx5_0:1:1GBs", "mlx5_0:1:1024.00MBps")],
            &["mlx5_0"],
        ),
        (Kind::Deprecated, &[("whatever", "")], &[]),
    ];
    for (kind, good, bad) in cases {
        for (text, printed) in *good {
            let value = kind
                .parse(text)
                .unwrap_or_else(|| panic!("{kind:?} refuses '{text}'"));
            assert_eq!(kind.print(&value), *printed, "{kind:?} '{text}'");
            assert_eq!(
                kind.parse(printed),
                Some(value),
                "{kind:?} reads '{printed}' differently"
            );
        }
        for text in *bad {
            assert_eq!(kind.parse(text), None, "{kind:?} takes '{text}'");
        }
    }
}

/// Texts of random letters make no parser panic, and what is accepted survives printing.
#[test]
fn random_texts_are_harmless() {
    const LETTERS: &[u8] = b"0123456789abkmgtKMGTB,:-^[]. ieunfoslx/%+\\";
    let kinds = [
        Kind::Bool,
        Kind::Int,
        Kind::UInt,
        Kind::ULong,
        Kind::MemUnits,
        Kind::Time,
        Kind::Bandwidth,
        Kind::StrArray,
        Kind::AllowRanges,
        Kind::RangeSpec,
        Kind::Hex,
        Kind::Signal,
        Kind::KeyValue(KEYS, &Kind::MemUnits),
        Kind::DeviceBandwidth,
    ];
    let rng = TestRng::new(0x2545_f491_4f6c_dd1d);
    for round in 0..20_000 {
        let mut text = String::new();
        for _ in 0..round % 12 {
            text.push(char::from(rng.pick(LETTERS)));
        }
        for kind in kinds {
            if let Some(value) = kind.parse(&text) {
                let printed = kind.print(&value);
                let again = kind.parse(&printed);
                assert!(again.is_some(), "{kind:?} '{text}' prints '{printed}'");
                // Times and bandwidths are printed with two digits.
                if !matches!(kind, Kind::Time | Kind::Bandwidth | Kind::DeviceBandwidth) {
                    assert_eq!(again, Some(value), "{kind:?} '{text}' prints '{printed}'");
                }
            }
        }
    }
}

#[test]
fn a_variable_is_found_in_its_table_and_in_those_it_inherits_from() {
    let own: Var<KeyedBytes> = POSIX.var("THRESH", "inter");
    let inherited: Var<ListOfChoices> = POSIX.var("ALLOC", "");
    assert_eq!((own.name(), inherited.name()), ("THRESH", "ALLOC"));
}

#[test]
#[should_panic(expected = "no variable of this name")]
fn a_misspelled_variable_is_refused() {
    let _: Var<UInt> = POSIX.var("FIFO_SIZ", "");
}

#[test]
#[should_panic(expected = "of another kind")]
fn a_variable_of_another_kind_is_refused() {
    let _: Var<Count> = POSIX.var("FIFO_SIZE", "");
}

#[test]
#[should_panic(expected = "no such key")]
fn a_misspelled_key_is_refused() {
    let _: Var<KeyedBytes> = POSIX.var("THRESH", "outer");
}
