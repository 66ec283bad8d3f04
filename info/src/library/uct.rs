//! Components, memory domains, interfaces and connection managers, opened to be asked.

use super::{Library, Result, text_in};
use crate::c::*;
use std::ffi::CString;
use std::ptr::{null, null_mut};

/// A worker of UCT with its async context: what interfaces are opened in.
pub struct Uct<'l> {
    library: &'l Library,
    r#async: *mut ucs_async_context_t,
    worker: uct_worker_h,
}

pub struct Component<'l> {
    library: &'l Library,
    handle: uct_component_h,
    pub name: String,
    pub flags: u64,
    /// The names of its memory domains.
    pub domains: Vec<String>,
}

pub struct Md<'l> {
    library: &'l Library,
    handle: uct_md_h,
}

pub struct Iface<'l> {
    library: &'l Library,
    handle: uct_iface_h,
}

pub struct Cm<'l> {
    library: &'l Library,
    handle: uct_cm_h,
}

/// A transport on a device.
pub struct Resource {
    pub transport: String,
    pub device: String,
    pub device_type: uct_device_type_t,
    pub system_device: ucs_sys_device_t,
}

fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

impl<'l> Uct<'l> {
    pub fn new(library: &'l Library) -> Result<Uct<'l>> {
        let f = &library.functions;
        let mut uct = Uct {
            library,
            r#async: null_mut(),
            worker: null_mut(),
        };
        // SAFETY: a handle to write to.
        let status = unsafe {
            (f.ucs_async_context_create)(UCS_ASYNC_MODE_THREAD_SPINLOCK, &mut uct.r#async)
        };
        library.check("ucs_async_context_create", status)?;
        // SAFETY: the context lives as long as the worker.
        let status =
            unsafe { (f.uct_worker_create)(uct.r#async, UCS_THREAD_MODE_SINGLE, &mut uct.worker) };
        library.check("uct_worker_create", status)?;
        Ok(uct)
    }

    /// The interface keeps its domain and this worker borrowed.
    pub fn open_iface<'a>(&'a self, md: &'a Md<'l>, resource: &Resource) -> Result<Iface<'a>> {
        let f = &self.library.functions;
        let (transport, device) = (c_string(&resource.transport), c_string(&resource.device));
        let mut config = null_mut();
        // SAFETY: an open domain, strings that live, a handle to write to.
        let status = unsafe {
            (f.uct_md_iface_config_read)(md.handle, transport.as_ptr(), null(), null(), &mut config)
        };
        self.library.check("uct_md_iface_config_read", status)?;
        // SAFETY: all zeros are a value of every member; only those that the mask names are read.
        let mut params: uct_iface_params_t = unsafe { std::mem::zeroed() };
        params.field_mask =
            u64::from(UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE);
        params.open_mode = u64::from(UCT_IFACE_OPEN_MODE_DEVICE);
        params.mode.device = uct_iface_params_mode_device {
            tl_name: transport.as_ptr(),
            dev_name: device.as_ptr(),
        };
        let mut handle = null_mut();
        // SAFETY: live domain, worker, parameters and configuration; a handle to write to.
        let status =
            unsafe { (f.uct_iface_open)(md.handle, self.worker, &params, config, &mut handle) };
        // SAFETY: read above, used by nobody any more.
        unsafe { (f.uct_config_release)(config.cast()) };
        self.library.check("uct_iface_open", status)?;
        Ok(Iface {
            library: self.library,
            handle,
        })
    }

    pub fn open_cm<'a>(&'a self, component: &Component<'l>) -> Result<Cm<'a>> {
        let f = &self.library.functions;
        let mut config = null_mut();
        // SAFETY: a component of the library, a handle to write to.
        let status =
            unsafe { (f.uct_cm_config_read)(component.handle, null(), null(), &mut config) };
        self.library.check("uct_cm_config_read", status)?;
        let mut handle = null_mut();
        // SAFETY: live component, worker and configuration; a handle to write to.
        let status = unsafe { (f.uct_cm_open)(component.handle, self.worker, config, &mut handle) };
        // SAFETY: read above, used by nobody any more.
        unsafe { (f.uct_config_release)(config.cast()) };
        self.library.check("uct_cm_open", status)?;
        Ok(Cm {
            library: self.library,
            handle,
        })
    }
}

impl Drop for Uct<'_> {
    fn drop(&mut self) {
        let f = &self.library.functions;
        if !self.worker.is_null() {
            // SAFETY: made by `new`; interfaces and managers borrow it and are closed before.
            unsafe { (f.uct_worker_destroy)(self.worker) };
        }
        if !self.r#async.is_null() {
            // SAFETY: made by `new`, its worker is gone.
            unsafe { (f.ucs_async_context_destroy)(self.r#async) };
        }
    }
}

impl Library {
    pub fn components(&self) -> Result<Vec<Component<'_>>> {
        let f = &self.functions;
        let (mut list, mut count) = (null_mut(), 0);
        // SAFETY: a list and a number to write to.
        let status = unsafe { (f.uct_query_components)(&mut list, &mut count) };
        self.check("uct_query_components", status)?;
        // SAFETY: the list has that many handles, which outlive it.
        let handles = (0..count as usize).map(|at| unsafe { *list.add(at) });
        let handles: Vec<_> = handles.collect();
        // SAFETY: the list of above.
        unsafe { (f.uct_release_component_list)(list) };
        handles
            .into_iter()
            .map(|handle| self.component(handle))
            .collect()
    }

    fn component(&self, handle: uct_component_h) -> Result<Component<'_>> {
        let f = &self.functions;
        // SAFETY: all zeros are a value of every member.
        let mut attr: uct_component_attr_t = unsafe { std::mem::zeroed() };
        attr.field_mask = u64::from(
            UCT_COMPONENT_ATTR_FIELD_NAME
                | UCT_COMPONENT_ATTR_FIELD_FLAGS
                | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT,
        );
        // SAFETY: a component of the library, a structure to write to.
        let status = unsafe { (f.uct_component_query)(handle, &mut attr) };
        self.check("uct_component_query", status)?;
        let empty = uct_md_resource_desc_t {
            md_name: [0; UCT_MD_NAME_MAX],
        };
        let mut domains = vec![empty; attr.md_resource_count as usize];
        attr.field_mask = u64::from(UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES);
        attr.md_resources = domains.as_mut_ptr();
        // SAFETY: room for as many as the library counted.
        let status = unsafe { (f.uct_component_query)(handle, &mut attr) };
        self.check("uct_component_query", status)?;
        Ok(Component {
            library: self,
            handle,
            name: text_in(&attr.name),
            flags: attr.flags,
            domains: domains
                .iter()
                .map(|domain| text_in(&domain.md_name))
                .collect(),
        })
    }
}

