/* A process of ours that a hostile one talks to in upstream's format (tests/interop, tests/upstream/hostile.py).
 *
 *     victim HOST PORT
 *
 * It sends its worker address and where the memory is that it exports to whoever connects to PORT, and answers a line with a
 * line until the connection ends:
 *
 *     recv TAG LENGTH     posts a receive
 *     wait TAG            its status and bytes, when it is over
 *     connect ADDRESS     makes an endpoint and sends by it, synchronously, what "wait 0" waits for
 *     send TAG LENGTH     sends the bytes 0 to 250 again and again by this endpoint
 *     memory              the exported bytes and what is around them
 *     map LENGTH          exports more memory: where it is
 *     unmap               that is no more exported
 *     resident            how many KiB of memory the process has */
#include <ucp/api/ucp.h>

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define EXPORTED 256
#define AROUND 64
#define MOST 2048
#define TAGS 16
#define LONGEST (1 << 20)

static ucp_worker_h worker;
static int controller;
static uint8_t received[TAGS][MOST];
static ucs_status_ptr_t requests[TAGS];
static size_t lengths[TAGS];
static ucp_mem_h more;
static ucp_ep_h connected;
static uint8_t sent[LONGEST];

static int accept_one(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;

    CHECK_EQ(inet_pton(AF_INET, host, &address.sin_addr), 1);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    CHECK_EQ(listen(fd, 1), 0);
    peer = accept(fd, NULL, NULL);
    close(fd);
    CHECK_EQ(fcntl(peer, F_SETFL, O_NONBLOCK), 0);
    return peer;
}

static void say(const char *text)
{
    CHECK_EQ(send(controller, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void say_bytes(const char *before, const uint8_t *bytes, size_t length)
{
    static char text[64 + 2 * MOST];
    char *at = text + sprintf(text, "%s ", before);

    for (size_t i = 0; i < length; i++)
        at += sprintf(at, "%02x", bytes[i]);
    strcpy(at, "\n");
    say(text);
}

/* The next line; 0 at the end. Makes progress meanwhile. */
static int next_line(char *line, size_t room)
{
    size_t n = 0;

    for (;;) {
        ssize_t got = recv(controller, line + n, 1, 0);

        if (got == 0)
            return 0;
        if (got < 0) {
            CHECK_EQ(errno, EAGAIN);
            ucp_worker_progress(worker);
        } else if (line[n] == '\n') {
            line[n] = 0;
            return 1;
        } else {
            CHECK(++n < room);
        }
    }
}

/* Exports memory and releases the key. */
static ucp_mem_h export(ucp_context_h context, ucp_mem_map_params_t *map)
{
    ucp_mem_h mapped;
    size_t length;
    void *key;

    CHECK_EQ(ucp_mem_map(context, map, &mapped), UCS_OK);
    CHECK_EQ(ucp_rkey_pack(context, mapped, &key, &length), UCS_OK);
    ucp_rkey_buffer_release(key);
    return mapped;
}

static void answer(const char *line, ucp_context_h context, const uint8_t *memory)
{
    ucp_request_param_t param = {0};
    unsigned tag;
    size_t length;

    if (sscanf(line, "recv %u %zu", &tag, &length) == 2) {
        CHECK(tag < TAGS && length <= MOST);
        lengths[tag] = length;
        requests[tag] = ucp_tag_recv_nbx(worker, received[tag], length, tag, -1, &param);
        CHECK(!UCS_PTR_IS_ERR(requests[tag]));
        say("posted\n");
    } else if (sscanf(line, "wait %u", &tag) == 1) {
        ucs_status_t status = UCS_OK;

        while (requests[tag] != NULL && (status = ucp_request_check_status(requests[tag])) == UCS_INPROGRESS)
            ucp_worker_progress(worker);
        if (requests[tag] != NULL)
            ucp_request_free(requests[tag]);
        say_bytes(status == UCS_OK ? "ok" : ucs_status_string(status), received[tag], status == UCS_OK ? lengths[tag] : 0);
    } else if (sscanf(line, "map %zu", &length) == 1) {
        ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                    .length = length,
                                    .flags = UCP_MEM_MAP_ALLOCATE};
        ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
        char text[32];

        more = export(context, &map);
        CHECK_EQ(ucp_mem_query(more, &attr), UCS_OK);
        sprintf(text, "%p\n", attr.address);
        say(text);
    } else if (strcmp(line, "unmap") == 0) {
        CHECK_EQ(ucp_mem_unmap(context, more), UCS_OK);
        say("unmapped\n");
    } else if (strncmp(line, "connect ", 8) == 0) {
        static uint8_t address[64];
        ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (ucp_address_t *)address};

        for (length = 0; length < sizeof(address) && sscanf(line + 8 + 2 * length, "%2hhx", &address[length]) == 1; length++)
            ;
        CHECK_EQ(ucp_ep_create(worker, &params, &connected), UCS_OK);
        lengths[0] = 8;
        requests[0] = ucp_tag_send_sync_nbx(connected, received[0], lengths[0], 70, &param);
        CHECK(UCS_PTR_IS_PTR(requests[0]));
        say("connected\n");
    } else if (sscanf(line, "send %u %zu", &tag, &length) == 2) {
        CHECK(tag < TAGS && length <= LONGEST);
        lengths[tag] = 0;
        requests[tag] = ucp_tag_send_nbx(connected, sent, length, tag, &param);
        CHECK(UCS_PTR_IS_PTR(requests[tag]));
        say("sent\n");
    } else if (strcmp(line, "memory") == 0) {
        say_bytes("bytes", memory, EXPORTED + 2 * AROUND);
    } else {
        char text[64];
        FILE *file = fopen("/proc/self/statm", "r");

        CHECK_EQ(strcmp(line, "resident"), 0);
        CHECK_EQ(fscanf(file, "%*u %zu", &length), 1);
        fclose(file);
        sprintf(text, "%zu\n", length * 4);
        say(text);
    }
}

int main(int argc, char **argv)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                                       UCP_FEATURE_AMO64};
    static uint8_t memory[EXPORTED + 2 * AROUND] __attribute__((aligned(64)));
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = memory + AROUND,
                                .length = EXPORTED};
    ucp_worker_params_t worker_params = {0};
    ucp_context_h context;
    ucp_address_t *own;
    ucp_mem_h mapped;
    char line[128], at[32];
    size_t length;

    CHECK_EQ(argc, 3);
    for (size_t i = 0; i < sizeof(memory); i++)
        memory[i] = i;
    for (size_t i = 0; i < sizeof(sent); i++)
        sent[i] = i % 251;
    CHECK_EQ(ucp_init(&params, NULL, &context), UCS_OK);
    CHECK_EQ(ucp_worker_create(context, &worker_params, &worker), UCS_OK);
    mapped = export(context, &map);
    controller = accept_one(argv[1], atoi(argv[2]));
    CHECK_EQ(ucp_worker_get_address(worker, &own, &length), UCS_OK);
    sprintf(at, "%p", map.address);
    say_bytes(at, (uint8_t *)own, length);
    ucp_worker_release_address(worker, own);
    while (next_line(line, sizeof(line)))
        answer(line, context, memory);
    CHECK_EQ(ucp_mem_unmap(context, mapped), UCS_OK);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    printf("lives\n");
    return 0;
}
