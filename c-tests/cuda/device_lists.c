/* Lists of memory for device code, between two processes by UCP. Arguments:
 *
 *   (none)   prints what lists hold and which are refused, on this library and on upstream's
 *   code     device code works on lists, on the processor (device_code.cc)
 *   own      what upstream's library does otherwise, and ends of processes
 *   refused  the driver fails once: a list is not made, and the same one is afterwards
 *
 * Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"
#include "device_code.h"

#include <ucp/api/device/ucp_host.h>
#include <ucp/api/device/ucp_device_types.h>

enum { SPACE = 64 << 10, COUNTER = SPACE - 64 };

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

static void meet(void)
{
    side_meet(&side, &pair);
}

static void draw(char *into, unsigned seed)
{
    size_t i;

    for (i = 0; i < SPACE; ++i) {
        into[i] = (char)(i * 13 + i / 256 + seed * 29);
    }
}

static ucp_device_mem_list_elem_t local_elem(size_t offset, size_t length)
{
    ucp_device_mem_list_elem_t elem = {.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH,
                                       .memh = memh,
                                       .local_addr = at(memory + offset),
                                       .length = length};
    return elem;
}

static ucp_device_mem_list_elem_t remote_elem(size_t offset)
{
    ucp_device_mem_list_elem_t elem = {.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR |
                                                     UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP,
                                       .rkey = rkey,
                                       .remote_addr = theirs.address + offset,
                                       .ep = ep};
    return elem;
}

static ucp_device_mem_list_params_t list_of(const ucp_device_mem_list_elem_t *elements, size_t number)
{
    ucp_device_mem_list_params_t params = {.field_mask = UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS |
                                                         UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE |
                                                         UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS |
                                                         UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER,
                                           .element_size = sizeof(*elements),
                                           .num_elements = number,
                                           .worker = side.worker,
                                           .elements = elements};
    return params;
}

static void *local_list(const ucp_device_mem_list_elem_t *elements, size_t number)
{
    ucp_device_mem_list_params_t params = list_of(elements, number);
    ucp_device_local_mem_list_h list = NULL;

    CHECK_OK(ucp_device_local_mem_list_create(&params, &list));
    return list;
}

static void *remote_list(const ucp_device_mem_list_elem_t *elements, size_t number)
{
    ucp_device_mem_list_params_t params = list_of(elements, number);
    ucp_device_remote_mem_list_h list = NULL;

    CHECK_OK(ucp_device_remote_mem_list_create(&params, &list));
    return list;
}

static void load(void *to, const void *from, size_t length)
{
    CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)from, length), 0);
}

/* ---- what lists hold ---- */

static void print_local(const char *what, const ucp_device_mem_list_elem_t *elements, size_t number)
{
    char *list = local_list(elements, number);
    ucp_device_local_mem_list_t head;
    uct_device_local_mem_elem_t elem;
    size_t i;

    load(&head, list, sizeof(head));
    printf("%s: version %d, %d lanes, %d elements of %u\n", what, head.version, head.num_lanes, head.length,
           ucp_device_get_mem_list_length(list));
    for (i = 0; i < head.length; ++i) {
        load(&elem, list + offsetof(ucp_device_local_mem_list_t, mem_elements) + i * sizeof(elem), sizeof(elem));
        printf("    %zd\n", elem.addr ? (ssize_t)((uintptr_t)elem.addr - memory) : -1);
    }
    ucp_device_mem_list_release(list);
}

static void print_remote(const char *what, const ucp_device_mem_list_elem_t *elements, size_t number)
{
    char *list = remote_list(elements, number), *from;
    ucp_device_remote_mem_list_t head;
    uct_device_remote_mem_elem_t elem;
    uct_device_remote_tl_elem_t way;
    uct_device_ep_t device_ep;
    char got[64];
    size_t i;

    load(&head, list, sizeof(head));
    printf("%s: version %d, %d lanes, %d elements of %u\n", what, head.version, head.num_lanes, head.length,
           ucp_device_get_mem_list_length(list));
    for (i = 0; i < head.length; ++i) {
        from = list + offsetof(ucp_device_remote_mem_list_t, mem_elements) + i * (sizeof(elem) + sizeof(way));
        load(&elem, from, sizeof(elem));
        load(&way, from + sizeof(elem), sizeof(way));
        if (!way.ep) {
            printf("    empty: %zu, %zd\n", (size_t)elem.addr, way.uct.cuda_ipc_md_mem_element.mapped_offset);
            continue;
        }
        load(&device_ep, way.ep, sizeof(device_ep));
        load(got, at(elem.addr + way.uct.cuda_ipc_md_mem_element.mapped_offset), sizeof(got));
        printf("    %zu, transport %d, %s\n", (size_t)(elem.addr - theirs.address), device_ep.uct_tl_id,
               memcmp(got, expected + (elem.addr - theirs.address), sizeof(got)) ? "other bytes" : "the peer's bytes");
    }
    ucp_device_mem_list_release(list);
}

