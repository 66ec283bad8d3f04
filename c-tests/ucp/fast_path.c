/* What a message or an access of eight bytes, or an active message of 512, executes once everything is warm: no system call, no call of
 * the C library's allocator, and in single mode no locked instruction but the one of an atomic. A parent
 * steps through the operations one instruction at a time and looks at each. For tests/instructions it also steps
 * through each side of a rendezvous over tcp.
 *
 * The work is done in a child: marks around each operation are breakpoint instructions. */
/* timeout: 120 */
/* valgrind: no, the test steps through instructions itself */
#define _GNU_SOURCE
#include "peers.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#if !defined(__x86_64__)
int main(void)
{
    SKIP("instructions are read for x86-64 only");
}
#else

enum { SIZE = 8, WARM = 300, TRACED = 3, AM_ID = 5, WINDOW = 8, BLOCK_SIZE = 512 };

/* Operations under test, in the order of the table below. */
typedef struct {
    const char *name;
    void (*run)(int i);
    int locked; /* locked instructions that belong to it */
    void (*before)(int i), (*after)(void); /* not looked at; NULL for nothing */
} scenario_t;

static side_t one, two, *from, *to;
static ucp_ep_h ep;
static uint64_t out = 1, in;
static unsigned arrived;
static ucp_rkey_h rkey;
static ucp_mem_h memh;
static uint64_t *target, remote;
static const ucp_request_param_t plain;

static void finish(ucs_status_ptr_t request)
{
    if (!UCS_PTR_IS_PTR(request)) {
        CHECK_EQ(UCS_PTR_STATUS(request), UCS_OK);
        return;
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(to->worker);
        ucp_worker_progress(from->worker);
    }
    CHECK_EQ(ucp_request_check_status(request), UCS_OK);
    ucp_request_free(request);
}

static void progress_some(void)
{
    int i;

    for (i = 0; i < 3; ++i) {
        ucp_worker_progress(to->worker);
    }
}

static void tag_expected(int i)
{
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(to->worker, &in, SIZE, i, UINT64_MAX, &plain);

    finish(ucp_tag_send_nbx(ep, &out, SIZE, i, &plain));
    finish(receive);
}

/* One side of `tag_expected` alone. */
static ucs_status_ptr_t receive;

static void tag_post(int i)
{
    receive = ucp_tag_recv_nbx(to->worker, &in, SIZE, i, UINT64_MAX, &plain);
}

static void tag_send(int i)
{
    CHECK(ucp_tag_send_nbx(ep, &out, SIZE, i, &plain) == NULL);
}

static void tag_finish(void)
{
    finish(receive);
}

static void tag_post_and_send(int i)
{
    tag_post(i);
    tag_send(i);
}

static void tag_receive(int i)
{
    while (ucp_request_check_status(receive) == UCS_INPROGRESS) {
        ucp_worker_progress(to->worker);
    }
}

/* Several under way at once, as programs do that want to be fast. */
static void tag_window(int i)
{
    ucs_status_ptr_t receives[WINDOW];
    int k;

    for (k = 0; k < WINDOW; ++k) {
        receives[k] = ucp_tag_recv_nbx(to->worker, &in, SIZE, i, UINT64_MAX, &plain);
    }
    for (k = 0; k < WINDOW; ++k) {
        finish(ucp_tag_send_nbx(ep, &out, SIZE, i, &plain));
    }
    for (k = 0; k < WINDOW; ++k) {
        finish(receives[k]);
    }
}

static void tag_unexpected(int i)
{
    finish(ucp_tag_send_nbx(ep, &out, SIZE, i, &plain));
    progress_some();
    finish(ucp_tag_recv_nbx(to->worker, &in, SIZE, i, UINT64_MAX, &plain));
}

/* A program that probes before it receives, while several messages wait. */
enum { LONGER = 64 };

