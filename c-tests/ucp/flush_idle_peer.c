/* Once one side's flush has ended, the other side's flush ends without any more progress of the first: programs
 * flush several workers one after the other, and the other process does the same in its own time. Both sides
 * connect at once, and their steps are mixed by seed. */
#include "../transport.h"
#include "peers.h"

enum { SEEDS = 300 };

/* For every seed another order of steps: the same numbers with every library. */
static unsigned next(unsigned *state)
{
    *state = (*state * 1103515245u) + 12345u;
    return *state >> 16;
}

static int done(void *request)
{
    return !UCS_PTR_IS_PTR(request) || (ucp_request_check_status(request) != UCS_INPROGRESS);
}

static void finish(void *request)
{
    if (UCS_PTR_IS_PTR(request)) {
        CHECK_OK(ucp_request_check_status(request));
        ucp_request_free(request);
    } else {
        CHECK_OK(UCS_PTR_STATUS(request));
    }
}

static int one(unsigned seed)
{
    static const ucp_request_param_t none;
    unsigned state = seed;
    void *request[2];
    two_t two;
    time_t end;
    int i, first, hung = 0;

    two_open_workers(&two, UCP_FEATURE_RMA | UCP_FEATURE_TAG, 0);
    for (i = 0; i < 2; ++i) {
        two.ep[i] = two_connect(&two, i, !i);
    }
    for (i = next(&state) % 6; i > 0; --i) {
        ucp_worker_progress(two.worker[next(&state) % 2]);
    }
    for (i = 0; i < 2; ++i) {
        request[i] = ucp_worker_flush_nbx(two.worker[i], &none);
    }
    while (!done(request[0]) && !done(request[1])) {
        int who = next(&state) % 2, times = 1 + next(&state) % 3;
        for (i = 0; i < times; ++i) {
            ucp_worker_progress(two.worker[who]);
        }
    }
    first = done(request[0]) ? 0 : 1;
    end = time(NULL) + 3;
    while (!done(request[!first])) {
        ucp_worker_progress(two.worker[!first]);
        if (time(NULL) > end) {
            hung = 1;
            break;
        }
    }
    TWO_UNTIL(&two, done(request[!first]));
    finish(request[0]);
    finish(request[1]);
    two_close(&two);
    return hung;
}

int main(void)
{
    unsigned seed, hung = 0;

    for (seed = 1; seed <= SEEDS; ++seed) {
        if (one(seed)) {
            fprintf(stderr, "seed %u\n", seed);
            if (++hung > 5) break;
        }
    }
    CHECK_EQ(hung, 0);
    printf("ok a flush ends without the progress of a side whose flush has ended\n");
    return 0;
}
