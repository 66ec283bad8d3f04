#include "messenger.hpp"

#include <stdexcept>
#include <vector>

namespace {

constexpr ucp_tag_t TAG = 0x7a6;

void check(ucs_status_t status)
{
    if (status != UCS_OK) {
        throw std::runtime_error(ucs_status_string(status));
    }
}

} // namespace

Messenger::Messenger()
{
    ucp_params_t params = {};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA;
    check(ucp_init(&params, nullptr, &context));

    ucp_worker_params_t worker_params = {};
    check(ucp_worker_create(context, &worker_params, &worker));

    ucp_address_t *address;
    size_t length;
    check(ucp_worker_get_address(worker, &address, &length));
    ucp_ep_params_t ep_params = {};
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ep_params.address = address;
    check(ucp_ep_create(worker, &ep_params, &ep));
    ucp_worker_release_address(worker, address);
}

Messenger::~Messenger()
{
    ucp_request_param_t param = {};
    finish(ucp_ep_close_nbx(ep, &param));
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

void Messenger::finish(ucs_status_ptr_t request)
{
    if (!UCS_PTR_IS_PTR(request)) {
        check(UCS_PTR_STATUS(request));
        return;
    }
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    check(status);
}

std::string Messenger::echo(const std::string &text)
{
    ucp_request_param_t param = {};
    std::vector<char> room(text.size());
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, room.data(), room.size(), TAG, ~ucp_tag_t(0), &param);
    finish(ucp_tag_send_nbx(ep, text.data(), text.size(), TAG, &param));
    finish(receive);
    return std::string(room.begin(), room.end());
}

std::string Messenger::put(const std::string &text)
{
    std::vector<char> room(text.size());
    ucp_mem_map_params_t map = {};
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    map.address = room.data();
    map.length = room.size();
    ucp_mem_h region;
    check(ucp_mem_map(context, &map, &region));
    void *packed;
    size_t length;
    check(ucp_rkey_pack(context, region, &packed, &length));
    ucp_rkey_h key;
    check(ucp_ep_rkey_unpack(ep, packed, &key));
    ucp_rkey_buffer_release(packed);

    ucp_request_param_t param = {};
    finish(ucp_put_nbx(ep, text.data(), text.size(), reinterpret_cast<uint64_t>(room.data()), key, &param));
    finish(ucp_ep_flush_nbx(ep, &param));
    ucp_rkey_destroy(key);
    check(ucp_mem_unmap(context, region));
    return std::string(room.begin(), room.end());
}
