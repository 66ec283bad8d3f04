//! `Wake`: by what an interface that sleeps is woken: a counter that only processes get which the local channel serves.
#![forbid(unsafe_code)]

use super::layout::Bells;
use super::segment::Segment;
use crate::sys::eventfd::EventFd;
use crate::ucs::{Result, Status};
use std::sync::Arc;

pub struct Wake {
    /// Of the interface.
    segment: Arc<Segment>,
    /// In it.
    bells: Bells,
}

impl Wake {
    pub fn new(segment: Arc<Segment>, bells: Bells) -> Wake {
        Wake { segment, bells }
    }

    /// Where the bells of the interface are.
    pub fn bells(&self) -> &Bells {
        &self.bells
    }

    /// What becomes readable when the armed owner is to wake.
    pub fn event(&self) -> Result<&EventFd> {
        self.segment.export().wake.as_ref().ok_or(Status::IO_ERROR)
    }

    pub fn wake_owner(&self) {
        if let Some(event) = &self.segment.export().wake {
            event.signal();
        }
    }
}
