/* Memory that a process of ours has from another one by an exported handle, and a process of upstream's that is given a key of it.
 *
 *     imported server|client HOST PORT
 *
 * The server is ours. It starts the owner of the memory, imports that, and tells the client a key and where it is. The client
 * asks for its bytes by get, and writes others by put. Both print what came of it. */
#include "meeting.h"

#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 65536, MOST = 4096 };

static ucp_context_h context;

static uint8_t byte(size_t i, int number)
{
    return (uint8_t)(i * 7 + i / 256 + 31 * number);
}

static void all(ssize_t (*transfer)(int, void *, size_t), int fd, void *data, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = transfer(fd, (char *)data + at, length - at);

        CHECK(n > 0);
        at += n;
    }
}

static ssize_t write_some(int fd, void *data, size_t length)
{
    return write(fd, data, length);
}

static void start(uint64_t features)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | features};
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    CHECK_EQ(ucp_init_version(major, minor, &params, NULL, &context), UCS_OK);
}

/* Tells where the memory is and the handle of it; then, when asked, what is in it. */
static void own(int fd)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = LENGTH,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_memh_pack_params_t pack = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS, .flags = UCP_MEMH_PACK_FLAG_EXPORT};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    uint64_t length;
    ucp_mem_h memh;
    void *handle;
    size_t size;

    start(UCP_FEATURE_EXPORTED_MEMH);
    CHECK_EQ(ucp_mem_map(context, &map, &memh), UCS_OK);
    CHECK_EQ(ucp_mem_query(memh, &attr), UCS_OK);
    for (size_t i = 0; i < LENGTH; i++)
        ((uint8_t *)attr.address)[i] = byte(i, 1);
    CHECK_EQ(ucp_memh_pack(memh, &pack, &handle, &size), UCS_OK);
    length = size;
    all(write_some, fd, &attr.address, sizeof(attr.address));
    all(write_some, fd, &length, sizeof(length));
    all(write_some, fd, handle, length);
    while (read(fd, &length, sizeof(length)) == sizeof(length))
        all(write_some, fd, attr.address, LENGTH);
    _exit(0);
}

/* Which of the two contents the owner has. */
static int content(int fd)
{
    static uint8_t bytes[LENGTH];
    uint64_t question = 0;
    int number;

    all(write_some, fd, &question, sizeof(question));
    all(read, fd, bytes, LENGTH);
    for (number = 1; number <= 2; number++) {
        size_t i;

        for (i = 0; i < LENGTH && bytes[i] == byte(i, number); i++) {
        }
        if (i == LENGTH)
            return number;
    }
    return 0;
}

static void serve(int fd)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER};
    static uint8_t handle[MOST];
    uint64_t address, length;
    ucp_mem_h memh;
    size_t size;
    void *key;

    all(read, fd, &address, sizeof(address));
    all(read, fd, &length, sizeof(length));
    CHECK(length <= MOST);
    all(read, fd, handle, length);
    map.exported_memh_buffer = handle;
    CHECK_EQ(ucp_mem_map(context, &map, &memh), UCS_OK);
    CHECK_EQ(ucp_rkey_pack(context, memh, &key, &size), UCS_OK);
    free(exchange(key, size));
    ucp_rkey_buffer_release(key);
    free(exchange(&address, sizeof(address)));
    meet(3);
    printf("got: content %d\n", content(fd));
    meet(4);
    meet(5);
    printf("put: content %d\n", content(fd));
    meet(6);
    CHECK_EQ(ucp_mem_unmap(context, memh), UCS_OK);
}

static ucs_status_t ended(ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request))
        return UCS_PTR_STATUS(request);
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    ucp_request_free(request);
    return status;
}

static void ask(ucp_ep_h ep)
{
    static uint8_t bytes[LENGTH], nothing[1];
    ucp_request_param_t none = {0};
    ucs_status_t status, flushed;
    void *key = exchange(nothing, sizeof(nothing)), *address;
    size_t i;

    CHECK_EQ(ucp_ep_rkey_unpack(ep, key, &their_key), UCS_OK);
    address = exchange(nothing, sizeof(nothing));
    memcpy(&their_memory, address, sizeof(their_memory));
    status = ended(ucp_get_nbx(ep, bytes, LENGTH, their_memory, their_key, &none));
    for (i = 0; i < LENGTH && bytes[i] == byte(i, 1); i++) {
    }
    printf("get: %s, %s\n", ucs_status_string(status), i == LENGTH ? "all bytes" : "other bytes");
    meet(3);
    meet(4);
    for (i = 0; i < LENGTH; i++)
        bytes[i] = byte(i, 2);
    status = ended(ucp_put_nbx(ep, bytes, LENGTH, their_memory, their_key, &none));
    flushed = ended(ucp_ep_flush_nbx(ep, &none));
    printf("put: %s, flush: %s\n", ucs_status_string(status), ucs_status_string(flushed));
    meet(5);
    meet(6);
    ucp_rkey_destroy(their_key);
}

int main(int argc, char **argv)
{
    ucp_worker_params_t params = {.field_mask = 0};
    int is_server = argc == 4 && strcmp(argv[1], "server") == 0, fds[2];
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                          .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                          .err_handler.cb = on_error};
    ucp_address_t *address;
    size_t length;
    ucp_ep_h ep;
    pid_t owner = 0;

    CHECK_EQ(argc, 4);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (is_server) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        owner = fork();
        if (owner == 0) {
            close(fds[0]);
            own(fds[1]);
        }
        close(fds[1]);
    }
    start(is_server ? UCP_FEATURE_EXPORTED_MEMH : 0);
    CHECK_EQ(ucp_worker_create(context, &params, &worker), UCS_OK);
    out_of_band = connected(is_server, argv[2], atoi(argv[3]));
    CHECK_EQ(ucp_worker_get_address(worker, &address, &length), UCS_OK);
    to.address = exchange(address, length);
    ucp_worker_release_address(worker, address);
    CHECK_EQ(ucp_ep_create(worker, &to, &ep), UCS_OK);
    if (is_server) {
        serve(fds[0]);
        close(fds[0]);
        CHECK_EQ(waitpid(owner, NULL, 0), owner);
    } else {
        ask(ep);
    }
    printf("error handler: %d %s\n", errors, errors ? ucs_status_string(last_error) : "");
    meet(7);
    return 0;
}
