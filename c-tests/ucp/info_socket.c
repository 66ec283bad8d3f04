/* UCX_INFO_SOCKET=y: who connects to the socket of a process gets a report: endpoints, pending requests, counters. Other
 * users are refused, and a reader that reads nothing holds nobody up. */
/* headers: ours */
/* timeout: 60 */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { ROOM = 1 << 20 };

static const ucp_request_param_t plain;
static char folder[] = "/tmp/info_socket.XXXXXX", path[128], report[ROOM];
static char data[1 << 16];

static int ask(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(at.sun_path, path);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Reads the report of this process while another thread makes progress. */
static void *reader(void *done)
{
    size_t length = 0;
    ssize_t got;
    int fd = ask();

    CHECK(fd >= 0);
    while ((got = read(fd, report + length, ROOM - 1 - length)) > 0) {
        length += got;
    }
    report[length] = '\0';
    close(fd);
    __atomic_store_n((int *)done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int is_done(const int *done)
{
    return __atomic_load_n(done, __ATOMIC_ACQUIRE);
}

static void expect(const char *words)
{
    if (strstr(report, words) == NULL) {
        fprintf(stderr, "not in the report: %s\n%s\n", words, report);
        exit(1);
    }
}

/* With `polls`, the worker makes progress while the report is made; else nobody calls it. */
static void get_report(side_t *side, int polls)
{
    pthread_t thread;
    int done = 0;

    CHECK_EQ(pthread_create(&thread, NULL, reader, &done), 0);
    while (polls && !is_done(&done)) {
        ucp_worker_progress(side->worker);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static void tells_what_a_worker_waits_for(ucs_thread_mode_t mode)
{
    side_t side;
    ucp_ep_h ep;
    void *receive;
    int i;

    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, mode);
    ep = side_connect(&side, side.address);
    for (i = 0; i < 3; ++i) {
        request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 1, &plain));
    }
    receive = ucp_tag_recv_nbx(side.worker, data, sizeof(data), 77, -1, &plain);
    CHECK(UCS_PTR_IS_PTR(receive));
    get_report(&side, 1);
    expect("\"makes_progress\":true");
    expect("\"short\":{\"count\":3}");
    expect("\"unexpected\":3,");
    expect("tag receive of 65536 bytes: posted");
    expect("\"waits_for\":\"a message with a tag that matches\"");
    expect("\"state\":\"connected, open\"");
    expect("\"requests_pending\":1");
    /* Without progress the counters are told. */
    get_report(&side, 0);
    expect("\"makes_progress\":false");
    expect("\"short\":{\"count\":3}");
    /* The call that was asked for and not made is made by the next progress. */
    get_report(&side, 1);
    expect("\"makes_progress\":true");
    ucp_request_cancel(side.worker, receive);
    CHECK_STATUS(side_wait(&side, &side, receive), UCS_ERR_CANCELED);
    side_close(&side);
    CHECK(ask() < 0);
    OK("a worker of thread mode %d tells what it waits for", mode);
}

static ucs_status_ptr_t receive_in(side_t *side, void *request)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST, .request = request};

    return ucp_tag_recv_nbx(side->worker, data, 8, 77, -1, &param);
}

/* A request in the program's memory is told while it is in progress, and not looked at when its memory may be gone. */
static void tells_of_requests_in_memory_of_the_program(void)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucs_status_ptr_t receive;
    void *lent;
    char *own;
    side_t side;
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    CHECK_OK(ucp_context_query(side.context, &attr));
    own = (char *)malloc(attr.request_size) + attr.request_size;
    lent = ucp_request_alloc(side.worker);

    receive = receive_in(&side, own);
    CHECK(receive == own);
    CHECK(receive_in(&side, lent) == lent);
    get_report(&side, 1);
    expect("\"requests_pending\":2");
    expect("tag receive of 8 bytes: posted");
    expect("\"age_ms\":");
    request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 77, &plain));
    request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 77, &plain));
    while (ucp_request_check_status(own) == UCS_INPROGRESS || ucp_request_check_status(lent) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
    }
    ucp_request_free(lent);

    receive = receive_in(&side, own);
    CHECK(receive == own);
    ucp_request_cancel(side.worker, receive);
    while (ucp_request_check_status(own) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
    }
    memset(own - attr.request_size, 0x5a, attr.request_size);
    free(own - attr.request_size);
    get_report(&side, 1);
    expect("\"requests_pending\":0");
    side_close(&side);
    OK("requests in memory of the program are told");
}

