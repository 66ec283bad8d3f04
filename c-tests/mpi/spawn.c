/* Processes that are started by the job: twice two children, talked to, merged with, left. */
#include "across.h"

enum { CHILDREN = 2 };

/* Both sides: messages, a sum over all, the end. */
static void together(MPI_Comm other, int parent)
{
    MPI_Comm all;
    int peers, me, members, sum;

    MPI_Comm_remote_size(other, &peers);
    all_to_all(other, parent, peers, !parent);
    MPI_Intercomm_merge(other, !parent, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &members);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQ(sum, members * (members - 1) / 2);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv)
{
    int i, errors[CHILDREN];
    MPI_Comm parent, children;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        CHECK_EQ(ranks, CHILDREN);
        together(parent, 0);
        MPI_Finalize();
        return 0;
    }
    for (i = 0; i < 2; ++i) {
        MPI_Comm_spawn(argv[0], argv + 1, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, errors);
        together(children, 1);
    }
    part("children");
    MPI_Finalize();
    return 0;
}
