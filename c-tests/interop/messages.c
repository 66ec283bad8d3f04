/* Two processes that send each other messages, one on our library and one on upstream's, or both on ours and in upstream's
 * format (tests/interop).
 *
 *     messages server|client HOST PORT [bare|sockets|sockets-back [ADDRESS]]
 *
 * bare: each passes on only what upstream understands of its address, and a key that says nothing, so that the other takes
 * it for a process of upstream's.
 * sockets: the endpoints are made by socket address, at ADDRESS or HOST and the port behind PORT, with error handling. Last the client closes its
 * own, and the server's error handler is called once; sockets-back: the other way round.
 * They meet by a socket at PORT, where they exchange worker addresses and keep in step. Each message of LENGTHS goes both
 * ways by tag, before its receive is posted and after, synchronous and not, from and into contiguous memory, lists of
 * buffers and datatypes of their own; then as an active message with a reply, then by the stream; then it is put into
 * memory of the other, and got from there. The settings of each process say which messages are announced first. Words of
 * either's memory are changed by atomic operations. Last the endpoints are flushed and closed. */
#include <ucp/api/ucp.h>

#include "check.h"
#include "interop/meeting.h"

static const size_t LENGTHS[] = {0, 1, 8, 100, 2000, 8000, 8179, 8180, 8200, 30000, 65536, 300000, 3000017};
#define COUNT (sizeof(LENGTHS) / sizeof(*LENGTHS))

static ucp_context_h context;

static uint8_t byte(size_t at, uint32_t seed)
{
    return at * 131 + (at >> 8) * 7 + seed;
}

/* What a buffer is described as. */
enum form { CONTIGUOUS, LIST, OWN, FORMS };

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return (void *)buffer;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return buffer;
}

static size_t packed_length;

static size_t packed_size(void *state)
{
    return packed_length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max)
{
    size_t n = packed_length - offset < max ? packed_length - offset : max;

    for (size_t i = 0; i < n; i++)
        ((uint8_t *)dest)[i] = ~((uint8_t *)state)[offset + i];
    return n;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)state)[offset + i] = ~((const uint8_t *)src)[i];
    return UCS_OK;
}

static void finish_state(void *state)
{
}

/* Describes a buffer to a call; returns what stands for it, and sets its count. Of a datatype of its own all bytes are
 * turned over on the way. */
static void *describe(ucp_request_param_t *param, enum form form, uint8_t *data, size_t length, size_t *count)
{
    static ucp_dt_iov_t list[3];
    static ucp_datatype_t own;
    static const ucp_generic_dt_ops_t ops = {start_pack, start_unpack, packed_size, pack, unpack, finish_state};

    *count = length;
    packed_length = length;
    if (form == CONTIGUOUS)
        return data;
    param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    if (form == OWN) {
        if (own == 0)
            CHECK_EQ(ucp_dt_create_generic(&ops, NULL, &own), UCS_OK);
        param->datatype = own;
        return data;
    }
    param->datatype = ucp_dt_make_iov();
    for (size_t i = 0, at = 0; i < 3; i++) {
        size_t end = i == 2 ? length : (i + 1) * length / 4;

        list[i] = (ucp_dt_iov_t){data + at, end - at};
        at = end;
    }
    *count = 3;
    return list;
}

static uint8_t turned(enum form sender, enum form receiver)
{
    return (sender == OWN) == (receiver == OWN) ? 0 : 0xff;
}

/* Releases before 1.16 have no others; OLD_PROTOCOLS: this one has UCX_PROTO_ENABLE=n. */
static int has_old_protocols(void)
{
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    return minor < 16 || getenv("OLD_PROTOCOLS") != NULL;
}

static enum form sender_form(uint32_t number)
{
    return number % FORMS;
}

static enum form receiver_form(uint32_t number)
{
    return number / FORMS % FORMS;
}

static void check_bytes(const uint8_t *data, size_t length, uint32_t number)
{
    uint8_t mask = turned(sender_form(number), receiver_form(number));

    for (size_t i = 0; i < length; i++)
        CHECK_EQ(data[i] ^ mask, byte(i, number));
}

