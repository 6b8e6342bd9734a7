"""Spack's recipe, for one backend; from a checkout, in whose root

    spack repo add packaging/spack
    spack dev-build hipscope@2.0.0                            # the host backend: no GPU
    spack dev-build hipscope@2.0.0 +rocm amdgpu_target=gfx942
    spack dev-build hipscope@2.0.0 +cuda cuda_arch=90

CMake downloads fast-cpp-csv-parser, one header, which Spack does not have.
"""

from spack.package import *

try:  # Spack 1.0 has them there, in its packages
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
    from spack_repo.builtin.build_systems.rocm import ROCmPackage
except ImportError:  # earlier ones in spack.package
    pass


class Hipscope(CMakePackage, CudaPackage, ROCmPackage):
    """Microbenchmarks in HIP that measure how a GPU behaves, on AMD, NVIDIA, or checked on the CPU."""

    version("2.0.0")

    variant("libraries", default=False, description="Measure the GPU vendor's libraries beside the kernels")

    conflicts("+cuda", when="+rocm", msg="hipscope is built for one backend")
    conflicts("amdgpu_target=none", when="+rocm", msg="name the GPU: amdgpu_target=gfx942")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=90")
    conflicts("+libraries", when="~cuda ~rocm", msg="the host backend has no vendor's libraries")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("cli11@2.3:")
    depends_on("nlohmann-json@3.11:")
    depends_on("fmt@9:")
    depends_on("boost +context", when="~cuda ~rocm")
    depends_on("python@3.9:", type="run")
    depends_on("py-matplotlib", type="run")
    with when("+rocm +libraries"):
        depends_on("rocprim")
        depends_on("rocblas")
        depends_on("miopen-hip")
    depends_on("cudnn", when="+cuda +libraries")

    def cmake_args(self):
        args = [
            self.define("HIPSCOPE_TESTS", False),
            self.define_from_variant("HIPSCOPE_VENDOR_LIBRARIES", "libraries"),
        ]
        if self.spec.satisfies("+rocm"):
            args += [
                self.define("HIPSCOPE_BACKEND", "amd"),
                self.define("HIPSCOPE_AMD_TARGETS", self.spec.variants["amdgpu_target"].value),
            ]
        elif self.spec.satisfies("+cuda"):
            args += [
                self.define("HIPSCOPE_BACKEND", "nvidia"),
                self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value),
            ]
        else:
            args.append(self.define("HIPSCOPE_BACKEND", "host"))
        return args

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix)  # where the command hipscope is
