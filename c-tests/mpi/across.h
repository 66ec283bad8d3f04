/* Messages between the two sides of an intercommunicator. */
#ifndef FERRUCX_ACROSS_H
#define FERRUCX_ACROSS_H

#include "mpi_check.h"

/* Short and long ones with each of `peers`; `mine` and `theirs` are the numbers of the sides. */
static inline void all_to_all(MPI_Comm comm, int mine, int peers, int theirs)
{
    enum { LONG = 500000 };
    char *out = room(LONG), *in = room(LONG);
    MPI_Request request;
    MPI_Status status;
    int peer, n, which;

    for (which = 0; which < 2; ++which) {
        n = which ? LONG : 64;
        for (peer = 0; peer < peers; ++peer) {
            fill(out, n, mine * 10 + which);
            MPI_Isend(out, n, MPI_BYTE, peer, which, comm, &request);
            MPI_Recv(in, LONG, MPI_BYTE, peer, which, comm, &status);
            received(&status, peer, which, n);
            CHECK_PATTERN(in, n, theirs * 10 + which);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    free(out);
    free(in);
}

#endif