impl<'l> Component<'l> {
    pub fn open(&self, domain: &str) -> Result<Md<'l>> {
        let f = &self.library.functions;
        let mut config = null_mut();
        // SAFETY: a component of the library, a handle to write to.
        let status = unsafe { (f.uct_md_config_read)(self.handle, null(), null(), &mut config) };
        self.library.check("uct_md_config_read", status)?;
        let (name, mut handle) = (c_string(domain), null_mut());
        // SAFETY: live component, string and configuration; a handle to write to.
        let status = unsafe { (f.uct_md_open)(self.handle, name.as_ptr(), config, &mut handle) };
        // SAFETY: read above, used by nobody any more.
        unsafe { (f.uct_config_release)(config.cast()) };
        self.library.check("uct_md_open", status)?;
        Ok(Md {
            library: self.library,
            handle,
        })
    }
}

impl Md<'_> {
    pub fn attributes(&self) -> Result<uct_md_attr_v2_t> {
        // SAFETY: all zeros are a value of every member.
        let mut attr: uct_md_attr_v2_t = unsafe { std::mem::zeroed() };
        attr.field_mask = u64::from(
            UCT_MD_ATTR_FIELD_MAX_ALLOC
                | UCT_MD_ATTR_FIELD_MAX_REG
                | UCT_MD_ATTR_FIELD_FLAGS
                | UCT_MD_ATTR_FIELD_REG_MEM_TYPES
                | UCT_MD_ATTR_FIELD_REG_NONBLOCK_MEM_TYPES
                | UCT_MD_ATTR_FIELD_CACHE_MEM_TYPES
                | UCT_MD_ATTR_FIELD_DETECT_MEM_TYPES
                | UCT_MD_ATTR_FIELD_ALLOC_MEM_TYPES
                | UCT_MD_ATTR_FIELD_ACCESS_MEM_TYPES
                | UCT_MD_ATTR_FIELD_DMABUF_MEM_TYPES
                | UCT_MD_ATTR_FIELD_REG_COST
                | UCT_MD_ATTR_FIELD_RKEY_PACKED_SIZE
                | UCT_MD_ATTR_FIELD_REG_ALIGNMENT,
        );
        // SAFETY: an open domain, a structure to write to.
        let status = unsafe { (self.library.functions.uct_md_query_v2)(self.handle, &mut attr) };
        self.library.check("uct_md_query_v2", status)?;
        Ok(attr)
    }

    pub fn resources(&self) -> Result<Vec<Resource>> {
        let f = &self.library.functions;
        let (mut list, mut count) = (null_mut(), 0);
        // SAFETY: an open domain, a list and a number to write to.
        let status = unsafe { (f.uct_md_query_tl_resources)(self.handle, &mut list, &mut count) };
        self.library.check("uct_md_query_tl_resources", status)?;
        // SAFETY: the list has that many entries.
        let entries = (0..count as usize).map(|at| unsafe { *list.add(at) });
        let resources = entries
            .map(|entry| Resource {
                transport: text_in(&entry.tl_name),
                device: text_in(&entry.dev_name),
                device_type: entry.dev_type,
                system_device: entry.sys_device,
            })
            .collect();
        // SAFETY: the list of above, copied.
        unsafe { (f.uct_release_tl_resource_list)(list) };
        Ok(resources)
    }
}

