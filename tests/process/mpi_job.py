"""Jobs of MPI processes, for the tests that start them. TAP_MPI=mpich: by MPICH instead of Open MPI."""
import contextlib
import shutil
from pathlib import Path

from tapc import *

LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
          "OMPI_MCA_mpi_yield_when_idle": "1", "TAPC_SELF_CHECK": "thorough"}
MPIRUN = shutil.which(f"mpirun.{os.environ.get('TAP_MPI', 'openmpi')}")


LAUNCHERS = ("orterun", "mpiexec.hydra", "hydra_pmi_proxy")


def processes_in(folder):
    """The processes that work in a test's folder and have not ended, other than launchers: each with its parent. By their folder, since
    MPICH's launcher starts them in sessions of their own."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if state != "Z" and (stat.parent / "cwd").readlink() == folder and (stat.parent / "exe").readlink().name not in LAUNCHERS:
                found.append((int(stat.parent.name), int(parent)))
    return sorted(found)


class MpiTest(TapcTest):
    def environment(self, more=None):
        return {**LAUNCH, **SANITIZER, "PATH": os.environ["PATH"], "HOME": str(self.folder), "TMPDIR": str(self.folder), **(more or {})}

    def job(self, ranks, *arguments, timeout=60, data_kib=None, environment=None):
        """All processes of a job; whatever they print. `data_kib` limits the memory of each."""
        limited = ["sh", "-c", f'ulimit -d {data_kib}; exec "$@"', "sh"] if data_kib else []
        program = [] if "--wdir" in arguments else [*limited, str(TAPC)]
        command = [MPIRUN, "-n", str(ranks), *program, *map(str, arguments)]
        process = subprocess.Popen(command, cwd=self.folder, env=self.environment(environment), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=timeout * SLOWNESS)
        except subprocess.TimeoutExpired:
            running = len(processes_in(self.folder))
            os.killpg(process.pid, signal.SIGKILL)
            for pid, _ in processes_in(self.folder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            out, err = process.communicate()
            # Of a hundred jobs that abort, Open MPI 4.1's launcher fails to notice the end of one.
            if running:
                self.fail(f"{running} of {ranks} processes did not end: {arguments}")
        return subprocess.CompletedProcess(command, process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


__all__ = ["LAUNCH", "MPIRUN", "MpiTest", "processes_in", "shutil"]
