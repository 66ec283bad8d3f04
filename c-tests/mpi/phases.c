/* Two places where MPICH (4.3, 5.0) hangs unless UCX leaves it time: receives from any source of messages that are there,
 * since MPICH notes the other half of such a receive after it has posted it, and windows whose ranks post to others in the
 * next phase while a late rank still waits for posts of this one, since MPICH counts them and compares for equality. */
#include "mpi_check.h"

enum { LENGTH = 64 * 1024, ROUNDS = 5 };

/* Each rank has sent to all others before it receives. */
static void from_anyone(void)
{
    MPI_Request *requests = calloc(ranks, sizeof(*requests));
    char *out = room(LENGTH), *in = room(LENGTH);
    MPI_Status status;
    int i, round;

    for (round = 0; round < ROUNDS; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        fill(out, LENGTH, rank * 100 + round);
        for (i = 0; i < ranks; ++i) {
            MPI_Isend(out, LENGTH, MPI_BYTE, i, round, MPI_COMM_WORLD, &requests[i]);
        }
        for (i = 0; i < ranks; ++i) {
            MPI_Recv(in, LENGTH, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK_EQ(status.MPI_TAG, round);
            CHECK_PATTERN(in, LENGTH, status.MPI_SOURCE * 100 + round);
        }
        MPI_Waitall(ranks, requests, MPI_STATUSES_IGNORE);
    }
    free(requests);
    free(out);
    free(in);
    part("from anyone");
}

static MPI_Group every_second(int first)
{
    int range[1][3] = {{first, ranks - 1, 2}};
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &group);
    MPI_Group_free(&world);
    return group;
}

/* Each rank writes its number to those of a group, whose ranks begin with `first`. */
static void phase(MPI_Win window, int first, int start_first)
{
    MPI_Group group = every_second(first);
    int to;

    if (!start_first) {
        MPI_Win_post(group, 0, window);
    }
    MPI_Win_start(group, 0, window);
    if (start_first) {
        MPI_Win_post(group, 0, window);
    }
    for (to = first; to < ranks; to += 2) {
        MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    }
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&group);
}

/* Even ranks with odd ones, then each kind among itself. */
static void posts_of_the_next_phase(void)
{
    int parity = rank % 2, i, *memory;
    MPI_Win window;

    MPI_Alloc_mem(ranks * sizeof(int), MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, ranks * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    for (i = 0; i < ranks; ++i) {
        memory[i] = -1;
    }
    MPI_Win_unlock(rank, window);
    phase(window, !parity, !parity);
    phase(window, parity, 0);
    for (i = 0; i < ranks; ++i) {
        CHECK_EQ(memory[i], i);
    }
    MPI_Win_free(&window);
    MPI_Free_mem(memory);
    part("posts of the next phase");
}

int main(int argc, char **argv)
{
    start(&argc, &argv, MPI_THREAD_SINGLE);
    from_anyone();
    posts_of_the_next_phase();
    MPI_Finalize();
    return 0;
}
