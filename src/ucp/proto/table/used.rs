//! `UCX_PROTO_INFO=used`: the operations of a worker, counted by the rows of its tables.

use super::rows::{self, Subject, Table, Verb};
use super::{number, print, who};
use crate::c::ucs_memory_type_t;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::protocol_info::ProtocolInfo;
use crate::ucp::worker_core::Core;
use crate::ucs::config::Config;
use crate::wire::id::EpId;
use std::cell::RefCell;

/// A kind of endpoint, and its tables.
struct Counted {
    who: String,
    tables: Vec<Table>,
}

impl Counted {
    /// Counts an operation in the row that is named, else in that of its length.
    fn add(&mut self, subject: Subject, way: &str, length: usize) {
        let mut tables = self.tables.iter_mut();
        let Some(table) = tables.find(|table| table.subject == subject) else {
            return;
        };
        let rows = &table.rows;
        let row = rows
            .iter()
            .rposition(|row| row.from <= length && row.way == way)
            .or_else(|| rows.iter().position(|row| row.way == way))
            .or_else(|| rows.iter().rposition(|row| row.from <= length));
        if let Some(row) = row {
            table.rows[row].count += 1;
        }
    }
}

#[derive(Default)]
struct State {
    /// By the numbers of the kinds.
    kinds: Vec<Counted>,
    /// Operations on endpoints whose peer was not known.
    early: Vec<(EpId, Subject, usize)>,
}

impl State {
    /// The kind of a connected endpoint.
    fn kind(&mut self, ep: &Ep) -> &mut Counted {
        let (number, is_new) = number(ep);
        if is_new {
            self.kinds.push(Counted {
                who: who(ep, number),
                tables: rows::tables(ep),
            });
        }
        &mut self.kinds[number]
    }
}

/// What a worker has counted.
pub struct UsedProtocols(RefCell<State>);

impl UsedProtocols {
    /// `None` unless the configuration asks for it.
    pub fn wanted(config: &Config) -> Option<UsedProtocols> {
        (ProtocolInfo::of(config) == ProtocolInfo::Used).then(|| UsedProtocols(RefCell::default()))
    }

    /// An endpoint was connected.
    pub(super) fn on_connected(&self, ep: &Ep) {
        let mut state = self.0.borrow_mut();
        let id = EpId(ep.id.get());
        let (mine, others) = std::mem::take(&mut state.early)
            .into_iter()
            .partition::<Vec<_>, _>(|early| early.0 == id);
        state.early = others;
        for (_, subject, length) in mine {
            state.kind(ep).add(subject, "", length);
        }
    }

    fn add(&self, ep: &Ep, length: usize, early: Subject, of: impl FnOnce() -> (Subject, String)) {
        let mut state = self.0.borrow_mut();
        if ep.is_connected() {
            let (subject, way) = of();
            state.kind(ep).add(subject, &way, length);
        } else {
            state.early.push((EpId(ep.id.get()), early, length));
        }
    }

    /// Prints the tables that have counts.
    pub fn print(&self, worker: &Core) {
        for kind in &self.0.borrow().kinds {
            for table in &kind.tables {
                if table.rows.iter().any(|row| row.count > 0) {
                    print(&worker.context().config, &kind.who, table, true);
                }
            }
        }
    }
}

/// A message is about to be sent with a policy.
pub fn count_message(ep: &Ep, verb: Verb, data: &Data, policy: RndvPolicy) {
    if let Some(used) = &ep.worker().proto().used {
        let memory = data.memory_type();
        used.add(ep, data.len(), Subject::of(verb, memory), || {
            rows::of_message(ep, verb, data, policy)
        });
    }
}

/// Remote memory of a type is about to be accessed, with a key that wants a lane with a capability.
pub fn count_access(
    ep: &Ep,
    verb: Verb,
    (remote, by): (ucs_memory_type_t, Option<Capability>),
    data: &Data,
) {
    if let Some(used) = &ep.worker().proto().used {
        let subject = Subject {
            remote,
            ..Subject::of(verb, data.memory_type())
        };
        used.add(ep, data.len(), subject, || {
            (subject, rows::of_access(ep, subject, by, data).0)
        });
    }
}

/// As `count_access`, an atomic of so many bytes.
pub fn count_atomic(ep: &Ep, verb: Verb, length: usize) {
    if let Some(used) = &ep.worker().proto().used {
        let subject = Subject::of_host(verb);
        used.add(ep, length, subject, || (subject, String::new()));
    }
}
