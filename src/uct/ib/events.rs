//! Asynchronous events of a device: the async thread logs them and notes that the device has failed.
#![forbid(unsafe_code)]

use crate::c::verbs::{IBV_EVENT_DEVICE_FATAL, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR};
use crate::sys::eventfd::EventFd;
use crate::sys::lock::Mutex;
use crate::sys::verbs::Device;
use crate::ucs::async_ctx::{self, HandlerId, Mode};
use crate::ucs::sync::{AtomicBool, Ordering};
use crate::ucs::{Events, Result};
use crate::{ucs_diag, ucs_error, ucs_info};
use std::sync::{Arc, Weak};

/// What the async thread and the interfaces share.
#[derive(Default)]
struct Shared {
    failed: AtomicBool,
    /// Of the interfaces on the device.
    told: Mutex<Told>,
}

/// What interfaces are told by that the device has failed.
#[derive(Default)]
struct Told {
    wakes: Vec<Weak<EventFd>>,
    flags: Vec<Weak<AtomicBool>>,
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
                let text = event.text;
                match event.kind {
                    IBV_EVENT_DEVICE_FATAL => {
                        ucs_error!("RDMA device {name} has failed: {text}");
                        inside.fail();
                    }
                    IBV_EVENT_PORT_ERR => ucs_diag!("{name}:{}: {text}", event.port),
                    IBV_EVENT_PORT_ACTIVE => ucs_info!("{name}:{}: {text}", event.port),
                    _ => ucs_diag!("{name}: {text}"),
                }
            }
        });
        let handler = async_ctx::add_fd(Mode::ThreadMutex, fd, Events::READ, callback, None)?;
        Ok(Watch {
            shared,
            handler: Some(handler),
        })
    }

    /// Whether the device has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        // Relaxed: nothing is read by it; the endpoints are failed by their own thread.
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Signals `wake` when the device fails.
    pub fn wake_on_failure(&self, wake: &Arc<EventFd>) {
        let mut told = self.shared.told.lock();
        told.wakes.retain(|wake| wake.strong_count() > 0);
        told.wakes.push(Arc::downgrade(wake));
        if self.has_failed() {
            wake.signal();
        }
    }

    /// Sets `flag` when the device fails.
    pub fn set_on_failure(&self, flag: &Arc<AtomicBool>) {
        let mut told = self.shared.told.lock();
        told.flags.retain(|flag| flag.strong_count() > 0);
        told.flags.push(Arc::downgrade(flag));
        if self.has_failed() {
            flag.store(true, Ordering::Relaxed);
        }
    }
}

impl Shared {
    fn fail(&self) {
        let told = self.told.lock();
        // Relaxed: see `has_failed`; the lock orders it for those that come later.
        self.failed.store(true, Ordering::Relaxed);
        for flag in told.flags.iter().filter_map(Weak::upgrade) {
            // Release: who sees the flag sees the failure.
            flag.store(true, Ordering::Release);
        }
        for wake in told.wakes.iter().filter_map(Weak::upgrade) {
            wake.signal();
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
