//! `-y`: sizes of types of the C interface. Upstream's also tells those of its internal structures, which we do not have.
#![forbid(unsafe_code)]

use super::Report;
use crate::c::*;
use crate::library::{Library, Result};
use crate::options::Options;
use serde_json::{Map, json};
use std::fmt::Write;

macro_rules! sizes {
    ($($name:ident)*) => { &[$((stringify!($name), size_of::<$name>())),*] };
}

const UCS: &[(&str, usize)] = sizes!(
    ucs_mpool_t ucs_mpool_chunk_t ucs_mpool_elem_t ucs_class_t ucs_config_field_t ucs_config_parser_t ucs_list_link_t
    ucs_callbackq_t ucs_callbackq_elem_t ucs_queue_elem_t ucs_queue_head_t ucs_recursive_spinlock_t ucs_pgtable_t
    ucs_pgt_entry_t ucs_pgt_dir_t ucs_pgt_region_t ucs_rcache_region_t ucs_memory_info_t
    ucs_string_buffer_t ucs_cpu_set_t ucs_sock_addr_t ucs_linear_func_t ucs_sys_dev_distance_t ucs_global_opts_t
);
const UCT: &[(&str, usize)] = sizes!(
    uct_completion_t uct_ep_t uct_mem_h uct_rkey_t uct_iface_t uct_iface_attr_t uct_iface_ops_t uct_iface_params_t
    uct_md_attr_t uct_md_attr_v2_t uct_tl_resource_desc_t uct_rkey_bundle_t uct_component_attr_t uct_pending_req_t
    uct_allocated_memory_t uct_cm_attr_t uct_listener_attr_t uct_device_ep_t uct_device_mem_elem_t
    uct_device_local_mem_elem_t uct_device_remote_mem_elem_t
);
const UCP: &[(&str, usize)] = sizes!(
    ucp_params_t ucp_context_attr_t ucp_worker_params_t ucp_worker_attr_t ucp_listener_params_t ucp_ep_params_t
    ucp_request_param_t ucp_tag_recv_info_t ucp_am_recv_param_t ucp_mem_attr_t ucp_generic_dt_ops_t ucp_dt_iov_t
    ucp_stream_poll_ep_t
);

pub fn report(_library: &Library, _options: &Options) -> Result<Report> {
    let mut text = String::new();
    let mut json = Map::new();
    for (title, sizes) in [("UCS", UCS), ("UCT", UCT), ("UCP", UCP)] {
        let _ = writeln!(text, "{title}:");
        for (name, size) in sizes {
            let dots = ".".repeat(34_usize.saturating_sub(name.len()).max(3));
            let _ = writeln!(text, "    sizeof({name}) = {dots} {size:<6}");
            json.insert((*name).to_owned(), json!(size));
        }
        text.push('\n');
    }
    Ok(Report {
        name: "types",
        text,
        json: json.into(),
    })
}
