/* The modes of sending: buffered, ready and synchronous, waited for and not, started again and again; sends and
 * receives that are cancelled; waiting for one, for some, for all of several. */
#include "mpi_check.h"

static const size_t lengths[] = {0, 1, 100, 5000, 8192, 30000, 300000, 1048577};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]), LONGEST = 1048577, MANY = 24 };

static char *out, *in;

/* Takes a message from the left and looks at it. */
static void take(int tag, size_t length, uint64_t seed)
{
    MPI_Status status;

    memset(in, 0, length);
    MPI_Recv(in, LONGEST, MPI_BYTE, anyone(previous()), tag, MPI_COMM_WORLD, &status);
    received(&status, previous(), tag, length);
    CHECK_PATTERN(in, length, previous() + seed);
}

/* Everybody sends before anybody receives, and the buffer that was sent is used again at once. */
static void buffered(void)
{
    size_t size = MANY * (LONGEST + MPI_BSEND_OVERHEAD);
    char *space = malloc(size), *same;
    MPI_Request request;
    int i, detached;

    CHECK(space != NULL);
    MPI_Buffer_attach(space, size);
    for (i = 0; i < MANY; ++i) {
        size_t n = lengths[i % LENGTHS];

        fill(out, n, rank + i);
        if (i % 2) {
            MPI_Bsend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD);
        } else {
            MPI_Ibsend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        memset(out, 0xdd, n);
    }
    for (i = MANY - 1; i >= 0; --i) {
        take(i, lengths[i % LENGTHS], i);
    }
    MPI_Buffer_detach(&same, &detached);
    CHECK(same == space);
    CHECK_EQ(detached, size);
    free(space);
    part("buffered");
}

/* The receive is posted before the sender is told that it may send. */
static void ready(void)
{
    MPI_Request request, sent;
    MPI_Status status;
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        size_t n = lengths[i];

        memset(in, 0, n);
        fill(out, n, rank + i);
        MPI_Irecv(in, n, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &request);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, previous(), 99, NULL, 0, MPI_BYTE, next(), 99, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (i % 2) {
            MPI_Irsend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD, &sent);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        } else {
            MPI_Rsend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD);
        }
        MPI_Wait(&request, &status);
        received(&status, previous(), i, n);
        CHECK_PATTERN(in, n, previous() + i);
    }
    part("ready");
}

/* Around the ring one after the other: a synchronous send ends when its receive is there. */
static void synchronous(void)
{
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        fill(out, lengths[i], rank + i);
        if (rank != 0) {
            take(i, lengths[i], i);
            fill(out, lengths[i], rank + i);
        }
        MPI_Ssend(out, lengths[i], MPI_BYTE, next(), i, MPI_COMM_WORLD);
        if (rank == 0) {
            take(i, lengths[i], i);
        }
    }
    part("synchronous");
}

static void started_again(void)
{
    enum { MODES = 4, ROUNDS = 4 };
    size_t size = MODES * LENGTHS * (LONGEST + MPI_BSEND_OVERHEAD);
    MPI_Request requests[2 * MODES];
    char *outs[MODES], *ins[MODES], *space = malloc(size);
    int mode, round, detached;
    unsigned i;

    CHECK(space != NULL);
    MPI_Buffer_attach(space, size);
    for (mode = 0; mode < MODES; ++mode) {
        outs[mode] = room(LONGEST);
        ins[mode] = room(LONGEST);
    }
    for (i = 0; i < LENGTHS; ++i) {
        int n = lengths[i];

        for (mode = 0; mode < MODES; ++mode) {
            MPI_Recv_init(ins[mode], n, MPI_BYTE, previous(), mode, MPI_COMM_WORLD, &requests[mode]);
        }
        MPI_Send_init(outs[0], n, MPI_BYTE, next(), 0, MPI_COMM_WORLD, &requests[MODES]);
        MPI_Ssend_init(outs[1], n, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &requests[MODES + 1]);
        MPI_Bsend_init(outs[2], n, MPI_BYTE, next(), 2, MPI_COMM_WORLD, &requests[MODES + 2]);
        MPI_Rsend_init(outs[3], n, MPI_BYTE, next(), 3, MPI_COMM_WORLD, &requests[MODES + 3]);
        for (round = 0; round < ROUNDS; ++round) {
            for (mode = 0; mode < MODES; ++mode) {
                fill(outs[mode], n, rank + mode + round);
                memset(ins[mode], 0, n);
            }
            MPI_Startall(MODES, requests);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Startall(MODES, requests + MODES);
            MPI_Waitall(2 * MODES, requests, MPI_STATUSES_IGNORE);
            for (mode = 0; mode < MODES; ++mode) {
                CHECK_PATTERN(ins[mode], n, previous() + mode + round);
            }
        }
        for (mode = 0; mode < 2 * MODES; ++mode) {
            MPI_Request_free(&requests[mode]);
        }
    }
    MPI_Buffer_detach(&space, &detached);
    for (mode = 0; mode < MODES; ++mode) {
        free(outs[mode]);
        free(ins[mode]);
    }
    free(space);
    part("started again");
}

