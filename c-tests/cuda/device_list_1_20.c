/* The list of local and remote memory that 1.20 has for device code, between two processes by UCP: compiled with headers of
 * 1.20. Prints what it holds, on this library and on upstream's 1.20; with an argument the processor also does with it what
 * device code does, by the types that this code has. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

#include <ucp/api/device/ucp_host.h>
#include <ucp/api/device/ucp_device_types.h>
#include <uct/cuda/cuda_ipc/cuda_ipc_device.h>

enum { SPACE = 64 << 10, COUNTER = SPACE - 64, NUMBER = 3 };

typedef struct {
    uint64_t address;
    size_t length;
    char key[512];
} told_t;

static pair_t pair;
static side_t side;
static ucp_ep_h ep;
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static CUdeviceptr memory;
static told_t theirs;
static char bytes[SPACE], expected[SPACE];

static ucp_device_mem_list_elem_t element(size_t from, size_t to, size_t length)
{
    ucp_device_mem_list_elem_t elem = {.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR,
                                       .memh = memh,
                                       .local_addr = at(memory + from),
                                       .length = length,
                                       .remote_addr = theirs.address + to,
                                       .rkey = rkey};
    return elem;
}

static ucs_status_t create(const ucp_device_mem_list_elem_t *elements, size_t number, ucp_device_mem_list_handle_h *list)
{
    ucp_device_mem_list_params_t params = {.field_mask = UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS |
                                                         UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE |
                                                         UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS,
                                           .element_size = sizeof(*elements),
                                           .num_elements = number,
                                           .elements = elements};

    return ucp_device_mem_list_create(ep, &params, list);
}

static void load(void *to, const void *from, size_t length)
{
    CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)from, length), 0);
}

static void print_list(const void *list)
{
    ucp_device_mem_list_handle_t head;
    uct_device_ep_t device_ep;
    uint64_t remote;
    ptrdiff_t offset;
    char got[64];
    void *local;
    size_t length, i;

    load(&head, list, sizeof(head));
    load(&device_ep, head.uct_device_eps[0], sizeof(device_ep));
    printf("version %d, %d endpoints, %u elements, transport %d, %d bytes a word\n", head.version, head.num_uct_eps,
           head.mem_list_length, device_ep.uct_tl_id, head.uct_mem_element_size[0]);
    for (i = 0; i < head.mem_list_length; ++i) {
        load(&local, head.local_addrs + i, sizeof(local));
        load(&remote, head.remote_addrs + i, sizeof(remote));
        load(&length, head.lengths + i, sizeof(length));
        load(&offset, (char*)head.uct_mem_elements + i * head.uct_mem_element_size[0], sizeof(offset));
        load(got, at(remote + offset), sizeof(got));
        printf("    %zd, %zu bytes to %zu: %s\n", local ? (ssize_t)((uintptr_t)local - memory) : -1, length,
               (size_t)(remote - theirs.address),
               memcmp(got, expected + (remote - theirs.address), sizeof(got)) ? "other bytes" : "the peer's bytes");
    }
}

static void refusals(const ucp_device_mem_list_elem_t *good)
{
    ucp_device_mem_list_handle_h list;
    ucp_device_mem_list_elem_t bad[2] = {good[0], good[1]};

    CHECK(create(good, 0, &list) != UCS_OK);
    CHECK(create(NULL, 1, &list) != UCS_OK);
    bad[1].field_mask &= ~(uint64_t)UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY;
    CHECK(create(bad, 2, &list) != UCS_OK);
    bad[1] = good[1];
    bad[1].local_addr = at(memory + SPACE);
    CHECK_EQ(create(bad, 2, &list), UCS_ERR_INVALID_PARAM);
    bad[1] = good[1];
    bad[1].remote_addr = theirs.address + SPACE;
    CHECK_EQ(create(bad, 2, &list), UCS_ERR_INVALID_PARAM);
}

/* Puts, and a counter that tells of them. */
static void code(ucp_device_mem_list_handle_h list)
{
    const uct_cuda_ipc_device_mem_element_t *words;
    char *to;
    int i;

    fake_cuda_open_memory();
    words = list->uct_mem_elements;
    CHECK_EQ(list->version, UCP_DEVICE_MEM_LIST_VERSION_V1);
    CHECK_EQ(list->mem_list_length, NUMBER);
    CHECK_EQ(list->uct_device_eps[0]->uct_tl_id, UCT_DEVICE_TL_CUDA_IPC);
    CHECK_EQ(list->uct_mem_element_size[0], sizeof(*words));
    for (i = 0; i < NUMBER; ++i) {
        to = at(list->remote_addrs[i] + words[i].mapped_offset);
        if (i < NUMBER - 1) {
            memcpy(to, list->local_addrs[i], list->lengths[i]);
        } else {
            __atomic_fetch_add((uint64_t*)to, 7, __ATOMIC_RELEASE);
        }
    }
}

