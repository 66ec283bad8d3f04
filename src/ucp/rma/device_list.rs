//! Lists of memory for code that runs on a device (`ucp_device_*_mem_list_create`): made by the host, in memory of the device,
//! where inline code of `ucp/api/device/ucp_device_impl.h` reads them, upstream's as well.
//!
//! A list has a head of a word, then its elements. One of local memory is an address. One of remote memory is the address at
//! its owner and, for each lane, the address of an endpoint and a word of the transport's, by which device code accesses the
//! memory itself. There is one lane, that for device copies, and behind the elements stand the endpoints. What a list needs to
//! stay mapped it keeps, so it outlives the keys and endpoints that it was made of.
//!
//! A list of 1.20 is of local and remote memory of one endpoint: a head with the addresses of its arrays, which stand behind
//! it: local addresses, remote addresses, lengths, the transport's words, and the endpoint.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::sys::fork::PerProcess;
use crate::sys::lock::Mutex;
use crate::ucp::context::Context;
use crate::ucp::ep::Ep;
use crate::ucp::mem::Region;
use crate::ucp::proto::zcopy;
use crate::ucp::rkey::RemoteKey;
use crate::ucp::worker_core::Core;
use crate::ucs::memtype::MemType;
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::base::memory_copier::DeviceBlock;
use crate::uct::internal::DeviceMapping;
use crate::wire::rkey::WRITE;
use core::any::Any;
use core::ffi::c_void;
use std::collections::HashMap;
use std::sync::Arc;

/// What the first two bytes of a list say: the layout of 1.22, which is `UCP_DEVICE_MEM_LIST_VERSION_V1` there.
const VERSION: u16 = 2;

/// The lists of this process by their addresses, which are all that functions get.
static LISTS: PerProcess<Mutex<HashMap<usize, List>>> = PerProcess::new(Mutex::default);

struct List {
    _memory: Box<dyn DeviceBlock>,
    length: u32,
    /// Keep memory of peers mapped.
    _mappings: Vec<Arc<dyn Any + Send + Sync>>,
}

/// An element of a list of local memory: a range of a region, or none.
pub struct Local<'a> {
    pub region: &'a Region,
    pub address: *mut c_void,
    pub length: usize,
}

/// An element of a list of remote memory: what an endpoint's peer has at an address.
pub struct Remote<'a> {
    pub ep: &'a Ep,
    pub key: &'a RemoteKey,
    pub address: u64,
}

