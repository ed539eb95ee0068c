#!/usr/bin/python3
"""`make package`: the .deb and the tarball work on a Debian 12 that has libc, libstdc++ and libgcc, and nothing else.

Each is unpacked into a folder with the files of these three packages, which becomes the root of a process without network. Where
chroot is not permitted, tapc runs from the folder with an empty environment, and every library must come from the folder.
"""
import re
import shutil
from pathlib import Path

from tapc import *
from tapc import TAPC

PROGRAM = (ROOT / "examples/embed/scale.tap").read_text()
BASE = ("libc6", "libgcc-s1", "libstdc++6")  # every Debian 12 has them


def base_files():
    """The shared libraries of BASE, by the names under which they are looked for."""
    listed = subprocess.run(["dpkg", "-L", *BASE], capture_output=True, text=True, check=True).stdout.splitlines()
    return [Path(line) for line in listed if re.search(r"\.so\.\d+$", line) and "/gconv/" not in line]


class Packages(TapcTest):
    def call(self, *words, code=0, **options):
        result = subprocess.run(words, capture_output=True, text=True, timeout=280, **options)
        self.assertEqual(result.returncode, code, f"{words}:\n{result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def package(self, generator, ending):
        self.call("cpack", "--config", str(TAPC.parents[1] / "CPackConfig.cmake"), "-G", generator, "-B", str(self.folder / generator))
        found = list((self.folder / generator).glob("*" + ending))
        self.assertEqual(len(found), 1)
        return found[0]

    def root(self):
        root = self.folder / "root"
        for path in base_files():
            there = root / path.relative_to("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, there)
            there.chmod(0o755)
        for folder in ("home", "proc", "tmp"):
            (root / folder).mkdir()
        return root

    def in_root(self, root, program, *words, code=0):
        """Runs a program of the root with the folder `home` as the current one."""
        enter = "import os, sys; os.chroot(sys.argv[1]); os.chdir('/home'); os.execve(sys.argv[2], sys.argv[2:], {'HOME': '/home'})"
        mount = ["sh", "-c", 'mount --rbind /proc "$0/proc" && exec "$@"', str(root)]  # programs find their own folder by it
        for namespace in (["unshare", "--net", "--mount"], ["unshare", "--net", "--mount", "--map-root-user"]):
            if subprocess.run([*namespace, *mount, "chroot", str(root), "/usr/bin/ldd"], capture_output=True).returncode == 127:
                return self.call(*namespace, *mount, "/usr/bin/python3", "-c", enter, str(root), program, *words, code=code)
        print("no chroot here: tapc runs from its folder, with an empty environment", file=sys.stderr)
        loaded = self.call(str(root) + program, env={"LD_TRACE_LOADED_OBJECTS": "1"})
        for name, path in re.findall(r"(\S+) => (\S+)", loaded):
            if not re.match(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+)\.so\.", name):
                self.assertTrue(path.startswith(str(root)), f"{name} comes from {path}")
        return self.call(str(root) + program, *words, code=code, env={"HOME": str(root / "home")}, cwd=root / "home")

    def use(self, root, prefix):
        """Checks, runs and compiles a program in the root, and runs what was compiled."""
        tapc = prefix + "/bin/tapc"
        (root / "home/scale.tap").write_text(PROGRAM)
        (root / "home/wrong.tap").write_text("program p(X: f32[4]) -> (Y: f32[4]) { Y[i] = X[i + 1] }\n")
        self.assertRegex(self.in_root(root, tapc, "--version"), r"^tapc \d")
        self.in_root(root, tapc, "check", "scale.tap")
        self.assertIn("at i=3 this reads `X[4]`", self.in_root(root, tapc, "check", "wrong.tap", code=1))
        inputs = ("-i", "X=ones", "-i", "factor=3")
        self.assertIn("24.0", self.in_root(root, tapc, "run", "scale.tap", *inputs))
        self.in_root(root, tapc, "compile", "scale.tap", "-o", "scale.so", "--emit=exe,py")
        self.assertIn("24.0", self.in_root(root, tapc, "run", "scale.json", *inputs))
        self.in_root(root, tapc, "run", "scale.tap", *inputs, "-o", "Y=@X.npy", "-o", "total=@factor.npy")  # of the right shapes
        self.in_root(root, "/home/scale", "-i", "X=@X.npy", "-i", "factor=@factor.npy", "-o", "total=@total.npy")
        self.in_root(root, tapc, "verify", "scale.tap", "--certificate", "scale.cert", "--stages", "scale")
        stages = sorted(path.name for path in (root / "home").glob("scale.*.ir"))
        self.assertIn("proved", self.in_root(root, prefix + "/bin/tapc-check", stages[0], "scale.cert", *stages[1:]))

    def test_the_deb(self):
        deb = self.package("DEB", ".deb")
        fields = self.call("dpkg-deb", "--info", str(deb))
        needed = re.search(r"Depends: (.*)", fields)[1]
        self.assertEqual(sorted(re.findall(r"([\w+-]+) \(", needed)), sorted(BASE))
        root = self.root()
        self.call("dpkg-deb", "-x", str(deb), str(root))
        for path in ("bin/tapc-check", "lib/cmake/Tapestry/TapestryConfig.cmake", "share/man/man1/tapc.1", "share/tapestry/runtime/embedded/executor.cpp"):
            self.assertTrue((root / "usr" / path).is_file(), path)
        for library in (root / "usr/lib/tapestry/lib").iterdir():
            self.assertNotRegex(library.name, r"^lib(c|stdc\+\+)\.so")
        notices = {path.name for path in (root / "usr/share/doc/tapestry/copyright").iterdir()}
        self.assertLess({"llvm-22-dev", "libisl-dev", "libz3-4"}, notices)
        self.use(root, "/usr")

    def test_the_tarball(self):
        tarball = self.package("TGZ", ".tar.gz")
        root = self.root()
        (root / "opt").mkdir()
        self.call("tar", "xf", str(tarball), "-C", str(root / "opt"))
        unpacked = next((root / "opt").iterdir())
        unpacked.rename(root / "opt/somewhere else")  # it may lie anywhere
        self.use(root, "/opt/somewhere else")


if __name__ == "__main__":
    unittest.main()
