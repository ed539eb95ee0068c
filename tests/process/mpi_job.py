"""Jobs of MPI processes, for the tests that start them. TAP_MPI=mpich: by MPICH instead of Open MPI."""
import contextlib
import shutil
from pathlib import Path

from tapc import *

LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
          "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
          "OMPI_MCA_mpi_yield_when_idle": "1", "TAPC_SELF_CHECK": "thorough"}
MPIRUN = shutil.which(f"mpirun.{os.environ.get('TAP_MPI', 'openmpi')}")


def still_running(launcher):
    """The number of processes of the launcher's session, other than itself, that have not ended."""
    running = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            running += session == str(launcher) and state != "Z" and stat.parent.name != str(launcher)
    return running


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
            running = still_running(process.pid)
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            # Of a hundred jobs that abort, Open MPI 4.1's launcher fails to notice the end of one.
            if running:
                self.fail(f"{running} of {ranks} processes did not end: {arguments}")
        return subprocess.CompletedProcess(command, process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


__all__ = ["LAUNCH", "MPIRUN", "MpiTest", "shutil"]
