/* What ucx_perftest itself takes for a put, a get, or an active message of a process to itself: put before a library, these
 * calls are the copy alone. They check nothing, and know the memory of the last key alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

enum { LONGEST_MESSAGE = 64 << 10, HANDLERS = 32 };

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

/* Memory of the peer as it is mapped here: what is added to its address there. */
static struct {
    int is_known;
    uint64_t offset;
} mapped;
static uct_component_h component;
static uct_rkey_bundle_t bundle;
static struct {
    uct_am_callback_t call;
    void *arg;
} handlers[HANDLERS];
static char message[LONGEST_MESSAGE];
/* Whose memory the kernel copies; 0 until the library has had it copied. */
static pid_t peer;
static uct_ep_put_zcopy_func_t library_put;
static uct_ep_get_zcopy_func_t library_get;

static void *place_of(uint64_t remote_addr)
{
    return (void*)(remote_addr + mapped.offset);
}

/* UCP */

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer, ucp_rkey_h *rkey_p)
{
    mapped.is_known = 0;
    return NEXT(ucp_ep_rkey_unpack)(ep, rkey_buffer, rkey_p);
}

static ucs_status_t locate(ucp_rkey_h rkey, uint64_t remote_addr)
{
    void *at = NULL;
    ucs_status_t status = ucp_rkey_ptr(rkey, remote_addr, &at);

    mapped.is_known = status == UCS_OK;
    mapped.offset = (uint64_t)at - remote_addr;
    return status;
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    if (!mapped.is_known && locate(rkey, remote_addr) != UCS_OK) {
        return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
    }
    memcpy(place_of(remote_addr), buffer, count);
    return NULL;
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count, uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    if (!mapped.is_known && locate(rkey, remote_addr) != UCS_OK) {
        return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
    }
    memcpy(buffer, place_of(remote_addr), count);
    return NULL;
}

/* UCT */

ucs_status_t uct_rkey_unpack(uct_component_h owner, const void *rkey_buffer, uct_rkey_bundle_t *rkey_ob)
{
    ucs_status_t status = NEXT(uct_rkey_unpack)(owner, rkey_buffer, rkey_ob);

    component = owner, bundle = *rkey_ob, mapped.is_known = 0;
    return status;
}

/* Memory of the process itself has no pointer of its own. */
static void *uct_place_of(uint64_t remote_addr)
{
    void *at;

    if (!mapped.is_known) {
        mapped.is_known = 1;
        mapped.offset = uct_rkey_ptr(component, &bundle, remote_addr, &at) == UCS_OK ? (uint64_t)at - remote_addr : 0;
    }
    return place_of(remote_addr);
}

static ucs_status_t put_short(uct_ep_h ep, const void *buffer, unsigned length, uint64_t remote_addr, uct_rkey_t rkey)
{
    memcpy(uct_place_of(remote_addr), buffer, length);
    return UCS_OK;
}

static ssize_t put_bcopy(uct_ep_h ep, uct_pack_callback_t pack, void *arg, uint64_t remote_addr, uct_rkey_t rkey)
{
    return pack(uct_place_of(remote_addr), arg);
}

static ucs_status_t get_bcopy(uct_ep_h ep, uct_unpack_callback_t unpack, void *arg, size_t length, uint64_t remote_addr,
                              uct_rkey_t rkey, uct_completion_t *comp)
{
    unpack(arg, uct_place_of(remote_addr), length);
    return UCS_OK;
}

typedef ssize_t (*kernel_copy_t)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long);

static kernel_copy_t kernel_read(void)
{
    static kernel_copy_t read;

    return read == NULL ? (read = NEXT(process_vm_readv)) : read;
}

/* The library looks whether it reaches the memory of a process by reading there. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long tos, const struct iovec *from, unsigned long froms,
                         unsigned long flags)
{
    peer = pid == getpid() ? 0 : pid;
    return kernel_read()(pid, to, tos, from, froms, flags);
}

static ucs_status_t by_kernel(kernel_copy_t copy, const uct_iov_t *iov, uint64_t remote_addr)
{
    struct iovec here = {iov->buffer, iov->length}, there = {(void*)remote_addr, iov->length};

    return copy(peer, &here, 1, &there, 1, 0) == (ssize_t)iov->length ? UCS_OK : UCS_ERR_IO_ERROR;
}

static ucs_status_t put_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt, uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return peer == 0 ? library_put(ep, iov, iovcnt, remote_addr, rkey, comp) : by_kernel(process_vm_writev, iov, remote_addr);
}

static ucs_status_t get_zcopy(uct_ep_h ep, const uct_iov_t *iov, size_t iovcnt, uint64_t remote_addr, uct_rkey_t rkey,
                              uct_completion_t *comp)
{
    return peer == 0 ? library_get(ep, iov, iovcnt, remote_addr, rkey, comp) : by_kernel(kernel_read(), iov, remote_addr);
}

static ucs_status_t am_short(uct_ep_h ep, uint8_t id, uint64_t header, const void *payload, unsigned length)
{
    memcpy(message, &header, sizeof(header));
    memcpy(message + sizeof(header), payload, length);
    return handlers[id].call(handlers[id].arg, message, sizeof(header) + length, 0);
}

static ssize_t am_bcopy(uct_ep_h ep, uint8_t id, uct_pack_callback_t pack, void *arg, unsigned flags)
{
    size_t length = pack(message, arg);

    handlers[id].call(handlers[id].arg, message, length, 0);
    return length;
}

ucs_status_t uct_iface_set_am_handler(uct_iface_h iface, uint8_t id, uct_am_callback_t call, void *arg, uint32_t flags)
{
    handlers[id].call = call, handlers[id].arg = arg;
    return NEXT(uct_iface_set_am_handler)(iface, id, call, arg, flags);
}

ucs_status_t uct_iface_open(uct_md_h md, uct_worker_h worker, const uct_iface_params_t *params, const uct_iface_config_t *config,
                            uct_iface_h *iface_p)
{
    ucs_status_t status = NEXT(uct_iface_open)(md, worker, params, config, iface_p);
    uct_iface_ops_t *ops;

    if (status != UCS_OK) {
        return status;
    }
    ops = &(*iface_p)->ops;
    ops->ep_put_short = put_short, ops->ep_put_bcopy = put_bcopy, ops->ep_get_bcopy = get_bcopy;
    if (strcmp(params->mode.device.tl_name, "cma") == 0) {
        library_put = ops->ep_put_zcopy, library_get = ops->ep_get_zcopy;
        ops->ep_put_zcopy = put_zcopy, ops->ep_get_zcopy = get_zcopy;
    } else if (strcmp(params->mode.device.tl_name, "self") == 0) {
        ops->ep_am_short = am_short, ops->ep_am_bcopy = am_bcopy;
    }
    return status;
}