static void tell_local(const char *what, ucp_device_mem_list_params_t params)
{
    ucp_device_local_mem_list_h list;
    ucs_status_t status = ucp_device_local_mem_list_create(&params, &list);

    printf("%s: %s\n", what, ucs_status_string(status));
    if (status == UCS_OK) {
        ucp_device_mem_list_release(list);
    }
}

static void tell_remote(const char *what, ucp_device_mem_list_params_t params)
{
    ucp_device_remote_mem_list_h list;
    ucs_status_t status = ucp_device_remote_mem_list_create(&params, &list);

    printf("%s: %s\n", what, ucs_status_string(status));
    if (status == UCS_OK) {
        ucp_device_mem_list_release(list);
    }
}

static void refused_local(void)
{
    ucp_device_mem_list_elem_t elem = local_elem(0, 8);
    ucp_device_mem_list_params_t params = list_of(&elem, 1);
    static char here[4096];
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = here,
                                .length = sizeof(here)};
    CUdeviceptr managed = managed_memory(sizeof(here));
    uint64_t all = params.field_mask;

    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER;
    tell_local("no worker", params);
    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS;
    tell_local("no elements", params);
    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE;
    tell_local("no size", params);
    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_NUM_ELEMENTS;
    tell_local("no number", params);
    tell_local("null elements", list_of(NULL, 1));
    tell_local("none", list_of(&elem, 0));
    elem.field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_LOCAL_ADDR | UCP_DEVICE_MEM_LIST_ELEM_FIELD_LENGTH;
    tell_local("no handle", list_of(&elem, 1));
    elem = local_elem(0, 8);
    elem.memh = NULL;
    tell_local("null handle", list_of(&elem, 1));
    elem = local_elem(0, 8);
    CHECK_OK(ucp_mem_map(side.context, &map, &elem.memh));
    elem.local_addr = here;
    tell_local("memory of the host", list_of(&elem, 1));
    CHECK_OK(ucp_mem_unmap(side.context, elem.memh));
    map.address = elem.local_addr = at(managed);
    CHECK_OK(ucp_mem_map(side.context, &map, &elem.memh));
    tell_local("managed memory", list_of(&elem, 1));
    CHECK_OK(ucp_mem_unmap(side.context, elem.memh));
    CHECK_EQ(cuMemFree_v2(managed), 0);
}

static void refused_remote(void)
{
    ucp_device_mem_list_elem_t elem = remote_elem(0);
    ucp_device_mem_list_params_t params = list_of(&elem, 1);
    uint64_t all = params.field_mask, full = elem.field_mask;

    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_WORKER;
    tell_remote("no worker", params);
    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENTS;
    tell_remote("no elements", params);
    params.field_mask = all & ~UCP_DEVICE_MEM_LIST_PARAMS_FIELD_ELEMENT_SIZE;
    tell_remote("no size", params);
    tell_remote("none", list_of(&elem, 0));
    elem.field_mask = full & ~UCP_DEVICE_MEM_LIST_ELEM_FIELD_RKEY;
    tell_remote("no key", list_of(&elem, 1));
    elem.field_mask = full & ~UCP_DEVICE_MEM_LIST_ELEM_FIELD_EP;
    tell_remote("no endpoint", list_of(&elem, 1));
    elem.field_mask = full & ~UCP_DEVICE_MEM_LIST_ELEM_FIELD_REMOTE_ADDR;
    tell_remote("an address without its bit", list_of(&elem, 1));
    elem.field_mask = 0;
    tell_remote("an empty place alone", list_of(&elem, 1));
    elem = remote_elem(0);
    elem.rkey = NULL;
    tell_remote("null key", list_of(&elem, 1));
    elem = remote_elem(0);
    elem.ep = NULL;
    tell_remote("null endpoint", list_of(&elem, 1));
}

static void counters(void)
{
    ucp_device_counter_params_t params = {.field_mask = 0};
    void *counter = at(memory + 128);
    uint64_t value = 0x123456789abcdefull;
    unsigned way;

    for (way = 0; way < 4; ++way) {
        params.field_mask = way;
        params.mem_type = UCS_MEMORY_TYPE_CUDA;
        params.memh = memh;
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)counter, &value, sizeof(value)), 0);
        printf("counter %u: %" PRIx64, way, ucp_device_counter_read(side.worker, &params, counter));
        printf(", %s", ucs_status_string(ucp_device_counter_init(side.worker, &params, counter)));
        printf(", %" PRIx64 "\n", ucp_device_counter_read(side.worker, &params, counter));
    }
}

