/* What the machine allows: loops between two processes that move bytes the way a transport has to, with no library,
 * no matching, no checks and no requests.
 *
 *     raw ring SIZE    messages through a ring of slots of 128 bytes, one sender, one receiver; payloads that do not
 *                      fit a slot pass through an arena of 16 places, copied in and out
 *     raw turns SIZE   the same ring, one message at a time, in turns
 *     raw copy SIZE    the receiver copies a buffer out of the sender's memory, when it is told to
 *     raw own SIZE     a process copies between two buffers of its own that are in no cache line of the other
 *     raw add SIZE     a process adds to a word of memory that the other has mapped too, with a locked instruction
 *     raw cma SIZE     the kernel copies it out of the other process
 *     raw tcp SIZE     a connection over loopback, one message at a time, in turns
 *     raw stream SIZE  the same connection, one way
 *     raw ask SIZE     the same connection: eight bytes, which the other side answers with so many
 *     raw zerocopy SIZE  as stream, sent with MSG_ZEROCOPY: the kernel says when the bytes may be changed
 *     raw uring SIZE   as stream, sent and received by requests of io_uring
 *
 * Prints "each US": microseconds for one message one way. */
#define _GNU_SOURCE
#include "clock.h"
#include "ring.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { PLACES = 16, PLACE = 8192 + 64, REPEATS = 7, LONGEST = 4 << 20 };

typedef struct {
    ring_t ring;
    char places[PLACES][PLACE];
} lane_t;

typedef struct {
    lane_t *lane;
    uint64_t next, limit, told;
} end_t;

static struct shared {
    lane_t there, back;
    _Alignas(4096) char memory[LONGEST];
} *shared;
static char *mine;
static size_t size;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static void put_part(end_t *end, const char *bytes, size_t length)
{
    uint64_t number = ++end->next;
    int in_slot = length <= IN_SLOT;
    uint64_t ahead = in_slot ? SLOTS : PLACES;

    if (number > end->limit + ahead) {
        while (number > (end->limit = atomic_load_explicit(&end->lane->ring.done, memory_order_acquire)) + ahead) {
        }
    }
    memcpy(in_slot ? end->lane->ring.slots[number % SLOTS].bytes : end->lane->places[number % PLACES], bytes, length);
    atomic_store_explicit(&end->lane->ring.slots[number % SLOTS].number, number, memory_order_release);
}

static void get_part(end_t *end, char *bytes, size_t length)
{
    uint64_t number = ++end->next;
    int in_slot = length <= IN_SLOT;

    while (atomic_load_explicit(&end->lane->ring.slots[number % SLOTS].number, memory_order_acquire) != number) {
    }
    memcpy(bytes, in_slot ? end->lane->ring.slots[number % SLOTS].bytes : end->lane->places[number % PLACES], length);
    if (number - end->told >= (in_slot ? SLOTS / 2 : PLACES / 4)) {
        atomic_store_explicit(&end->lane->ring.done, number, memory_order_release);
        end->told = number;
    }
}

/* A message longer than a place goes in pieces. */
static void put(end_t *end, const char *bytes)
{
    size_t at, most = PLACE - 64;

    for (at = 0; at < size; at += most) {
        put_part(end, bytes + at, size - at < most ? size - at : most);
    }
}

static void get(end_t *end, char *bytes)
{
    size_t at, most = PLACE - 64;

    for (at = 0; at < size; at += most) {
        get_part(end, bytes + at, size - at < most ? size - at : most);
    }
}

static end_t there, back;
static int ours, theirs;
static pid_t child;

static void receive_all(int fd)
{
    size_t got = 0;

    while (got < size) {
        ssize_t n = recv(fd, mine + got, size - got, 0);

        if (n > 0) {
            got += n;
        } else if (n == 0 || errno != EAGAIN) {
            exit(0);
        }
    }
}

