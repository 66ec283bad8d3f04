/* Point-to-point messages: lengths over every threshold, receives before and after the message, wildcards,
 * probes, synchronous sends, order of long and short ones, truncation, cancel, datatypes, messages to oneself. */
#include "mpi_check.h"

static const size_t lengths[] = {0,    1,     8,     64,    100,    1000,   4096,    8000,
                                 8192, 20000, 65536, 70000, 300000, 1048576, 4000001};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]), LONGEST = 4000001, MANY = 64 };

static char *out, *in;

static void ring(void)
{
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        size_t n = lengths[i];

        fill(out, n, rank + i);
        memset(in, 0, n);
        MPI_Sendrecv(out, n, MPI_BYTE, next(), i, in, n, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &status);
        received(&status, previous(), i, n);
        CHECK_PATTERN(in, n, previous() + i);

        /* The receive first, with room to spare. */
        memset(in, 0, n);
        MPI_Irecv(in, LONGEST, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        received(&statuses[0], previous(), i, n);
        CHECK_PATTERN(in, n, previous() + i);

        /* The message first. */
        memset(in, 0, n);
        MPI_Isend(out, n, MPI_BYTE, next(), i, MPI_COMM_WORLD, &requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_BYTE, previous(), i, MPI_COMM_WORLD, &status);
        received(&status, previous(), i, n);
        CHECK_PATTERN(in, n, previous() + i);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    part("ring of all lengths");
}

/* Everybody sends to rank 0, which takes what comes: each sender's messages come in order. */
static void wildcards(void)
{
    enum { EACH = 200 };
    int seen[64] = {0}, message[2], left, i;
    MPI_Status status;

    CHECK(ranks <= 64);
    if (rank != 0) {
        for (i = 0; i < EACH; ++i) {
            message[0] = rank;
            message[1] = i;
            MPI_Send(message, 2, MPI_INT, 0, i % 7, MPI_COMM_WORLD);
        }
    } else {
        for (left = EACH * (ranks - 1); left > 0; --left) {
            MPI_Recv(message, 2, MPI_INT, anyone(1 + left % (ranks - 1)), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK_EQ(status.MPI_SOURCE, message[0]);
            CHECK_EQ(message[1], seen[message[0]]);
            CHECK_EQ(status.MPI_TAG, seen[message[0]] % 7);
            seen[message[0]]++;
        }
    }
    part("wildcards");
}

/* Messages of one tag in the order they were sent, short ones behind long ones too. */
static void order(void)
{
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    char *outs[MANY], *ins[MANY];
    int i;

    for (i = 0; i < MANY; ++i) {
        outs[i] = room(lengths[i % (LENGTHS - 2)]);
        ins[i] = room(lengths[i % (LENGTHS - 2)]);
        fill(outs[i], lengths[i % (LENGTHS - 2)], rank * 100 + i);
    }
    for (i = 0; i < MANY; ++i) {
        MPI_Isend(outs[i], lengths[i % (LENGTHS - 2)], MPI_BYTE, next(), 5, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    for (i = 0; i < MANY; ++i) {
        MPI_Irecv(ins[i], lengths[i % (LENGTHS - 2)], MPI_BYTE, previous(), i % 2 ? MPI_ANY_TAG : 5, MPI_COMM_WORLD,
                  &requests[i]);
    }
    MPI_Waitall(2 * MANY, requests, statuses);
    for (i = 0; i < MANY; ++i) {
        received(&statuses[i], previous(), 5, lengths[i % (LENGTHS - 2)]);
        CHECK_PATTERN(ins[i], lengths[i % (LENGTHS - 2)], previous() * 100 + i);
        free(outs[i]);
        free(ins[i]);
    }
    part("order");
}

static void probes(void)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int flag, count;
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        size_t n = lengths[i];

        fill(out, n, rank + 3 * i);
        MPI_Isend(out, n, MPI_BYTE, next(), 100 + i, MPI_COMM_WORLD, &request);
        memset(in, 0, n);
        if (i % 3 == 0) {
            MPI_Probe(anyone(previous()), 100 + i, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            MPI_Recv(in, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        } else if (i % 3 == 1) {
            do {
                MPI_Iprobe(previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
            } while (!flag);
            received(&status, previous(), 100 + i, n);
            MPI_Recv(in, n, MPI_BYTE, previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Mprobe(previous(), 100 + i, MPI_COMM_WORLD, &message, &status);
            received(&status, previous(), 100 + i, n);
            /* Taken off: no other probe sees it. */
            MPI_Iprobe(previous(), 100 + i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            MPI_Mrecv(in, n, MPI_BYTE, &message, &status);
        }
        received(&status, previous(), 100 + i, n);
        CHECK_PATTERN(in, n, previous() + 3 * i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    part("probes");
}

/* A synchronous send is not over before its receive is there. */
static void synchronous(void)
{
    MPI_Request request;
    MPI_Status status;
    unsigned i, look;
    int flag;

    for (i = 0; i < LENGTHS; ++i) {
        size_t n = lengths[i];

        fill(out, n, rank + 5 * i);
        memset(in, 0, n);
        MPI_Issend(out, n, MPI_BYTE, next(), 7, MPI_COMM_WORLD, &request);
        for (look = 0; look < 20; ++look) {
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        /* Whoever has this may post the receive. */
        MPI_Sendrecv(NULL, 0, MPI_BYTE, next(), 8, NULL, 0, MPI_BYTE, previous(), 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Recv(in, n, MPI_BYTE, previous(), 7, MPI_COMM_WORLD, &status);
        received(&status, previous(), 7, n);
        CHECK_PATTERN(in, n, previous() + 5 * i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    part("synchronous sends");
}

static void truncation_and_cancel(void)
{
    MPI_Request request;
    MPI_Status status;
    int error, class, flag;
    unsigned i;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 2; i < LENGTHS; ++i) {
        MPI_Isend(out, lengths[i], MPI_BYTE, next(), 9, MPI_COMM_WORLD, &request);
        error = MPI_Recv(in, lengths[i] / 2, MPI_BYTE, previous(), 9, MPI_COMM_WORLD, &status);
        MPI_Error_class(error, &class);
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Irecv(in, 10, MPI_BYTE, previous(), 10, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    part("truncation and cancel");
}

/* Every second column of a matrix, sent and received as such, or received as plain integers. */
static void datatypes(void)
{
    enum { ROWS = 500, COLUMNS = 40, TAKEN = COLUMNS / 2 * ROWS };
    static int matrix[ROWS][COLUMNS], other[ROWS][COLUMNS], plain[TAKEN];
    MPI_Datatype columns;
    MPI_Request request;
    int r, c;

    MPI_Type_vector(ROWS * COLUMNS / 2, 1, 2, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    for (r = 0; r < ROWS; ++r) {
        for (c = 0; c < COLUMNS; ++c) {
            matrix[r][c] = rank * 1000000 + r * COLUMNS + c;
            other[r][c] = -1;
        }
    }
    MPI_Isend(matrix, 1, columns, next(), 11, MPI_COMM_WORLD, &request);
    MPI_Recv(other, 1, columns, previous(), 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(matrix, 1, columns, next(), 12, MPI_COMM_WORLD, &request);
    MPI_Recv(plain, TAKEN, MPI_INT, previous(), 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (r = 0; r < ROWS; ++r) {
        for (c = 0; c < COLUMNS; ++c) {
            int theirs = previous() * 1000000 + r * COLUMNS + c;

            CHECK_EQ(other[r][c], c % 2 ? -1 : theirs);
            if (c % 2 == 0) {
                CHECK_EQ(plain[(r * COLUMNS + c) / 2], theirs);
            }
        }
    }
    MPI_Type_free(&columns);
    part("datatypes");
}

static void to_oneself(void)
{
    MPI_Request requests[2];
    unsigned i;

    for (i = 0; i < LENGTHS; ++i) {
        fill(out, lengths[i], rank + 7 * i);
        memset(in, 0, lengths[i]);
        MPI_Isend(out, lengths[i], MPI_BYTE, rank, 13, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in, lengths[i], MPI_BYTE, rank, 13, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK_PATTERN(in, lengths[i], rank + 7 * i);
    }
    part("messages to oneself");
}

/* The longest of all, both neighbours at once. */
static void longest(void)
{
    static const size_t sizes[] = {16777217, 67108864};
    char *to = room(sizes[1]), *from = room(sizes[1]);
    MPI_Status status;
    unsigned i;

    for (i = 0; i < 2; ++i) {
        fill(to, sizes[i], rank + 11 * i);
        MPI_Sendrecv(to, sizes[i], MPI_BYTE, next(), i, from, sizes[1], MPI_BYTE, previous(), i, MPI_COMM_WORLD,
                     &status);
        received(&status, previous(), i, sizes[i]);
        CHECK_PATTERN(from, sizes[i], previous() + 11 * i);
    }
    free(to);
    free(from);
    part("64 MiB");
}

/* All pairs both ways at once, by requests that are started again. */
static void persistent(void)
{
    enum { N = 150000, ROUNDS = 5 };
    MPI_Request *requests = malloc(2 * ranks * sizeof(*requests));
    char *all_in = room((size_t)N * ranks), *all_out = room((size_t)N * ranks);
    int peer, round;

    for (peer = 0; peer < ranks; ++peer) {
        MPI_Recv_init(all_in + (size_t)peer * N, N, MPI_BYTE, peer, 14, MPI_COMM_WORLD, &requests[2 * peer]);
        MPI_Send_init(all_out + (size_t)peer * N, N, MPI_BYTE, peer, 14, MPI_COMM_WORLD, &requests[2 * peer + 1]);
    }
    for (round = 0; round < ROUNDS; ++round) {
        memset(all_in, 0, (size_t)N * ranks);
        for (peer = 0; peer < ranks; ++peer) {
            fill(all_out + (size_t)peer * N, N, rank * 16 + peer + round);
        }
        MPI_Startall(2 * ranks, requests);
        MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
        for (peer = 0; peer < ranks; ++peer) {
            CHECK_PATTERN(all_in + (size_t)peer * N, N, peer * 16 + rank + round);
        }
    }
    for (peer = 0; peer < 2 * ranks; ++peer) {
        MPI_Request_free(&requests[peer]);
    }
    free(all_in);
    free(all_out);
    free(requests);
    part("all pairs at once");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, MPI_THREAD_SINGLE);
    out = room(LONGEST);
    in = room(LONGEST);
    ring();
    wildcards();
    order();
    probes();
    synchronous();
    truncation_and_cancel();
    datatypes();
    to_oneself();
    longest();
    persistent();
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