static void send_message(ucp_ep_h ep, size_t length, uint32_t number, int late, int sync)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};
    ucp_tag_t tag = 0xabcd000000000000 + number;
    ucs_status_ptr_t request;
    size_t count;
    void *buffer;

    for (size_t i = 0; i < length; i++)
        data[i] = byte(i, number);
    meet(3 * number);
    buffer = describe(&param, sender_form(number), data, length, &count);
    request = sync ? ucp_tag_send_sync_nbx(ep, buffer, count, tag, &param) : ucp_tag_send_nbx(ep, buffer, count, tag, &param);
    if (late) {
        /* The message has come, but nothing matches it. */
        meet(3 * number + 1);
        CHECK(!sync || (request != NULL && ucp_request_check_status(request) == UCS_INPROGRESS));
        meet(3 * number + 1);
    }
    finish(request, UCS_OK);
    meet(3 * number + 2);
}

static void receive_message(size_t length, uint32_t number, int late)
{
    static uint8_t data[LONGEST + 1];
    ucp_tag_recv_info_t info;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO, .recv_info.tag_info = &info};
    ucp_tag_t tag = 0xabcd000000000000 + number;
    ucs_status_ptr_t request;
    size_t count;
    void *buffer;

    memset(data, 0x5a, length + 1);
    if (late) {
        /* The message, or a part of it, is here before its receive. */
        meet(3 * number);
        while (ucp_tag_probe_nb(worker, tag, -1, 0, &info) == NULL)
            ucp_worker_progress(worker);
        CHECK_EQ(info.length, length);
        meet(3 * number + 1);
        meet(3 * number + 1);
    }
    buffer = describe(&param, receiver_form(number), data, length, &count);
    request = ucp_tag_recv_nbx(worker, buffer, count, tag, -1, &param);
    if (!late)
        meet(3 * number);
    finish(request, UCS_OK);
    CHECK_EQ(data[length], 0x5a);
    check_bytes(data, length, number);
    meet(3 * number + 2);
}

/* A message that does not fit its receive. */
static void truncated(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request;

    if (sends) {
        meet(3 * number);
        request = ucp_tag_send_nbx(ep, data, length, number, &param);
    } else {
        request = ucp_tag_recv_nbx(worker, data, length / 2, number, -1, &param);
        meet(3 * number);
    }
    finish(request, sends ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED);
    meet(3 * number + 1);
}

/* The part of an address of ours that upstream uses, with the release that it would tell. Returns its length. */
static size_t bare(uint8_t *address, size_t length)
{
    enum { HEAD = 9, OURS = 0x9f, LAST = 0x80, ATTRIBUTES = 18, RELEASE = 0x86 };
    size_t from = HEAD, at;

    while (address[from] == OURS)
        from += 2 + (address[from + 1] & 0x1f);
    memmove(address + HEAD, address + from, length - from);
    length -= from - HEAD;
    for (at = HEAD; !(address[at + 1] & LAST);) {
        at += 2 + (address[at + 1] & 0x1f) + ATTRIBUTES;
        at += 1 + (address[at] & 0x3f);
        CHECK(at < length);
    }
    address[at + 1] &= ~LAST;
    address[length] = RELEASE;
    address[length + 1] = LAST;
    return length + 2;
}

#define MESSAGE 7
#define REPLY 8
#define HEADER 40
static uint32_t messages, replies, wanted_number;
static size_t wanted_length;
static void *announced;
static ucp_ep_h reply_ep;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK_EQ(header_length, HEADER);
    CHECK_EQ(length, wanted_length);
    for (size_t i = 0; i < HEADER; i++)
        CHECK_EQ(((const uint8_t *)header)[i], byte(i, wanted_number + 1));
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    reply_ep = param->reply_ep;
    messages++;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        announced = data;
        return UCS_INPROGRESS;
    }
    for (size_t i = 0; i < length; i++)
        CHECK_EQ(((uint8_t *)data)[i] ^ (sender_form(wanted_number) == OWN ? 0xff : 0), byte(i, wanted_number));
    return UCS_OK;
}

