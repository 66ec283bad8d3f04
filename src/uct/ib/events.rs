//! Asynchronous events of a device: the async thread tells the interfaces concerned what has failed, and wakes who sleeps.
//! Endpoints are failed by their interface's progress.
#![forbid(unsafe_code)]

use crate::c::verbs::*;
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::verbs::{Device, Event, Source};
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Events, Result};
use crate::{ucs_debug, ucs_diag, ucs_error, ucs_info};
use std::sync::{Arc, Weak};

/// What has failed of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Device,
    Port,
    /// A queue that its queue pairs share.
    Queue,
    /// The queue pair of this number.
    Pair(u32),
}

/// What an interface stands on, as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub port: u8,
    /// Its completion queue, and the receive queue that its queue pairs share.
    pub completions: usize,
    pub receives: Option<usize>,
}

/// What was heard of an interface and it has not handled.
pub struct Faults {
    parts: Parts,
    /// Set when there is something.
    attention: Arc<AtomicBool>,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    due: Vec<Fault>,
    wake: Option<Arc<EventFd>>,
}

impl Faults {
    fn concerned_by(&self, event: &Event) -> Option<Fault> {
        let parts = &self.parts;
        match (event.kind, event.source) {
            (IBV_EVENT_DEVICE_FATAL, _) => Some(Fault::Device),
            (IBV_EVENT_PORT_ERR, Source::Port(port)) if port == u32::from(parts.port) => {
                Some(Fault::Port)
            }
            (
                IBV_EVENT_QP_FATAL
                | IBV_EVENT_QP_REQ_ERR
                | IBV_EVENT_QP_ACCESS_ERR
                | IBV_EVENT_PATH_MIG_ERR,
                Source::Pair {
                    number,
                    completions,
                },
            ) if completions == parts.completions => Some(Fault::Pair(number)),
            (IBV_EVENT_CQ_ERR, Source::Completions(queue)) if queue == parts.completions => {
                Some(Fault::Queue)
            }
            (IBV_EVENT_SRQ_ERR, Source::Receives(queue)) if Some(queue) == parts.receives => {
                Some(Fault::Queue)
            }
            _ => None,
        }
    }

    fn note(&self, fault: Fault) {
        let mut told = self.told.lock();
        if !told.due.contains(&fault) {
            told.due.push(fault);
        }
        // Release: who sees the flag sees what is due. Under the lock, so that `take` clears no later signal.
        self.attention.store(true, Ordering::Release);
        if let Some(wake) = &told.wake {
            wake.signal();
        }
    }

    /// Signals `wake` when something fails.
    pub fn wake_by(&self, wake: &Arc<EventFd>) {
        let mut told = self.told.lock();
        if !told.due.is_empty() {
            wake.signal();
        }
        told.wake = Some(Arc::clone(wake));
    }

    /// What has failed since the last call.
    pub fn take(&self) -> Vec<Fault> {
        let mut told = self.told.lock();
        let due = core::mem::take(&mut told.due);
        if let Some(wake) = told.wake.as_ref().filter(|_| !due.is_empty()) {
            wake.clear();
        }
        due
    }

    /// This queue pair goes: its number may be that of another soon.
    pub fn forget(&self, pair: u32) {
        self.told
            .lock()
            .due
            .retain(|&fault| fault != Fault::Pair(pair));
    }
}

/// What the async thread and the interfaces share.
#[derive(Default)]
struct Shared {
    interfaces: Mutex<Interfaces>,
}

#[derive(Default)]
struct Interfaces {
    device_failed: bool,
    all: Vec<Weak<Faults>>,
}

/// Listens to the events of a device until it is dropped.
pub struct Watch {
    shared: Arc<Shared>,
    handler: Option<HandlerId>,
}

impl Watch {
    /// Hears of nothing.
    pub fn none() -> Watch {
        Watch {
            shared: Arc::default(),
            handler: None,
        }
    }

    pub fn start(device: &Arc<Device>, name: &str) -> Result<Watch> {
        let shared = Arc::<Shared>::default();
        let (inside, device_inside, name) =
            (Arc::clone(&shared), Arc::clone(device), name.to_owned());
        let fd = device.raw_events_fd();
        let callback = Box::new(move |_, _| {
            while let Some(event) = device_inside.take_event() {
                say(&name, &event);
                inside.tell(&event);
            }
        });
        let handler = async_ctx::add_fd(Mode::ThreadMutex, fd, Events::READ, callback, None)?;
        Ok(Watch {
            shared,
            handler: Some(handler),
        })
    }

    /// Hears of what an interface stands on; `attention` is set when some of it fails.
    pub fn listen(&self, parts: Parts, attention: &Arc<AtomicBool>) -> Arc<Faults> {
        let faults = Arc::new(Faults {
            parts,
            attention: Arc::clone(attention),
            told: Mutex::default(),
        });
        let mut interfaces = self.shared.interfaces.lock();
        interfaces.all.retain(|other| other.strong_count() > 0);
        interfaces.all.push(Arc::downgrade(&faults));
        if interfaces.device_failed {
            faults.note(Fault::Device);
        }
        faults
    }
}

fn say(name: &str, event: &Event) {
    let text = &event.text;
    match (event.kind, event.source) {
        (IBV_EVENT_DEVICE_FATAL, _) => ucs_error!("RDMA device {name} has failed: {text}"),
        (IBV_EVENT_PORT_ACTIVE, Source::Port(port)) => ucs_info!("{name}:{port}: {text}"),
        (_, Source::Port(port)) => ucs_diag!("{name}:{port}: {text}"),
        (_, Source::Pair { number, .. }) => ucs_diag!("{name}: queue pair {number}: {text}"),
        // The others are found in what they fail.
        (_, Source::Completions(_) | Source::Receives(_)) => ucs_debug!("{name}: {text}"),
        (_, Source::Device) => ucs_diag!("{name}: {text}"),
    }
}

impl Shared {
    fn tell(&self, event: &Event) {
        let mut interfaces = self.interfaces.lock();
        // For those that come later.
        interfaces.device_failed |= event.kind == IBV_EVENT_DEVICE_FATAL;
        for faults in interfaces.all.iter().filter_map(Weak::upgrade) {
            if let Some(fault) = faults.concerned_by(event) {
                faults.note(fault);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(id) = self.handler
            && let Err(e) = async_ctx::remove(id, true)
        {
            ucs_diag!("the events of an RDMA device: {e}");
        }
    }
}