impl Drop for Md<'_> {
    fn drop(&mut self) {
        // SAFETY: open; interfaces borrow it and are closed before.
        unsafe { (self.library.functions.uct_md_close)(self.handle) };
    }
}

impl Iface<'_> {
    pub fn attributes(&self) -> Result<uct_iface_attr_t> {
        // SAFETY: all zeros are a value of every member.
        let mut attr: uct_iface_attr_t = unsafe { std::mem::zeroed() };
        // SAFETY: an open interface, a structure to write to.
        let status = unsafe { (self.library.functions.uct_iface_query)(self.handle, &mut attr) };
        self.library.check("uct_iface_query", status)?;
        Ok(attr)
    }
}

impl Drop for Iface<'_> {
    fn drop(&mut self) {
        // SAFETY: open.
        unsafe { (self.library.functions.uct_iface_close)(self.handle) };
    }
}

impl Cm<'_> {
    /// The most private data that a request to connect carries, in bytes.
    pub fn max_private_data(&self) -> Result<usize> {
        let mut attr = uct_cm_attr_t {
            field_mask: u64::from(UCT_CM_ATTR_FIELD_MAX_CONN_PRIV),
            max_conn_priv: 0,
        };
        // SAFETY: an open manager, a structure to write to.
        let status = unsafe { (self.library.functions.uct_cm_query)(self.handle, &mut attr) };
        self.library.check("uct_cm_query", status)?;
        Ok(attr.max_conn_priv)
    }
}

impl Drop for Cm<'_> {
    fn drop(&mut self) {
        // SAFETY: open.
        unsafe { (self.library.functions.uct_cm_close)(self.handle) };
    }
}
