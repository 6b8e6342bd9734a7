"""What the predictions know of GPUs: the vendor's figures, and what had to be assumed.

A *core* is what a block of threads runs on: a CU, on RDNA a pair of them (WGP), as a block may lie on both.
All rates are per clock and core. Sources:

- AMD, GPU specifications (rocm.docs.amd.com, reference/gpu-specs): CUs, lanes of a wave, LDS.
- AMD, microarchitecture of MI100, MI250 and MI300 (rocm.docs.amd.com, reference/gpu-arch), product pages of MI25 and
  RX 7900 XTX: floating-point operations per clock and CU by format, clocks, bandwidth of memory.
- AMD, ROCm Compute Profiler, the peaks of its analysis (github.com/ROCm/rocprofiler-compute, analysis_configs,
  system-speed-of-light of gfx90a, gfx942 and gfx950): per clock LDS 128 bytes and the vector L1 64 (from gfx942 on
  128) of each CU, L2 64 bytes (from gfx942 on 128) of each channel; its documentation (L2 cache) has 32 channels for
  MI100 and MI200, AMD's CDNA 3 white paper 16 for each of 8 XCDs, as CDNA 4 has. Of gfx900 and gfx908 as of gfx90a.
- gfx950: AMD, product page of MI355X (157.3 TFLOP/s of FP32, 78.6 of FP64, by vectors as by matrices, 2516.6 of FP16,
  at 2400 MHz and 256 CUs; 8 TB/s). LLVM has FP64's 16x16x4 at 16 passes there, twice gfx942's, as that peak says; the
  profiler's 256 operations do not. LDS of 160 KiB: the specifications.
- LLVM, SISchedule.td: which vector instructions are of quarter and half rate, and how long a
  v_accvgpr_write takes.
- Latencies are assumed: on CDNA those that fsword73 published for gfx900 (results/published/published.csv: LDS 63,
  L2 270 to 300, memory 647 cycles), as nobody published those of the others in cycles by the same method; on
  RDNA 3 LLVM's for LDS and vector memory (SISchedule.td: 20 and 320), memory as CDNA. Its bytes per clock are
  assumed too: a pair's LDS twice a CU's, L0 64 and each of 24 slices of L2 64.
- FP8: AMD, CDNA 3 and CDNA 4 white papers (4096 and 8192 operations per clock and CU).
- gfx1201: AMD, product page of RX 9070 XT (48.7 TFLOP/s of FP32 by vectors, 195 of FP16 and 389 of FP8 by matrices, at
  2970 MHz and 64 CUs; 640 GB/s). Assumed: its FP64, latencies, LDS and L0 are those of gfx1100, its L2 has 16 slices.
- gfx1151: AMD, product page of Ryzen AI Max+ 395 (40 CUs at 2900 MHz; memory of 256 bits at 8000 MT/s). Assumed: all
  else as gfx1100, but an L2 of 8 slices, 2 MiB, where gfx1100 has 24 and 6 MiB.
- H200: NVIDIA, H200 data sheet (4.8 TB/s), H100 white paper (128 FMAs of FP32, 64 of FP64, 128 of FP64 and 2048 of FP16
  by tensor cores, per clock and multiprocessor; LDS 228 KiB), CUDA C++ Programming Guide (LDS 128 bytes). L1 takes 64
  bytes of L2 (62 measured: docs/6-lds.md); L2 gives 7400 to blocks that ask for the same lines at about the same time,
  as those of a product do (memory_bandwidth, sweep l2, "in step": 14 670 GB/s at 1980 MHz), and latencies are those of
  results/nvidia-h200, too (lds_latency, memory_latency), where no product was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .occupancy import RULES, Rule

# NVIDIA's: 65 536 registers for the four schedulers of a multiprocessor, 64 warps (CUDA C++ Programming Guide, 9.0).
_RULES = {**RULES, ("sm_90", 32): Rule(file=512, granule=8, most_waves=16)}


@dataclass(frozen=True)
class Gpu:
    """A GPU as the predictions know it; clocks are the shader's."""

    name: str
    target: str
    cores: int
    lanes: int
    simds: int
    clock_mhz: float
    memory_gbs: float
    # Operations per clock and core, by what computes them: "vector FP32", "matrix FP64" ...
    peaks: Mapping[str, int]
    lds_kib: int
    lds_bytes: int
    l1_bytes: int
    l2_bytes: int
    # Cycles of a SIMD for a wave's vector instruction, by its kind in demand.VECTOR_KINDS.
    vector_cycles: Mapping[str, int]
    # The least distance of two instructions of one wave.
    issue_cycles: int
    lds_latency: int
    l2_latency: int
    memory_latency: int

    def waves(self, vgprs: int, agprs: int) -> int:
        """How many waves fit on a SIMD by registers alone."""
        return _RULES[self.target, self.lanes].waves(vgprs, agprs)

    def memory_bytes(self) -> float:
        """Of memory, per clock and core."""
        return self.memory_gbs * 1e3 / self.clock_mhz / self.cores

    def peak_tflops(self, peak: str) -> float:
        """The vendor's peak at the clock above."""
        return self.peaks[peak] * self.cores * self.clock_mhz * 1e-6