static void contents(void)
{
    ucp_device_mem_list_elem_t elements[3];

    elements[0] = local_elem(0, SPACE);
    elements[1] = local_elem(4096, 100);
    elements[2] = local_elem(64, 0);
    elements[2].field_mask = UCP_DEVICE_MEM_LIST_ELEM_FIELD_MEMH;
    print_local("local", elements, 3);
    print_local("one", elements + 1, 1);
    elements[0] = remote_elem(0);
    elements[1] = remote_elem(5000);
    elements[2] = remote_elem(SPACE - 64);
    print_remote("remote", elements, 3);
    elements[1].field_mask = 0;
    print_remote("with an empty place", elements, 3);
    refused_local();
    refused_remote();
    counters();
}

/* ---- device code ---- */

static void code(void)
{
    static const size_t offsets[] = {0, 1, 4, 8, 16, 33}, lengths[] = {0, 1, 7, 8, 15, 16, 31, 64, 1000, 30001};
    enum { PLACES = sizeof(offsets) / sizeof(*offsets), SIZES = sizeof(lengths) / sizeof(*lengths) };
    ucp_device_counter_params_t params = {.field_mask = 0};
    ucp_device_mem_list_elem_t elements[2];
    void *counter = at(memory + COUNTER), *local, *remote, *pointer;
    size_t i, length, from, to, number = 0;

    if (pair_is_child(&pair)) {
        CHECK_OK(ucp_device_counter_init(side.worker, &params, counter));
        memset(bytes, 0x55, SPACE);
        CHECK_EQ(cuMemcpyHtoD_v2(memory, bytes, COUNTER), 0);
    }
    meet();
    elements[0] = remote_elem(0);
    elements[1] = remote_elem(COUNTER);
    remote = remote_list(elements, 2);
    elements[0] = local_elem(0, SPACE);
    elements[1] = local_elem(100, SPACE - 100);
    local = local_list(elements, 2);
    fake_cuda_open_memory();
    for (i = 0; i < PLACES * PLACES * SIZES; ++i) {
        from = offsets[i % PLACES];
        to = offsets[i / PLACES % PLACES];
        length = lengths[i / PLACES / PLACES];
        draw(expected, i);
        if (!pair_is_child(&pair)) {
            CHECK_EQ(cuMemcpyHtoD_v2(memory, expected, COUNTER), 0);
            CHECK_EQ(code_put(local, 1, from, remote, 0, 4096 + to, length, i), UCS_OK);
            CHECK_EQ(code_add(i + 1, remote, 1, 0, i), UCS_OK);
        } else {
            number += i + 1;
            while (ucp_device_counter_read(side.worker, &params, counter) != number) {
                ucp_worker_progress(side.worker);
            }
            CHECK_EQ(code_read(counter), number);
            load(bytes, at(memory), COUNTER);
            if (memcmp(bytes + 4096 + to, expected + 100 + from, length)) {
                FAIL("a put of %zu bytes from %zu to %zu: other bytes came", length, from, to);
            }
            CHECK_EQ(bytes[4096 + to + length], 0x55);
            CHECK_EQ(bytes[4095], 0x55);
            memset(bytes, 0x55, SPACE);
            CHECK_EQ(cuMemcpyHtoD_v2(memory, bytes, COUNTER), 0);
        }
        meet();
    }
    if (!pair_is_child(&pair)) {
        CHECK_EQ(code_pointer(remote, 1, &pointer), UCS_OK);
        load(&number, pointer, sizeof(number));
        CHECK_EQ(number, (size_t)(PLACES * PLACES * SIZES) * (PLACES * PLACES * SIZES + 1) / 2);
    }
    ucp_device_mem_list_release(local);
    ucp_device_mem_list_release(remote);
    meet();
}

/* ---- this library alone ---- */

static void *without_context(void *remote)
{
    ucp_device_mem_list_elem_t elem = remote_elem(0);
    CUcontext current = NULL;

    *(void **)remote = remote_list(&elem, 1);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == NULL);
    return NULL;
}

