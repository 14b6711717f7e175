"""Runs a program on a pseudo-terminal of its own.

Arguments: columns, rows, then the program with its arguments. Standard output is what the program writes to the
terminal; standard input takes lines of JSON: {"keys": text}, {"resize": [columns, rows]}, {"signal": number}. When the program has ended, one line of JSON on standard error tells how it left the terminal.
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

deadline = time.monotonic() + 90


def set_size(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


columns, rows = int(sys.argv[1]), int(sys.argv[2])
master, slave = pty.openpty()
set_size(slave, columns, rows)
child = os.fork()
if child == 0:
    os.close(master)
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.execv(sys.argv[3], sys.argv[3:])

# The other end stays open here, so that how the program left it can be read.
pending = b""
code = None
while True:
    ready, _, _ = select.select([0, master] if pending is not None else [master], [], [], 0.05)
    if master in ready:
        data = os.read(master, 65536)
        os.write(1, data)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            os.kill(child, signal.SIGKILL)
            pending = None
        else:
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                if "keys" in order:
                    os.write(master, order["keys"].encode())
                if "resize" in order:
                    set_size(slave, *order["resize"])
                if "signal" in order:
                    os.kill(child, order["signal"])
    if code is None:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
        elif time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
    elif master not in ready:
        break

def is_cooked():
    flags = termios.tcgetattr(slave)[3]
    return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)


# After a crash it is another process that puts the modes back: a moment later.
patience = time.monotonic() + 5
while not is_cooked() and time.monotonic() < patience:
    time.sleep(0.05)
print(json.dumps({"code": code, "cooked": is_cooked()}), file=sys.stderr)