/* The data of an announced active message: every other time into memory that is registered. */
static void fetch_announced(size_t length, uint32_t number)
{
    static uint8_t data[LONGEST + 1];
    ucp_mem_h memory;
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = data,
                                .length = sizeof(data)};
    ucp_request_param_t param = {0};
    enum form form = receiver_form(number);
    size_t count;
    void *buffer;

    data[length] = 0x5a;
    buffer = describe(&param, form, data, length, &count);
    if (form == CONTIGUOUS && number % 2) {
        CHECK_EQ(ucp_mem_map(context, &map, &memory), UCS_OK);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
        param.memh = memory;
    }
    finish(ucp_am_recv_data_nbx(worker, announced, buffer, count, &param), UCS_OK);
    announced = NULL;
    if (param.op_attr_mask & UCP_OP_ATTR_FIELD_MEMH)
        CHECK_EQ(ucp_mem_unmap(context, memory), UCS_OK);
    CHECK_EQ(data[length], 0x5a);
    for (size_t i = 0; i < length; i++)
        CHECK_EQ(data[i] ^ turned(sender_form(number), form), byte(i, number));
}

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    CHECK_EQ(header_length + length, 0);
    replies++;
    return UCS_OK;
}

static void set_handlers(void)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                    .id = MESSAGE,
                                    .cb = on_message};

    CHECK_EQ(ucp_worker_set_am_recv_handler(worker, &param), UCS_OK);
    param.id = REPLY;
    param.cb = on_reply;
    CHECK_EQ(ucp_worker_set_am_recv_handler(worker, &param), UCS_OK);
}

static void active_message(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST], header[HEADER];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY}, none = {0};
    uint32_t before = messages, replies_before = replies;
    size_t count;
    void *buffer;

    wanted_number = number;
    wanted_length = length;
    meet(3 * number);
    if (sends) {
        for (size_t i = 0; i < length; i++)
            data[i] = byte(i, number);
        for (size_t i = 0; i < HEADER; i++)
            header[i] = byte(i, number + 1);
        /* Each third is announced, whatever the settings say. */
        if (number % 3 == 0 && length > 0)
            param.flags |= UCP_AM_SEND_FLAG_RNDV;
        buffer = describe(&param, sender_form(number), data, length, &count);
        finish(ucp_am_send_nbx(ep, MESSAGE, header, HEADER, buffer, count, &param), UCS_OK);
        while (replies == replies_before)
            ucp_worker_progress(worker);
    } else {
        while (messages == before)
            ucp_worker_progress(worker);
        CHECK(number % 3 != 0 || length == 0 || announced != NULL);
        /* As its own kind's and ours are. */
        CHECK(!has_old_protocols() || length < LONGEST || getenv("UCX_RNDV_THRESH") != NULL || announced != NULL);
        if (announced != NULL)
            fetch_announced(length, number);
        finish(ucp_am_send_nbx(reply_ep, REPLY, NULL, 0, NULL, 0, &none), UCS_OK);
    }
    meet(3 * number + 1);
}

static void stream(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};
    size_t received;

    meet(3 * number);
    if (sends) {
        for (size_t i = 0; i < length; i++)
            data[i] = byte(i, number);
        finish(ucp_stream_send_nbx(ep, data, length, &param), UCS_OK);
    } else {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        memset(data, 0x5a, length);
        finish(ucp_stream_recv_nbx(ep, data, length, &received, &param), UCS_OK);
        for (size_t i = 0; i < length; i++)
            CHECK_EQ(data[i], byte(i, number));
    }
    meet(3 * number + 1);
}