static void send_all(int fd)
{
    size_t sent = 0;

    while (sent < size) {
        ssize_t n = send(fd, mine + sent, size - sent, MSG_NOSIGNAL);

        if (n > 0) {
            sent += n;
        } else if (n < 0 && errno != EAGAIN) {
            exit(0);
        }
    }
}

static void connect_both(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int one = 1, ahead = 192 << 10, listener = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        give_up("listen");
    }
    ours = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ours, (struct sockaddr *)&address, length) || (theirs = accept(listener, NULL, NULL)) < 0) {
        give_up("connect");
    }
    close(listener);
    for (int fd = ours;; fd = theirs) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &ahead, sizeof(ahead));
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", strlen("reno"));
        fcntl(fd, F_SETFL, O_NONBLOCK);
        if (fd == theirs) {
            return;
        }
    }
}

/* One message, or a turn of two, on this side and on the other. */
static void ring_send(void) { put(&there, mine); }
static void ring_receive(void) { get(&there, mine); }
static void turn(void) { put(&there, mine), get(&back, mine); }
static void turn_back(void) { get(&there, mine), put(&back, mine); }
static void copy_ask(void)
{
    size_t whole = size;

    size = 8, put(&there, mine), get(&back, mine), size = whole;
}
static void copy_answer(void)
{
    size_t whole = size;

    size = 8, get(&there, mine), size = whole;
    memcpy(mine, shared->memory, size);
    size = 8, put(&back, mine), size = whole;
}
static void copy_own(void) { memcpy(mine, mine + LONGEST, size); }
static void add(void) { __atomic_fetch_add((uint64_t *)shared->memory, 1, __ATOMIC_SEQ_CST); }
static void nothing(void) { pause(); }
static void copy_by_kernel(void)
{
    struct iovec to = {mine, size}, from = {mine, size};

    if (process_vm_readv(child, &to, 1, &from, 1, 0) != (ssize_t)size) {
        give_up("process_vm_readv");
    }
}
static void tcp_turn(void) { send_all(ours), receive_all(ours); }
static void tcp_turn_back(void) { receive_all(theirs), send_all(theirs); }
static void tcp_ask(void)
{
    size_t whole = size;

    size = 8, send_all(ours), size = whole, receive_all(ours);
}
static void tcp_answer(void)
{
    size_t whole = size;

    size = 8, receive_all(theirs), size = whole, send_all(theirs);
}
static void tcp_send(void) { send_all(ours); }
static void tcp_receive(void) { receive_all(theirs); }

/* Sends that the kernel may still read the bytes of. */
enum { UNFINISHED = 16 };
static unsigned sends, finished;

/* Takes what the kernel has said of finished sends. */
static void take_finished(void)
{
    char control[128];
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof(control)};
    struct cmsghdr *part;

    if (recvmsg(ours, &message, MSG_ERRQUEUE) < 0) {
        if (errno != EAGAIN) {
            give_up("error queue");
        }
        return;
    }
    for (part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        finished = ((struct sock_extended_err *)CMSG_DATA(part))->ee_data + 1;
    }
}

static void zerocopy_send(void)
{
    static int asked;
    size_t sent = 0;
    int one = 1;

    if (!asked && setsockopt(ours, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) != 0) {
        give_up("SO_ZEROCOPY");
    }
    asked = 1;
    while (sent < size || sends - finished > UNFINISHED) {
        ssize_t n = sent < size ? send(ours, mine + sent, size - sent, MSG_NOSIGNAL | MSG_ZEROCOPY) : 0;

        if (n > 0) {
            sent += n, ++sends;
        } else if (n < 0 && errno != EAGAIN && errno != ENOBUFS) {
            give_up("send");
        } else {
            take_finished();
        }
    }
}

