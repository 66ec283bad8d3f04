/* Two halves of a job meet by the name of a port. */
#include "across.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    int upper, peers;
    MPI_Comm half, other;

    start(&argc, &argv, MPI_THREAD_SINGLE);
    upper = rank >= ranks / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (upper) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other);
    } else {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other);
    }
    MPI_Comm_remote_size(other, &peers);
    CHECK_EQ(peers, upper ? ranks / 2 : (ranks + 1) / 2);
    all_to_all(other, upper, peers, !upper);
    MPI_Comm_disconnect(&other);
    if (rank == 0) {
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
    part("halves");
    MPI_Finalize();
    return 0;
}
