/* Connection managers with a shared secret, through a relay that reads, alters, cuts and replays the bytes: private
 * data are not readable, altered data reach neither side, a replayed client makes no request. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TCP_CM_PRIV_DATA_LEN=8000 */
/* timeout: 60 */
#define _GNU_SOURCE
#include "cm.h"
#include "relay.h"
#include "secret.h"

enum { SIZE = 6000, SEEDS = 60 };

static const char MARK[] = "what nobody else should read";
static char hello[SIZE], answer[SIZE];
static volatile int over;

static void *pass(void *arg)
{
    while (!over) {
        relay_step();
        usleep(50);
    }
    return NULL;
}

static pthread_t relay_thread(void)
{
    pthread_t thread;

    over = 0;
    CHECK_EQ(pthread_create(&thread, NULL, pass, NULL), 0);
    return thread;
}

static void relay_join(pthread_t thread)
{
    over = 1;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    relay_stop();
}

typedef struct {
    cm_server_t listener;
    cm_side_t client, server;
} meeting_t;

/* A client and a listener with a relay between, of which one byte or all behind it are touched. */
static void begin(meeting_t *m, pthread_t *thread, size_t *touched, size_t value)
{
    struct sockaddr_storage at;

    memset(m, 0, sizeof(*m));
    m->client.priv = hello;
    m->server.priv = answer;
    m->client.priv_length = m->server.priv_length = SIZE;
    m->client.pack = m->server.pack = 1;
    m->listener.answer = CM_ACCEPT;
    m->listener.accept_as = &m->server;
    cm_listen(&m->listener, "127.0.0.1");
    at = cm_addr("127.0.0.1", relay_start(FORWARD, cm_port(&m->listener.addr)));
    if (touched) {
        *touched = value;
        relay.bit = 1 << number() % 8;
    }
    *thread = relay_thread();
    CHECK_OK(cm_client(&m->client, &at));
}

static void end(meeting_t *m, pthread_t thread)
{
    cm_destroy(&m->client);
    if (m->server.ep) {
        cm_destroy(&m->server);
    }
    uct_listener_destroy(m->listener.listener);
    relay_join(thread);
}

static void meet(int secured)
{
    pthread_t thread;
    meeting_t m;

    begin(&m, &thread, NULL, 0);
    CM_WAIT(m.client.connected);
    CHECK_EQ(m.client.connect_status, UCS_OK);
    CHECK(m.listener.remote_length == SIZE && !memcmp(m.listener.remote, hello, SIZE));
    CHECK(m.client.remote_length == SIZE && !memcmp(m.client.remote, answer, SIZE));
    CHECK_OK(uct_cm_client_ep_conn_notify(m.client.ep));
    CM_WAIT(m.server.notified);
    CHECK_EQ(m.server.notify_status, UCS_OK);
    CHECK_OK(uct_ep_disconnect(m.client.ep, 0));
    CM_WAIT(m.server.disconnected);
    CHECK_EQ(relay_saw(UP, MARK), !secured);
    CHECK_EQ(relay_saw(DOWN, MARK), !secured);
    end(&m, thread);
}

/* What is altered or cut off is never shown; each side that waits hears of a failure. */
static void touched(int way, size_t *place, size_t most)
{
    pthread_t thread;
    meeting_t m;
    int i;

    for (i = 0; i < SEEDS; ++i) {
        double until = relay_now() + 2;

        begin(&m, &thread, place, 1 + number() % most);
        /* An altered length leaves the other side waiting for more: as if somebody kept the bytes back. */
        CM_WAIT(m.client.connected || relay_now() > until);
        if (m.client.connected) {
            CHECK(m.client.connect_status != UCS_OK);
        }
        if (way == UP) {
            CHECK_EQ(m.listener.requests, 0);
        }
        end(&m, thread);
    }
}

static void repeated(void)
{
    static unsigned char record[RELAY_LOG];
    unsigned char byte[64];
    size_t length;
    ssize_t n;
    pthread_t thread;
    meeting_t m;
    int fd, i;

    begin(&m, &thread, NULL, 0);
    CM_WAIT(m.client.connected);
    length = relay.count[UP];
    memcpy(record, relay.log[UP], length);
    CHECK_EQ(m.listener.requests, 1);
    for (i = 0; i < 20; ++i) {
        fd = relay_dial(cm_port(&m.listener.addr));
        CHECK(send(fd, record, length, MSG_NOSIGNAL) > 0);
        do {
            n = recv(fd, byte, sizeof(byte), 0);
        } while (n > 0 || (n < 0 && errno == EAGAIN));
        close(fd);
    }
    CHECK_EQ(m.listener.requests, 1);
    end(&m, thread);
}

int main(void)
{
    static const char *const names[] = {"right"};
    size_t i;

    for (i = 0; i < SIZE; ++i) {
        hello[i] = MARK[i % (sizeof(MARK) - 1)];
        answer[i] = MARK[(i + 9) % (sizeof(MARK) - 1)];
    }
    secret_write("right", "0123456789abcdef0123456789abcdef\n", 0600);
    secret_use(NULL, 0);
    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    meet(0);
    cm_stop();
    OK("without a secret private data are seen");
    secret_use("right", 0);
    cm_start(UCS_ASYNC_MODE_THREAD_SPINLOCK);
    meet(1);
    OK("with one they are not");
    touched(UP, &relay.flip[UP], SIZE);
    touched(DOWN, &relay.flip[DOWN], SIZE);
    OK("altered messages are not shown");
    touched(UP, &relay.cut, SIZE);
    OK("nor are parts of them");
    repeated();
    OK("a recorded client makes no request");
    cm_stop();
    secret_forget(names, 1);
    return 0;
}
