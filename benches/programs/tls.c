/* TLS over loopback by OpenSSL, with a pre-shared key and AES-256-GCM, between two processes that poll.
 *
 *     tls latency SIZE      messages in turns: prints "latency US", half a round trip
 *     tls bandwidth SIZE    messages one way: prints "bandwidth MB", of 2^20 bytes a second */
#define _GNU_SOURCE
#include "clock.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { KEY = 32, REPEATS = 7, LATENCY_ROUNDS = 4000, BULK = 256 << 20 };

static char *bytes;
static size_t size;

static void give_up(const char *what)
{
    fprintf(stderr, "%s failed\n", what);
    exit(1);
}

static unsigned client_key(SSL *ssl, const char *hint, char *identity, unsigned most, unsigned char *key, unsigned room)
{
    snprintf(identity, most, "bench");
    memset(key, 7, KEY);
    return KEY;
}

static unsigned server_key(SSL *ssl, const char *identity, unsigned char *key, unsigned room)
{
    memset(key, 7, KEY);
    return KEY;
}

static SSL *secured(int fd, int serves)
{
    SSL_CTX *context = SSL_CTX_new(serves ? TLS_server_method() : TLS_client_method());
    SSL *ssl;
    int one = 1;

    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    if (SSL_CTX_set_cipher_list(context, "PSK-AES256-GCM-SHA384") != 1) {
        give_up("the cipher");
    }
    /* Many records by one call of the kernel. */
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, 128 << 10);
    SSL_CTX_set_psk_client_callback(context, client_key);
    SSL_CTX_set_psk_server_callback(context, server_key);
    ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    if ((serves ? SSL_accept(ssl) : SSL_connect(ssl)) != 1) {
        give_up("the hand-shake");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return ssl;
}

static void tell(SSL *ssl, size_t length)
{
    size_t done = 0, n;

    while (done < length) {
        if (SSL_write_ex(ssl, bytes + done, length - done, &n)) {
            done += n;
        } else if (SSL_get_error(ssl, 0) == SSL_ERROR_SSL) {
            give_up("writing");
        }
    }
}

static void hear(SSL *ssl, size_t length)
{
    size_t done = 0, n;

    while (done < length) {
        if (SSL_read_ex(ssl, bytes + done, length - done, &n)) {
            done += n;
        } else if (SSL_get_error(ssl, 0) == SSL_ERROR_SSL) {
            give_up("reading");
        }
    }
}

static void take_turns(SSL *ssl, int first, int rounds)
{
    int i;

    for (i = 0; i < rounds; ++i) {
        if (first) {
            tell(ssl, size);
            hear(ssl, size);
        } else {
            hear(ssl, size);
            tell(ssl, size);
        }
    }
}

static void one_way(SSL *ssl, int sends, int count)
{
    int i;

    for (i = 0; i < count; ++i) {
        if (sends) {
            tell(ssl, size);
        } else {
            hear(ssl, size);
        }
    }
    if (sends) {
        hear(ssl, 1);
    } else {
        tell(ssl, 1);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    double figures[REPEATS], start;
    int listener, fd, latency, rounds, i;
    pid_t child;
    SSL *ssl;

    if (argc != 3) {
        give_up("usage: tls latency|bandwidth SIZE:");
    }
    latency = !strcmp(argv[1], "latency");
    size = atol(argv[2]);
    rounds = latency ? LATENCY_ROUNDS : BULK / size / REPEATS;
    bytes = calloc(1, size + 1);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &length)) {
        give_up("listening");
    }
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(1);
        fd = accept(listener, NULL, NULL);
        ssl = secured(fd, 1);
        for (i = 0; i <= REPEATS; ++i) {
            latency ? take_turns(ssl, 0, rounds) : one_way(ssl, 0, rounds);
        }
        _exit(0);
    }
    pin(0);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
        give_up("connecting");
    }
    ssl = secured(fd, 0);
    /* The first does not count. */
    for (i = -1; i < REPEATS; ++i) {
        start = now_us();
        latency ? take_turns(ssl, 1, rounds) : one_way(ssl, 1, rounds);
        if (i >= 0) {
            figures[i] = latency ? (now_us() - start) / rounds / 2 :
                                   (double)size * rounds / (1 << 20) / ((now_us() - start) * 1e-6);
        }
    }
    waitpid(child, NULL, 0);
    printf("%s %.3f\n", argv[1], median(figures, REPEATS));
    return 0;
}
