/* Memory that its owner takes back while two RDMA devices read it, each a part: the receive does not succeed with what comes
 * late. The owner's word tells that something was taken back, not what: so each part that was late is read again, whichever
 * device has read it, and of memory that is still given the receive succeeds. Two contexts of one process, which the stand-in for libibverbs connects; run by
 * tests/verbs with UCX_TLS=rc_verbs and two devices, of which the one that the argument names, 1 or 2, is slow. */
#include "failure.h"
#include "stand_in.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH = 4 << 20 };

static const ucp_request_param_t plain;
static side_t origin, owner;
static unsigned char *from, *to;
static uint64_t seed;

static failure_t failure;

static void rest(double seconds)
{
    double until = now() + seconds;

    while (now() < until) {
        ucp_worker_progress(origin.worker);
        ucp_worker_progress(owner.worker);
    }
}

/* Sends a message, of which this device has not read its part yet when this returns. */
static void begin(ucp_ep_h ep, int slow, ucs_status_ptr_t *sent, ucs_status_ptr_t *received)
{
    fill(from, LENGTH, ++seed);
    memset(to, 0, LENGTH);
    *setting("stall") = slow;
    *sent = ucp_tag_send_nbx(ep, from, LENGTH, 1, &plain);
    *received = ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &plain);
    DRIVE_UNTIL(&origin, &owner, *setting("waiting") > 0);
    /* The other device has. */
    rest(0.02);
    CHECK_EQ(ucp_request_check_status(*received), UCS_INPROGRESS);
}

/* An endpoint at either side. */
typedef struct {
    ucp_ep_h origin, owner;
} joined_t;

static joined_t join(void)
{
    return (joined_t){connect_watched(&origin, owner.address, &failure), connect_watched(&owner, origin.address, &failure)};
}

static void part(joined_t joined)
{
    CHECK_OK(side_disconnect(&origin, &owner, joined.origin, 0));
    CHECK_OK(side_disconnect(&owner, &origin, joined.owner, 0));
}

/* Endpoints whose messages are read by two devices. */
static joined_t join_by_two(void)
{
    joined_t made = join();
    ucs_status_ptr_t sent;
    long before;
    int i;

    for (i = 0; i < 3; ++i) {
        before = *setting("data1");
        fill(from, LENGTH, ++seed);
        sent = ucp_tag_send_nbx(made.origin, from, LENGTH, 1, &plain);
        CHECK_OK(side_wait(&origin, &owner, ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &plain)));
        CHECK_OK(side_wait(&origin, &owner, sent));
        CHECK_EQ(wrong_at(to, LENGTH, seed), LENGTH);
        rest(0.05);
    }
    CHECK(*setting("data1") - before > LENGTH / 4);
    return made;
}

/* The stand-in goes on with what waits when it gets the next request. */
static void go_on(joined_t by)
{
    *setting("stall") = 0;
    CHECK_OK(side_wait(&owner, &owner, ucp_tag_send_nbx(by.owner, &seed, 8, 2, &plain)));
    DRIVE_UNTIL(&owner, &owner, *setting("waiting") == 0);
}

static void taken_back(int slow)
{
    joined_t first = join_by_two(), other = join();
    ucs_status_ptr_t sent, received;
    ucs_status_t status;

    begin(first.origin, slow, &sent, &received);
    CHECK_OK(side_disconnect(&origin, &owner, first.origin, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(side_wait(&origin, &owner, sent), UCS_ERR_CANCELED);
    memset(from, 0xee, LENGTH);
    go_on(other);
    status = side_wait(&origin, &owner, received);
    if (status == UCS_OK) {
        FAIL("device %d was late: a receive of memory that was taken back has succeeded, right up to byte %zu", slow,
             wrong_at(to, LENGTH, seed));
    }
    CHECK_OK(side_disconnect(&owner, &origin, first.owner, UCP_EP_CLOSE_FLAG_FORCE));
    part(other);
}

static void another_is_taken_back(int slow)
{
    joined_t first = join_by_two(), second = join(), other = join();
    ucs_status_ptr_t sent, received, dropped;
    unsigned char *data = malloc(LENGTH);
    double until;

    CHECK(data != NULL);
    dropped = ucp_tag_send_nbx(second.origin, data, LENGTH, 3, &plain);
    CHECK(UCS_PTR_IS_PTR(dropped));
    DRIVE_UNTIL(&origin, &owner, ucp_tag_probe_nb(owner.worker, 3, -1, 0, &(ucp_tag_recv_info_t){0}) != NULL);
    begin(first.origin, slow, &sent, &received);
    CHECK_OK(side_disconnect(&origin, &owner, second.origin, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_EQ(side_wait(&origin, &owner, dropped), UCS_ERR_CANCELED);
    free(data);
    /* What is read now must not be what is received. */
    memset(from, 0xee, LENGTH);
    go_on(other);
    for (until = now() + 0.02; now() < until;) {
        ucp_worker_progress(owner.worker);
    }
    CHECK_EQ(ucp_request_check_status(received), UCS_INPROGRESS);
    fill(from, LENGTH, seed);
    CHECK_OK(side_wait(&origin, &owner, received));
    CHECK_OK(side_wait(&origin, &owner, sent));
    CHECK_EQ(wrong_at(to, LENGTH, seed), LENGTH);
    CHECK_OK(side_disconnect(&owner, &origin, second.owner, UCP_EP_CLOSE_FLAG_FORCE));
    part(first);
    part(other);
}

int main(int argc, char **argv)
{
    int watch = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1), slow;

    CHECK_EQ(argc, 2);
    slow = atoi(argv[1]);
    if (watch < 0) {
        /* Nobody reads what is not registered for longer than the message. */
        OK("userfaultfd is not allowed here: no registration is kept");
        return 0;
    }
    close(watch);
    from = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    to = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((from != MAP_FAILED) && (to != MAP_FAILED));
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    another_is_taken_back(slow);
    taken_back(slow);
    side_close(&origin);
    side_close(&owner);
    OK("device %d is late", slow);
    return 0;
}
