/* UCX_TCP_AUTH_FILE and UCX_TCP_ENCRYPT: workers with the same secret communicate, by worker address and by socket
 * address, with messages and accesses of all lengths. Workers with different secrets fail at once, with a log line on
 * both sides that names the variable. An unusable file allows no connection without proof. */
/* env: UCX_TLS=tcp UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#define _GNU_SOURCE
#include "listener.h"
#include "secret.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { LONGEST = (1 << 20) + 3, TAG = 9 };

static const size_t sizes[] = {0, 1, 8, 8000, 65537, LONGEST};
static const ucp_request_param_t plain;
static char out[LONGEST], in[LONGEST];
static ucp_conn_request_h asked;

static void on_request(ucp_conn_request_h request, void *arg)
{
    asked = request;
}

/* Messages of all lengths from one side to the other. */
static void messages(side_t *from, side_t *to, ucp_ep_h ep)
{
    ucs_status_ptr_t receive, send;
    size_t i, k;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        for (k = 0; k < sizes[i]; ++k) {
            out[k] = (char)(number() >> 20);
        }
        memset(in, 0, sizeof(in));
        receive = ucp_tag_recv_nbx(to->worker, in, LONGEST, TAG, UINT64_MAX, &plain);
        send = ucp_tag_send_nbx(ep, out, sizes[i], TAG, &plain);
        CHECK_EQ(side_wait(from, to, send), UCS_OK);
        CHECK_EQ(side_wait(from, to, receive), UCS_OK);
        CHECK(!memcmp(in, out, sizes[i]));
    }
}

static void accesses(side_t *from, side_t *to, ucp_ep_h ep)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = in,
                                   .length = sizeof(in)};
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *buffer;
    size_t length, k;

    CHECK_OK(ucp_mem_map(to->context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(to->context, memh, &buffer, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, buffer, &rkey));
    ucp_rkey_buffer_release(buffer);
    for (k = 0; k < LONGEST; ++k) {
        out[k] = (char)(number() >> 20);
    }
    CHECK_EQ(side_wait(from, to, ucp_put_nbx(ep, out, LONGEST, (uintptr_t)in, rkey, &plain)), UCS_OK);
    CHECK_EQ(side_wait(from, to, ucp_ep_flush_nbx(ep, &plain)), UCS_OK);
    CHECK(!memcmp(in, out, LONGEST));
    memset(out, 0, LONGEST);
    CHECK_EQ(side_wait(from, to, ucp_get_nbx(ep, out, LONGEST, (uintptr_t)in, rkey, &plain)), UCS_OK);
    CHECK(!memcmp(in, out, LONGEST));
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(to->context, memh));
}

static void open_two(side_t *one, const char *mine, int encrypt, side_t *other, const char *theirs)
{
    secret_use(mine, encrypt);
    side_open(one, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    secret_use(theirs, 0);
    side_open(other, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
}

static void agree_by_address(int encrypt)
{
    failure_t failure, back_failure;
    side_t one, other;
    ucp_ep_h ep, back;

    open_two(&one, "right", encrypt, &other, "right");
    ep = connect_watched(&one, other.address, &failure);
    back = connect_watched(&other, one.address, &back_failure);
    messages(&one, &other, ep);
    messages(&other, &one, back);
    accesses(&one, &other, ep);
    CHECK_OK(side_disconnect(&one, &other, ep, 0));
    CHECK_OK(side_disconnect(&other, &one, back, 0));
    CHECK_EQ(failure.calls + back_failure.calls, 0);
    side_close(&one);
    side_close(&other);
}

/* A client of `one` and a listener of `other`. */
static ucp_ep_h meet(side_t *one, const char *mine, int encrypt, side_t *other, const char *theirs,
                     ucp_listener_h *listener, failure_t *failure)
{
    struct sockaddr_storage at;

    open_two(one, mine, encrypt, other, theirs);
    asked = NULL;
    *listener = listen_at(other, AF_INET, on_request, &at);
    secret_use(mine, encrypt);
    return connect_client(one, &at, 0, failure);
}

static void agree_by_socket(int encrypt)
{
    failure_t failure, back_failure;
    ucp_listener_h listener;
    side_t one, other;
    ucp_ep_h ep, back;

    ep = meet(&one, "right", encrypt, &other, "right", &listener, &failure);
    DRIVE_UNTIL(&one, &other, asked);
    back = accept_client(&other, asked, &back_failure);
    messages(&one, &other, ep);
    messages(&other, &one, back);
    CHECK_OK(side_disconnect(&one, &other, ep, 0));
    DRIVE_UNTIL(&one, &other, back_failure.calls);
    side_disconnect(&other, &one, back, UCP_EP_CLOSE_FLAG_FORCE);
    ucp_listener_destroy(listener);
    side_close(&one);
    side_close(&other);
}

static void differ_by_address(const char *mine, const char *theirs)
{
    ucs_status_ptr_t send;
    failure_t failure;
    side_t one, other;
    ucp_ep_h ep;
    double start;

    open_two(&one, mine, 0, &other, theirs);
    ep = connect_watched(&one, other.address, &failure);
    start = now();
    send = ucp_tag_send_nbx(ep, out, 8, TAG, &plain);
    DRIVE_UNTIL(&one, &other, failure.calls);
    CHECK(now() - start < 3);
    CHECK_EQ(failure.status, UCS_ERR_UNREACHABLE);
    CHECK_EQ(side_wait(&one, &other, send), UCS_ERR_UNREACHABLE);
    side_disconnect(&one, &other, ep, UCP_EP_CLOSE_FLAG_FORCE);
    side_close(&one);
    side_close(&other);
}

static void differ_by_socket(const char *mine, const char *theirs)
{
    ucp_listener_h listener;
    failure_t failure;
    side_t one, other;
    ucp_ep_h ep;
    double start = now();

    ep = meet(&one, mine, 0, &other, theirs, &listener, &failure);
    DRIVE_UNTIL(&one, &other, failure.calls);
    CHECK(now() - start < 3);
    CHECK_EQ(failure.status, UCS_ERR_REJECTED);
    CHECK(!asked);
    side_disconnect(&one, &other, ep, UCP_EP_CLOSE_FLAG_FORCE);
    ucp_listener_destroy(listener);
    side_close(&one);
    side_close(&other);
}

static ucs_status_t try_init(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_context_h context;
    ucs_status_t status = ucp_init(&params, NULL, &context);

    if (status == UCS_OK) {
        ucp_cleanup(context);
    }
    return status;
}

static void refuse_file(const char *name, const char *encrypt)
{
    secret_use(name, !strcmp(encrypt, "y"));
    CHECK(try_init() != UCS_OK);
}

/* Without tcp for data a listener still needs the secret. */
static void refuse_listener(const char *name, const char *unused)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .conn_handler = {.cb = on_request}};
    struct sockaddr_storage at = loopback(AF_INET, 0);
    ucp_listener_h listener;
    side_t side;

    secret_use(NULL, 0);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    secret_use(name, 0);
    params.sockaddr.addr = (const struct sockaddr *)&at;
    params.sockaddr.addrlen = sockaddr_length(&at);
    CHECK(ucp_listener_create(side.worker, &params, &listener) != UCS_OK);
    side_close(&side);
}

