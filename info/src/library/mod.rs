//! The installed library: found by the loader, asked by its C interface.
//!
//! All unsafe code of the tool is in this folder. Objects of the library are owned by values here, which close them.

mod functions;
mod stream;
pub mod system;
mod ucp;
mod uct;

pub use functions::Functions;
pub use ucp::{Context, ContextParams, Endpoint, Worker};
pub use uct::{Component, Iface, Md, Resource, Uct};

use crate::c::*;
use std::ffi::{CStr, c_char};
use std::fmt;

/// The name by which programs are linked.
const FILE: &str = "libucp.so.0";
/// Structures grew up to this release, and are read in its layout.
const LAYOUT: (u32, u32) = (1, 22);

pub struct Library {
    pub functions: Functions,
    // Behind the functions: it is closed after their last use.
    _file: libloading::Library,
}

/// What the library says of itself, if it is ours.
pub struct Build {
    pub name: String,
    pub commit: String,
    pub settings: Vec<(String, String)>,
}

/// A status of the library that is no success.
#[derive(Debug)]
pub struct Failed {
    pub call: &'static str,
    pub why: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.why)
    }
}

pub type Result<T> = std::result::Result<T, Failed>;

/// The text of a C string, nothing of a null pointer.
///
/// # Safety
/// Null, or a C string.
unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller's C string.
    unsafe { CStr::from_ptr(string) }
        .to_string_lossy()
        .into_owned()
}

/// The text in an array of a structure, up to its first zero.
fn text_in(array: &[c_char]) -> String {
    let bytes = array.iter().map(|c| c.to_ne_bytes()[0]);
    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Ends the process quietly when nobody reads its output any more, as C programs do. Rust's start-up code ignores the
/// signal.
pub fn end_with_the_reader() {
    // SAFETY: the default action, before any thread is started.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

impl Library {
    /// Opens what the loader finds first, as for any program.
    pub fn open() -> std::result::Result<Library, String> {
        // SAFETY: the library's start-up code is what every program with it runs.
        let file = unsafe { libloading::Library::new(FILE) }
            .map_err(|e| format!("{FILE} cannot be loaded: {e}"))?;
        let functions = Functions::load(&file)?;
        let library = Library {
            functions,
            _file: file,
        };
        let (major, minor, _) = library.version_numbers();
        if (major, minor) < LAYOUT {
            return Err(format!(
                "{} is UCX {major}.{minor}, this tool reads the structures of {}.{}: use the ucx_info of that installation",
                library.path(),
                LAYOUT.0,
                LAYOUT.1
            ));
        }
        Ok(library)
    }

    fn check(&self, call: &'static str, status: ucs_status_t) -> Result<()> {
        if status == UCS_OK {
            return Ok(());
        }
        // SAFETY: every number has a text.
        let why = unsafe { text((self.functions.ucs_status_string)(status)) };
        Err(Failed { call, why })
    }

    fn version_numbers(&self) -> (u32, u32, u32) {
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: three numbers to write to.
        unsafe { (self.functions.ucp_get_version)(&mut major, &mut minor, &mut release) };
        (major, minor, release)
    }

    pub fn version(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((self.functions.ucp_get_version_string)()) }
    }

    /// The file that was loaded.
    pub fn path(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((self.functions.ucs_sys_get_lib_path)()) }
    }

    /// How it was built: nothing if it is not ours.
    pub fn build(&self) -> Option<Build> {
        let print = self.functions.ferrucx_print_build?;
        // SAFETY: the stream is open during the call.
        let text = stream::captured(|stream| unsafe { print(stream) });
        let mut settings: Vec<_> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .collect();
        let mut take = |wanted: &str| {
            let at = settings.iter().position(|(name, _)| *name == wanted);
            at.map_or_else(String::new, |at| settings.remove(at).1.to_owned())
        };
        let (name, commit) = (take("name"), take("commit"));
        let settings = settings
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        Some(Build {
            name,
            commit,
            settings: settings.collect(),
        })
    }

    /// The variables as the library prints them, in the form of a `ucx.conf` when `flags` say so.
    pub fn variables(&self, flags: ucs_config_print_flags_t) -> String {
        let f = &self.functions;
        stream::captured(|stream| {
            // SAFETY: the stream is open during the call, the list is the library's own.
            unsafe {
                (f.ucs_config_parser_print_all_opts)(
                    stream,
                    c"UCX_".as_ptr(),
                    flags,
                    f.ucs_config_global_list,
                    std::ptr::null(),
                )
            }
        })
    }

    /// Ticks of the processor's counter in a second.
    pub fn clock_rate(&self) -> f64 {
        // SAFETY: no arguments.
        unsafe { (self.functions.ucs_get_cpu_clocks_per_sec)() }
    }

    pub fn cpu_vendor(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((self.functions.ucs_cpu_vendor_name)()) }
    }

    pub fn cpu_model(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((self.functions.ucs_cpu_model_name)()) }
    }

    pub fn product(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((self.functions.ucs_sys_dmi_product_name)()) }
    }

    /// The devices that the system has a place for, known once transports were listed.
    pub fn system_devices(&self) -> Vec<String> {
        // SAFETY: no arguments.
        let count = unsafe { (self.functions.ucs_topo_num_devices)() };
        (0..count)
            .map(|device| self.system_device(device as u8))
            .collect()
    }

    pub fn system_device(&self, device: ucs_sys_device_t) -> String {
        // SAFETY: any number is answered, with a string of the library or null.
        unsafe { text((self.functions.ucs_topo_sys_device_get_name)(device)) }
    }

    /// Bytes a second and seconds between two devices.
    pub fn distance(&self, one: u8, other: u8) -> Result<ucs_sys_dev_distance_t> {
        let mut found = ucs_sys_dev_distance_t {
            latency: 0.0,
            bandwidth: 0.0,
        };
        // SAFETY: a structure to write to.
        let status = unsafe { (self.functions.ucs_topo_get_distance)(one, other, &mut found) };
        self.check("ucs_topo_get_distance", status)?;
        Ok(found)
    }

    pub fn distance_to_memory(&self, device: u8) -> ucs_sys_dev_distance_t {
        let mut found = ucs_sys_dev_distance_t {
            latency: 0.0,
            bandwidth: 0.0,
        };
        // SAFETY: a structure to write to.
        unsafe { (self.functions.ucs_topo_get_memory_distance)(device, &mut found) };
        found
    }
}
