/* Communicators made in all ways, by all ranks and by some of them: messages of one never arrive in another, and
 * each gives right results. */
#include "mpi_check.h"

/* A ring of short and long messages, and a sum. */
static void use(MPI_Comm comm)
{
    enum { LONG = 100000 };
    int me, members, right, left, n, sum, which;
    char *out = room(LONG), *in = room(LONG);
    MPI_Status status;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    right = (me + 1) % members;
    left = (me + members - 1) % members;
    for (which = 0; which < 2; ++which) {
        n = which ? LONG : 40;
        fill(out, n, me);
        MPI_Sendrecv(out, n, MPI_BYTE, right, 3, in, LONG, MPI_BYTE, anyone(left), MPI_ANY_TAG, comm, &status);
        received(&status, left, 3, n);
        CHECK_PATTERN(in, n, left);
    }
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, members * (members - 1) / 2);
    free(out);
    free(in);
}

/* The same tag at the same time in several: each message is found in its own. */
static void kept_apart(void)
{
    enum { COMMS = 30 };
    MPI_Comm comms[COMMS];
    MPI_Request requests[2 * COMMS];
    int out[COMMS], in[COMMS], i, flag;

    for (i = 0; i < COMMS; ++i) {
        MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]);
    }
    for (i = 0; i < COMMS; ++i) {
        out[i] = rank * 100 + i;
        MPI_Isend(&out[i], 1, MPI_INT, next(), 1, comms[i], &requests[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(previous(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    for (i = COMMS - 1; i >= 0; --i) {
        MPI_Irecv(&in[i], 1, MPI_INT, anyone(previous()), 1, comms[i], &requests[COMMS + i]);
    }
    MPI_Waitall(2 * COMMS, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < COMMS; ++i) {
        CHECK_EQ(in[i], previous() * 100 + i);
        MPI_Comm_free(&comms[i]);
    }
    part("kept apart");
}

static void split(void)
{
    MPI_Comm comm, again;
    MPI_Request request;
    int members;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_size(comm, &members);
    CHECK_EQ(members, rank % 2 ? ranks / 2 : (ranks + 1) / 2);
    use(comm);
    MPI_Comm_idup(comm, &again, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(again);
    MPI_Comm_free(&again);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank ? MPI_UNDEFINED : 1, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0));
    if (rank == 0) {
        use(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use(comm);
    MPI_Comm_free(&comm);
    part("split");
}

/* Of a group: by all ranks, and by the members only. */
static void groups(void)
{
    MPI_Group world, without;
    MPI_Comm comm;
    int last = ranks - 1, i;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &last, &without);
    MPI_Comm_create(MPI_COMM_WORLD, without, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == last));
    if (rank != last) {
        use(comm);
        MPI_Comm_free(&comm);
        for (i = 0; i < 10; ++i) {
            MPI_Comm_create_group(MPI_COMM_WORLD, without, i, &comm);
            use(comm);
            MPI_Comm_free(&comm);
        }
    }
    MPI_Group_free(&without);
    MPI_Group_free(&world);
    part("groups");
}

/* Two halves that talk to each other, and become one. */
static void between(void)
{
    MPI_Comm half, other, both;
    int upper = rank >= (ranks + 1) / 2, me, theirs, peers, value, sum, i;

    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : (ranks + 1) / 2, 4, &other);
    MPI_Comm_rank(other, &me);
    MPI_Comm_remote_size(other, &peers);
    CHECK_EQ(peers, upper ? (ranks + 1) / 2 : ranks / 2);
    for (i = 0; i < peers; ++i) {
        value = 1000 * upper + me;
        MPI_Sendrecv(&value, 1, MPI_INT, i, 0, &theirs, 1, MPI_INT, i, 0, other, MPI_STATUS_IGNORE);
        CHECK_EQ(theirs, 1000 * !upper + i);
    }
    value = rank;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, other);
    for (i = 0, value = 0; i < peers; ++i) {
        value += upper ? i : (ranks + 1) / 2 + i;
    }
    CHECK_EQ(sum, value);
    value = upper ? -1 : 77;
    MPI_Bcast(&value, 1, MPI_INT, upper ? 0 : me ? MPI_PROC_NULL : MPI_ROOT, other);
    CHECK_EQ(value, 77);
    MPI_Intercomm_merge(other, upper, &both);
    use(both);
    MPI_Comm_rank(both, &me);
    CHECK_EQ(me, rank);
    MPI_Comm_free(&both);
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
    part("between halves");
}

static void topologies(void)
{
    int size = ranks, round = 1, left, right, got[2], mine = rank, source = previous(), target = next();
    MPI_Comm comm;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &round, 0, &comm);
    MPI_Cart_shift(comm, 0, 1, &left, &right);
    CHECK_EQ(left, previous());
    CHECK_EQ(right, next());
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK_EQ(got[0], previous());
    CHECK_EQ(got[1], next());
    use(comm);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoall(&mine, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK_EQ(got[0], previous());
    use(comm);
    MPI_Comm_free(&comm);
    part("topologies");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, MPI_THREAD_SINGLE);
    use(MPI_COMM_WORLD);
    use(MPI_COMM_SELF);
    part("world and self");
    kept_apart();
    split();
    groups();
    between();
    topologies();
    MPI_Finalize();
    return 0;
}