/* Runs one in a process of its own, and looks for lines in what it logs. */
static void logged(void (*run)(const char *mine, const char *theirs), const char *mine, const char *theirs,
                   const char *first, const char *second)
{
    static char text[65536];
    const char *line;
    int log, status, count = 0;
    ssize_t n;
    pid_t pid;

    log = memfd_create("log", MFD_CLOEXEC);
    CHECK(log >= 0);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(dup2(log, STDERR_FILENO) == STDERR_FILENO);
        run(mine, theirs);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    n = pread(log, text, sizeof(text) - 1, 0);
    CHECK(n >= 0);
    text[n] = 0;
    close(log);
    if (status != 0 || !strstr(text, first) || !strstr(text, second)) {
        FAIL("status %#x with %s and %s, logged:\n%s", status, mine ? mine : "nothing", theirs ? theirs : "nothing",
             text);
    }
    for (line = text; (line = strstr(line, "UCX  ERROR")) != NULL; ++line) {
        count += memmem(line, strcspn(line, "\n"), "UCX_TCP_AUTH_FILE", strlen("UCX_TCP_AUTH_FILE")) != NULL;
    }
    CHECK(count >= 1 && count <= 2);
}

int main(void)
{
    static const char *const names[] = {"right", "wrong", "shared", "short", "empty"};
    static const char *const pairs[][2] = {{"right", "wrong"}, {"right", NULL}, {NULL, "right"}};
    static const char *const bad[][2] = {{"shared", "chmod 600"}, {"short", "16 bytes"}, {"empty", "16 bytes"},
                                         {"missing", "No such file"}, {".", "no regular file"}};
    size_t i;
    int encrypt;

    secret_write("right", "0123456789abcdef0123456789abcdef\n", 0600);
    secret_write("wrong", "0123456789abcdef0123456789abcdeF\n", 0400);
    secret_write("shared", "0123456789abcdef0123456789abcdef\n", 0640);
    secret_write("short", "0123456789abcde\n", 0600);
    secret_write("empty", "", 0600);
    for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
        logged(differ_by_address, pairs[i][0], pairs[i][1], "dropped a connection",
               "the peer does not take the connection");
        logged(differ_by_socket, pairs[i][0], pairs[i][1], "rejected", "does not take the connection");
    }
    OK("secrets that differ");
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        logged(refuse_file, bad[i][0], "n", bad[i][1], secret_path(bad[i][0]));
        logged(refuse_listener, bad[i][0], "n", bad[i][1], secret_path(bad[i][0]));
    }
    logged(refuse_file, NULL, "y", "UCX_TCP_ENCRYPT=y", "set UCX_TCP_AUTH_FILE");
    OK("files that are not taken");
    for (encrypt = 0; encrypt < 2; ++encrypt) {
        agree_by_address(encrypt);
        agree_by_socket(encrypt);
        OK("the same secret%s", encrypt ? ", encrypted" : "");
    }
    secret_forget(names, sizeof(names) / sizeof(names[0]));
    return 0;
}
