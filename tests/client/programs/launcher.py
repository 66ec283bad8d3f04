"""Runs the command of a launcher of ranks."""
import signal
import subprocess


def run(command, limit, **options):
    """Its exit status, `None` if it hangs, and what it has said."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", **options)
    try:
        text, _ = process.communicate(timeout=limit)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        # A launcher ends its processes when it is asked to end.
        process.send_signal(signal.SIGTERM)
    try:
        text, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
    return None, text