_LATENCIES = {"issue_cycles": 4, "lds_latency": 63, "l2_latency": 300, "memory_latency": 647}
_RDNA_CYCLES = {"full": 1, "quarter": 4, "wide": 2, "double": 16, "to_agpr": 1}
_PAIR: dict[str, Any] = {
    "lanes": 32, "simds": 4, "lds_kib": 128, "lds_bytes": 256, "l1_bytes": 128, "vector_cycles": _RDNA_CYCLES,
    "issue_cycles": 1, "lds_latency": 20, "l2_latency": 320, "memory_latency": 647}
_CU: dict[str, Any] = {"lanes": 64, "simds": 4, "lds_kib": 64, "lds_bytes": 128, **_LATENCIES}
# Of gfx900 and gfx908, and of what came after: FP64 at the rate of FP32, as LLVM's model has wide shifts too.
_FIRST_CYCLES = {"full": 4, "quarter": 16, "wide": 8, "double": 8, "to_agpr": 8}
_NEWER_CYCLES = {"full": 4, "quarter": 16, "wide": 4, "double": 4, "to_agpr": 4}

GPUS: tuple[Gpu, ...] = (
    # For fsword73's figures; the clock is his. FP64 is a sixteenth of FP32.
    Gpu(name="Radeon Instinct MI25", target="gfx900", cores=64, clock_mhz=1536, memory_gbs=484,
        peaks={"vector FP32": 128, "vector FP64": 8}, l1_bytes=64, l2_bytes=16 * 64,
        vector_cycles={**_FIRST_CYCLES, "double": 64}, **_CU),
    # The clock is that of fileaccent's run, who published 1472 MHz; AMD's highest is 1502.
    Gpu(name="Instinct MI100", target="gfx908", cores=120, clock_mhz=1472, memory_gbs=1228.8,
        peaks={"vector FP32": 128, "vector FP64": 64, "vector FP16 to FP32": 256, "matrix FP32": 256,
               "matrix FP16": 1024},
        l1_bytes=64, l2_bytes=32 * 64, vector_cycles=_FIRST_CYCLES, **_CU),
    # Half of an MI250, in other words.
    Gpu(name="Instinct MI210", target="gfx90a", cores=104, clock_mhz=1700, memory_gbs=1638.4,
        peaks={"vector FP32": 256, "vector FP64": 128, "vector FP16 to FP32": 256, "matrix FP32": 256,
               "matrix FP64": 256, "matrix FP16": 1024},
        l1_bytes=64, l2_bytes=32 * 64, vector_cycles=_NEWER_CYCLES, **_CU),
    Gpu(name="Instinct MI300X", target="gfx942", cores=304, clock_mhz=2100, memory_gbs=5300,
        peaks={"vector FP32": 256, "vector FP64": 128, "vector FP16 to FP32": 256, "matrix FP32": 256,
               "matrix FP64": 256, "matrix FP16": 2048, "matrix FP8": 4096},
        l1_bytes=128, l2_bytes=8 * 16 * 128, vector_cycles=_NEWER_CYCLES, **_CU),
    # LDS as ROCm Compute Profiler has it; AMD's blog "FP8 GEMM Optimization on CDNA 4" says 256 bytes read per clock.
    Gpu(name="Instinct MI355X", target="gfx950", cores=256, clock_mhz=2400, memory_gbs=8000,
        peaks={"vector FP32": 256, "vector FP64": 128, "vector FP16 to FP32": 256, "matrix FP32": 256,
               "matrix FP64": 128, "matrix FP16": 4096, "matrix FP8": 8192},
        l1_bytes=128, l2_bytes=8 * 16 * 128, vector_cycles=_NEWER_CYCLES, **{**_CU, "lds_kib": 160}),
    # The peak of vector FP32 is that of dual instructions.
    Gpu(name="Radeon RX 7900 XTX", target="gfx1100", cores=48, clock_mhz=2500, memory_gbs=960,
        peaks={"vector FP32": 512, "vector FP64": 16, "vector FP16 to FP32": 1024, "matrix FP16": 1024},
        l2_bytes=24 * 64, **_PAIR),
    Gpu(name="Radeon RX 9070 XT", target="gfx1201", cores=32, clock_mhz=2970, memory_gbs=640,
        peaks={"vector FP32": 512, "vector FP64": 16, "vector FP16 to FP32": 1024, "matrix FP16": 2048,
               "matrix FP8": 4096},
        l2_bytes=16 * 64, **_PAIR),
    # Its memory is the host's: 256 bits of LPDDR5X-8000.
    Gpu(name="Radeon 8060S", target="gfx1151", cores=20, clock_mhz=2900, memory_gbs=256,
        peaks={"vector FP32": 512, "vector FP64": 16, "vector FP16 to FP32": 1024, "matrix FP16": 1024},
        l2_bytes=8 * 64, **_PAIR),
    # The one whose times are known: the model is held against it. A core is a multiprocessor.
    Gpu(name="NVIDIA H200", target="sm_90", cores=132, lanes=32, simds=4, clock_mhz=1980, memory_gbs=4800,
        peaks={"vector FP32": 256, "vector FP64": 128, "matrix FP64": 256, "matrix FP16": 4096},
        lds_kib=228, lds_bytes=128, l1_bytes=64, l2_bytes=7400, vector_cycles={}, issue_cycles=1,
        lds_latency=23, l2_latency=281, memory_latency=688),
)


def gpu_of(target: str) -> Gpu | None:
    return next((gpu for gpu in GPUS if gpu.target == target), None)