/* A program that sleeps until something comes is woken for the report. */
static void wakes_a_program_that_sleeps(void)
{
    side_t side;
    pthread_t thread;
    int done = 0, fd;

    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_get_efd(side.worker, &fd));
    while (ucp_worker_arm(side.worker) != UCS_OK) {
        ucp_worker_progress(side.worker);
    }
    CHECK_EQ(pthread_create(&thread, NULL, reader, &done), 0);
    CHECK_EQ(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 10000), 1);
    while (!is_done(&done)) {
        ucp_worker_progress(side.worker);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    expect("\"makes_progress\":true");
    side_close(&side);
    OK("a program that sleeps is woken");
}

static void is_of_this_user_alone(void)
{
    struct stat facts;
    side_t side;
    pid_t child;
    int ready[2], status;
    char byte = 0;

    /* Before there is a thread: the child would seem to have lost its memory. */
    CHECK_EQ(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        /* Another user cannot connect where the folder keeps it out. */
        _exit((read(ready[0], &byte, 1) != 1) || ((geteuid() == 0) && ((setuid(65534) != 0) || (ask() >= 0))));
    }
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    CHECK_EQ(stat(path, &facts), 0);
    CHECK_EQ(facts.st_mode & 0777, 0600);
    *strrchr(path, '/') = '\0';
    CHECK_EQ(stat(path, &facts), 0);
    CHECK_EQ(facts.st_mode & 0777, 0700);
    path[strlen(path)] = '/';
    CHECK_EQ(write(ready[1], &byte, 1), 1);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    close(ready[0]);
    close(ready[1]);
    side_close(&side);
    OK("the socket is of this user alone");
}

/* Clients that send, and read nothing: the worker is destroyed in time. */
static void is_not_held_up_by_who_reads_nothing(void)
{
    enum { CLIENTS = 20, ENDPOINTS = 300 };
    int fds[CLIENTS], i;
    struct timespec begin, end;
    side_t side;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < ENDPOINTS; ++i) {
        side_connect(&side, side.address);
    }
    for (i = 0; i < CLIENTS; ++i) {
        fds[i] = ask();
        CHECK(fds[i] >= 0);
        CHECK_EQ(send(fds[i], data, 1000, MSG_NOSIGNAL), 1000);
    }
    for (i = 0; i < 10000; ++i) {
        ucp_worker_progress(side.worker);
    }
    CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &begin), 0);
    side_close(&side);
    CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &end), 0);
    CHECK(end.tv_sec - begin.tv_sec < 10);
    for (i = 0; i < CLIENTS; ++i) {
        close(fds[i]);
    }
    OK("nobody is held up by clients that read nothing");
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    setenv("XDG_RUNTIME_DIR", folder, 1);
    setenv("UCX_INFO_SOCKET", "y", 1);
    snprintf(path, sizeof(path), "%s/ferrucx/%d.sock", folder, getpid());
    is_of_this_user_alone();
    tells_what_a_worker_waits_for(UCS_THREAD_MODE_SINGLE);
    tells_what_a_worker_waits_for(UCS_THREAD_MODE_MULTI);
    tells_of_requests_in_memory_of_the_program();
    wakes_a_program_that_sleeps();
    is_not_held_up_by_who_reads_nothing();
    *strrchr(path, '/') = '\0';
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