static void put(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};
    enum form form;
    size_t count;
    void *buffer;

    if (!sends)
        memset(memory, 0x5a, length + 2 * MARGIN);
    meet(3 * number);
    if (sends) {
        for (size_t i = 0; i < length; i++)
            data[i] = byte(i, number);
        /* Upstream's old protocols do not put lists, and its tcp reads beyond the end of one without bytes. */
        form = number % 2 && length > 0 && !has_old_protocols() ? LIST : CONTIGUOUS;
        buffer = describe(&param, form, data, length, &count);
        finish(ucp_put_nbx(ep, buffer, count, their_memory + MARGIN, their_key, &param), UCS_OK);
        flush(ep);
    }
    meet(3 * number + 1);
    if (!sends) {
        for (size_t i = 0; i < length; i++)
            CHECK_EQ(memory[MARGIN + i], byte(i, number));
        for (size_t i = 0; i < MARGIN; i++)
            CHECK(memory[i] == 0x5a && memory[MARGIN + length + i] == 0x5a);
    }
    meet(3 * number + 2);
}

static void get(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST + 1];
    ucp_request_param_t param = {0};

    if (!sends)
        for (size_t i = 0; i < length; i++)
            memory[MARGIN + i] = byte(i, number);
    memset(data, 0x5a, length + 1);
    meet(3 * number);
    if (sends) {
        finish(ucp_get_nbx(ep, data, length, their_memory + MARGIN, their_key, &param), UCS_OK);
        for (size_t i = 0; i < length; i++)
            CHECK_EQ(data[i], byte(i, number));
        CHECK_EQ(data[length], 0x5a);
    }
    meet(3 * number + 1);
}

/* The value before, or what `reply` held if there is none. */
static uint64_t change(ucp_ep_h ep, ucp_atomic_op_t op, size_t size, uint64_t value, uint64_t *reply)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(size)};

    if (reply != NULL) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = reply;
    }
    finish(ucp_atomic_op_nbx(ep, op, &value, 1, their_memory + MARGIN, their_key, &param), UCS_OK);
    return reply == NULL ? 0 : size == 4 ? *(uint32_t *)reply : *reply;
}

static void atomics(ucp_ep_h ep, int sends, size_t size, uint32_t number)
{
    uint64_t start = 0x1122334455667788, mask = size == 4 ? UINT32_MAX : UINT64_MAX, reply = 0;

    memset(memory, 0, 3 * MARGIN);
    memcpy(memory + MARGIN, &start, size);
    start &= mask;
    meet(3 * number);
    if (sends) {
        change(ep, UCP_ATOMIC_OP_ADD, size, 5, NULL);
        change(ep, UCP_ATOMIC_OP_OR, size, 0xf000, NULL);
        change(ep, UCP_ATOMIC_OP_XOR, size, 0xff, NULL);
        change(ep, UCP_ATOMIC_OP_AND, size, ~UINT64_C(0xf00), NULL);
        flush(ep);
        start = (((start + 5) | 0xf000) ^ 0xff) & ~UINT64_C(0xf00);
        CHECK_EQ(change(ep, UCP_ATOMIC_OP_ADD, size, 1, &reply), start);
        CHECK_EQ(change(ep, UCP_ATOMIC_OP_SWAP, size, 1000, &reply), start + 1);
        reply = 77;
        CHECK_EQ(change(ep, UCP_ATOMIC_OP_CSWAP, size, 1000, &reply), 1000);
        reply = 78;
        CHECK_EQ(change(ep, UCP_ATOMIC_OP_CSWAP, size, 1, &reply), 77);
        reply = 0;
        CHECK_EQ(change(ep, UCP_ATOMIC_OP_OR, size, 0xf00, &reply), 77);
    }
    meet(3 * number + 1);
    if (!sends) {
        reply = 0;
        memcpy(&reply, memory + MARGIN, size);
        CHECK_EQ(reply, 77 | 0xf00);
        CHECK(memory[MARGIN - 1] == 0 && memory[MARGIN + size] == 0);
    }
    meet(3 * number + 2);
}