int main(int argc, char **argv)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_DEVICE };
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = SPACE};
    static const ucp_request_param_t plain;
    char address[ADDRESS_ROOM];
    ucp_device_mem_list_elem_t elements[NUMBER];
    ucp_device_mem_list_handle_h list;
    told_t mine;
    uint64_t counter;
    void *packed;
    size_t i;
    char byte = 0;

    alarm(60);
    pair = pair_start();
    use_device(0);
    memory = device_memory(SPACE);
    for (i = 0; i < SPACE; ++i) {
        bytes[i] = (char)(i * 13 + i / 256 + (pair_is_child(&pair) ? 29 : 0));
        expected[i] = (char)(i * 13 + i / 256 + (pair_is_child(&pair) ? 0 : 29));
    }
    CHECK_EQ(cuMemcpyHtoD_v2(memory, bytes, SPACE), 0);
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    params.address = at(memory);
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &mine.length));
    CHECK(mine.length <= sizeof(mine.key));
    memcpy(mine.key, packed, mine.length);
    mine.address = memory;
    ucp_rkey_buffer_release(packed);
    side_swap_addresses(&side, &pair, address);
    pair_exchange(&pair, &mine, &theirs, sizeof(mine));
    ep = side_connect(&side, address);
    CHECK_OK(ucp_ep_rkey_unpack(ep, theirs.key, &rkey));
    /* Upstream's endpoints are connected once the peer has answered. */
    if (pair_is_child(&pair)) {
        request_finish(side.worker, ucp_tag_recv_nbx(side.worker, &byte, 1, 1, -1, &plain));
    } else {
        request_finish(side.worker, ucp_tag_send_sync_nbx(ep, &byte, 1, 1, &plain));
    }
    side_meet(&side, &pair);
    if (!pair_is_child(&pair)) {
        elements[0] = element(0, 8192, 1000);
        elements[1] = element(4096, 100, 1000);
        elements[2] = element(0, COUNTER, 8);
        /* A counter needs no local memory; upstream wants it all the same. */
        if (argc > 1) {
            elements[2].field_mask &= UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY | UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR;
        }
        CHECK_OK(create(elements, NUMBER, &list));
        print_list(list);
        if (argc > 1) {
            refusals(elements);
            code(list);
        }
        ucp_device_mem_list_release(list);
    }
    side_meet(&side, &pair);
    if (pair_is_child(&pair) && argc > 1) {
        memcpy(&counter, bytes + COUNTER, sizeof(counter));
        counter += 7;
        memcpy(bytes + COUNTER, &counter, sizeof(counter));
        memcpy(bytes + 8192, expected, 1000);
        memcpy(bytes + 100, expected + 4096, 1000);
        load(expected, at(memory), SPACE);
        CHECK(!memcmp(bytes, expected, SPACE));
    }
    side_meet(&side, &pair);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    CHECK_OK(request_wait(side.worker, side.worker, ucp_ep_close_nbx(ep, &plain)));
    side_meet(&side, &pair);
    side_close(&side);
    CHECK_EQ(cuMemFree_v2(memory), 0);
    pair_finish(&pair);
    return 0;
}
