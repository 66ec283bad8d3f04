"""Programs of test/apps in upstream's source tree, of the release that Debian has the archive of: those that can be compiled
with the installed headers alone. `test_memtrack_limit`, `test_ucp_dlopen` and `sockaddr` include others, io_demo is in
Debian's ucx-utils."""
import functools
import re

from archives import UPSTREAM, unpacked
from case import Case, need
from sources import BUILT, steps

THREADS = 8
# Program, flags of the compiler, arguments, what it prints when all is well.
APPS = [
    ("test_init_mt", ["-fopenmp"], [], rf"finished {THREADS} threads"),
    ("test_link_map", [], [], r"^SUCCESS$"),
    ("test_ucp_config", [], ["-c", "TLS=tcp,self"], r"component \d+  :  tcp[\s\S]*^UCX_LOG_LEVEL="),
    ("test_ucs_dlopen", ["-DLIB_PATH=libucs.so.0"], [], r"^done$"),
    ("test_dlopen_cfg_print", ["-DUCS_LIB_PATH=libucs.so.0", "-DUCT_LIB_PATH=libuct.so.0"], [], r"^done$"),
    ("profiling/ucx_profiling", [], [], r"^PI estimation is 3\.0418396189$"),
    ("uct_info/uct_info", [], [], r"Transport: self[\s\S]*Transport: tcp[\s\S]*Transport: posix"),
]
# It ends so soon that nobody may have looked at its maps: the loader says what it takes.
TOLD = r"""log=$(mktemp); LD_DEBUG=libs "$0" "$@" 2> "$log"; status=$?
sed -n "s|.*calling init: \(/.*/libuc[ptsm]\.so.*\)|library $$ \1|p" "$log"; rm "$log"; exit $status"""


@functools.cache
def compiled(name, flags):
    need("gcc", "libucx-dev")
    program = BUILT / f"apps-{UPSTREAM[1]}" / name.rpartition("/")[2]
    program.parent.mkdir(parents=True, exist_ok=True)
    source = unpacked(*UPSTREAM) / f"test/apps/{name}.c"
    # Two load and unload the libraries themselves: they must not be linked with them.
    steps(program.parent, (program.parent, ["gcc", "-O1", "-w", *flags, "-o", program, source, "-Wl,--as-needed", "-lucp",
                                            "-luct", "-lucs", "-lm"]), stamp=f"{program.name}-complete")
    return program


def cases():
    for name, flags, arguments, says in APPS:
        def command(name=name, flags=flags, arguments=arguments):
            return ["sh", "-c", TOLD, compiled(name, tuple(flags)), *arguments]
        yield Case("upstream's test/apps", UPSTREAM[1], name, "all", 1, command,
                   lambda text, says=says: "" if re.search(says, text, re.M) else f"does not print {says}",
                   env={"OMP_NUM_THREADS": str(THREADS)}, long=True)