/* One side closes its endpoint, and the other one's fails. */
static void end_by_sockets(ucp_ep_h ep, int closes)
{
    ucp_request_param_t param = {0};

    CHECK_EQ(errors, 0);
    if (!closes) {
        while (errors == 0)
            ucp_worker_progress(worker);
        CHECK_EQ(last_error, UCS_ERR_CONNECTION_RESET);
        param = (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    }
    finish(ucp_ep_close_nbx(ep, &param), UCS_OK);
    meet(3);
    CHECK_EQ(errors, !closes);
}

/* Connections of this process beside the one of `meet`. */
static int connections(void)
{
    struct sockaddr_storage peer;
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        socklen_t length = sizeof(peer);

        count += fd != out_of_band && getpeername(fd, (struct sockaddr *)&peer, &length) == 0 &&
                 (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
    }
    return count;
}

static uint32_t accesses(ucp_ep_h ep, int is_server, int with_atomics, uint32_t number)
{
    for (size_t i = 0; i < COUNT; i++) {
        for (int way = 0; way < 4; way++)
            put(ep, (way & 1) == is_server, LENGTHS[i], number++);
        for (int way = 0; way < 2; way++)
            get(ep, way == is_server, LENGTHS[i], number++);
    }
    for (int way = 0; way < 2 && with_atomics; way++) {
        atomics(ep, way == is_server, 4, number++);
        atomics(ep, way == is_server, 8, number++);
    }
    return number;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 4 ? argv[4] : "";
    int is_server, is_bare = strcmp(mode, "bare") == 0, has_sockets = strncmp(mode, "sockets", 7) == 0;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, 
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_RMA |
                                       UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64};
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_request_param_t param = {0};
    ucp_address_t *own;
    size_t own_length;
    ucp_mem_h mapped;
    ucp_ep_h ep;
    uint32_t number = 0;
    void *theirs;

    CHECK(argc == 4 + (is_bare || has_sockets) || (argc == 6 && has_sockets));
    is_server = strcmp(argv[1], "server") == 0;
    CHECK_EQ(ucp_init(&params, NULL, &context), UCS_OK);
    CHECK_EQ(ucp_worker_create(context, &worker_params, &worker), UCS_OK);
    set_handlers();
    out_of_band = connected(is_server, argv[2], atoi(argv[3]));
    CHECK_EQ(ucp_worker_get_address(worker, &own, &own_length), UCS_OK);
    if (has_sockets) {
        ep = by_sockets(is_server, argv[argc == 6 ? 5 : 2], atoi(argv[3]) + 1);
        theirs = NULL;
    } else if (is_bare) {
        uint8_t copy[4096];

        CHECK(own_length + 2 <= sizeof(copy));
        memcpy(copy, own, own_length);
        theirs = exchange(copy, bare(copy, own_length));
    } else {
        theirs = exchange(own, own_length);
    }
    ucp_worker_release_address(worker, own);
    if (!has_sockets) {
        ep_params.address = theirs;
        CHECK_EQ(ucp_ep_create(worker, &ep_params, &ep), UCS_OK);
        free(theirs);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (int way = 0; way < 8; way++) {
            if ((way & 1) == is_server)
                send_message(ep, LENGTHS[i], number, way & 2, way & 4);
            else
                receive_message(LENGTHS[i], number, way & 2);
            number++;
        }
        for (int way = 0; way < 2 && LENGTHS[i] > 1; way++)
            truncated(ep, way == is_server, LENGTHS[i], number++);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (int way = 0; way < 2; way++) {
            active_message(ep, way == is_server, LENGTHS[i], number++);
            if (LENGTHS[i] > 0)
                stream(ep, way == is_server, LENGTHS[i], number++);
        }
    }
    exchange_keys(context, ep, is_bare, &mapped);
    /* 1.22 refuses accesses then, also among its own kind, and atomics on endpoints by socket address. */
    if (getenv("OLD_PROTOCOLS") == NULL)
        number = accesses(ep, is_server, !has_sockets, number);
    flush(ep);
    meet(3 * number);
    ucp_rkey_destroy(their_key);
    CHECK_EQ(ucp_mem_unmap(context, mapped), UCS_OK);
    printf("connections: %d\n", connections());
    if (has_sockets) {
        end_by_sockets(ep, is_server == (strcmp(mode, "sockets-back") == 0));
    } else {
        finish(ucp_ep_close_nbx(ep, &param), UCS_OK);
        meet(3 * number + 1);
    }
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    printf("all have come\n");
    return 0;
}