static void probed(int i, size_t length)
{
    static char sent[LONGER], got[LONGER];
    ucp_tag_recv_info_t info;
    int k;

    for (k = 0; k < WINDOW; ++k) {
        finish(ucp_tag_send_nbx(ep, sent, length, i, &plain));
    }
    for (k = 0; k < WINDOW; ++k) {
        while (ucp_tag_probe_nb(to->worker, i, UINT64_MAX, 0, &info) == NULL) {
            ucp_worker_progress(to->worker);
        }
        finish(ucp_tag_recv_nbx(to->worker, got, length, i, UINT64_MAX, &plain));
    }
}

static void tag_probed(int i)
{
    probed(i, SIZE);
}

static void tag_probed_longer(int i)
{
    probed(i, LONGER);
}

/* The same from and to lists of a few entries. */
enum { ENTRIES = 4 };

static ucs_status_ptr_t list_call(int i, int sends)
{
    static ucp_dt_iov_t from_list[ENTRIES], to_list[ENTRIES];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV};
    const size_t part = SIZE / ENTRIES;
    int k;

    if (sends) {
        for (k = 0; k < ENTRIES; ++k) {
            from_list[k] = (ucp_dt_iov_t){(char *)&out + k * part, part};
        }
        return ucp_tag_send_nbx(ep, from_list, ENTRIES, i, &param);
    }
    for (k = 0; k < ENTRIES; ++k) {
        to_list[k] = (ucp_dt_iov_t){(char *)&in + k * part, part};
    }
    return ucp_tag_recv_nbx(to->worker, to_list, ENTRIES, i, UINT64_MAX, &param);
}

static void list_expected(int i)
{
    receive = list_call(i, 0);
    finish(list_call(i, 1));
    finish(receive);
}

static void list_unexpected(int i)
{
    finish(list_call(i, 1));
    progress_some();
    finish(list_call(i, 0));
}

static void long_list_unexpected(int i)
{
    enum { PART = 1000 };
    static char sent[ENTRIES][PART], got[ENTRIES][PART];
    ucp_dt_iov_t from_list[ENTRIES], to_list[ENTRIES];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV};
    int k;

    for (k = 0; k < ENTRIES; ++k) {
        from_list[k] = (ucp_dt_iov_t){sent[k], PART};
        to_list[k] = (ucp_dt_iov_t){got[k], PART};
    }
    finish(ucp_tag_send_nbx(ep, from_list, ENTRIES, i, &param));
    progress_some();
    finish(ucp_tag_recv_nbx(to->worker, to_list, ENTRIES, i, UINT64_MAX, &param));
}

static ucs_status_t am_handler(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    memcpy(&in, data, SIZE);
    ++arrived;
    return UCS_OK;
}

static void am(int i)
{
    unsigned before = arrived;

    finish(ucp_am_send_nbx(ep, AM_ID, NULL, 0, &out, SIZE, &plain));
    while (arrived == before) {
        ucp_worker_progress(to->worker);
    }
}

/* Too long for a slot of shared memory, and to be kept by its handler. */
static void am_block(int i)
{
    static char block[BLOCK_SIZE];
    unsigned before = arrived;

    finish(ucp_am_send_nbx(ep, AM_ID, NULL, 0, block, sizeof(block), &plain));
    while (arrived == before) {
        ucp_worker_progress(to->worker);
    }
}

static ucp_ep_h stream_end;

static void stream_expected(int i)
{
    size_t length;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    ucs_status_ptr_t receive = ucp_stream_recv_nbx(stream_end, &in, SIZE, &length, &param);

    finish(ucp_stream_send_nbx(ep, &out, SIZE, &plain));
    finish(receive);
}

static void stream_unexpected(int i)
{
    size_t length;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};

    finish(ucp_stream_send_nbx(ep, &out, SIZE, &plain));
    progress_some();
    finish(ucp_stream_recv_nbx(stream_end, &in, SIZE, &length, &param));
}

/* Received where the library has it. */
static void stream_lent(int i)
{
    size_t length;
    void *data;

    finish(ucp_stream_send_nbx(ep, &out, SIZE, &plain));
    while ((data = ucp_stream_recv_data_nb(stream_end, &length)) == NULL) {
        ucp_worker_progress(to->worker);
    }
    CHECK(!UCS_PTR_IS_ERR(data) && length == SIZE);
    memcpy(&in, data, SIZE);
    ucp_stream_data_release(stream_end, data);
}

