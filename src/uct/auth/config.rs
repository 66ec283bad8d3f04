//! The variables of the security of tcp connections. The memory domain of tcp and its connection manager both have them.

use super::Secret;
use crate::ucs::config::{Config, Kind, Row, Table, var};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use std::path::Path;
use std::sync::Arc;

pub const FILE_ROW: Row = Row::new(
    "AUTH_FILE",
    "",
    Kind::Str,
    "File with a secret that both ends of a connection must know, readable for its owner only; empty for \
     connections without proof.",
);

pub const ENCRYPT_ROW: Row = Row::new(
    "ENCRYPT",
    "n",
    Kind::Bool,
    "Encrypt what goes over connections, where either end says so. Needs the secret of AUTH_FILE.",
);

/// The rows for a table that inherits them.
pub static TABLE: Table = Table {
    name: "TCP security configuration",
    prefix: "TCP_",
    parent: None,
    rows: &[FILE_ROW, ENCRYPT_ROW],
};

/// How connections are secured.
pub struct Auth {
    pub secret: Secret,
    /// This side asks for encryption.
    pub encrypt: bool,
}

impl Auth {
    /// What the two rows say; `None` when there is no secret. `INVALID_PARAM`, and a line in the log, when what they
    /// ask for cannot be done: then there must be no connections at all.
    pub fn read(config: &Config) -> Result<Option<Arc<Auth>>> {
        let path = config.str(var!(TABLE, "AUTH_FILE"));
        let encrypt = config.bool(var!(TABLE, "ENCRYPT"));
        if path.is_empty() {
            if encrypt {
                ucs_error!("UCX_TCP_ENCRYPT=y needs a secret: set UCX_TCP_AUTH_FILE");
                return Err(Status::INVALID_PARAM);
            }
            return Ok(None);
        }
        match Secret::read(Path::new(path)) {
            Ok(secret) => Ok(Some(Arc::new(Auth { secret, encrypt }))),
            Err(why) => {
                ucs_error!("UCX_TCP_AUTH_FILE={path}: {why}. There are no connections over tcp");
                Err(Status::INVALID_PARAM)
            }
        }
    }
}
