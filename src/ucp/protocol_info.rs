//! `UCX_PROTO_INFO`: which tables of protocols are printed.
#![forbid(unsafe_code)]

use super::config::TABLE;
use crate::ucs::config::{Config, matches_pattern, var};

/// The tables that the configuration selects.
#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolInfo {
    Nothing,
    Everything,
    /// Tables whose title matches.
    Matching(String),
    /// At the worker's end, those that operations have used, with the number of operations.
    Used,
}

impl ProtocolInfo {
    pub fn of(config: &Config) -> ProtocolInfo {
        ProtocolInfo::read(config.str(var!(TABLE, "PROTO_INFO")))
    }

    fn read(text: &str) -> ProtocolInfo {
        match text.to_ascii_lowercase().as_str() {
            "" | "n" | "no" | "0" | "off" | "auto" => ProtocolInfo::Nothing,
            "y" | "yes" | "1" | "on" => ProtocolInfo::Everything,
            "used" => ProtocolInfo::Used,
            _ => ProtocolInfo::Matching(text.to_owned()),
        }
    }

    /// Whether a table is printed when its endpoint is connected.
    pub fn has(&self, title: &str) -> bool {
        match self {
            ProtocolInfo::Nothing | ProtocolInfo::Used => false,
            ProtocolInfo::Everything => true,
            ProtocolInfo::Matching(pattern) => matches_pattern(pattern, title),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_selects_tables() {
        assert!(ProtocolInfo::read("Y").has("anything"));
        assert!(!ProtocolInfo::read("auto").has("anything"));
        assert_eq!(ProtocolInfo::read("used"), ProtocolInfo::Used);
        let tag = ProtocolInfo::read("*tag_send*");
        assert!(tag.has("tagged message by ucp_tag_send* from host memory") && !tag.has("stream"));
    }
}
