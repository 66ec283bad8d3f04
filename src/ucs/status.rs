//! `Status`: the error half of every fallible function, one byte, equal to C's `ucs_status_t`.
//!
//! Inside the library errors travel as `Result<T, Status>`; only `abi/` turns them into C's codes.
#![forbid(unsafe_code)]

use crate::c;
use core::num::NonZero;
use std::io;

/// An error status: always negative, one byte, as `ucs_status_t`. Never zero, so that `Result<()>` is C's status.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Status(NonZero<c::ucs_status_t>);

pub type Result<T> = core::result::Result<T, Status>;

macro_rules! statuses {
    ($($name:ident = $c:ident, $text:literal;)*) => {
        impl Status {
            $(pub const $name: Status = Status(NonZero::new(c::$c).unwrap());)*

            /// The sentence for this status; unknown values have one too.
            pub const fn text(self) -> &'static str {
                match self.0.get() {
                    $(c::$c => $text,)*
                    _ => "Unknown error",
                }
            }

            /// Whether `code` is one of the errors with a name.
            pub const fn is_known(code: c::ucs_status_t) -> bool {
                matches!(code, $(c::$c)|*)
            }
        }
    };
}

statuses! {
    NO_MESSAGE = UCS_ERR_NO_MESSAGE, "No pending message";
    NO_RESOURCE = UCS_ERR_NO_RESOURCE, "No resources are available to initiate the operation";
    IO_ERROR = UCS_ERR_IO_ERROR, "Input/output error";
    NO_MEMORY = UCS_ERR_NO_MEMORY, "Out of memory";
    INVALID_PARAM = UCS_ERR_INVALID_PARAM, "Invalid parameter";
    UNREACHABLE = UCS_ERR_UNREACHABLE, "Destination is unreachable";
    INVALID_ADDR = UCS_ERR_INVALID_ADDR, "Address not valid";
    NOT_IMPLEMENTED = UCS_ERR_NOT_IMPLEMENTED, "Function not implemented";
    MESSAGE_TRUNCATED = UCS_ERR_MESSAGE_TRUNCATED, "Message truncated";
    NO_PROGRESS = UCS_ERR_NO_PROGRESS, "No progress";
    BUFFER_TOO_SMALL = UCS_ERR_BUFFER_TOO_SMALL, "Provided buffer is too small";
    NO_ELEM = UCS_ERR_NO_ELEM, "No such element";
    SOME_CONNECTS_FAILED = UCS_ERR_SOME_CONNECTS_FAILED, "Failed to connect some of the requested endpoints";
    NO_DEVICE = UCS_ERR_NO_DEVICE, "No such device";
    BUSY = UCS_ERR_BUSY, "Device is busy";
    CANCELED = UCS_ERR_CANCELED, "Request canceled";
    SHMEM_SEGMENT = UCS_ERR_SHMEM_SEGMENT, "Shared memory error";
    ALREADY_EXISTS = UCS_ERR_ALREADY_EXISTS, "Element already exists";
    OUT_OF_RANGE = UCS_ERR_OUT_OF_RANGE, "Index out of range";
    TIMED_OUT = UCS_ERR_TIMED_OUT, "Operation timed out";
    EXCEEDS_LIMIT = UCS_ERR_EXCEEDS_LIMIT, "User-defined limit was reached";
    UNSUPPORTED = UCS_ERR_UNSUPPORTED, "Unsupported operation";
    REJECTED = UCS_ERR_REJECTED, "Operation rejected by remote peer";
    NOT_CONNECTED = UCS_ERR_NOT_CONNECTED, "Endpoint is not connected";
    CONNECTION_RESET = UCS_ERR_CONNECTION_RESET, "Connection reset by remote peer";
    ENDPOINT_TIMEOUT = UCS_ERR_ENDPOINT_TIMEOUT, "Endpoint timeout";
}

impl Status {
    /// The C code.
    pub const fn code(self) -> c::ucs_status_t {
        self.0.get()
    }

    /// An error from a C code; `None` for OK and INPROGRESS.
    pub const fn from_code(code: c::ucs_status_t) -> Option<Status> {
        match NonZero::new(code) {
            Some(code) if code.get() < 0 => Some(Status(code)),
            _ => None,
        }
    }

    /// The length that a C function returns, or the status in its place, which is negative.
    #[inline]
    pub fn check_length(n: isize) -> Result<usize> {
        usize::try_from(n).map_err(|_| {
            let code = i8::try_from(n).ok().and_then(Status::from_code);
            code.unwrap_or(Status::IO_ERROR)
        })
    }

    /// The status nearest to what the OS said.
    pub fn from_io(e: &io::Error) -> Status {
        match e.raw_os_error() {
            Some(libc::ENOMEM | libc::ENOSPC) => Status::NO_MEMORY,
            Some(libc::EMFILE | libc::ENFILE) => Status::EXCEEDS_LIMIT,
            Some(libc::EINVAL) => Status::INVALID_PARAM,
            Some(libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED) => Status::CONNECTION_RESET,
            Some(libc::ECONNREFUSED | libc::ENETUNREACH | libc::EHOSTUNREACH) => {
                Status::UNREACHABLE
            }
            Some(libc::ETIMEDOUT) => Status::ENDPOINT_TIMEOUT,
            Some(libc::ENODEV | libc::ENOENT) => Status::NO_DEVICE,
            Some(libc::EADDRINUSE | libc::EBUSY) => Status::BUSY,
            Some(libc::EADDRNOTAVAIL) => Status::INVALID_ADDR,
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => Status::UNSUPPORTED,
            _ => Status::IO_ERROR,
        }
    }
}

impl From<io::Error> for Status {
    fn from(e: io::Error) -> Status {
        Status::from_io(&e)
    }
}

/// A status for C, with the cause for the log: what failed, with the kernel's error. Who gives the status to C logs
/// the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub status: Status,
    pub cause: String,
}

impl Failure {
    pub fn new(status: Status, cause: impl Into<String>) -> Failure {
        let cause = cause.into();
        Failure { status, cause }
    }

    /// `what` failed with the kernel's error.
    pub fn of(what: &str, e: &io::Error) -> Failure {
        Failure::new(Status::from_io(e), format!("{what}: {e}"))
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Failure {
        Failure::new(status, status.text())
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Failure {
        Failure::new(Status::from_io(&e), e.to_string())
    }
}

impl core::fmt::Display for Failure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.cause)
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} ({})", self.text(), self.0)
    }
}

impl core::fmt::Display for Status {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text())
    }
}

/// The sentence for any code that a function of C answered.
pub const fn text_of(code: c::ucs_status_t) -> &'static str {
    match NonZero::new(code) {
        None => "Success",
        Some(code) if code.get() == c::UCS_INPROGRESS => "Operation in progress",
        Some(error) => Status(error).text(),
    }
}

/// C's answer to a `Result` whose success carries nothing.
pub const fn code_of(r: &Result<()>) -> c::ucs_status_t {
    match r {
        Ok(()) => c::UCS_OK,
        Err(e) => e.0.get(),
    }
}
