"""Commands of tapc without the time that loading it takes: tapc_forks (tapc_forks.cpp) has done that, and forks for each.

    forks.run([".../tapc", "check", "a.tap"], cwd=folder, env=…, timeout=20)      as subprocess.run, as far as it goes

tapc_forks is used if it is in the folder of tapc and as new as the libraries that both are linked from. Otherwise each command starts
tapc itself, as do those for which that makes a difference: with an environment for the loader, or with work between fork and exec."""
import array
import atexit
import os
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

LOADER = ("LD_", "GLIBC_", "MALLOC_")  # environment that is read when a program starts
SANITIZED = ("asan", "tsan")  # a build whose address space has no limit
PACKET = 1 << 16
_servers = {}  # of each thread


def run(words, cwd=None, env=None, timeout=None, memory=None, before=None, text=False, errors="strict",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **others):
    """A CompletedProcess. `memory` limits the address space; `before` runs between fork and exec; `others` go to subprocess.run."""
    environment = os.environ if env is None else env
    if any(name in str(words[0]) for name in SANITIZED):
        memory = None
    result = None
    if not before and not others and None not in (stdin, stdout, stderr) and not any(name.startswith(LOADER) for name in environment):
        server = _server_of(Path(words[0]))
        result = server and server.run(words, cwd or os.getcwd(), environment, memory, timeout, (stdin, stdout, stderr))
    if not result:
        def prepare():
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            if before:
                before()
        result = subprocess.run(words, cwd=cwd, env=env, timeout=timeout, stdin=stdin, stdout=stdout, stderr=stderr,
                                preexec_fn=prepare, **others)
    if text:
        for name in ("stdout", "stderr"):
            if (written := getattr(result, name)) is not None:
                setattr(result, name, written.decode(errors=errors))
    return result


def _server_of(tapc):
    key = tapc, threading.get_ident()
    if key not in _servers:
        program = tapc.with_name("tapc_forks")
        usable = tapc.name == "tapc" and program.exists() and not any(name in str(tapc) for name in SANITIZED)
        if usable:  # after `ninja tapc`, tapc_forks is an older program
            libraries = (library.stat().st_mtime for library in tapc.parent.parent.glob("libtap_*.a"))
            usable = program.stat().st_mtime >= max(libraries, default=0)
        _servers[key] = _Server(program) if usable else None
    return _servers[key]


class _Server:
    """Runs one command at a time. Ends with this program, whose socket it reads."""

    def __init__(self, program):
        self.program = program
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self.process = subprocess.Popen([program, str(other.fileno())], pass_fds=[other.fileno()],
                                            stdin=subprocess.DEVNULL)
        atexit.register(self.close)

    def close(self):
        self.socket.close()
        self.process.wait()

    def run(self, words, cwd, env, memory, timeout, streams):
        """None if the command does not fit into a packet."""
        arguments = ["tapc", *(os.fspath(word) for word in words[1:])]
        strings = [cwd, str(memory or 0), str(len(arguments)), *arguments, *(f"{name}={env[name]}" for name in env)]
        strings = [os.fsencode(s) for s in strings]
        packet = b"".join(s + b"\0" for s in strings)
        if len(packet) > PACKET or any(b"\0" in s for s in strings):
            return None
        files = {}
        with open(os.devnull, "r+b") as null_device:
            def descriptor(stream, given):
                if given is subprocess.PIPE:
                    files[stream] = given = tempfile.TemporaryFile()
                elif given is subprocess.DEVNULL:
                    given = null_device
                return given if isinstance(given, int) else given.fileno()

            descriptors = array.array("i", [descriptor(k, given) for k, given in enumerate(streams)])
            self.socket.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
        child = self._number(None)
        try:
            status = self._number(timeout)
        except socket.timeout:
            os.kill(child, signal.SIGKILL)
            self._number(None)
            raise subprocess.TimeoutExpired(words, timeout) from None
        written = {stream: _all_of(file) for stream, file in files.items()}
        return subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), written.get(1), written.get(2))

    def _number(self, timeout):
        self.socket.settimeout(timeout)
        packet = self.socket.recv(4)
        if len(packet) != 4:
            raise RuntimeError(f"{self.program} has ended")
        return struct.unpack("i", packet)[0]


def _all_of(file):
    with file:
        file.seek(0)
        return file.read()
