"""jucx and the Go bindings, which are in upstream's source tree, with their own tests.

Debian's archive of upstream's source has jucx 1.13.1, built against libucx-dev. A newer release of both is built from the
checkout `ucx` of $FERRUCX_CLIENT_SOURCES (see sources.py) against upstream's wheel: no package registry has it. The library
below is the only thing that is exchanged: LD_LIBRARY_PATH is what Java's and Go's programs find it by."""
import functools
import os
import pathlib
import re
import shutil

from archives import UPSTREAM, unpacked
from case import TARGET, Case, need
from packages import upstream
from python import PROGRAMS
from sources import BUILT, VERSIONS, prepared, steps

# Tests of jucx by class. testCatchJVMSignal asks for a crash.
JAVA = {
    "UcpContextTest": ["testCreateSimpleUcpContext", "testCreateUcpContextRdma", "testConfigMap"],
    "UcpWorkerTest": ["testSingleWorker", "testMultipleWorkersWithinSameContext",
                      "testMultipleWorkersFromMultipleContexts", "testGetWorkerAddress", "testWorkerArmAndGetEventFD",
                      "testWorkerSleepWakeup", "testFlushWorker", "testTagProbe"],
    "UcpMemoryTest": ["testMmapFile", "testGetRkey", "testRemoteKeyUnpack", "testExportedMkey"],
    "UcpRequestTest": ["testCancelRequest"],
    "UcpListenerTest": ["testConnectionHandler"],
    "UcpEndpointTest": ["testConnectToListenerByWorkerAddr", "testGetAddress", "testGetNB", "testPutNB", "testSendRecv",
                        "testRecvAfterSend", "testBufferOffset", "testFlushEp", "testRecvSize", "testStreamingAPI",
                        "testIovOperations", "testEpErrorHandler", "testActiveMessages"],
}
NEWER = {"testGetAddress", "testExportedMkey", "testWorkerArmAndGetEventFD"}  # than the release that Debian has
JARS = "/usr/share/java/junit4.jar:/usr/share/java/hamcrest-all.jar"
# The tests name one class of a GPU library, which they call where there is a GPU only.
NO_GPU = """package ai.rapids.cudf;
public class Cuda {
    public static void setDevice(int device) { throw new UnsupportedOperationException(); }
    public static void deviceSynchronize() { throw new UnsupportedOperationException(); }
}
"""
GO_TESTS = 7
# It ends so soon that nobody may have looked at its maps: the loader says what it takes.
TOLD = r"""ldd "$0" | sed -n "s|.* => \(/.*/libuc[ptsm][^ ]*\) .*|library $$ \1|p"; exec "$0" -test.v"""


def built(folder, source, version, flags, library):
    """The folder of the classes, with the native library by the name that Java looks for there."""
    need("openjdk-17-jdk-headless", "junit4", "libhamcrest-java", "g++")
    classes, headers = folder / "classes", folder / "headers"
    stub = folder / "stub/ai/rapids/cudf/Cuda.java"
    stub.parent.mkdir(parents=True, exist_ok=True)
    stub.write_text(NO_GPU)
    code = source / "bindings/java/src"
    java = pathlib.Path(os.path.realpath(shutil.which("javac"))).parent.parent
    # The native part is written with headers that are not installed: those of the source tree.
    native = ["g++", "-std=gnu++11", "-O1", "-shared", "-fPIC", "-DUCS_MAX_LOG_LEVEL=UCS_LOG_LEVEL_DEBUG",
              f"-DPACKAGE_VERSION=\"{version}\"", f"-I{headers}", f"-I{java}/include", f"-I{java}/include/linux",
              f"-I{source / 'src'}", *flags, *sorted((code / "main/native").glob("*.cc")), "-lucp", "-luct", "-lucs", "-lucm",
              "-o", classes / library]
    main, test = (sorted((code / part / "java").rglob("*.java")) for part in ("main", "test"))
    steps(folder, (folder, ["javac", "-nowarn", "-h", headers, "-d", classes, *main]),
          (folder, ["javac", "-nowarn", "-cp", f"{classes}:{JARS}", "-d", classes, stub, PROGRAMS / "OneTest.java", *test]),
          (folder, native), stamp="jucx-complete")
    return classes


@functools.cache
def jucx(version):
    if version == UPSTREAM[1]:
        need("libucx-dev")
        return built(BUILT / f"jucx-{version}", unpacked(*UPSTREAM), version, [], "libjucx.so")
    folder, lib = prepared("ucx"), pathlib.Path(upstream())
    return built(folder, folder / "source", version, [f"-I{lib.parent / 'include'}", f"-L{lib}"], "libjucx_amd64.so")


@functools.cache
def go():
    """The program with the tests."""
    need("golang-go", "gcc")
    folder, lib = prepared("ucx"), pathlib.Path(upstream())
    build = ["env", f"CGO_CFLAGS=-I{lib.parent / 'include'}", f"CGO_LDFLAGS=-L{lib} -lucp -lucs", "GOFLAGS=-mod=mod",
             "GOPROXY=off", f"GOCACHE={TARGET.resolve() / 'clients/go-cache'}", "go", "test", "-c", "-o", folder / "go-tests"]
    steps(folder, (folder / "source/bindings/go/tests", build), stamp="go-complete")
    return folder / "go-tests"


def cases():
    names = [(group, test) for group, tests in JAVA.items() for test in tests]
    for version, env in [(UPSTREAM[1], {}), (VERSIONS["ucx"], lambda: {"LD_LIBRARY_PATH": upstream()})]:
        for group, test in names:
            if version == UPSTREAM[1] and test in NEWER:
                continue
            yield Case("jucx", version, f"{group}.{test}", "all", 1,
                       lambda version=version, group=group, test=test: ["java", "-cp", f"{jucx(version)}:{JARS}", "OneTest",
                                                                        f"org.openucx.jucx.{group}", test],
                       lambda text: "" if re.search(r"^1 run, 0 failed$", text, re.M) else "failed", env=env, limit=60, long=True)
    for tls in ("all", "tcp", "posix,self"):
        yield Case("Go bindings", VERSIONS["ucx"], "their tests", tls, 1, lambda: ["sh", "-c", TOLD, go()],
                   lambda text: "" if text.count("--- PASS: ") == GO_TESTS else "not all pass",
                   env=lambda: {"LD_LIBRARY_PATH": upstream()}, limit=60, long=True)
