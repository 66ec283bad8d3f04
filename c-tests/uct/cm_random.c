/* Connection manager: random connections, answers, rejections, disconnections, destructions and kills,
 * with a fixed seed. Every callback that is due comes exactly once, and nothing is left over. TORTURE_COUNT sets the
 * number of sequences. */
/* env: UCX_LOG_LEVEL=fatal GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1 */
/* timeout: 120 */
#include "cm.h"
#include "torture.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

static uint64_t state;

static unsigned rnd(unsigned below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % below;
}

static char data[CM_MAX_PRIV];

/* ---- The other process, which is killed: a client, or a server, that stops at a step. ---- */

static void tell(int value)
{
    CHECK(write(1, &value, sizeof(value)) == sizeof(value));
}

static void wait_to_be_killed(void)
{
    tell(1);
    for (;;) {
        pause();
    }
}

static int other_client(int port, int steps)
{
    struct sockaddr_storage to = cm_addr("127.0.0.1", port);
    cm_side_t side             = {.priv = data, .priv_length = 10};

    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    CHECK_OK(cm_client(&side, &to));
    CM_WAIT(side.resolved == 1);
    if (steps == 0) {
        wait_to_be_killed();
    }
    CHECK_OK(cm_side_connect(&side));
    if (steps == 1) {
        wait_to_be_killed();
    }
    CM_WAIT(side.connected == 1);
    if (steps == 2) {
        wait_to_be_killed();
    }
    CHECK_OK(uct_cm_client_ep_conn_notify(side.ep));
    wait_to_be_killed();
    return 0;
}

static int other_server(int steps)
{
    cm_server_t listener = {.answer = CM_KEEP};
    cm_side_t side       = {.priv = data, .priv_length = 10};

    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    cm_listen(&listener, "127.0.0.1");
    tell(cm_port(&listener.addr));
    if (steps > 0) {
        CM_WAIT(listener.requests == 1);
    }
    if (steps > 1) {
        CHECK_OK(cm_accept(&side, listener.request[0]));
    }
    if (steps > 2) {
        CM_WAIT(side.notified == 1);
    }
    wait_to_be_killed();
    return 0;
}

static const char *own_path;
static int ask_fd;

