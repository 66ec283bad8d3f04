/* System calls of the library that fail when the test wants it. These definitions precede libc's for every library of
 * the program; the return address tells whether UCX is the caller. Calls of others pass. Define _GNU_SOURCE. */
#ifndef FERRUCX_FAULTS_H
#define FERRUCX_FAULTS_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define FAULT_CALLS(X) \
    X(accept4) X(bind) X(close) X(connect) X(epoll_create1) X(epoll_ctl) X(epoll_wait) X(eventfd) X(fchmod) X(fcntl) \
    X(ftruncate) X(ftruncate64) X(getpeername) X(getrandom) X(getsockname) X(getsockopt) X(listen) X(madvise) \
    X(memfd_create) X(mlock) X(mmap) X(open64) X(poll) X(posix_fallocate) X(prctl) X(process_vm_readv) \
    X(process_vm_writev) X(pthread_create) X(read) X(recv) X(recvmsg) X(send) X(sendmsg) X(sendto) X(setsockopt) \
    X(shmat) X(shmctl) X(shmget) X(socket) X(statvfs) X(syscall) X(timerfd_create) X(timerfd_settime) X(write)

enum {
#define X(name) FAULT_##name,
    FAULT_CALLS(X)
#undef X
    FAULT_NUM_CALLS
};

static const char *const fault_names[] = {
#define X(name) #name,
    FAULT_CALLS(X)
#undef X
};

/* Instead of an error number: stream sockets and copies between processes take less than they are given. */
enum { FAULT_SHORT = -1 };

/* The calls `first`, first + 1 ... of `call` fail, `count` of them; `number` is what `syscall`
 * or `epoll_ctl` is asked for. */
typedef struct {
    int call, error;
    long number;
    unsigned first, count;
} fault_t;

/* `seen` counts how often each call was made, `struck` how often one failed: in memory that a parent may share. */
typedef struct {
    atomic_uint seen[FAULT_NUM_CALLS], matching, struck;
} fault_record_t;

enum { FAULT_LIBRARIES = 64 };

static void *fault_real[FAULT_NUM_CALLS];
static struct {
    uintptr_t start, end;
} fault_ranges[FAULT_LIBRARIES];
static unsigned fault_num_ranges;
static fault_t fault;
static fault_record_t *fault_record; /* NULL: nothing fails */

static int fault_note_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    int i;

    if (strstr(info->dlpi_name, "/libuc") == NULL) {
        return 0;
    }
    for (i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if ((segment->p_type == PT_LOAD) && (segment->p_flags & PF_X) && (fault_num_ranges < FAULT_LIBRARIES)) {
            fault_ranges[fault_num_ranges].start = info->dlpi_addr + segment->p_vaddr;
            fault_ranges[fault_num_ranges++].end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        }
    }
    return 0;
}

/* The C library's own; also before this program's constructors. */
static void *fault_function(int call)
{
    if (fault_real[call] == NULL) {
        fault_real[call] = dlsym(RTLD_NEXT, fault_names[call]);
    }
    return fault_real[call];
}

static inline void fault_arm(const fault_t *wanted, fault_record_t *record)
{
    /* What is loaded later, as upstream's transports, is there by now. */
    fault_num_ranges = 0;
    dl_iterate_phdr(fault_note_library, NULL);
    fault = *wanted;
    fault_record = record;
}

static inline void fault_disarm(void)
{
    fault_record = NULL;
}

/* 0, or the error that this call ends with. */
static int fault_of(int call, long number, const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    unsigned i, n;

    for (i = 0; (i < fault_num_ranges) && ((at < fault_ranges[i].start) || (at >= fault_ranges[i].end)); ++i) {
    }
    if ((fault_record == NULL) || (i == fault_num_ranges)) {
        return 0;
    }
    fault_record->seen[call]++;
    if ((call != fault.call) || (number != fault.number)) {
        return 0;
    }
    n = ++fault_record->matching;
    if ((n < fault.first) || (n - fault.first >= fault.count)) {
        return 0;
    }
    fault_record->struck++;
    return fault.error;
}

#define FAULT_CALL(name, type) ((type)fault_function(FAULT_##name))
#define FAULT_CALLER           __builtin_return_address(0)