/// Makes a list of local memory; returns its address on the device.
pub fn of_local(worker: &Core, elements: &[Local<'_>]) -> Result<usize> {
    let mut words = Words::new(elements.len(), 0)?;
    for element in elements {
        check_local(worker, element)?;
        words.push(element.address.expose_provenance() as u64);
    }
    let first = elements.first().ok_or(Status::INVALID_PARAM)?.region;
    let memory = allocate(
        worker.context(),
        first.kind,
        words.len(),
        first.address.cast(),
    )?;
    publish(memory, words, Vec::new())
}

/// Makes a list of remote memory, in which some places may be empty; returns its address on the device. `NOT_CONNECTED` while
/// it is not known how an endpoint reaches its peer.
pub fn of_remote(elements: &[Option<Remote<'_>>]) -> Result<usize> {
    let Some(first) = elements.iter().flatten().next() else {
        ucs_error!("a list for device code needs an endpoint and a remote key");
        return Err(Status::INVALID_PARAM);
    };
    let worker = first.ep.worker();
    let mut words = Words::new(elements.len(), 1)?;
    // Behind the elements, a word for the endpoint of each transport.
    let endpoints_at = words.end_of_elements(elements.len(), REMOTE_WORDS);
    let length = endpoints_at + UCT_DEVICE_TL_LAST as usize * WORD;
    let kind = first.key.info.mem_type.into();
    let memory = allocate(worker.context(), kind, length, core::ptr::null())?;
    let mut mappings = Vec::new();
    for element in elements {
        let Some(remote) = element else {
            for _ in 0..REMOTE_WORDS {
                words.push(0);
            }
            continue;
        };
        let access = access(remote, memory.address())?;
        words.push(remote.address);
        words.push((memory.address() + endpoints_at + access.transport as usize * WORD) as u64);
        words.push(u64::from_ne_bytes(access.element));
        mappings.extend(access.mapping);
    }
    // An endpoint is the number of its transport.
    for transport in 0..UCT_DEVICE_TL_LAST {
        words.push(u64::from(transport).to_le());
    }
    publish(memory, words, mappings)
}

/// An element of a list of 1.20. One without local memory is a counter.
pub struct Both<'a> {
    pub local: Option<Local<'a>>,
    pub remote: Remote<'a>,
}

/// What the first two bytes of a list of 1.20 say.
const VERSION_OF_1_20: u16 = 1;
/// The words of its head, and of an element.
const HEAD_WORDS_OF_1_20: usize = 8;
const WORDS_OF_1_20: usize = 4;

/// Makes a list of 1.20, whose elements are of one endpoint; returns its address on the device.
pub fn of_both(elements: &[Both<'_>]) -> Result<usize> {
    let first = elements.first().ok_or(Status::INVALID_PARAM)?;
    let count = u32::try_from(elements.len()).map_err(|_| Status::INVALID_PARAM)?;
    let worker = first.remote.ep.worker();
    let kind = first.remote.key.info.mem_type.into();
    let words = HEAD_WORDS_OF_1_20 + elements.len() * WORDS_OF_1_20;
    let memory = allocate(
        worker.context(),
        kind,
        (words + 1) * WORD,
        core::ptr::null(),
    )?;
    let mut arrays: [Vec<u64>; WORDS_OF_1_20] = Default::default();
    let (mut mappings, mut transport) = (Vec::new(), 0);
    for Both { local, remote } in elements {
        let (at, length) = match local {
            Some(local) => {
                check_local(worker, local)?;
                (local.address.expose_provenance() as u64, local.length)
            }
            None => (0, 0),
        };
        let access = access(remote, memory.address())?;
        let of_element = [
            at,
            remote.address,
            length as u64,
            u64::from_ne_bytes(access.element),
        ];
        for (array, word) in arrays.iter_mut().zip(of_element) {
            array.push(word);
        }
        transport = access.transport;
        mappings.extend(access.mapping);
    }
    let address_of = |word: usize| (memory.address() + word * WORD) as u64;
    let mut bytes = Vec::new();
    bytes.extend(VERSION_OF_1_20.to_ne_bytes());
    // No protocol, one endpoint.
    bytes.extend([0u8, 1]);
    bytes.extend(count.to_ne_bytes());
    let mut list = Words {
        bytes,
        elements: count,
    };
    list.push(address_of(words));
    list.push(0);
    // Bytes of a transport's word for the first endpoint, none for the second.
    list.push((WORD as u64).to_le());
    for array in 0..WORDS_OF_1_20 {
        list.push(address_of(HEAD_WORDS_OF_1_20 + array * elements.len()));
    }
    for word in arrays.into_iter().flatten() {
        list.push(word);
    }
    // An endpoint is the number of its transport.
    list.push(u64::from(transport).to_le());
    publish(memory, list, mappings)
}

/// The number of elements of a list; `None` if it is none of this process.
pub fn length(list: usize) -> Option<u32> {
    let lists = LISTS.get().lock();
    lists.get(&list).map(|list| list.length)
}

/// Frees a list. Returns whether it was one of this process.
pub fn release(list: usize) -> bool {
    // The driver is called without the lock.
    let released = LISTS.get().lock().remove(&list);
    released.is_some()
}

/// Whether an element of local memory is what device code may read.
fn check_local(worker: &Core, element: &Local<'_>) -> Result<()> {
    let kind = element.region.kind;
    if !devices_reach(worker, kind) {
        ucs_error!(
            "memory of type {} in a list for device code: no transport in use copies from it by a device",
            MemType::from_c(kind).name()
        );
        return Err(Status::UNSUPPORTED);
    }
    match element.address.is_null() {
        true => Ok(()),
        false => element.region.expect(element.address, element.length),
    }
}

/// How device code accesses remote memory, mapped where the list is.
fn access(Remote { ep, key, address }: &Remote<'_>, list: usize) -> Result<DeviceMapping> {
    ep.usable()?;
    if !ep.is_connected() {
        return Err(Status::NOT_CONNECTED);
    }
    key.check(*address, 1, WRITE)?;
    let Some(lane) = ep.device_lane(key.info.mem_type.into()) else {
        ucs_error!(
            "no transport in use lets device code reach the memory of type {} of this endpoint's peer: cuda_ipc does, on one host",
            MemType::from_c(key.info.mem_type.into()).name()
        );
        return Err(Status::UNSUPPORTED);
    };
    zcopy::device_access(lane, key, (*address, 1), list)
}

/// Whether a transport of the worker copies from memory of a type without a processor.
fn devices_reach(worker: &Core, kind: ucs_memory_type_t) -> bool {
    let context = worker.context();
    (worker.ifaces.iter().enumerate()).any(|(i, iface)| {
        let attr = context.mds[worker.domain_of(i)].md.attr();
        iface.reaches_devices_only && attr.access_mem_types & 1u64.unbounded_shl(kind) != 0
    })
}

fn allocate(
    context: &Context,
    kind: ucs_memory_type_t,
    length: usize,
    near: *const u8,
) -> Result<Box<dyn DeviceBlock>> {
    let Some(copier) = context.device_memory.copier(kind) else {
        ucs_error!(
            "a list for device code needs memory of a device, not of type {}",
            MemType::from_c(kind).name()
        );
        return Err(Status::UNSUPPORTED);
    };
    copier.allocate(length, near).inspect_err(|e| {
        ucs_error!("a list for device code needs {length} bytes of device memory: {e}");
    })
}

/// Fills a list and makes it known.
fn publish(
    memory: Box<dyn DeviceBlock>,
    words: Words,
    mappings: Vec<Arc<dyn Any + Send + Sync>>,
) -> Result<usize> {
    memory.write(&words.bytes)?;
    let (address, length) = (memory.address(), words.elements);
    let list = List {
        _memory: memory,
        length,
        _mappings: mappings,
    };
    LISTS.get().lock().insert(address, list);
    Ok(address)
}

const WORD: usize = size_of::<u64>();
/// Words of an element of remote memory, with its one lane.
const REMOTE_WORDS: usize =
    (size_of::<uct_device_remote_mem_elem>() + size_of::<uct_device_remote_tl_elem>()) / WORD;

/// The bytes of a list.
struct Words {
    bytes: Vec<u8>,
    elements: u32,
}

impl Words {
    /// Its head: version, lanes of an element, elements.
    fn new(elements: usize, lanes: u16) -> Result<Words> {
        let elements = u32::try_from(elements).map_err(|_| Status::INVALID_PARAM)?;
        let mut bytes = Vec::new();
        bytes.extend(VERSION.to_ne_bytes());
        bytes.extend(lanes.to_ne_bytes());
        bytes.extend(elements.to_ne_bytes());
        Ok(Words { bytes, elements })
    }

    fn push(&mut self, word: u64) {
        self.bytes.extend(word.to_ne_bytes());
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Where a list of so many elements ends that have so many words each.
    fn end_of_elements(&self, elements: usize, words: usize) -> usize {
        self.len() + elements * words * WORD
    }
}
