//! The clients that wait for a reply.
#![forbid(unsafe_code)]

use super::RequestId;
use crate::sys::lock::Mutex;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use std::collections::HashMap;
use std::sync::Arc;

/// The connections of a manager that were asked for and not answered.
pub struct Requests<C>(Mutex<HashMap<RequestId, Arc<C>>>);

impl<C> Default for Requests<C> {
    fn default() -> Requests<C> {
        Requests(Mutex::default())
    }
}

impl<C> Requests<C> {
    pub fn add(&self, id: RequestId, conn: &Arc<C>) {
        self.0.lock().insert(id, Arc::clone(conn));
    }

    /// The connection to answer, once.
    pub fn take(&self, id: RequestId) -> Result<Arc<C>> {
        let taken = self.forget(id);
        taken.ok_or_else(|| {
            ucs_error!(
                "connection request {} is none, or was answered before",
                id.0
            );
            Status::INVALID_PARAM
        })
    }

    /// The client has left.
    pub fn forget(&self, id: RequestId) -> Option<Arc<C>> {
        self.0.lock().remove(&id)
    }

    /// All, as nobody answers any more.
    pub fn take_all(&self) -> impl Iterator<Item = Arc<C>> {
        core::mem::take(&mut *self.0.lock()).into_values()
    }
}
