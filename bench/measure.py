"""What a command, or a request to a server, costs. CPU time stands beside the clock's: other work
of the machine moves it less.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

MB = 1e6


class CommandError(Exception):
    """A command that is measured has failed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a whole command: ``peak`` is its largest process's memory, in MB."""

    wall: float
    cpu: float
    peak: float


# A process begins with the peak memory of the one that started it, and the bench is large: a small
# one starts what is measured.
_LAUNCH: Final = """
import json, os, sys, time
start = time.perf_counter()
process = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(process, 0)
wall = time.perf_counter() - start
with open(sys.argv[1], "w") as file:
    json.dump([wall, used.ru_utime + used.ru_stime, used.ru_maxrss], file)
sys.exit(0 if status == 0 else 1)
"""


def run(command: Sequence[str], environment: Mapping[str, str], output: Path) -> Cost:
    """Run ``command``, which begins with a path, to its end. What it prints goes to the file
    ``output``.
    """
    measured = output.with_suffix(".cost")
    launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(measured), *command]
    with output.open("wb") as file:
        done = subprocess.run(
            launch, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
    if done.returncode:
        said = output.read_text(errors="replace")[-2000:]
        raise CommandError(f"{command[0]} failed:\n{said}")
    wall, cpu, kilobytes = json.loads(measured.read_text())
    measured.unlink()
    return Cost(wall, cpu, kilobytes * 1024 / MB)


def cpu_seconds(process: int) -> float:
    """What the threads of a process have used so far."""
    files = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


def peak_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / MB


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests of one sort, in milliseconds: the clock's median, and the server's CPU time."""

    wall: float
    cpu: float
    kilobytes: float


def ask(client: httpx.Client, server: int, addresses: Iterable[str]) -> Asked:
    """Ask for each address once; ``server`` is the process that answers."""
    times, sizes = [], []
    used = cpu_seconds(server)
    for address in addresses:
        start = time.perf_counter()
        response = client.get(address)
        times.append((time.perf_counter() - start) * 1000)
        response.raise_for_status()
        sizes.append(len(response.content))
    cpu = (cpu_seconds(server) - used) * 1000 / len(times)
    return Asked(statistics.median(times), cpu, statistics.median(sizes) / 1000)


def joined(parts: Sequence[Asked]) -> Asked:
    """Several rounds of the same requests."""
    return Asked(
        statistics.median(part.wall for part in parts),
        statistics.mean(part.cpu for part in parts),
        statistics.median(part.kilobytes for part in parts),
    )


def wait_for(client: httpx.Client, address: str, process: "subprocess.Popen[bytes]") -> None:
    """Wait until a server that was just started answers."""
    while True:
        try:
            client.get(address).raise_for_status()
        except httpx.HTTPError:
            if process.poll() is not None:
                raise
            time.sleep(0.05)
        else:
            return
