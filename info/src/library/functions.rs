//! The functions of the C interface that the tool calls, found by name in the loaded library.

use crate::c::*;
use std::ffi::{c_char, c_double, c_uint, c_void};

macro_rules! functions {
    ($(fn $name:ident($($arg:ty),*) $(-> $ret:ty)?;)* optional $(fn $own:ident($($own_arg:ty),*);)*) => {
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub $own: Option<unsafe extern "C" fn($($own_arg),*)>,)*
            pub ucs_config_global_list: *mut ucs_list_link_t,
        }

        impl Functions {
            /// All of them, or which one is missing.
            pub fn load(file: &libloading::Library) -> Result<Functions, String> {
                Ok(Functions {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the type is that of the public headers, from which `src/c` has it.
                        *unsafe { file.get(name.as_bytes()) }.map_err(|e| e.to_string())?
                    },)*
                    $($own: {
                        let name = concat!(stringify!($own), "\0");
                        // SAFETY: as above.
                        unsafe { file.get(name.as_bytes()) }.ok().map(|found| *found)
                    },)*
                    ucs_config_global_list: {
                        // SAFETY: an object, of which the address is wanted.
                        *unsafe { file.get(b"ucs_config_global_list\0") }.map_err(|e| e.to_string())?
                    },
                })
            }
        }
    };
}

functions! {
    fn ucs_status_string(ucs_status_t) -> *const c_char;
    fn ucs_sys_get_lib_path() -> *const c_char;
    fn ucs_config_parser_print_all_opts(*mut libc::FILE, *const c_char, ucs_config_print_flags_t, *mut ucs_list_link_t, *const c_char);
    fn ucs_get_cpu_clocks_per_sec() -> c_double;
    fn ucs_cpu_vendor_name() -> *const c_char;
    fn ucs_cpu_model_name() -> *const c_char;
    fn ucs_sys_dmi_product_name() -> *const c_char;
    fn ucs_topo_num_devices() -> c_uint;
    fn ucs_topo_sys_device_get_name(ucs_sys_device_t) -> *const c_char;
    fn ucs_topo_get_distance(ucs_sys_device_t, ucs_sys_device_t, *mut ucs_sys_dev_distance_t) -> ucs_status_t;
    fn ucs_topo_get_memory_distance(ucs_sys_device_t, *mut ucs_sys_dev_distance_t);
    fn ucs_async_context_create(ucs_async_mode_t, *mut *mut ucs_async_context_t) -> ucs_status_t;
    fn ucs_async_context_destroy(*mut ucs_async_context_t);
    fn uct_query_components(*mut *mut uct_component_h, *mut c_uint) -> ucs_status_t;
    fn uct_release_component_list(*mut uct_component_h);
    fn uct_component_query(uct_component_h, *mut uct_component_attr_t) -> ucs_status_t;
    fn uct_config_release(*mut c_void);
    fn uct_md_config_read(uct_component_h, *const c_char, *const c_char, *mut *mut uct_md_config_t) -> ucs_status_t;
    fn uct_md_open(uct_component_h, *const c_char, *const uct_md_config_t, *mut uct_md_h) -> ucs_status_t;
    fn uct_md_close(uct_md_h);
    fn uct_md_query_v2(uct_md_h, *mut uct_md_attr_v2_t) -> ucs_status_t;
    fn uct_md_query_tl_resources(uct_md_h, *mut *mut uct_tl_resource_desc_t, *mut c_uint) -> ucs_status_t;
    fn uct_release_tl_resource_list(*mut uct_tl_resource_desc_t);
    fn uct_md_iface_config_read(uct_md_h, *const c_char, *const c_char, *const c_char, *mut *mut uct_iface_config_t) -> ucs_status_t;
    fn uct_worker_create(*mut ucs_async_context_t, ucs_thread_mode_t, *mut uct_worker_h) -> ucs_status_t;
    fn uct_worker_destroy(uct_worker_h);
    fn uct_iface_open(uct_md_h, uct_worker_h, *const uct_iface_params_t, *const uct_iface_config_t, *mut uct_iface_h) -> ucs_status_t;
    fn uct_iface_query(uct_iface_h, *mut uct_iface_attr_t) -> ucs_status_t;
    fn uct_iface_close(uct_iface_h);
    fn uct_cm_config_read(uct_component_h, *const c_char, *const c_char, *mut *mut uct_cm_config_t) -> ucs_status_t;
    fn uct_cm_open(uct_component_h, uct_worker_h, *const uct_cm_config_t, *mut uct_cm_h) -> ucs_status_t;
    fn uct_cm_query(uct_cm_h, *mut uct_cm_attr_t) -> ucs_status_t;
    fn uct_cm_close(uct_cm_h);
    fn ucp_get_version(*mut c_uint, *mut c_uint, *mut c_uint);
    fn ucp_get_version_string() -> *const c_char;
    fn ucp_config_read(*const c_char, *const c_char, *mut *mut ucp_config_t) -> ucs_status_t;
    fn ucp_config_modify(*mut ucp_config_t, *const c_char, *const c_char) -> ucs_status_t;
    fn ucp_config_release(*mut ucp_config_t);
    fn ucp_init_version(c_uint, c_uint, *const ucp_params_t, *const ucp_config_t, *mut ucp_context_h) -> ucs_status_t;
    fn ucp_cleanup(ucp_context_h);
    fn ucp_context_print_info(ucp_context_h, *mut libc::FILE);
    fn ucp_mem_print_info(*const c_char, ucp_context_h, *mut libc::FILE);
    fn ucp_worker_create(ucp_context_h, *const ucp_worker_params_t, *mut ucp_worker_h) -> ucs_status_t;
    fn ucp_worker_destroy(ucp_worker_h);
    fn ucp_worker_print_info(ucp_worker_h, *mut libc::FILE);
    fn ucp_worker_progress(ucp_worker_h) -> c_uint;
    fn ucp_worker_query(ucp_worker_h, *mut ucp_worker_attr_t) -> ucs_status_t;
    fn ucp_worker_release_address(ucp_worker_h, *mut ucp_address_t);
    fn ucp_listener_create(ucp_worker_h, *const ucp_listener_params_t, *mut ucp_listener_h) -> ucs_status_t;
    fn ucp_listener_query(ucp_listener_h, *mut ucp_listener_attr_t) -> ucs_status_t;
    fn ucp_listener_destroy(ucp_listener_h);
    fn ucp_ep_create(ucp_worker_h, *const ucp_ep_params_t, *mut ucp_ep_h) -> ucs_status_t;
    fn ucp_ep_print_info(ucp_ep_h, *mut libc::FILE);
    fn ucp_ep_flush_nbx(ucp_ep_h, *const ucp_request_param_t) -> *mut c_void;
    fn ucp_ep_close_nbx(ucp_ep_h, *const ucp_request_param_t) -> *mut c_void;
    fn ucp_request_check_status(*mut c_void) -> ucs_status_t;
    fn ucp_request_free(*mut c_void);
    optional
    fn ferrucx_print_build(*mut libc::FILE);
}
