/* ZeroMQ over tcp on the loopback: messages of 8 bytes a second from a PUSH to a PULL socket of two processes,
 * and half a round trip of a PAIR. Prints "rate PER_SECOND" and "latency MICROSECONDS". */
#define _GNU_SOURCE
#include "clock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <zmq.h>

enum { MESSAGES = 2000000, ROUNDS = 20000, SIZE = 8 };

static void must(int answer, const char *what)
{
    if (answer < 0) {
        fprintf(stderr, "%s: %s\n", what, zmq_strerror(zmq_errno()));
        exit(1);
    }
}

static void *socket_of(void *context, int kind)
{
    void *socket = zmq_socket(context, kind);
    int zero = 0;

    must(socket ? 0 : -1, "zmq_socket");
    must(zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof(zero)), "zmq_setsockopt");
    return socket;
}

/* The end that was here first, and says where it listens. */
static void bind_to(void *socket, int tell)
{
    char name[128] = {0};
    size_t length = sizeof(name);

    must(zmq_bind(socket, "tcp://127.0.0.1:*"), "zmq_bind");
    must(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, name, &length), "zmq_getsockopt");
    if (write(tell, name, sizeof(name)) != sizeof(name)) {
        exit(1);
    }
}

static void connect_to(void *socket, int told)
{
    char name[128];

    if (read(told, name, sizeof(name)) != sizeof(name)) {
        exit(1);
    }
    must(zmq_connect(socket, name), "zmq_connect");
}

int main(void)
{
    char bytes[SIZE] = {1};
    int tell[2], i;
    double start;
    void *context, *many, *pair;

    if (pipe(tell) != 0) {
        return 1;
    }
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0);
        context = zmq_ctx_new();
        many = socket_of(context, ZMQ_PUSH);
        pair = socket_of(context, ZMQ_PAIR);
        connect_to(many, tell[0]);
        connect_to(pair, tell[0]);
        must(zmq_recv(pair, bytes, SIZE, 0), "zmq_recv");
        for (i = 0; i < MESSAGES; ++i) {
            must(zmq_send(many, bytes, SIZE, 0), "zmq_send");
        }
        for (i = 0; i < ROUNDS; ++i) {
            must(zmq_recv(pair, bytes, SIZE, 0), "zmq_recv");
            must(zmq_send(pair, bytes, SIZE, 0), "zmq_send");
        }
        pause();
    }
    pin(1);
    context = zmq_ctx_new();
    many = socket_of(context, ZMQ_PULL);
    pair = socket_of(context, ZMQ_PAIR);
    bind_to(many, tell[1]);
    bind_to(pair, tell[1]);
    must(zmq_send(pair, bytes, SIZE, 0), "zmq_send");
    must(zmq_recv(many, bytes, SIZE, 0), "zmq_recv");
    start = now_us();
    for (i = 1; i < MESSAGES; ++i) {
        must(zmq_recv(many, bytes, SIZE, 0), "zmq_recv");
    }
    printf("rate %.0f\n", MESSAGES / (now_us() - start) * 1e6);
    start = now_us();
    for (i = 0; i < ROUNDS; ++i) {
        must(zmq_send(pair, bytes, SIZE, 0), "zmq_send");
        must(zmq_recv(pair, bytes, SIZE, 0), "zmq_recv");
    }
    printf("latency %.3f\n", (now_us() - start) / ROUNDS / 2);
    fflush(stdout);
    _exit(0);
}