static void put(int i)
{
    finish(ucp_put_nbx(ep, &out, SIZE, remote, rkey, &plain));
    CHECK(*target == out);
}

static void get(int i)
{
    finish(ucp_get_nbx(ep, &in, SIZE, remote, rkey, &plain));
}

static void add(int i)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(SIZE)};

    finish(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &out, 1, remote, rkey, &param));
}

static void fetch_add(int i)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(SIZE),
                                 .reply_buffer = &in};

    finish(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &out, 1, remote, rkey, &param));
}

static const scenario_t scenarios[] = {
    {"tag, expected", tag_expected, 0, NULL, NULL},
    {"tag, send alone", tag_send, 0, tag_post, tag_finish},
    {"tag, reception alone", tag_receive, 0, tag_post_and_send, tag_finish},
    {"tag, eight expected", tag_window, 0, NULL, NULL},
    {"tag, unexpected", tag_unexpected, 0, NULL, NULL},
    {"tag, eight probed", tag_probed, 0, NULL, NULL},
    {"tag, eight of 64 bytes probed", tag_probed_longer, 0, NULL, NULL},
    {"tag, lists, expected", list_expected, 0, NULL, NULL},
    {"tag, lists, unexpected", list_unexpected, 0, NULL, NULL},
    {"tag, lists of 4000 bytes, unexpected", long_list_unexpected, 0, NULL, NULL},
    {"active message", am, 0, NULL, NULL},
    {"active message of 512 bytes", am_block, 0, NULL, NULL},
    {"stream, expected", stream_expected, 0, NULL, NULL},
    {"stream, unexpected", stream_unexpected, 0, NULL, NULL},
    {"stream, lent", stream_lent, 0, NULL, NULL},
    {"put", put, 0, NULL, NULL},
    {"get", get, 0, NULL, NULL},
    {"add", add, 1, NULL, NULL},
    {"fetch and add", fetch_add, 1, NULL, NULL},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

#define MARK() __asm__ volatile("int3" ::: "memory")

static void perform(const scenario_t *scenario, int i, int marked)
{
    if (scenario->before != NULL) {
        scenario->before(i);
    }
    if (marked) {
        MARK();
    }
    scenario->run(i);
    if (marked) {
        MARK();
    }
    if (scenario->after != NULL) {
        scenario->after();
    }
}

static void open_all(const char *transport)
{
    static const uint64_t features = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM;
    int self = !strcmp(transport, "self");
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = AM_ID,
                                      .cb = am_handler};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = 4096,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    void *packed;
    size_t length;

    CHECK_EQ(setenv("UCX_TLS", transport, 1), 0);
    from = &one;
    to = self ? &one : &two;
    side_open(from, features, UCS_THREAD_MODE_SINGLE);
    if (!self) {
        side_open(to, features, UCS_THREAD_MODE_SINGLE);
    }
    ep = side_connect(from, to->address);
    stream_end = self ? ep : side_connect(to, from->address);
    CHECK_OK(ucp_worker_set_am_recv_handler(to->worker, &handler));
    CHECK_OK(ucp_mem_map(to->context, &map, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    target = attr.address;
    remote = (uintptr_t)attr.address;
    CHECK_OK(ucp_rkey_pack(to->context, memh, &packed, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
}

/* The child: everything warm, then each operation between two marks. */
static void work(const char *transport)
{
    int s, i;

    open_all(transport);
    for (s = 0; s < SCENARIOS; ++s) {
        for (i = 0; i < WARM; ++i) {
            perform(&scenarios[s], i, 0);
        }
        for (i = 0; i < TRACED; ++i) {
            perform(&scenarios[s], i, 1);
        }
    }
    _exit(0);
}

/* ---- A rendezvous over tcp, of which one side is looked at: from its call to the completion of its request ---- */

enum { SENDER, RECEIVER, RENDEZVOUS_SIDES, LONG_SIZE = 1 << 20, LONG_WARM = 20 };
static const char *const rendezvous_sides[] = {"sender", "receiver"};
static char long_out[LONG_SIZE], long_in[LONG_SIZE];

static int is_done(ucs_status_ptr_t request)
{
    return !UCS_PTR_IS_PTR(request) || (ucp_request_check_status(request) != UCS_INPROGRESS);
}

static void mark_if(int marked)
{
    if (marked) {
        MARK();
    }
}

static void step_of(side_t *side, int marked)
{
    mark_if(marked);
    ucp_worker_progress(side->worker);
    mark_if(marked);
}

/* `looked_at` is RENDEZVOUS_SIDES for neither. Each step of the side is between two marks. */
static void rendezvous(int looked_at)
{
    int sends = looked_at == SENDER, receives = looked_at == RECEIVER;
    ucs_status_ptr_t send, receive;

    mark_if(receives);
    receive = ucp_tag_recv_nbx(to->worker, long_in, LONG_SIZE, 1, UINT64_MAX, &plain);
    mark_if(receives);
    mark_if(sends);
    send = ucp_tag_send_nbx(ep, long_out, LONG_SIZE, 1, &plain);
    mark_if(sends);
    while (!is_done(send) || !is_done(receive)) {
        step_of(from, sends && !is_done(send));
        step_of(to, receives && !is_done(receive));
    }
    finish(send);
    finish(receive);
}

/* The last one of `count` is looked at. */
static void work_rendezvous(int looked_at, int count)
{
    int i;

    open_all("tcp");
    for (i = 1; i < count; ++i) {
        rendezvous(RENDEZVOUS_SIDES);
    }
    rendezvous(looked_at);
    _exit(0);
}

typedef struct {
    long instructions;
    int locked, calls, allocator;
} seen_t;

static const char *const allocator_names[] = {"malloc",  "calloc",        "realloc", "free", "posix_memalign",
                                              "aligned_alloc", "memalign", "mmap",    "pthread_mutex_lock"};
enum { NAMES = sizeof(allocator_names) / sizeof(allocator_names[0]) };
static unsigned long allocator_at[NAMES];
static int print_places;

/* What the instruction at the child's program counter is. */
static void look(pid_t child, unsigned long at, seen_t *seen, const char **first)
{
    union {
        long words[2];
        unsigned char bytes[16];
    } code;
    int i, n, locked = 0;

    ++seen->instructions;
    for (i = 0; i < NAMES; ++i) {
        if (at == allocator_at[i]) {
            ++seen->allocator;
            *first = *first ? *first : allocator_names[i];
        }
    }
    errno = 0;
    code.words[0] = ptrace(PTRACE_PEEKTEXT, child, at, 0);
    code.words[1] = ptrace(PTRACE_PEEKTEXT, child, at + 8, 0);
    if (errno != 0) {
        code.words[1] = 0; /* the last bytes before an unmapped page */
    }
    for (n = 0; n < 14; ++n) {
        unsigned char byte = code.bytes[n];

        if (byte == 0xf0) {
            locked = 1;
        } else if ((byte & 0xf0) == 0x40) {
            ++n;
            break; /* REX stands right in front of the opcode */
        } else if ((byte != 0x66) && (byte != 0xf2) && (byte != 0xf3) && (byte != 0x2e) && (byte != 0x3e) &&
                   (byte != 0x64) && (byte != 0x65)) {
            break;
        }
    }
    if (((code.bytes[n] == 0x86) || (code.bytes[n] == 0x87)) && ((code.bytes[n + 1] >> 6) != 3)) {
        locked = 1; /* xchg with memory locks by itself */
    }
    if ((code.bytes[n] == 0x0f) && (code.bytes[n + 1] == 0x05)) {
        ++seen->calls;
    }
    seen->locked += locked;
}

static void wait_for_mark(pid_t child)
{
    int status;

    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) {
        FAIL("the operations ended with status 0x%x", (unsigned)status);
    }
    if (WSTOPSIG(status) != SIGTRAP) {
        FAIL("the operations got signal %d", WSTOPSIG(status));
    }
}

/* Prints where in which object an instruction stands; the child has the parent's objects at the same addresses. */
static void print_place(unsigned long at)
{
    Dl_info object;

    if (dladdr((void *)at, &object) != 0) {
        fprintf(stderr, "at %s 0x%lx\n", object.dli_fname, at - (unsigned long)object.dli_fbase);
    }
}

/* Steps from the mark where the child stands to the next. */
static seen_t step_through(pid_t child, const char **first)
{
    seen_t seen = {0, 0, 0, 0};
    struct user_regs_struct regs;

    for (;;) {
        CHECK_EQ(ptrace(PTRACE_GETREGS, child, 0, &regs), 0);
        if ((ptrace(PTRACE_PEEKTEXT, child, regs.rip, 0) & 0xff) == 0xcc) {
            return seen;
        }
        if (print_places) {
            print_place(regs.rip);
        }
        look(child, regs.rip, &seen, first);
        CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, 0, 0), 0);
        wait_for_mark(child);
    }
}

/* A child that is traced from its first mark on. */
static pid_t fork_traced(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) {
            _exit(77);
        }
        MARK();
        return 0;
    }
    CHECK(child > 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) {
        SKIP("processes may not be traced here");
    }
    return child;
}

