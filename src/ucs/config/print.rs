//! The text of a configuration, as `ucx_info -c` and the `*_print` functions show it.
//!
//! Called by `abi`. Layout and order are UCX's: with documentation, what is printed is a `ucx.conf`
//! that can be edited and read again.

use super::{Config, ConfigEntry, Kind};
use core::fmt::Write;

/// What to print; the bits of `ucs_config_print_flags_t`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// The variables.
    pub values: bool,
    /// The title.
    pub title: bool,
    /// What each variable means.
    pub docs: bool,
    /// Deprecated variables and second names too.
    pub hidden: bool,
    /// Variables that have their default as comments.
    pub comment_defaults: bool,
}

/// The lines before everything else.
pub fn preamble(style: Style, out: &mut String) {
    if style.docs {
        out.push_str("# UCX library configuration file\n# Uncomment to modify values\n\n");
    }
}

/// One table. `base` is `UCX_` or `<application>_UCX_`; only names that contain `filter` are shown.
pub fn print(
    config: &Config,
    title: &str,
    base: &str,
    style: Style,
    filter: Option<&str>,
    out: &mut String,
) {
    if style.title {
        let _ = write!(out, "#\n# {title}\n#\n\n");
    }
    if !style.values {
        return;
    }
    for entry in config.entries() {
        let hidden = matches!(entry.kind, Kind::Deprecated | Kind::Alias(_));
        let name = entry.name_under(base);
        if hidden && !style.hidden || filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        print_entry(config, entry, &name, base, style, out);
    }
}

fn print_entry(
    config: &Config,
    entry: &ConfigEntry,
    name: &str,
    base: &str,
    style: Style,
    out: &mut String,
) {
    let target = config.target(entry);
    if style.docs {
        out.push_str("#\n");
        for line in target.doc.lines() {
            let _ = writeln!(out, "# {line}");
        }
        if let Some(why) = target.kind.no_effect() {
            let _ = writeln!(out, "# No effect here: {why}.");
        }
        match target.kind.shape() {
            Kind::KeyValue(keys, _) => {
                for (key, meaning) in keys {
                    let _ = writeln!(out, "#  {key:<10}- {meaning}");
                }
            }
            _ => out.push_str("# \n"),
        }
        let _ = write!(out, "#\n# syntax:    {}\n", target.kind.syntax());
        if let Kind::Alias(_) = entry.kind {
            let _ = writeln!(out, "# alias of:  {}", target.name_under(base));
        } else if entry.prefixes.len() > 1 {
            let general: Vec<String> = entry
                .prefixes
                .iter()
                .skip(1)
                .map(|prefix| format!("{base}{prefix}{}", entry.name))
                .collect();
            let _ = writeln!(out, "# inherits:  {}", general.join(", "));
        }
        out.push_str("#\n");
    }
    if matches!(entry.kind, Kind::Deprecated) {
        let _ = writeln!(out, "{name} (deprecated)");
    } else {
        let comment = style.comment_defaults && target.value == target.default_value();
        let _ = writeln!(
            out,
            "{}{name}={}",
            if comment { "# " } else { "" },
            target.text()
        );
    }
    if style.docs {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Row, Table};
    use super::*;

    static PARENT: Table = Table {
        name: "parent",
        prefix: "PARENT_",
        parent: None,
        rows: &[Row {
            name: "A",
            default: "1k",
            doc: "first\nsecond",
            kind: Kind::MemUnits,
        }],
    };
    static CHILD: Table = Table {
        name: "child",
        prefix: "CHILD_",
        parent: Some(&PARENT),
        rows: &[
            Row::inherited("A", "2048"),
            Row {
                name: "OLD",
                default: "",
                doc: "gone",
                kind: Kind::Deprecated,
            },
            Row {
                name: "B",
                default: "n",
                doc: "flag",
                kind: Kind::Bool,
            },
            Row {
                name: "C",
                default: "",
                doc: "",
                kind: Kind::Alias("B"),
            },
        ],
    };

    fn text(config: &Config, style: Style, filter: Option<&str>) -> String {
        let mut out = String::new();
        print(config, "title", "UCX_", style, filter, &mut out);
        out
    }

    #[test]
    fn output_has_the_form_of_upstream() {
        let mut config = Config::read(&CHILD, None).unwrap();
        let values = Style {
            values: true,
            ..Style::default()
        };
        assert_eq!(
            text(&config, values, None),
            "UCX_CHILD_A=2K\nUCX_CHILD_B=n\n"
        );
        assert_eq!(text(&config, values, Some("_B")), "UCX_CHILD_B=n\n");
        assert_eq!(
            text(
                &config,
                Style {
                    title: true,
                    ..Style::default()
                },
                None
            ),
            "#\n# title\n#\n\n"
        );

        config.set("C", "yes").unwrap();
        let comment = Style {
            comment_defaults: true,
            ..values
        };
        assert_eq!(
            text(&config, comment, None),
            "# UCX_CHILD_A=2K\nUCX_CHILD_B=y\n"
        );

        let all = Style {
            docs: true,
            hidden: true,
            ..values
        };
        assert_eq!(
            text(&config, all, None),
            "#\n# first\n# second\n# \n#\n# syntax:    memory units: <number>[b|kb|mb|gb], \"inf\", \
             or \"auto\"\n# inherits:  UCX_PARENT_A\n#\nUCX_CHILD_A=2K\n\n\
             #\n# gone\n# \n#\n# syntax:    N/A\n#\nUCX_CHILD_OLD (deprecated)\n\n\
             #\n# flag\n# \n#\n# syntax:    <y|n>\n#\nUCX_CHILD_B=y\n\n\
             #\n# flag\n# \n#\n# syntax:    <y|n>\n# alias of:  UCX_CHILD_B\n#\nUCX_CHILD_C=y\n\n"
        );
    }
}
