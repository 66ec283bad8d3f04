//! Two processes greet each other with tagged messages, through the raw bindings of `ferrucx-sys`.
//!
//! The program starts itself once more. A socket pair, which is the standard input of the second process, carries the
//! addresses of the workers; then both connect. `Worker` and `Endpoint` free what they own, in the right order.
use ferrucx_sys::*;
use std::cell::Cell;
use std::error::Error;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode};
use std::ptr::{null, null_mut};

const HELP: &str = "Two processes of this program greet each other with tagged messages.";
const GREETING: ucp_tag_t = 1;
const ANSWER: ucp_tag_t = 2;

/// A call that failed, and why.
#[derive(Debug)]
struct Failure(&'static str, ucs_status_t);

impl Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: answers for every number, with a text that is never freed.
        let why = unsafe { CStr::from_ptr(ucs_status_string(self.1)) };
        write!(f, "{}: {}", self.0, why.to_string_lossy())
    }
}

fn check(status: ucs_status_t, what: &'static str) -> Result<(), Failure> {
    match status {
        UCS_OK => Ok(()),
        _ => Err(Failure(what, status)),
    }
}

/// A context with one worker.
struct Worker {
    context: ucp_context_h,
    worker: ucp_worker_h,
}

impl Worker {
    fn open(features: u64) -> Result<Worker, Failure> {
        let params = ucp_params_t {
            field_mask: UCP_PARAM_FIELD_FEATURES,
            features,
            ..Default::default()
        };
        let (major, minor) = (UCP_API_MAJOR, UCP_API_MINOR);
        let mut this = Worker {
            context: null_mut(),
            worker: null_mut(),
        };
        // SAFETY: the fields that the mask names are set; without a configuration the defaults hold.
        let status = unsafe { ucp_init_version(major, minor, &params, null(), &mut this.context) };
        check(status, "ucp_init_version")?;
        let params = ucp_worker_params_t {
            field_mask: UCP_WORKER_PARAM_FIELD_THREAD_MODE,
            thread_mode: UCS_THREAD_MODE_SINGLE,
            ..Default::default()
        };
        // SAFETY: the context was made just now.
        let status = unsafe { ucp_worker_create(this.context, &params, &mut this.worker) };
        check(status, "ucp_worker_create")?;
        Ok(this)
    }

    fn progress(&self) {
        // SAFETY: the worker lives; pointers make this type stay in one thread.
        unsafe { ucp_worker_progress(self.worker) };
    }

    fn address(&self) -> Result<Vec<u8>, Failure> {
        let (mut address, mut length) = (null_mut(), 0);
        // SAFETY: the worker lives.
        let status = unsafe { ucp_worker_get_address(self.worker, &mut address, &mut length) };
        check(status, "ucp_worker_get_address")?;
        // SAFETY: the call has given that many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) }.to_vec();
        // SAFETY: not used after this.
        unsafe { ucp_worker_release_address(self.worker, address) };
        Ok(bytes)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.worker.is_null() {
            // SAFETY: endpoints borrow the worker, so none is left.
            unsafe { ucp_worker_destroy(self.worker) };
        }
        if !self.context.is_null() {
            // SAFETY: the worker is gone.
            unsafe { ucp_cleanup(self.context) };
        }
    }
}

/// An endpoint to the peer.
struct Endpoint<'a> {
    worker: &'a Worker,
    ep: ucp_ep_h,
    /// The error handler writes it: why the peer is lost.
    lost: Box<Cell<ucs_status_t>>,
}

unsafe extern "C" fn on_peer_lost(lost: *mut c_void, _: ucp_ep_h, status: ucs_status_t) {
    // SAFETY: the cell of the endpoint, which lives longer than the endpoint is open.
    unsafe { &*lost.cast::<Cell<ucs_status_t>>() }.set(status);
}

