"""The kernels of which a share of peak is predicted, and what their code does not say of them.

Of a matrix product the tile and the size; of a kernel that moves bytes how many have to move. The rows are those
of the experiment's results, so that a prediction and a measurement meet by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from .gpus import Gpu

# M = N = K, as measured where nothing else is asked for; and twice as much, of which the pages have the shares, too.
PRODUCT_SIZE, LARGE_SIZE = 4096, 8192


@dataclass(frozen=True)
class Product:
    """A stage of a ladder of matrix products."""

    experiment: str
    kernel: str
    row: str
    peak: str
    rows: int
    columns: int
    depth: int
    threads: int = 256
    value_bytes: int = 4
    dynamic_lds_bytes: int = 0
    # How often the loops inside the step run beside the one that multiplies, in their order.
    copies: tuple[int, ...] = ()
    # Threads that multiply, where some only load.
    computing: int = 0
    # fileaccent's number of it, where the work is the same.
    source: str = ""
    sweep: str = "stages"
    value: str = "rate"
    # The only targets that it is for; empty: all.
    targets: tuple[str, ...] = ()
    # Blocks share the tiles that would not fill the last round: none is partly empty.
    splits_tiles: bool = False
    # Half of a block's waves are a barrier behind the others.
    takes_turns: bool = False
    # At the larger size the stage chooses another kernel.
    is_for_one_size: bool = False
    # Tiles come to LDS by a copy engine (TMA), which no code of the step shows, and so many blocks share B's.
    by_copy_engine: bool = False
    sharing: int = 1
    # Blocks take tile after tile, in panels.
    stays: bool = False

    def tile_bytes(self) -> int:
        """Of a step's operands."""
        return (self.rows + self.columns) * self.depth * self.value_bytes

    def tiles(self, size: int) -> int:
        """Of C, which need not be whole tiles."""
        return -(-size // self.rows) * -(-size // self.columns)

    def useful(self, size: int) -> float:
        """The part of the tiles' elements that C has."""
        return size**2 / (self.tiles(size) * self.rows * self.columns)

    def panel_rows(self) -> int:
        """Rows of tiles that go on together; other stages take one row after the other."""
        in_panels = "tiles_by_xcd|split_along_k|loads_to_lds|tile_rows_by_cus|turns"
        return 8 if self.stays or re.search(in_panels, self.kernel) else 1

    def macs(self) -> float:
        """Multiply-adds of a thread in a step."""
        return self.rows * self.columns * self.depth / (self.computing or self.threads)


@dataclass(frozen=True)
class Stream:
    """A kernel that moves bytes: those that must move for each thread in a step."""

    experiment: str
    kernel: str
    row: str
    sweep: str
    threads: int
    # "loop": its loop with the most accesses to memory; "all": the whole code.
    step: Literal["loop", "all"]
    # None: as the code says, every access of its full width, and each by all lanes.
    bytes_per_thread: float | None = None
    value: str = "bandwidth"
    targets: tuple[str, ...] = ()
    # The series and metric that fsword73 published, and GB/s for one of its unit.
    published: tuple[str, str, float] | None = None


_CDNA = ("gfx908", "gfx90a", "gfx942", "gfx950")

# --- By MFMA, sgemm and dgemm -----------------------------------------------------------------------


Extents = tuple[int, int, int, int]


def _by_mfma(experiment: str, of_tile: str, depth: int, small: Extents, large: Extents
             ) -> tuple[Product, ...]:
    """Their stages in src/8-kernels/gemm/mfma: the type of value, the extents and the instruction of their tiles."""
    value_bytes = 8 if of_tile.startswith("double") else 4

    def of(kernel: str, row: str, extents: Extents = large, splits_tiles: bool = False) -> Product:
        tile = f"gemm::mfma::Tile<{of_tile.format(', '.join(f'{extent}u' for extent in extents))}>"
        copy = f", gemm::mfma::Copy<{tile}>" if splits_tiles else ""
        return Product(experiment, f"gemm::mfma::{kernel}<{tile}{copy}>", f"MFMA, {row}",
                       f"matrix FP{8 * value_bytes}", extents[0], extents[1], depth,
                       threads=512 if extents is large else 256, value_bytes=value_bytes,
                       splits_tiles=splits_tiles, targets=_CDNA)

    return (of("fragments_of_16_bytes_kernel", "fragments of 16 bytes", small),
            of("fragments_of_16_bytes_kernel", "larger tile"), of("fragments_ahead_kernel", "fragments ahead"),
            of("tiles_by_xcd_kernel", "tiles by XCD"),
            of("split_along_k_kernel", "tiles split along k", splits_tiles=True))


# --- sgemm ------------------------------------------------------------------------------------------


def _of_64(kernel: str, row: str, lds_values: int, *, threads: int = 256, copies: tuple[int, ...] = ()) -> Product:
    """A stage of fileaccent's with tiles of 64 x 64 x 16; its number is the row's first word.

    Loops that copy are what clang 15 made of them, for the target that has published figures.
    """
    return Product("sgemm", f"sgemm::{kernel}", row, "vector FP32", 64, 64, 16, threads=threads,
                   dynamic_lds_bytes=4 * lds_values, copies=copies, computing=256, source=row.split()[0],
                   targets=("gfx908",) if copies else ())


def _of_128(kernel: str, row: str, lds_values: int, depth: int = 8, source: bool = True) -> Product:
    """A stage with tiles of 128 x 128, 8 x 8 for each thread."""
    return Product("sgemm", kernel, row, "vector FP32", 128, 128, depth, dynamic_lds_bytes=4 * lds_values,
                   source=row.split()[0] if source else "")


# Floats of LDS that come with the launch: tiles with rows padded by 4, of 64 x 64 x 16 and of 128 x 128 x 8.
_PADDED = 64 * (16 + 4) + 16 * (64 + 4)
_PADDED_128 = 128 * (8 + 4) + 8 * (128 + 4)

SGEMM = (
    _of_64("thread_tile_kernel", "3 4 x 4 per thread", 2048, copies=(1, 0, 4)),
    _of_64("operands_in_registers_kernel", "3.1 4 x 4, operands in registers", 2048, copies=(1, 0, 4)),
    _of_128("sgemm::eight_by_eight_kernel<1024u>", "3.2 8 x 8 per thread", _PADDED_128),
    _of_128("sgemm::a_transposed_kernel<1024u>", "3.3 8 x 8, A transposed", _PADDED_128),
    _of_128("sgemm::halves_copy_kernel<1024u>", "3.4 8 x 8, half of the threads copy A", _PADDED_128),
    _of_128("sgemm::two_lds_buffers_of_128_kernel<1024u>", "3.5 8 x 8, two LDS buffers", 2 * 16 * 132),
    _of_64("padding_kernel", "4 4 x 4, padding, copies of 16 bytes", _PADDED),
    _of_64("fragments_kernel", "5 4 x 4 values of A and B in registers", _PADDED),
    _of_64("two_k_per_step_kernel", "7 two k per step", _PADDED),
    # Not for gfx942: clang 22's hot loop there has 232 of a step's 256 multiply-adds.
    replace(_of_64("placed_reads_kernel", "7.3 unrolled, LDS loads placed by hand", _PADDED),
            targets=("gfx900", "gfx908", "gfx90a", "gfx1100", "gfx1151", "sm_90")),
    _of_64("two_lds_buffers_kernel<8>", "7.4 two LDS buffers, early loads, padding 8", 2 * (64 * 24 + 16 * 72)),
    _of_64("two_register_buffers_kernel", "7.5 two register buffers too, launch bounds", 2 * (64 * 24 + 16 * 72)),
    _of_64("loads_in_pairs_kernel", "7.6 two register buffers, loads in pairs", 2 * (64 * 24 + 16 * 72)),
    _of_64("loading_waves_lds_operands_kernel", "7.7 half of the waves load, operands in LDS", 2 * _PADDED,
           threads=512),
    _of_64("two_lds_buffers_kernel<4>", "7.8 two LDS buffers, early loads, padding 4", 2 * _PADDED),
    _of_64("waves_kernel<sgemm::Lanes8x8>", "8.1 waves of 8 x 8 lanes", _PADDED),
    _of_64("waves_4x16_kernel", "8.2 waves of 4 x 16 lanes", _PADDED),
    _of_64("b_transposed_kernel", "8.3 8 x 8 lanes, B transposed", 2 * 64 * 20),
    _of_64("waves_kernel<sgemm::Lanes4x16>", "8.4 4 x 16 lanes, two k per step", _PADDED),
    _of_64("four_squares_kernel", "9 z-order lanes, four squares of 2 x 2", _PADDED),
    _of_128("sgemm::halves_kernel<1024u>", "9.1 8 x 8 in halves, two LDS buffers", _PADDED_128),
    _of_128("sgemm::cuda_kernel<1024u>", "10 8 x 8, buffers in LDS and registers, waves of 32", 0),
    _of_128("sgemm::halves_kernel<256u>", "8 x 8 in halves, two LDS buffers, launch bounds", _PADDED_128, source=False),
    _of_128("sgemm::cuda_kernel<256u>", "8 x 8, buffers in LDS and registers, waves of 32, launch bounds", 0,
            source=False),
    Product("sgemm", "sgemm::held_reads_kernel", "LDS loads held in their places", "vector FP32", 64, 64, 16),
    Product("sgemm", "sgemm::reads_in_assembly_kernel", "LDS loads in assembly", "vector FP32", 64, 64, 16),
    _of_128("sgemm::register_tile_kernel<2u>", "register tile of 8 x 8", 0, depth=16, source=False),
    Product("sgemm", "sgemm::register_tile_kernel<4u>", "register tile of 8 x 16", "vector FP32", 128, 256, 16),
    Product("sgemm", "sgemm::matrix_instructions_kernel", "matrix instructions", "matrix FP32", 128, 128, 16),
    _of_128("sgemm::pipelined_kernel<sgemm::AsynchronousCopies<sgemm::ThreadTile<8u, 8u>>>",
            "asynchronous copies, 8 x 8", 0, source=False),
    Product("sgemm", "sgemm::pipelined_kernel<sgemm::FmasInColumns>", "FMAs in columns, copies amid them",
            "vector FP32", 128, 256, 8),
    Product("sgemm", "sgemm::pipelined_kernel<sgemm::SplitAlongK<sgemm::FmasInColumns>>", "tiles split along k",
            "vector FP32", 128, 256, 8, splits_tiles=True),
    Product("sgemm", "sgemm::small_tiles_kernel<sgemm::ThroughRegisters<64u, 64u, 8u, 8u>, true>",
            "through registers, 64 x 64, several blocks for a tile", "vector FP32", 64, 64, 8, threads=64,
            dynamic_lds_bytes=4 * 2 * (8 * 68 + 8 * 64), targets=("gfx900", *_CDNA, "gfx1100", "gfx1151", "gfx1201")),
    *_by_mfma("sgemm", "float, {}, matrix_rate::MfmaFp32Side32", 16, (128, 128, 32, 128), (256, 256, 64, 128)),
)

# --- dgemm and hgemm --------------------------------------------------------------------------------


def _double(kernel: str, row: str, tile: int, peak: str = "vector FP64") -> Product:
    return Product("dgemm", f"dgemm::{kernel}", row, peak, tile, tile, 8, value_bytes=8,
                   splits_tiles="split" in kernel, targets=_CDNA if "Mfma" in kernel else ())


DGEMM = (
    _double("lds_staging_kernel", "LDS staging", 64),
    _double("lds_double_buffer_kernel<(dgemm::Spread)0>", "LDS double buffer", 64),
    _double("lds_double_buffer_kernel<(dgemm::Spread)2>", "no bank conflicts", 64),
    _double("staged_kernel<dgemm::EightByEight>", "8 x 8 per thread", 128),
    _double("staged_split_kernel<dgemm::EightByEight>", "8 x 8 per thread, split along k", 128),
    _double("staged_kernel<dgemm::MfmaPart>", "matrix instructions (MFMA)", 128, "matrix FP64"),
    _double("staged_split_kernel<dgemm::MfmaPart>", "matrix instructions (MFMA), split along k", 128,
            "matrix FP64"),
    *_by_mfma("dgemm", "double, {}, matrix_rate::MfmaFp64", 8, (128, 128, 64, 64), (256, 128, 64, 64)),
)



def _half(kernel: str, row: str, depth: int, peak: str, targets: tuple[str, ...] = (), *,
          tile: tuple[int, int] = (128, 128), threads: int = 256) -> Product:
    return Product("hgemm", f"hgemm::{kernel}", row, peak, *tile, depth, threads, value_bytes=2, targets=targets,
                   takes_turns=kernel.startswith("waves_take_turns"))


def _large(kernel: str, row: str, instruction: str, tile: tuple[int, int], targets: tuple[str, ...], ahead: int = 0
           ) -> Product:
    """A stage of hgemm with a large tile of 512 threads, for AMD alone; it loads to LDS `ahead` tiles ahead."""
    instruction = f"matrix_rate::{instruction}"
    of_tile = f"hgemm::LargeTile<{instruction}, {tile[0]}u>, {ahead}u" if ahead else instruction
    kernel = f"{kernel}<{of_tile}, hipscope::Half, hipscope::Half>"
    return _half(kernel, row, 32, "matrix FP16", targets, tile=tile, threads=512)


def _of_8_bits(kernel: str, row: str, tile: tuple[int, int, int], target: str) -> Product:
    """A row of sweep formats by the fastest kernel that the target has for it."""
    return Product("hgemm", f"hgemm::{kernel}", row, "matrix FP8", *tile, threads=512, value_bytes=1, sweep="formats",
                   targets=(target,))


HGEMM = (
    _half("thread_tile_kernel", "8 x 8 per thread", 16, "vector FP32"),
    _half("dot_products_kernel", "products of two halves", 16, "vector FP16 to FP32"),
    _half("matrix_from_lds_kernel<matrix_rate::MfmaFp16Side32>", "MFMA, operands from LDS", 32, "matrix FP16", _CDNA),
    _half("two_lds_buffers_kernel<matrix_rate::MfmaFp16Side32, hipscope::Half, hipscope::Half>",
          "MFMA, two LDS buffers", 32, "matrix FP16", _CDNA),
    *(stage for family, instruction, targets, rows in (("MFMA", "MfmaFp16Side32", _CDNA[:-1], 128),
                                                       ("MFMA of gfx950", "MfmaFp16Wide", _CDNA[-1:], 256))
      for stage in (
          _half(f"fragments_of_16_bytes_kernel<matrix_rate::{instruction}>", f"{family}, fragments of 16 bytes", 32,
                "matrix FP16", targets),
          _large("larger_tile_kernel", f"{family}, larger tile", instruction, (256, 256), targets),
          _large("fragments_ahead_kernel", f"{family}, fragments ahead", instruction, (256, 256), targets),
          _large("tiles_by_xcd_kernel", f"{family}, tiles by XCD", instruction, (256, 256), targets),
          _large("loads_to_lds_kernel", f"{family}, loads to LDS", instruction, (256, 256), targets, ahead=1),
          _large("loads_to_lds_kernel", f"{family}, three LDS buffers", instruction, (rows, 256), targets, ahead=2))),
    # What it takes for this size (src/8-kernels/hgemm/tile_rows.h); on gfx942 for the larger one, too.
    *(replace(_half(f"tile_rows_by_cus_kernel<hgemm::LargeTile<matrix_rate::MfmaFp16Side32, {rows}u>, hipscope::Half, "
                    "hipscope::Half>", "MFMA, tile rows by CUs", 32, "matrix FP16", (target,), tile=(rows, 256),
                    threads=512), is_for_one_size=target != "gfx942")
      for target, rows in (("gfx908", 192), ("gfx90a", 160), ("gfx942", 224))),
    *(_half(f"waves_take_turns_kernel<hgemm::LargeTile<matrix_rate::{instruction}, 256u>, {ahead}u, {turns}u, "
            "hipscope::Half, hipscope::Half>", f"{family}, waves take turns", 32, "matrix FP16", targets,
            tile=(256, 256), threads=512)
      for family, instruction, ahead, turns, targets in (("MFMA", "MfmaFp16Side32", 1, 2, _CDNA[:-1]),
                                                         ("MFMA of gfx950", "MfmaFp16Wide", 2, 1, _CDNA[-1:]))),
    # 07.8.1 (rows of C) has the step of 07.5, on RDNA of 07.4, and differs after it.
    _half("loads_to_lds_kernel<hgemm::TransposingTile<matrix_rate::MfmaFp16Wide>, 1u, hipscope::Half, hipscope::Half>",
          "MFMA of gfx950, transposing loads", 32, "matrix FP16", _CDNA[-1:], tile=(256, 256), threads=512),
    *(stage for family, instruction, targets in (("WMMA of gfx11", "WmmaFp16", ("gfx1100", "gfx1151")),
                                                 ("WMMA of gfx12", "WmmaFp16Halves", ("gfx1201",)))
      for stage in (
          _half(f"matrix_from_lds_kernel<matrix_rate::{instruction}>", f"{family}, operands from LDS", 32,
                "matrix FP16", targets),
          _half(f"two_lds_buffers_kernel<matrix_rate::{instruction}, hipscope::Half, hipscope::Half>",
                f"{family}, two LDS buffers", 32, "matrix FP16", targets),
          _half(f"fragments_of_16_bytes_kernel<matrix_rate::{instruction}>", f"{family}, fragments of 16 bytes", 32,
                "matrix FP16", targets),
          _large("larger_tile_kernel", f"{family}, larger tile", instruction, (256, 128), targets),
          _large("fragments_ahead_kernel", f"{family}, fragments ahead", instruction, (256, 128), targets),
          _large("tiles_by_xcd_kernel", f"{family}, tiles by XCD", instruction, (256, 128), targets))),
    _of_8_bits("tile_rows_by_cus_kernel<hgemm::LargeTile<matrix_rate::MfmaE4m3Fnuz, 224u>, hipscope::E4M3Fnuz, "
               "hipscope::Half>", "FP8 E4M3 FNUZ, C in FP16", (224, 256, 64), "gfx942"),
    _of_8_bits("loads_to_lds_kernel<hgemm::LargeTile<matrix_rate::MfmaScaledE4m3, 256u>, 1u, hipscope::E4M3, "
               "hipscope::Half>", "FP8 E4M3, C in FP16", (256, 256, 128), "gfx950"),
    _of_8_bits("tiles_by_xcd_kernel<matrix_rate::WmmaE4m3, hipscope::E4M3, hipscope::Half>", "FP8 E4M3, C in FP16",
               (256, 128, 64), "gfx1201"),
)

# --- Of the H200 alone: what is held against its times, beside what it has of the above --------------------


def _of_h200(experiment: str, kernel: str, row: str, peak: str, tile: tuple[int, int, int],
             value_bytes: int, dynamic_lds_bytes: int = 0) -> Product:
    return Product(experiment, f"{experiment}::{kernel}", row, peak, *tile, value_bytes=value_bytes,
                   dynamic_lds_bytes=dynamic_lds_bytes, targets=("sm_90",), splits_tiles="split along k" in row)


def _float(kernel: str, row: str, tile: tuple[int, int, int], dynamic_lds_bytes: int = 0) -> Product:
    return _of_h200("sgemm", kernel, row, "vector FP32", tile, 4, dynamic_lds_bytes)


def _pipeline(part: str, row: str, split: str, pitch: int, peak: str = "matrix FP64") -> Product:
    """dgemm's 4.12 to 4.16, a block on each SM: four buffers."""
    return _of_h200("dgemm", f"pipeline_kernel<dgemm::{part}, {split}, true>", row, peak, (128, 128, 16), 8,
                    4 * (128 * pitch + 16 * 130) * 8)


def _hopper(kernel: str, row: str, columns: int, sharing: int = 1, stays: bool = False, threads: int = 384) -> Product:
    """hgemm's 09 to 15: four buffers, two groups of four warps that multiply, one or a warp that copies."""
    c_bytes = 2 * 64 * 128 * 2 if stays else 0
    return Product("hgemm", f"hgemm::{kernel}", row, "matrix FP16", 128, columns, 64, threads, value_bytes=2,
                   dynamic_lds_bytes=1024 + 4 * (128 + columns) * 128 + c_bytes, computing=256, targets=("sm_90",),
                   by_copy_engine=True, sharing=sharing, stays=stays)


_COPIES = "pipelined_kernel<sgemm::{}AsynchronousCopies<sgemm::ThreadTile<8u, {}u>>>"

OF_H200 = (
    _float("waves_kernel<sgemm::LanesInPairs>", "8.5 4 x 16 lanes in z-order", (64, 64, 16), 4 * _PADDED),
    _float("eight_by_eight_kernel<256u>", "8 x 8 per thread, launch bounds", (128, 128, 8), 4 * _PADDED_128),
    _float("a_transposed_kernel<256u>", "8 x 8, A transposed, launch bounds", (128, 128, 8), 4 * _PADDED_128),
    _float("halves_copy_kernel<256u>", "8 x 8, half of the threads copy A, launch bounds", (128, 128, 8),
           4 * _PADDED_128),
    _float("two_lds_buffers_of_128_kernel<256u>", "8 x 8, two LDS buffers, launch bounds", (128, 128, 8),
           4 * 2 * 16 * 132),
    _float("eight_by_eight_kernel<0u>", "8 x 8 per thread, no launch bounds", (128, 128, 8), 4 * _PADDED_128),
    _float(_COPIES.format("", 16), "8 x 16 per thread", (128, 256, 8)),
    _float(_COPIES.format("SplitAlongK<sgemm::", 8) + ">", "8 x 8, tiles split along k", (128, 128, 8)),
    _of_h200("dgemm", "lds_double_buffer_kernel<(dgemm::Spread)1>", "fewer bank conflicts", "vector FP64",
             (64, 64, 8), 8),
    _pipeline("VectorPart", "asynchronous copies", "false", 18, "vector FP64"),
    _pipeline("VectorPart", "tiles split along k", "true", 18, "vector FP64"),
    _pipeline("MatrixPart", "matrix instructions, asynchronous copies", "false", 16),
    _pipeline("MatrixPart", "matrix instructions, tiles split along k", "true", 16),
    _pipeline("EightKPart<dgemm::WholeTile>", "matrix instructions of eight k", "true", 16),
    replace(_of_h200("dgemm", "pipeline_kernel<dgemm::EightKPart<dgemm::HalfTile>, true, true>",
                     "matrix instructions, two blocks", "matrix FP64", (128, 64, 16), 8, 4 * (128 * 16 + 16 * 64) * 8),
            threads=128),
    _of_h200("hgemm", "matrix_from_lds_kernel<matrix_rate::MmaFp16K16>", "mma.sync, operands from LDS",
             "matrix FP16", (128, 128, 32), 2),
    _of_h200("hgemm", "two_lds_buffers_kernel<matrix_rate::MmaFp16K16, hipscope::Half, hipscope::Half>",
             "mma.sync, two LDS buffers", "matrix FP16", (128, 128, 32), 2),
    _of_h200("hgemm", "asynchronous_copies_kernel", "asynchronous copies, transposing loads", "matrix FP16",
             (128, 128, 32), 2, 4 * (128 * 40 + 32 * 136) * 2),
    _hopper("tensor_copies_kernel", "tensor copies, products of four warps", 128),
    _hopper("wider_tile_kernel", "tiles of 128 x 256", 256),
    _hopper("shared_tiles_kernel", "two blocks share B", 256, sharing=2),
    _hopper("persistent_blocks_kernel<true>", "persistent blocks, C by the copy engine", 256, sharing=2, stays=True),
    # What they take for this size (tile_model_test.cpp, lean_choice_test.cpp).
    _hopper("tile_by_size_kernel<256u, 4u, true>", "a width of tiles for each size", 256, stays=True),
    _hopper("model_tiles_kernel<hgemm::ModelTile<hipscope::Half, 128u, 256u, 8u, false, false>, hipscope::Half, "
            "hipscope::Half>", "a tile by what LDS gives, launches overlap", 256, stays=True, threads=288),
    _hopper("model_tiles_kernel<hgemm::ModelTile<hipscope::Half, 128u, 256u, 16u, false, false>, hipscope::Half, "
            "hipscope::Half>", "tiles by columns too", 256, stays=True, threads=288),
)

# --- Kernels that move bytes ------------------------------------------------------------------------


def _stream(function: int, row: str, values: int, threads: int) -> Stream:
    return Stream("memory_bandwidth", f"memory_bandwidth::stream_kernel<(memory_bandwidth::Function){function}, "
                  f"HIP_vector_type<unsigned int, 4u>, {values}u, (hipscope::Hint)0, (hipscope::Hint)0>", row,
                  "stream", threads, "loop")


# Where a figure is given, it is what the experiment counts: of register_pressure a cell's 5 fields and 26 populations
# of 8 bytes, the latter read and written; of padding the 169 of 192 threads that store, and 49 values for 169.
STREAMS = (
    _stream(0, "read", 8, 256),
    _stream(1, "write", 1, 256),
    _stream(2, "copy", 1, 256),
    _stream(5, "triad", 1, 1024),
    Stream("reduction", "hipscope::reduction::early_ticket_kernel<float, 256u, 8u>", "single pass, early ticket",
           "stages", 256, "loop"),
    Stream("batchnorm", "hipscope::batch_norm::one_pass_kernel<8u, 16u, 4u, hipscope::batch_norm::MeanFirst>",
           "over 8 threads, 16 bytes", "stages", 128, "all", 2 * 16 * 16),
    Stream("batchnorm", "hipscope::batch_norm::channel_resident_kernel<4u, 25u, 256u>", "resident", "spatial", 256,
           "all", 2 * 25 * 16),
    Stream("register_pressure", "hipscope::register_pressure::restrict_on_all::kernel<false>",
           "bound, restrict on all", "stages", 256, "all", 8 * (5 + 2 * (7 + 19))),
    Stream("padding", "hipscope::padding::lds_kernel<192u, 2u, (hipscope::Hint)0>", "through LDS", "stages", 192,
           "all", 2 * 16 * (169 + 49) / 192),
)

# fsword73's, for what he measured on an MI25. A pixel is read three times, or twice, and written. Of padding he
# counts 2 x 169 values for each plane, of which 49 are read and 169 written.
_GIB_OF_PADDING = 1.073741824 * (49 + 169) / (2 * 169)
OF_MI25 = (
    Stream("batchnorm", "hipscope::batch_norm::source_three_passes::kernel", "14a three passes", "stages", 256, "loop",
           value="asked for", targets=("gfx900",), published=("three passes", "rate", 16)),
    Stream("batchnorm", "hipscope::batch_norm::source_two_passes::kernel", "14d two passes", "stages", 256, "loop",
           value="asked for", targets=("gfx900",), published=("two passes", "rate", 12)),
    Stream("padding", "hipscope::padding::source_compile_time_channels_kernel<1024, 16>",
           "13b compile-time channels 16", "stages", 256, "all", 16 * 4 * (1 + 49 / 169), targets=("gfx900",),
           published=("compile-time channel count", "bandwidth", _GIB_OF_PADDING)),
)

CASES: tuple[Product | Stream, ...] = (*SGEMM, *DGEMM, *HGEMM, *OF_H200, *STREAMS, *OF_MI25)


def experiments() -> list[str]:
    """Those with cases, in their order."""
    return list(dict.fromkeys(case.experiment for case in CASES))


def cases_of(experiment: str, gpu: Gpu) -> list[Product | Stream]:
    """Those that the GPU has the instructions for; of NVIDIA's, the products."""
    return [case for case in CASES if case.experiment == experiment
            and (not case.targets or gpu.target in case.targets)
            and (case.peak in gpu.peaks if isinstance(case, Product) else gpu.target != "sm_90")]


def case_of(entry: Mapping[str, Any]) -> Product | Stream | None:
    """The one that an entry of the file of predictions is of."""
    return next((case for case in CASES if (case.experiment, case.sweep, case.row) == (
        entry["experiment"], entry["sweep"], entry["row"])
        and (not case.targets or entry["target"] in case.targets)), None)