/* Of receives with one tag, those that are cancelled get nothing and the others keep their order. One that has its
 * message cannot be cancelled any more. */
static void cancelled_receives(void)
{
    enum { N = 20, LENGTH = 20000 };
    MPI_Request requests[N], sent[N / 2];
    char *ins = room(N * LENGTH), *outs = room(N / 2 * LENGTH);
    MPI_Status status;
    int i, flag;

    for (i = 0; i < N; ++i) {
        MPI_Irecv(ins + i * LENGTH, LENGTH, MPI_BYTE, i % 4 < 2 ? previous() : anyone(previous()),
                  i % 3 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    }
    for (i = 1; i < N; i += 2) {
        MPI_Cancel(&requests[i]);
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < N / 2; ++i) {
        fill(outs + i * LENGTH, i % 2 ? LENGTH : 100, rank + i);
        MPI_Isend(outs + i * LENGTH, i % 2 ? LENGTH : 100, MPI_BYTE, next(), 5, MPI_COMM_WORLD, &sent[i]);
    }
    for (i = 0; i < N; i += 2) {
        int n = i / 2 % 2 ? LENGTH : 100;

        MPI_Wait(&requests[i], &status);
        received(&status, previous(), 5, n);
        CHECK_PATTERN(ins + i * LENGTH, n, previous() + i / 2);
    }
    MPI_Waitall(N / 2, sent, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, 8, MPI_BYTE, previous(), 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(outs, 8, MPI_BYTE, next(), 6, MPI_COMM_WORLD);
    /* What came behind it is here, so it is here too. */
    MPI_Sendrecv(NULL, 0, MPI_BYTE, next(), 7, NULL, 0, MPI_BYTE, previous(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    received(&status, previous(), 6, 8);
    free(ins);
    free(outs);
    part("cancelled receives");
}

/* A send is cancelled or not, and the receiver gets what comes behind it, or all of it before that. */
static void cancelled_sends(void)
{
    enum { BEHIND = 3 };
    char behind[BEHIND] = "abc";
    MPI_Request doubtful, second, receive;
    MPI_Status status;
    int gone, theirs, count;
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        size_t n = lengths[i];

        fill(out, n, rank + i);
        MPI_Isend(out, n, MPI_BYTE, next(), 8, MPI_COMM_WORLD, &doubtful);
        MPI_Cancel(&doubtful);
        MPI_Isend(behind, BEHIND, MPI_BYTE, next(), 8, MPI_COMM_WORLD, &second);
        MPI_Irecv(in, LONGEST, MPI_BYTE, previous(), 8, MPI_COMM_WORLD, &receive);
        MPI_Wait(&doubtful, &status);
        MPI_Test_cancelled(&status, &gone);
        MPI_Wait(&receive, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Sendrecv(&gone, 1, MPI_INT, next(), 9, &theirs, 1, MPI_INT, previous(), 9, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK_EQ(count, theirs ? BEHIND : n);
        if (!theirs) {
            CHECK_PATTERN(in, n, previous() + i);
            MPI_Recv(in, BEHIND, MPI_BYTE, previous(), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK(!memcmp(in, behind, BEHIND));
        MPI_Wait(&second, MPI_STATUS_IGNORE);
    }
    part("cancelled sends");
}

/* Requests that end in the order in which the messages come, and not in theirs. */
static void any_and_some(void)
{
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    char *ins = room((size_t)MANY * LONGEST), seen[MANY] = {0};
    int i, index, left, count, indices[MANY], done;

    for (i = 0; i < MANY; ++i) {
        MPI_Irecv(ins + (size_t)i * LONGEST, LONGEST, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = MANY - 1; i >= 0; --i) {
        MPI_Request request;

        fill(out, lengths[i % LENGTHS], rank + i);
        MPI_Isend(out, lengths[i % LENGTHS], MPI_BYTE, next(), i, MPI_COMM_WORLD, &request);
        if (i >= MANY / 2) {
            MPI_Waitany(MANY, requests, &index, &statuses[0]);
            CHECK((index >= 0) && !seen[index]);
            received(&statuses[0], previous(), index, lengths[index % LENGTHS]);
            seen[index] = 1;
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (left = MANY / 2; left > 0; left -= count) {
        MPI_Waitsome(MANY, requests, &count, indices, statuses);
        CHECK((count > 0) && (count <= left));
        for (i = 0; i < count; ++i) {
            CHECK(!seen[indices[i]]);
            received(&statuses[i], previous(), indices[i], lengths[indices[i] % LENGTHS]);
            seen[indices[i]] = 1;
        }
    }
    MPI_Testall(MANY, requests, &done, MPI_STATUSES_IGNORE);
    CHECK(done);
    for (i = 0; i < MANY; ++i) {
        CHECK_PATTERN(ins + (size_t)i * LONGEST, lengths[i % LENGTHS], previous() + i);
    }
    free(ins);
    part("any and some");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, MPI_THREAD_SINGLE);
    out = room(LONGEST);
    in = room(LONGEST);
    buffered();
    ready();
    synchronous();
    started_again();
    cancelled_receives();
    cancelled_sends();
    any_and_some();
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