impl<'a> Endpoint<'a> {
    fn connect(worker: &'a Worker, address: &[u8]) -> Result<Endpoint<'a>, Failure> {
        let lost = Box::new(Cell::new(UCS_OK));
        let params = ucp_ep_params_t {
            field_mask: UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
                | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                | UCP_EP_PARAM_FIELD_ERR_HANDLER,
            address: address.as_ptr().cast(),
            err_mode: UCP_ERR_HANDLING_MODE_PEER,
            err_handler: ucp_err_handler_t {
                cb: Some(on_peer_lost),
                arg: (&raw const *lost).cast_mut().cast(),
            },
            ..Default::default()
        };
        let mut ep = null_mut();
        // SAFETY: the fields that the mask names are set, and the address is a whole one.
        check(
            unsafe { ucp_ep_create(worker.worker, &params, &mut ep) },
            "ucp_ep_create",
        )?;
        Ok(Endpoint { worker, ep, lost })
    }

    /// Waits for the end of an operation. When the peer is lost, what cannot end any more is cancelled: a buffer must not
    /// be left to the library.
    fn wait(&self, request: ucs_status_ptr_t, what: &'static str) -> Result<(), Failure> {
        let number = request as isize;
        if number <= 0 && number >= isize::from(UCS_ERR_LAST) {
            return check(number as ucs_status_t, what);
        }
        let mut cancelled = false;
        let status = loop {
            // SAFETY: the request was not freed yet.
            let status = unsafe { ucp_request_check_status(request) };
            if status != UCS_INPROGRESS {
                break status;
            }
            if self.lost.get() != UCS_OK && !cancelled {
                // SAFETY: a request of this worker.
                unsafe { ucp_request_cancel(self.worker.worker, request) };
                cancelled = true;
            }
            self.worker.progress();
        };
        // SAFETY: it has ended.
        unsafe { ucp_request_free(request) };
        check(if cancelled { self.lost.get() } else { status }, what)
    }

    fn send(&self, bytes: &[u8], tag: ucp_tag_t) -> Result<(), Failure> {
        let param = ucp_request_param_t::default();
        // SAFETY: the bytes are borrowed until the operation has ended.
        let request =
            unsafe { ucp_tag_send_nbx(self.ep, bytes.as_ptr().cast(), bytes.len(), tag, &param) };
        self.wait(request, "ucp_tag_send_nbx")
    }

    /// Receives a message that fills the buffer.
    fn receive(&self, buffer: &mut [u8], tag: ucp_tag_t) -> Result<(), Failure> {
        let (start, room) = (buffer.as_mut_ptr().cast(), buffer.len());
        let param = ucp_request_param_t::default();
        // SAFETY: the buffer is borrowed until the operation has ended.
        let request = unsafe { ucp_tag_recv_nbx(self.worker.worker, start, room, tag, !0, &param) };
        self.wait(request, "ucp_tag_recv_nbx")
    }
}

impl Drop for Endpoint<'_> {
    fn drop(&mut self) {
        // SAFETY: nothing of this endpoint is under way, and it is not used after this.
        let request = unsafe { ucp_ep_close_nbx(self.ep, &ucp_request_param_t::default()) };
        if let Err(failure) = self.wait(request, "ucp_ep_close_nbx")
            && self.lost.get() == UCS_OK
        {
            eprintln!("{failure}");
        }
    }
}

/// Sends bytes with their length before them, and receives such from the peer.
fn exchange(mut channel: &UnixStream, bytes: &[u8]) -> io::Result<Vec<u8>> {
    channel.write_all(&bytes.len().to_ne_bytes())?;
    channel.write_all(bytes)?;
    let mut length = [0; size_of::<usize>()];
    channel.read_exact(&mut length)?;
    let mut theirs = vec![0; usize::from_ne_bytes(length)];
    channel.read_exact(&mut theirs)?;
    Ok(theirs)
}

/// Returns when both processes are here. Until then it makes progress: the peer may need this worker's answers.
fn barrier(mut channel: &UnixStream, worker: &Worker) -> io::Result<()> {
    channel.write_all(&[0])?;
    channel.set_nonblocking(true)?;
    loop {
        match channel.read_exact(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => worker.progress(),
            end => return end,
        }
    }
}

/// Texts travel in messages of one length, with zeros behind them.
fn message(text: &str) -> [u8; 32] {
    std::array::from_fn(|i| text.as_bytes().get(i).copied().unwrap_or(0))
}

fn run(channel: &UnixStream, is_parent: bool) -> Result<(), Box<dyn Error>> {
    let worker = Worker::open(UCP_FEATURE_TAG)?;
    let peer = Endpoint::connect(&worker, &exchange(channel, &worker.address()?)?)?;
    let mut bytes = message("");
    if is_parent {
        peer.send(&message("hello from the parent"), GREETING)?;
        peer.receive(&mut bytes, ANSWER)?;
        let text = CStr::from_bytes_until_nul(&bytes)?;
        println!("the child answered: {}", text.to_str()?);
    } else {
        peer.receive(&mut bytes, GREETING)?;
        if bytes != message("hello from the parent") {
            return Err("wrong greeting".into());
        }
        peer.send(&message("hello from the child"), ANSWER)?;
    }
    // Whoever leaves first is lost to the other.
    barrier(channel, &worker)?;
    drop(peer);
    barrier(channel, &worker)?;
    Ok(())
}

fn parent() -> Result<(), Box<dyn Error>> {
    let (channel, theirs) = UnixStream::pair()?;
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command
        .arg("--child")
        .stdin(OwnedFd::from(theirs))
        .spawn()?;
    drop(command); // with the end of the channel that is the child's
    let result = run(&channel, true);
    drop(channel); // a child that still waits ends
    let status = child.wait()?;
    result?;
    match status.success() {
        true => Ok(()),
        false => Err("the child has failed".into()),
    }
}

fn child() -> Result<(), Box<dyn Error>> {
    let channel = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    run(&channel, false)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => parent(),
        ["--child"] => child(),
        ["--help"] => {
            println!("usage: tag-hello\n{HELP}");
            Ok(())
        }
        _ => {
            eprintln!("wrong arguments; see --help");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
