//! The tables of the library, for the functions of `ucs/config/parser.h` that mean all tables.
//!
//! They are Rust's; `all_tables` lists them. The list head that clients know stays empty but for what they link into
//! it themselves.

use crate::abi::ucs::opts;
use crate::c::prelude::*;
use crate::ucs::config::print::{self, Style};
use crate::ucs::config::{Config, Table, global, ucm};
use crate::uct::registry;
use crate::{ucp, ucs_warn};
use core::cell::UnsafeCell;

/// A list head whose two pointers name itself, in the program's copy of it too: the loader resolves
/// them like every other use of the symbol.
#[repr(transparent)]
pub struct ListHead(UnsafeCell<ucs_list_link_t>);

// SAFETY: we only take its address; clients link into it before their main(), in one thread.
unsafe impl Sync for ListHead {}

/// Tables that programs register. The library's own tables are not in it.
#[unsafe(no_mangle)]
pub static ucs_config_global_list: ListHead = ListHead(UnsafeCell::new(ucs_list_link {
    prev: (&raw const ucs_config_global_list).cast_mut().cast(),
    next: (&raw const ucs_config_global_list).cast_mut().cast(),
}));

/// Every table of the library, in the order in which it is printed, with its title.
pub fn all_tables() -> Vec<&'static Table> {
    let mut tables = vec![&global::TABLE, &global::READ_ONLY, &ucm::TABLE];
    tables.extend(registry::tables());
    tables.push(&ucp::config::TABLE);
    tables
}

/// The style that the bits of `ucs_config_print_flags_t` ask for.
pub fn style_of(flags: ucs_config_print_flags_t) -> Style {
    let has = |bit| flags & bit != 0;
    Style {
        values: has(UCS_CONFIG_PRINT_CONFIG),
        title: has(UCS_CONFIG_PRINT_HEADER),
        docs: has(UCS_CONFIG_PRINT_DOC),
        hidden: has(UCS_CONFIG_PRINT_HIDDEN),
        comment_defaults: has(UCS_CONFIG_PRINT_COMMENT_DEFAULT),
    }
}

/// The list's head as C refers to it.
pub fn global_list() -> *mut ucs_list_link_t {
    (&raw const ucs_config_global_list).cast_mut().cast()
}

/// Appends every table of the library with the values of the environment.
pub fn print_own(base: &str, style: Style, filter: Option<&str>, text: &mut String) {
    opts::refresh();
    let application = base.strip_suffix("_UCX_");
    for table in all_tables() {
        match Config::read(table, application) {
            Ok(config) => print::print(&config, table.name, base, style, filter, text),
            Err(_) => ucs_warn!("the variables of '{}' are not printed", table.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucs::config::var;
    use crate::ucs::config::{Kind, PREFIX, is_known};
    use crate::uct::base::config::IFACE;

    #[test]
    fn every_default_can_be_read_and_every_name_is_upstreams() {
        for table in all_tables() {
            let config = Config::read(table, Some("NOBODY")).unwrap();
            assert!(!config.entries().is_empty(), "{} has no rows", table.name);
            for entry in config.entries() {
                let name = entry.name_under(PREFIX);
                assert!(
                    is_known(&name),
                    "{name} of '{}' is not a name of upstream",
                    table.name
                );
                let target = config.target(entry);
                assert!(
                    !matches!(target.kind, Kind::Alias(_) | Kind::Inherited),
                    "{name}"
                );
                assert!(!target.doc.is_empty(), "{name} has no documentation");
                assert!(
                    target.kind.parse(target.default).is_some(),
                    "default of {name}"
                );
                let printed = target.kind.print(&target.default_value());
                assert!(
                    target.kind.parse(&printed).is_some(),
                    "{name} prints '{printed}'"
                );
            }
        }
    }

    #[test]
    fn every_transport_has_the_rows_that_opening_reads() {
        for handle in &registry::COMPONENTS {
            for transport in handle.component.transports() {
                let config = Config::read(transport.config(), Some("NOBODY")).unwrap();
                assert!(
                    !config.enum_list(var!(IFACE, "ALLOC")).is_empty(),
                    "{}",
                    transport.name()
                );
            }
        }
    }

    #[test]
    fn no_variable_belongs_to_two_rows() {
        let mut seen = std::collections::BTreeMap::new();
        for table in all_tables() {
            for entry in Config::read(table, None).unwrap().entries() {
                let name = entry.name_under(PREFIX);
                if let Some(other) = seen.insert(name.clone(), table.name) {
                    panic!("{name} is in '{other}' and in '{}'", table.name);
                }
            }
        }
    }
}