/* A call that fails as most do: -1 and errno. */
#define FAULT_DEFINE(result, name, failed, parameters, arguments) \
    result name parameters \
    { \
        int error = fault_of(FAULT_##name, 0, FAULT_CALLER); \
        if (error > 0) { \
            errno = error; \
            return failed; \
        } \
        return FAULT_CALL(name, result(*) parameters) arguments; \
    }

/* A call that gives its error back. */
#define FAULT_DEFINE_GIVING(name, parameters, arguments) \
    int name parameters \
    { \
        int error = fault_of(FAULT_##name, 0, FAULT_CALLER); \
        return (error > 0) ? error : FAULT_CALL(name, int(*) parameters) arguments; \
    }

FAULT_DEFINE(int, accept4, -1, (int fd, struct sockaddr *a, socklen_t *l, int f), (fd, a, l, f))
FAULT_DEFINE(int, bind, -1, (int fd, const struct sockaddr *a, socklen_t l), (fd, a, l))
FAULT_DEFINE(int, connect, -1, (int fd, const struct sockaddr *a, socklen_t l), (fd, a, l))
FAULT_DEFINE(int, epoll_create1, -1, (int f), (f))
FAULT_DEFINE(int, epoll_wait, -1, (int fd, struct epoll_event *e, int n, int t), (fd, e, n, t))
FAULT_DEFINE(int, eventfd, -1, (unsigned v, int f), (v, f))
FAULT_DEFINE(int, fchmod, -1, (int fd, mode_t m), (fd, m))
FAULT_DEFINE(int, ftruncate, -1, (int fd, off_t l), (fd, l))
FAULT_DEFINE(int, ftruncate64, -1, (int fd, off64_t l), (fd, l))
FAULT_DEFINE(int, getpeername, -1, (int fd, struct sockaddr *a, socklen_t *l), (fd, a, l))
FAULT_DEFINE(ssize_t, getrandom, -1, (void *p, size_t n, unsigned f), (p, n, f))
FAULT_DEFINE(int, getsockname, -1, (int fd, struct sockaddr *a, socklen_t *l), (fd, a, l))
FAULT_DEFINE(int, getsockopt, -1, (int fd, int k, int o, void *v, socklen_t *l), (fd, k, o, v, l))
FAULT_DEFINE(int, listen, -1, (int fd, int n), (fd, n))
FAULT_DEFINE(int, madvise, -1, (void *p, size_t n, int a), (p, n, a))
FAULT_DEFINE(int, memfd_create, -1, (const char *n, unsigned f), (n, f))
FAULT_DEFINE(int, mlock, -1, (const void *p, size_t n), (p, n))
FAULT_DEFINE(void *, mmap, MAP_FAILED, (void *p, size_t n, int r, int f, int fd, off_t o), (p, n, r, f, fd, o))
FAULT_DEFINE(int, poll, -1, (struct pollfd *p, nfds_t n, int t), (p, n, t))
FAULT_DEFINE(ssize_t, read, -1, (int fd, void *p, size_t n), (fd, p, n))
FAULT_DEFINE(ssize_t, sendto, -1, (int fd, const void *p, size_t n, int f, const struct sockaddr *a, socklen_t l), (fd, p, n, f, a, l))
FAULT_DEFINE(int, setsockopt, -1, (int fd, int k, int o, const void *v, socklen_t l), (fd, k, o, v, l))
FAULT_DEFINE(void *, shmat, (void *)-1, (int id, const void *p, int f), (id, p, f))
FAULT_DEFINE(int, shmctl, -1, (int id, int c, struct shmid_ds *b), (id, c, b))
FAULT_DEFINE(int, shmget, -1, (key_t k, size_t n, int f), (k, n, f))
FAULT_DEFINE(int, socket, -1, (int d, int t, int p), (d, t, p))
FAULT_DEFINE(int, statvfs, -1, (const char *p, struct statvfs *b), (p, b))
FAULT_DEFINE(int, timerfd_create, -1, (clockid_t c, int f), (c, f))
FAULT_DEFINE(int, timerfd_settime, -1, (int fd, int f, const struct itimerspec *n, struct itimerspec *o), (fd, f, n, o))
FAULT_DEFINE(ssize_t, write, -1, (int fd, const void *p, size_t n), (fd, p, n))
FAULT_DEFINE_GIVING(posix_fallocate, (int fd, off_t o, off_t n), (fd, o, n))
FAULT_DEFINE_GIVING(pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *arg), (t, a, f, arg))

int epoll_ctl(int fd, int op, int of, struct epoll_event *event)
{
    int error = fault_of(FAULT_epoll_ctl, op, FAULT_CALLER);

    if (error > 0) {
        errno = error;
        return -1;
    }
    return FAULT_CALL(epoll_ctl, int (*)(int, int, int, struct epoll_event *))(fd, op, of, event);
}

/* A descriptor is closed whatever the answer is. */
int close(int fd)
{
    int error = fault_of(FAULT_close, 0, FAULT_CALLER), result = FAULT_CALL(close, int (*)(int))(fd);

    if (error > 0) {
        errno = error;
        return -1;
    }
    return result;
}

int open64(const char *path, int flags, ...)
{
    int error = fault_of(FAULT_open64, 0, FAULT_CALLER);
    va_list rest;
    mode_t mode;

    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return FAULT_CALL(open64, int (*)(const char *, int, ...))(path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
    int error = fault_of(FAULT_fcntl, 0, FAULT_CALLER);
    va_list rest;
    void *arg;

    va_start(rest, command);
    arg = va_arg(rest, void *);
    va_end(rest);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return FAULT_CALL(fcntl, int (*)(int, int, ...))(fd, command, arg);
}

int prctl(int option, ...)
{
    int error = fault_of(FAULT_prctl, 0, FAULT_CALLER), i;
    unsigned long args[4];
    va_list rest;

    va_start(rest, option);
    for (i = 0; i < 4; ++i) {
        args[i] = va_arg(rest, unsigned long);
    }
    va_end(rest);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return FAULT_CALL(prctl, int (*)(int, ...))(option, args[0], args[1], args[2], args[3]);
}

long syscall(long number, ...)
{
    int error = fault_of(FAULT_syscall, number, FAULT_CALLER), i;
    long args[6];
    va_list rest;

    va_start(rest, number);
    for (i = 0; i < 6; ++i) {
        args[i] = va_arg(rest, long);
    }
    va_end(rest);
    if (error > 0) {
        errno = error;
        return -1;
    }
    return FAULT_CALL(syscall, long (*)(long, ...))(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static int fault_is_stream(int fd)
{
    int type = 0;
    socklen_t length = sizeof(type);

    FAULT_CALL(getsockopt, int (*)(int, int, int, void *, socklen_t *))(fd, SOL_SOCKET, SO_TYPE, &type, &length);
    return type == SOCK_STREAM;
}

/* At most as many bytes as pass at a time while calls are cut short: sometimes one. */
static size_t fault_length(size_t length)
{
    unsigned n = fault_record ? fault_record->struck : 0;
    size_t most = (n % 5 == 0) ? 1 : (1 + n * 977 % 5000);

    return (length < most) ? length : most;
}

/* The first buffer that is not empty, shortened. */
static struct iovec fault_cut(const struct iovec *iov, size_t count)
{
    struct iovec cut = {NULL, 0};
    size_t i;

    for (i = 0; (i < count) && (iov[i].iov_len == 0); ++i) {
    }
    if (i < count) {
        cut.iov_base = iov[i].iov_base;
        cut.iov_len = fault_length(iov[i].iov_len);
    }
    return cut;
}

#define FAULT_DEFINE_BYTES(name, pointer) \
    ssize_t name(int fd, pointer data, size_t length, int flags) \
    { \
        int error = fault_of(FAULT_##name, 0, FAULT_CALLER); \
        if (error > 0) { \
            errno = error; \
            return -1; \
        } \
        if ((error == FAULT_SHORT) && fault_is_stream(fd)) { \
            length = fault_length(length); \
        } \
        return FAULT_CALL(name, ssize_t(*)(int, pointer, size_t, int))(fd, data, length, flags); \
    }

#define FAULT_DEFINE_MESSAGE(name, pointer) \
    ssize_t name(int fd, pointer message, int flags) \
    { \
        int error = fault_of(FAULT_##name, 0, FAULT_CALLER); \
        struct msghdr cut; \
        struct iovec iov; \
        if (error > 0) { \
            errno = error; \
            return -1; \
        } \
        if ((error != FAULT_SHORT) || !fault_is_stream(fd)) { \
            return FAULT_CALL(name, ssize_t(*)(int, pointer, int))(fd, message, flags); \
        } \
        cut = *message; \
        iov = fault_cut(message->msg_iov, message->msg_iovlen); \
        cut.msg_iov = &iov; \
        cut.msg_iovlen = (iov.iov_base != NULL); \
        return FAULT_CALL(name, ssize_t(*)(int, struct msghdr *, int))(fd, &cut, flags); \
    }

#define FAULT_DEFINE_COPY(name) \
    ssize_t name(pid_t pid, const struct iovec *mine, unsigned long num_mine, const struct iovec *theirs, \
                 unsigned long num_theirs, unsigned long flags) \
    { \
        int error = fault_of(FAULT_##name, 0, FAULT_CALLER); \
        struct iovec cut; \
        if (error > 0) { \
            errno = error; \
            return -1; \
        } \
        if (error == FAULT_SHORT) { \
            cut = fault_cut(mine, num_mine); \
            mine = &cut; \
            num_mine = 1; \
        } \
        return FAULT_CALL(name, ssize_t(*)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, \
                                           unsigned long))(pid, mine, num_mine, theirs, num_theirs, flags); \
    }

FAULT_DEFINE_BYTES(recv, void *)
FAULT_DEFINE_BYTES(send, const void *)
FAULT_DEFINE_MESSAGE(recvmsg, struct msghdr *)
FAULT_DEFINE_MESSAGE(sendmsg, const struct msghdr *)
FAULT_DEFINE_COPY(process_vm_readv)
FAULT_DEFINE_COPY(process_vm_writev)

#endif