static void own(void)
{
    ucp_ep_h loop = side_connect(&side, side.address);
    ucp_device_mem_list_elem_t elem;
    ucp_device_mem_list_params_t params;
    ucp_device_local_mem_list_h local;
    ucp_device_remote_mem_list_h remote;
    ucp_rkey_h mine;
    void *packed, *pointer, *list;
    size_t length;
    pthread_t thread;
    int status;

    /* Ranges and endpoints are compared with handles and keys. */
    elem = local_elem(SPACE - 4, 8);
    params = list_of(&elem, 1);
    CHECK_STATUS(ucp_device_local_mem_list_create(&params, &local), UCS_ERR_INVALID_PARAM);
    elem = remote_elem(SPACE);
    CHECK_STATUS(ucp_device_remote_mem_list_create(&params, &remote), UCS_ERR_INVALID_PARAM);
    elem = remote_elem(0);
    elem.ep = loop;
    CHECK_STATUS(ucp_device_remote_mem_list_create(&params, &remote), UCS_ERR_INVALID_PARAM);
    CHECK_EQ(ucp_device_get_mem_list_length(&elem), 0);
    ucp_device_mem_list_release(&elem);
    OK("lists that cannot be");
    /* Memory of the same process is where it is. */
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &length));
    CHECK_OK(ucp_ep_rkey_unpack(loop, packed, &mine));
    ucp_rkey_buffer_release(packed);
    elem.rkey = mine;
    elem.remote_addr = memory + 8;
    list = remote_list(&elem, 1);
    fake_cuda_open_memory();
    CHECK_EQ(code_pointer(list, 0, &pointer), UCS_OK);
    CHECK(pointer == at(memory + 8));
    ucp_device_mem_list_release(list);
    ucp_rkey_destroy(mine);
    OK("a list of own memory");
    /* A thread without a context gets lists of the first device's, and none is made current. */
    CHECK_EQ(pthread_create(&thread, NULL, without_context, &list), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(ucp_device_get_mem_list_length(list), 1);
    OK("a thread without a context");
    /* The list outlives key, endpoint and peer. */
    request_finish(side.worker, ucp_ep_close_nb(loop, UCP_EP_CLOSE_MODE_FLUSH));
    ucp_rkey_destroy(rkey);
    kill(pair.child, SIGKILL);
    CHECK_EQ(waitpid(pair.child, &status, 0), pair.child);
    request_wait(side.worker, side.worker, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FORCE));
    fake_cuda_open_memory();
    CHECK_EQ(code_pointer(list, 0, &pointer), UCS_OK);
    load(bytes, pointer, 64);
    CHECK(!memcmp(bytes, expected, 64));
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    CHECK_EQ(ucp_device_get_mem_list_length(list), 1);
    ucp_device_mem_list_release(list);
    CHECK_EQ(ucp_device_get_mem_list_length(list), 0);
    CHECK_EQ(cuMemFree_v2(memory), 0);
    OK("a list after its peer's death");
    exit(0);
}

static void refused(void)
{
    ucp_device_mem_list_elem_t elem = remote_elem(0);
    ucp_device_mem_list_params_t params = list_of(&elem, 1);
    ucp_device_remote_mem_list_h remote = (void *)1;

    CHECK(ucp_device_remote_mem_list_create(&params, &remote) != UCS_OK);
    CHECK(remote == (void *)1);
    print_remote("afterwards", &elem, 1);
}

/* ---- */

static void say_hello(void)
{
    static const ucp_request_param_t plain;
    char byte = 0;

    /* Upstream's endpoints are connected once the peer has answered. */
    if (pair_is_child(&pair)) {
        request_finish(side.worker, ucp_tag_recv_nbx(side.worker, &byte, 1, 1, -1, &plain));
    } else {
        request_finish(side.worker, ucp_tag_send_sync_nbx(ep, &byte, 1, 1, &plain));
    }
    meet();
}

int main(int argc, char **argv)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_DEVICE };
    const char *mode = argc > 1 ? argv[1] : "";
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .length = SPACE};
    char address[ADDRESS_ROOM];
    CUcontext context, current;
    told_t mine;
    void *packed;

    alarm(100);
    pair = pair_start();
    context = use_device(0);
    memory = device_memory(SPACE);
    draw(expected, 0);
    CHECK_EQ(cuMemcpyHtoD_v2(memory, expected, SPACE), 0);
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    map.address = at(memory);
    CHECK_OK(ucp_mem_map(side.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &mine.length));
    CHECK(mine.length <= sizeof(mine.key));
    memcpy(mine.key, packed, mine.length);
    ucp_rkey_buffer_release(packed);
    mine.address = memory;
    pair_exchange(&pair, &mine, &theirs, sizeof(mine));
    side_swap_addresses(&side, &pair, address);
    ep = side_connect(&side, address);
    CHECK_OK(ucp_ep_rkey_unpack(ep, theirs.key, &rkey));
    say_hello();
    if (!strcmp(mode, "code")) {
        code();
    } else if (pair_is_child(&pair)) {
        /* Its memory is used. */
    } else if (!strcmp(mode, "own")) {
        own();
    } else if (!strcmp(mode, "refused")) {
        refused();
    } else {
        contents();
    }
    meet();
    ucp_rkey_destroy(rkey);
    request_finish(side.worker, ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH));
    meet();
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    side_close(&side);
    CHECK_EQ(cuMemFree_v2(memory), 0);
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    pair_finish(&pair);
    puts("ok device lists");
    return 0;
}
