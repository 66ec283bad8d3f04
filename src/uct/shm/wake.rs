//! `Wake`: by what an interface that sleeps is woken: a counter that only processes get which the local channel serves.

use super::layout::Bells;
use super::segment::Segment;
use crate::sys::eventfd::EventFd;
use crate::ucs::{Result, Status};
use std::sync::Arc;

pub struct Wake {
    /// Of the interface.
    segment: Arc<Segment>,
}

impl Wake {
    pub fn new(segment: Arc<Segment>) -> Wake {
        Wake { segment }
    }

    /// Where the bells of the interface are.
    pub fn bells(&self) -> Bells {
        // SAFETY: a segment of our own layout, which lives as long as this does.
        unsafe { Bells::new(self.segment.base()) }
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