static pid_t start_other(const char *what, int port, int steps)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    char port_text[16], steps_text[16];
    char *argv[] = {(char *)own_path, (char *)what, port_text, steps_text, NULL};
    int fds[2];
    pid_t pid;

    snprintf(port_text, sizeof(port_text), "%d", port);
    snprintf(steps_text, sizeof(steps_text), "%d", steps);
    CHECK(pipe(fds) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_addclose(&actions, fds[0]);
    CHECK(posix_spawn(&pid, own_path, &actions, NULL, argv, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    ask_fd = fds[0];
    return pid;
}

static int other_told(void)
{
    struct pollfd fd = {.fd = ask_fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static int hear(void)
{
    int value;
    CHECK(read(ask_fd, &value, sizeof(value)) == sizeof(value));
    return value;
}

static void kill_other(pid_t pid)
{
    int status;
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status));
    close(ask_fd);
}

/* ---- The sequences. ---- */

static cm_server_t listener;

static void killed_client(void)
{
    cm_side_t server = {.priv = data, .priv_length = rnd(100)};
    int steps        = rnd(4), before = listener.requests;
    pid_t pid;

    listener.answer    = CM_ACCEPT;
    listener.accept_as = &server;
    if ((steps == 1) && rnd(2)) {
        listener.answer = CM_KEEP;
    }
    pid = start_other("client", cm_port(&listener.addr), steps);
    CM_WAIT(other_told());
    CHECK_EQ(hear(), 1);
    if (steps > 0) {
        CM_WAIT(listener.requests == before + 1);
    }
    if (steps == 3) {
        CM_WAIT(server.notified == 1);
        CHECK_EQ(server.notify_status, UCS_OK);
    }
    kill_other(pid);
    if (listener.answer == CM_KEEP) {
        /* Rejected before or after its end was seen. */
        ucs_status_t status = uct_listener_reject(listener.listener, listener.request[before]);
        CHECK((status == UCS_OK) || (status == UCS_ERR_NOT_CONNECTED));
    } else if (steps == 3) {
        CM_WAIT(server.disconnected == 1);
        CHECK_OK(uct_ep_disconnect(server.ep, 0));
        CHECK_EQ(server.notified, 1);
    } else if ((steps > 0) && (listener.answer_status == UCS_OK)) {
        CM_WAIT(server.notified == 1);
        CHECK_EQ(server.notify_status, UCS_ERR_CONNECTION_RESET);
        CHECK_EQ(server.disconnected, 0);
    }
    if (server.ep != NULL) {
        cm_destroy(&server);
    }
}

static void killed_server(void)
{
    cm_side_t client = {.priv = data, .priv_length = rnd(100)};
    int steps        = rnd(4);
    struct sockaddr_storage to;
    pid_t pid = start_other("server", 0, steps);

    client.pack = rnd(2);
    to          = cm_addr("127.0.0.1", hear());
    CHECK_OK(cm_client(&client, &to));
    if (!client.pack) {
        CM_WAIT(client.resolved == 1);
        CHECK_OK(cm_side_connect(&client));
    }
    if (steps > 2) {
        CM_WAIT(client.connected == 1);
        CHECK_OK(uct_cm_client_ep_conn_notify(client.ep));
    }
    CM_WAIT(other_told());
    CHECK_EQ(hear(), 1);
    if (steps > 1) {
        CM_WAIT(client.connected == 1);
        CHECK_EQ(client.connect_status, UCS_OK);
    }
    kill_other(pid);
    if (steps > 1) {
        CM_WAIT(client.disconnected == 1);
    } else {
        CM_WAIT(client.connected == 1);
        CHECK((client.connect_status == UCS_ERR_CONNECTION_RESET) ||
              ((steps == 0) && (client.connect_status == UCS_ERR_UNREACHABLE)));
        CHECK_EQ(client.disconnected, 0);
    }
    CHECK_EQ(client.connected, 1);
    cm_destroy(&client);
}

/* The request of the last sequence, if it comes, waits for an answer. */
static int unanswered;

/* Both ends here. */
static void pair(void)
{
    cm_side_t client = {.priv = data, .priv_length = rnd(cm.max_priv + 1)};
    cm_side_t server = {.priv = data, .priv_length = rnd(cm.max_priv + 1)};
    int before = listener.requests, accepted = 0, i;

    client.pack        = rnd(2);
    server.pack        = rnd(2);
    client.pack_answer = (rnd(16) == 0) ? UCS_ERR_NO_MEMORY : 0;
    server.pack_answer = (rnd(8) == 0) ? UCS_ERR_NO_RESOURCE : 0;
    client.resolve_answer = (!client.pack && (rnd(16) == 0)) ? UCS_ERR_NO_DEVICE : UCS_OK;
    listener.accept_as = &server;
    listener.answer    = (rnd(4) == 0) ? CM_REJECT : rnd(2) ? CM_ACCEPT : CM_KEEP;

    if (rnd(16) == 0) {
        /* Destroyed at once: the server may see a client that left, or none. */
        listener.answer = CM_KEEP;
        unanswered      = 1;
        CHECK_OK(cm_client(&client, &listener.addr));
        cm_destroy(&client);
        return;
    }
    CHECK_OK(cm_client(&client, &listener.addr));
    if (!client.pack) {
        CM_WAIT(client.resolved == 1);
        if (client.resolve_answer == UCS_OK) {
            CHECK_OK(cm_side_connect(&client));
        }
    }
    if ((client.resolve_answer != UCS_OK) || (client.pack && (client.pack_answer < 0))) {
        CM_WAIT(client.connected == 1);
        CHECK_EQ(client.connect_status, client.pack ? UCS_ERR_NO_MEMORY : UCS_ERR_NO_DEVICE);
        CHECK_EQ(listener.requests, before);
        cm_destroy(&client);
        return;
    }
    CM_WAIT(listener.requests == before + 1);
    CHECK_EQ(listener.remote_length, client.priv_length);
    CHECK(!memcmp(listener.remote, data, client.priv_length));
    if (listener.answer == CM_KEEP) {
        if (rnd(8) == 0) {
            ucs_status_t status;
            cm_destroy(&client);
            status = uct_listener_reject(listener.listener, listener.request[before]);
            CHECK((status == UCS_OK) || (status == UCS_ERR_NOT_CONNECTED));
            return;
        }
        if (rnd(2)) {
            listener.answer_status = cm_accept(&server, listener.request[before]);
            listener.answer        = CM_ACCEPT;
        } else {
            CHECK_OK(uct_listener_reject(listener.listener, listener.request[before]));
            listener.answer = CM_REJECT;
        }
    }
    if (listener.answer == CM_ACCEPT) {
        int fails = server.pack && (server.pack_answer < 0);
        CHECK_EQ(listener.answer_status, fails ? UCS_ERR_NO_RESOURCE : UCS_OK);
        accepted = !fails;
    }
    if (accepted && (rnd(8) == 0)) {
        /* The server goes before the client was heard of again. */
        cm_destroy(&server);
    }
    CM_WAIT(client.connected == 1);
    CHECK_EQ(client.connect_status, accepted ? UCS_OK : UCS_ERR_REJECTED);
    if (!accepted) {
        CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
        cm_destroy(&client);
        return;
    }
    CHECK_EQ(client.remote_length, server.priv_length);
    CHECK(!memcmp(client.remote, data, server.priv_length));
    if (server.ep == NULL) {
        CM_WAIT(client.disconnected == 1);
        cm_destroy(&client);
        return;
    }
    if (rnd(6) == 0) {
        /* No notification. */
        if (rnd(2)) {
            CHECK_OK(uct_ep_disconnect(client.ep, 0));
        } else {
            cm_destroy(&client);
        }
        CM_WAIT(server.notified == 1);
        CHECK_EQ(server.notify_status, UCS_ERR_CONNECTION_RESET);
        if (client.ep != NULL) {
            CM_WAIT(client.disconnected == 1);
            cm_destroy(&client);
        }
        CHECK_EQ(server.disconnected, 0);
        cm_destroy(&server);
        return;
    }
    CHECK_OK(uct_cm_client_ep_conn_notify(client.ep));
    if (rnd(8) != 0) {
        CM_WAIT(server.notified == 1);
    }
    /* Up to six steps at random, then the end in random order. */
    for (i = rnd(7); (i > 0) && (client.ep != NULL) && (server.ep != NULL); --i) {
        cm_side_t *side = rnd(2) ? &client : &server;
        ucs_status_t status;
        if (rnd(8) == 0) {
            cm_destroy(side);
            break;
        }
        status = uct_ep_disconnect(side->ep, 0);
        CHECK((status == UCS_OK) || (status == UCS_INPROGRESS) || (status == UCS_ERR_NOT_CONNECTED) ||
              ((status == UCS_ERR_BUSY) && (side == &server)));
    }
    if ((client.ep != NULL) && (server.ep != NULL)) {
        CM_WAIT(server.notified == 1);
        CHECK_EQ(server.notify_status, UCS_OK);
        uct_ep_disconnect(client.ep, 0);
        uct_ep_disconnect(server.ep, 0);
        CM_WAIT((client.disconnected == 1) && (server.disconnected == 1));
        CHECK_STATUS(uct_ep_disconnect(client.ep, 0), UCS_ERR_NOT_CONNECTED);
        CHECK_STATUS(uct_ep_disconnect(server.ep, 0), UCS_ERR_NOT_CONNECTED);
    } else if (client.ep != NULL) {
        CM_WAIT(client.disconnected == 1);
    } else {
        CM_WAIT((server.notified == 1) && (server.disconnected == 1));
        CHECK_EQ(server.notify_status, UCS_OK);
    }
    CHECK((client.connected == 1) && (client.disconnected <= 1));
    CHECK((server.notified <= 1) && (server.disconnected <= 1));
    if (client.ep != NULL) {
        cm_destroy(&client);
    }
    if (server.ep != NULL) {
        cm_destroy(&server);
    }
}

/* Whatever is still on its way to the listener arrives, and its requests are answered. */
static void settle(void)
{
    int i, before = unanswered ? 0 : listener.requests;
    cm_side_t probe = {.priv = "probe", .priv_length = 5};

    listener.answer = CM_KEEP;
    probe.pack      = 1;
    CHECK_OK(cm_client(&probe, &listener.addr));
    CM_WAIT((listener.requests > before) && (listener.remote_length == 5) && !memcmp(listener.remote, "probe", 5));
    for (i = before; i < listener.requests; ++i) {
        uct_listener_reject(listener.listener, listener.request[i]);
    }
    CM_WAIT(probe.connected == 1);
    cm_destroy(&probe);
    listener.requests = 0;
    unanswered        = 0;
}

int main(int argc, char **argv)
{
    int count = (int)torture_count(200);
    int i, fds = 0;
    size_t bytes = 0;

    own_path = argv[0];
    state = torture_seed(20261121);
    for (i = 0; i < sizeof(data); ++i) {
        data[i] = (char)(i * 11);
    }
    if (argc > 3) {
        return strcmp(argv[1], "client") ? other_server(atoi(argv[3])) : other_client(atoi(argv[2]), atoi(argv[3]));
    }
    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    cm_listen(&listener, "127.0.0.1");
    for (i = 0; i < count; ++i) {
        switch (rnd(10)) {
        case 0: killed_client(); break;
        case 1: killed_server(); break;
        default: pair(); break;
        }
        settle();
        if (i == count / 4) {
            /* By now every pool and every table has its size. */
            fds   = open_descriptors();
            bytes = mallinfo2().uordblks;
        }
    }
    CHECK_EQ(open_descriptors(), fds);
    {
        size_t now = mallinfo2().uordblks;
        /* One arena, no caches of threads (see env above): what is in use is what was not freed. */
        if (now > bytes + 4096) {
            FAIL("%zu bytes are in use, after a quarter of the sequences %zu", now, bytes);
        }
    }
    uct_listener_destroy(listener.listener);
    cm_stop();
    OK("random sequences: every callback once, no descriptor and no memory left over");
    FIGURE("%d sequences", count);
    return 0;
}