static void print_instructions(const char *transport, const char *path, long instructions)
{
    if (getenv("FAST_PATH_COUNTS") != NULL) {
        fprintf(stderr, "%s, %s: %ld instructions\n", transport, path, instructions);
    }
}

/* The mark at the end is passed, so that the next one stops again. */
static void pass_mark(pid_t child)
{
    CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, 0, 0), 0);
    wait_for_mark(child);
}

static void count_rendezvous(int side, int count)
{
    const char *first = NULL;
    long instructions = 0;
    char path[64];
    int status;
    pid_t child = fork_traced();

    if (child == 0) {
        work_rendezvous(side, count);
    }
    for (;;) {
        CHECK_EQ(ptrace(PTRACE_CONT, child, 0, 0), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        if (WIFEXITED(status)) {
            break;
        }
        CHECK(WIFSTOPPED(status) && (WSTOPSIG(status) == SIGTRAP));
        instructions += step_through(child, &first).instructions;
        pass_mark(child);
    }
    CHECK_EQ(WEXITSTATUS(status), 0);
    snprintf(path, sizeof(path), "rendezvous of 1 MiB, %s", rendezvous_sides[side]);
    print_instructions("tcp", path, instructions);
}

static void check_transport(const char *transport)
{
    const char *first = NULL;
    int s, i, status;
    pid_t child = fork_traced();

    if (child == 0) {
        work(transport);
    }
    for (s = 0; s < SCENARIOS; ++s) {
        for (i = 0; i < TRACED; ++i) {
            seen_t seen;

            CHECK_EQ(ptrace(PTRACE_CONT, child, 0, 0), 0);
            wait_for_mark(child);
            seen = step_through(child, &first);
            if (seen.calls || seen.allocator || (seen.locked != scenarios[s].locked)) {
                FAIL("%s, %s: %d system calls, %d calls of the allocator (%s), %d locked instructions",
                     transport, scenarios[s].name, seen.calls, seen.allocator, first ? first : "none", seen.locked);
            }
            print_instructions(transport, scenarios[s].name, seen.instructions);
            pass_mark(child);
        }
        OK("%s: %s", transport, scenarios[s].name);
    }
    CHECK_EQ(ptrace(PTRACE_CONT, child, 0, 0), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
}

int main(void)
{
    int i;

    for (i = 0; i < NAMES; ++i) {
        allocator_at[i] = (uintptr_t)dlsym(RTLD_DEFAULT, allocator_names[i]);
        CHECK(allocator_at[i] != 0);
    }
    print_places = getenv("FAST_PATH_PLACES") != NULL;
    check_transport("self");
    check_transport("posix");
    check_transport("sysv");
    if (print_places) {
        for (i = 0; i < 2 * TRACED * RENDEZVOUS_SIDES; ++i) {
            /* After one more each time: now and then the transport has a chore to do. */
            count_rendezvous(i % RENDEZVOUS_SIDES, LONG_WARM + 1 + i / RENDEZVOUS_SIDES);
        }
    }
    return 0;
}

#endif