/* A ring of a process: one request at a time. */
static void uring(int operation, int fd)
{
    static int ring;
    static char *memory;
    static struct io_uring_sqe *request;
    static struct io_uring_params at;
    size_t done = 0;

    if (!memory) {
        at.flags = IORING_SETUP_SINGLE_ISSUER;
        ring = syscall(SYS_io_uring_setup, 4, &at);
        if (ring < 0 || !(at.features & IORING_FEAT_SINGLE_MMAP)) {
            give_up("io_uring_setup");
        }
        memory = mmap(NULL, at.cq_off.cqes + at.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
        request = mmap(NULL, at.sq_entries * sizeof(*request), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
                       IORING_OFF_SQES);
        if (memory == MAP_FAILED || request == MAP_FAILED) {
            give_up("rings of io_uring");
        }
        fcntl(fd, F_SETFL, 0);
    }
    while (done < size) {
        unsigned *tail = (unsigned *)(memory + at.sq_off.tail), *head = (unsigned *)(memory + at.cq_off.head);
        struct io_uring_cqe *said = (struct io_uring_cqe *)(memory + at.cq_off.cqes) + (*head & (at.cq_entries - 1));

        *request = (struct io_uring_sqe){.opcode = operation, .fd = fd, .addr = (uintptr_t)(mine + done), .len = size - done,
                                         .msg_flags = MSG_WAITALL | MSG_NOSIGNAL};
        ((unsigned *)(memory + at.sq_off.array))[*tail & (at.sq_entries - 1)] = 0;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) {
            give_up("io_uring_enter");
        }
        while (__atomic_load_n((unsigned *)(memory + at.cq_off.tail), __ATOMIC_ACQUIRE) == *head) {
        }
        if (said->res <= 0) {
            exit(operation == IORING_OP_SEND);
        }
        done += said->res;
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    }
}

static void uring_send(void) { uring(IORING_OP_SEND, ours); }
static void uring_receive(void) { uring(IORING_OP_RECV, theirs); }

static const struct {
    const char *name;
    void (*ours)(void), (*theirs)(void);
    int ways;
} kinds[] = {{"ring", ring_send, ring_receive, 1},      {"turns", turn, turn_back, 2},
             {"copy", copy_ask, copy_answer, 1},        {"own", copy_own, nothing, 1},
             {"add", add, nothing, 1},                  {"cma", copy_by_kernel, nothing, 1},
             {"tcp", tcp_turn, tcp_turn_back, 2},       {"ask", tcp_ask, tcp_answer, 1},
             {"stream", tcp_send, tcp_receive, 1},      {"zerocopy", zerocopy_send, tcp_receive, 1},
             {"uring", uring_send, uring_receive, 1}};

int main(int argc, char **argv)
{
    double each[REPEATS];
    unsigned kind, i, k, rounds;

    for (kind = 0; kind < sizeof(kinds) / sizeof(*kinds); ++kind) {
        if (argc > 2 && !strcmp(argv[1], kinds[kind].name)) {
            break;
        }
    }
    size = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    if (kind == sizeof(kinds) / sizeof(*kinds) || size == 0 || size > LONGEST) {
        fprintf(stderr, "raw ring|turns|copy|own|add|cma|tcp|ask|stream|zerocopy|uring BYTES, at most %d\n", LONGEST);
        return 2;
    }
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    mine = aligned_alloc(4096, 2 * LONGEST);
    if (shared == MAP_FAILED || mine == NULL) {
        give_up("memory");
    }
    memset(mine, 1, 2 * LONGEST);
    memset(shared->memory, 2, LONGEST);
    there.lane = &shared->there, back.lane = &shared->back;
    connect_both();
    rounds = size <= 1024 ? 50000 : size <= 65536 ? 4000 : 100;
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0);
        memset(mine, 3, LONGEST);
        for (;;) {
            kinds[kind].theirs();
        }
    }
    pin(1);
    for (k = 0; k < REPEATS; ++k) {
        double start = now_us();

        for (i = 0; i < rounds; ++i) {
            kinds[kind].ours();
        }
        each[k] = (now_us() - start) / rounds / kinds[kind].ways;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("each %.4f\n", median(each, REPEATS));
    return 0;
}
