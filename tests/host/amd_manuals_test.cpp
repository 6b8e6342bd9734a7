// What AMD publishes of its instructions and registers, held against the tables that kernels use:
// no machine at hand executes most of them.
//
// Layouts: as the AMD Matrix Instruction Calculator prints them, by register, bits in it and lane
// (github.com/ROCm/amd_matrix_instruction_calculator, options -A -m and -D -m), for gfx950 and
// gfx12 as the manuals of CDNA 4's and RDNA 4's instructions do; AMD shows them, too, at
// rocm.blogs.amd.com, matrix-cores-cdna, and gpuopen.com, learn/wmma_on_rdna3 and
// learn/using_matrix_core_amd_rdna4. Formats: OCP 8-bit Floating Point Specification 1.0, OCP
// Microscaling Formats 1.0; of FNUZ the manual of CDNA 3's instructions and LLVM's APFloat
// (reviews.llvm.org/D141863: biases of 8 and 16, and a NaN in the place of -0). Registers' numbers:
// LLVM's AMDGPU/SIDefines.h, namespace Hwreg.
#include <gtest/gtest.h>
#include <hipscope/compute_unit.h>
#include <hipscope/transposing_loads.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "hipscope/matrix/mfma.h"
#include "hipscope/matrix/wmma.h"

namespace {

namespace mr = matrix_rate;

// Where an element is in a lane.
struct At {
  unsigned gpr;
  unsigned bit;
  unsigned lane;
};

// The row of D's elements; their column is the lane's last bits.
unsigned mfma_side_32(const At& at) { return 8 * (at.gpr / 4) + 4 * (at.lane / 32) + at.gpr % 4; }
unsigned mfma_side_16(const At& at) { return 4 * (at.lane / 16) + at.gpr; }
unsigned mfma_fp64(const At& at) { return 4 * (at.gpr / 2) + at.lane / 16; }
unsigned wmma_gfx11(const At& at) { return 2 * at.gpr + at.lane / 16; }
unsigned wmma_gfx12(const At& at) { return at.gpr + 8 * (at.lane / 16); }

// The k of A's and B's elements, by how many a lane has.
template <unsigned per_lane, unsigned side, unsigned bits>
unsigned mfma_k(const At& at) {
  return per_lane * (at.lane / side) + at.gpr * 32 / bits + at.bit / bits;
}
template <unsigned bits>
unsigned wmma_gfx11_k(const At& at) {
  return at.gpr * (32 / bits) + at.bit / bits;
}
template <unsigned bits>
unsigned wmma_gfx12_k(const At& at) {
  return 8 * (at.lane / 16) + at.gpr * (32 / bits) + at.bit / bits;
}

struct Published {
  unsigned side;
  unsigned k;
  const mr::Format* factor;
  const mr::Format* sum;
  unsigned first;  // generation of CDNA, of RDNA
  unsigned last;
  unsigned (*k_of)(const At&);  // null: not published in a form that fits; the sums do not tell
  unsigned (*row_of)(const At&);
};

// By what results call them: format and name.
const std::map<std::string, Published> published = {
    {"FP64 v_mfma_f64_16x16x4f64",
     {16, 4, &mr::fp64, &mr::fp64, 2, 4, mfma_k<1, 16, 64>, mfma_fp64}},
    {"FP32 v_mfma_f32_32x32x2f32",
     {32, 2, &mr::fp32, &mr::fp32, 1, 4, mfma_k<1, 32, 32>, mfma_side_32}},
    {"FP32 v_mfma_f32_16x16x4f32",
     {16, 4, &mr::fp32, &mr::fp32, 1, 4, mfma_k<1, 16, 32>, mfma_side_16}},
    {"XF32 v_mfma_f32_32x32x4_xf32",
     {32, 4, &mr::tf32, &mr::fp32, 3, 3, mfma_k<2, 32, 32>, mfma_side_32}},
    {"XF32 v_mfma_f32_16x16x8_xf32",
     {16, 8, &mr::tf32, &mr::fp32, 3, 3, mfma_k<2, 16, 32>, mfma_side_16}},
    {"FP16 v_mfma_f32_32x32x8f16",
     {32, 8, &mr::fp16, &mr::fp32, 1, 4, mfma_k<4, 32, 16>, mfma_side_32}},
    {"FP16 v_mfma_f32_16x16x16f16",
     {16, 16, &mr::fp16, &mr::fp32, 1, 4, mfma_k<4, 16, 16>, mfma_side_16}},
    {"FP16 v_mfma_f32_32x32x16_f16",
     {32, 16, &mr::fp16, &mr::fp32, 4, 4, mfma_k<8, 32, 16>, mfma_side_32}},
    {"BF16 v_mfma_f32_32x32x4bf16",
     {32, 4, &mr::bf16, &mr::fp32, 1, 2, mfma_k<2, 32, 16>, mfma_side_32}},
    {"BF16 v_mfma_f32_32x32x8bf16_1k",
     {32, 8, &mr::bf16, &mr::fp32, 2, 4, mfma_k<4, 32, 16>, mfma_side_32}},
    {"BF16 v_mfma_f32_16x16x16bf16_1k",
     {16, 16, &mr::bf16, &mr::fp32, 2, 4, mfma_k<4, 16, 16>, mfma_side_16}},
    {"BF16 v_mfma_f32_32x32x16_bf16",
     {32, 16, &mr::bf16, &mr::fp32, 4, 4, mfma_k<8, 32, 16>, mfma_side_32}},
    {"FP8 E4M3 v_mfma_f32_32x32x16_fp8_fp8, FNUZ",
     {32, 16, &mr::e4m3_fnuz, &mr::fp32, 3, 3, mfma_k<8, 32, 8>, mfma_side_32}},
    {"FP8 E5M2 v_mfma_f32_32x32x16_bf8_bf8, FNUZ",
     {32, 16, &mr::e5m2_fnuz, &mr::fp32, 3, 3, mfma_k<8, 32, 8>, mfma_side_32}},
    {"FP8 E4M3 v_mfma_f32_32x32x16_fp8_fp8",
     {32, 16, &mr::e4m3, &mr::fp32, 4, 4, mfma_k<8, 32, 8>, mfma_side_32}},
    {"FP8 E5M2 v_mfma_f32_32x32x16_bf8_bf8",
     {32, 16, &mr::e5m2, &mr::fp32, 4, 4, mfma_k<8, 32, 8>, mfma_side_32}},
    {"INT8 v_mfma_i32_32x32x8i8",
     {32, 8, &mr::int8, &mr::int32, 1, 2, mfma_k<4, 32, 8>, mfma_side_32}},
    {"INT8 v_mfma_i32_32x32x16_i8",
     {32, 16, &mr::int8, &mr::int32, 3, 4, mfma_k<8, 32, 8>, mfma_side_32}},
    {"INT8 v_mfma_i32_32x32x32_i8",
     {32, 32, &mr::int8, &mr::int32, 4, 4, mfma_k<16, 32, 8>, mfma_side_32}},
    {"FP8 E4M3 v_mfma_scale_f32_32x32x64_f8f6f4",
     {32, 64, &mr::e4m3, &mr::fp32, 4, 4, nullptr, mfma_side_32}},
    {"FP8 E5M2 v_mfma_scale_f32_32x32x64_f8f6f4",
     {32, 64, &mr::e5m2, &mr::fp32, 4, 4, nullptr, mfma_side_32}},
    {"FP6 E3M2 v_mfma_scale_f32_32x32x64_f8f6f4",
     {32, 64, &mr::e3m2, &mr::fp32, 4, 4, nullptr, mfma_side_32}},
    {"FP6 E2M3 v_mfma_scale_f32_32x32x64_f8f6f4",
     {32, 64, &mr::e2m3, &mr::fp32, 4, 4, nullptr, mfma_side_32}},
    {"FP4 E2M1 v_mfma_scale_f32_32x32x64_f8f6f4",
     {32, 64, &mr::e2m1, &mr::fp32, 4, 4, nullptr, mfma_side_32}},
    {"FP16 v_wmma_f32_16x16x16_f16",
     {16, 16, &mr::fp16, &mr::fp32, 3, 3, wmma_gfx11_k<16>, wmma_gfx11}},
    {"BF16 v_wmma_f32_16x16x16_bf16",
     {16, 16, &mr::bf16, &mr::fp32, 3, 3, wmma_gfx11_k<16>, wmma_gfx11}},
    {"INT8 v_wmma_i32_16x16x16_iu8",
     {16, 16, &mr::int8, &mr::int32, 3, 3, wmma_gfx11_k<8>, wmma_gfx11}},
    {"FP16 v_wmma_f32_16x16x16_f16, gfx12",
     {16, 16, &mr::fp16, &mr::fp32, 4, 4, wmma_gfx12_k<16>, wmma_gfx12}},
    {"BF16 v_wmma_f32_16x16x16_bf16, gfx12",
     {16, 16, &mr::bf16, &mr::fp32, 4, 4, wmma_gfx12_k<16>, wmma_gfx12}},
    {"FP8 E4M3 v_wmma_f32_16x16x16_fp8_fp8",
     {16, 16, &mr::e4m3, &mr::fp32, 4, 4, wmma_gfx12_k<8>, wmma_gfx12}},
    {"FP8 E5M2 v_wmma_f32_16x16x16_bf8_bf8",
     {16, 16, &mr::e5m2, &mr::fp32, 4, 4, wmma_gfx12_k<8>, wmma_gfx12}},
    {"INT8 v_wmma_i32_16x16x16_iu8, gfx12",
     {16, 16, &mr::int8, &mr::int32, 4, 4, wmma_gfx12_k<8>, wmma_gfx12}},
};

bool operator==(const mr::Format& a, const mr::Format& b) {
  return std::string(a.name) == b.name && a.bits == b.bits && a.exponent_bits == b.exponent_bits &&
         a.mantissa_bits == b.mantissa_bits && a.bias == b.bias && a.has_one_zero == b.has_one_zero;
}

At place_of(unsigned element, unsigned bits, unsigned lane) {
  return {.gpr = element * bits / 32, .bit = element * bits % 32, .lane = lane};
}

template <typename Code>
void expect_as_published(const Published& row) {
  EXPECT_EQ(Code::m, row.side);
  EXPECT_EQ(Code::n, row.side);
  EXPECT_EQ(Code::k, row.k);
  EXPECT_TRUE(Code::a_format == *row.factor && Code::b_format == *row.factor);
  EXPECT_TRUE(Code::sum_format == *row.sum);
  EXPECT_EQ(Code::since, row.first);
  EXPECT_EQ(Code::until, row.last);
  std::map<unsigned, std::set<unsigned>> k_of_rows;
  for (unsigned lane = 0; lane < Code::lanes; ++lane) {
    for (unsigned e = 0; e < Code::a_elements; ++e) {
      const mr::Place a = Code::a_place(lane, e);
      const mr::Place b = Code::b_place(lane, e);
      ASSERT_EQ(a.row, lane % row.side);
      ASSERT_EQ(b.column, lane % row.side);
      ASSERT_EQ(a.column, b.row);
      k_of_rows[a.row].insert(a.column);
      if (row.k_of != nullptr) {
        ASSERT_EQ(a.column, row.k_of(place_of(e, row.factor->bits, lane)))
            << "lane " << lane << ", element " << e;
      }
    }
    for (unsigned e = 0; e < Code::sum_elements; ++e) {
      const mr::Place sum = Code::sum_place(lane, e);
      ASSERT_EQ(sum.row, row.row_of(place_of(e, row.sum->bits, lane)))
          << "lane " << lane << ", element " << e;
      ASSERT_EQ(sum.column, lane % row.side);
    }
  }
  for (const auto& [a_row, ks] : k_of_rows) {
    EXPECT_EQ(ks.size(), row.k) << "row " << a_row;
    EXPECT_EQ(*ks.rbegin(), row.k - 1) << "row " << a_row;
  }
}

template <typename... Code>
unsigned expect_all(mr::Codes<void, Code...> /*types*/) {
  const auto expect = []<typename One>(const One* /*type*/) {
    const std::string name = std::string(One::format) + " " + One::name;
    SCOPED_TRACE(name);
    const auto row = published.find(name);
    if (row == published.end()) {
      ADD_FAILURE() << "not among the published ones";
    } else {
      expect_as_published<One>(row->second);
    }
  };
  (expect(static_cast<const Code*>(nullptr)), ...);
  return sizeof...(Code);
}

TEST(AmdManuals, EveryMatrixInstructionHasThePublishedLayout) {
  EXPECT_EQ(expect_all(mr::MfmaCodes()) + expect_all(mr::WmmaCodes()), published.size());
}

TEST(AmdManuals, FormatsHaveThePublishedValues) {
  struct Value {
    const mr::Format* format;
    std::uint64_t code;
    double value;
  };
  for (const auto& [format, code, value] :
       {Value{&mr::fp16, 0x3C00, 1},       Value{&mr::fp16, 0x7BFF, 65504},
        Value{&mr::fp16, 1, 0x1p-24},      Value{&mr::bf16, 0x3F80, 1},
        Value{&mr::bf16, 1, 0x1p-133},     Value{&mr::e4m3, 0x38, 1},
        Value{&mr::e4m3, 0x7E, 448},       Value{&mr::e4m3, 1, 0x1p-9},
        Value{&mr::e5m2, 0x3C, 1},         Value{&mr::e5m2, 0x7B, 57344},
        Value{&mr::e5m2, 1, 0x1p-16},      Value{&mr::e4m3_fnuz, 0x40, 1},
        Value{&mr::e4m3_fnuz, 0x7F, 240},  Value{&mr::e4m3_fnuz, 1, 0x1p-10},
        Value{&mr::e5m2_fnuz, 0x40, 1},    Value{&mr::e5m2_fnuz, 0x7F, 57344},
        Value{&mr::e5m2_fnuz, 1, 0x1p-17}, Value{&mr::e3m2, 0x0C, 1},
        Value{&mr::e3m2, 0x1F, 28},        Value{&mr::e3m2, 1, 0x1p-4},
        Value{&mr::e2m3, 0x08, 1},         Value{&mr::e2m3, 0x1F, 7.5},
        Value{&mr::e2m3, 1, 0x1p-3},       Value{&mr::e2m1, 0x2, 1},
        Value{&mr::e2m1, 0x7, 6},          Value{&mr::e2m1, 1, 0.5}}) {
    EXPECT_EQ(mr::decode(*format, code), value) << format->name << " " << code;
    EXPECT_EQ(mr::encode(*format, value), code) << format->name << " " << value;
  }
  for (const mr::Format* const format : {&mr::e4m3, &mr::e5m2}) {
    EXPECT_TRUE(std::signbit(mr::decode(*format, 0x80)));
  }
  for (const mr::Format* const format : {&mr::e4m3_fnuz, &mr::e5m2_fnuz}) {
    EXPECT_TRUE(std::isnan(mr::decode(*format, 0x80)));
  }
}

TEST(AmdManuals, ScalesOfBlocksAreOne) {
  for (unsigned byte = 0; byte < 4; ++byte) {
    const auto exponent = static_cast<int>(mr::scales_of_one >> 8 * byte & 0xFF) - 127;
    EXPECT_EQ(std::scalbn(1.0, exponent), 1);
  }
  EXPECT_EQ(mr::code_of_e4m3, 0U);
  EXPECT_EQ(mr::code_of_e5m2, 1U);
  EXPECT_EQ(mr::code_of_e2m3, 2U);
  EXPECT_EQ(mr::code_of_e3m2, 3U);
  EXPECT_EQ(mr::code_of_e2m1, 4U);
}

// The bits from `first` to `last` of a register.
bool covers(const hipscope::RegisterField& field, int number, int first, int last) {
  return field.number == number && field.first_bit == first &&
         field.first_bit + field.bits - 1 == last;
}

TEST(AmdManuals, RegisterFieldsAreThePublishedOnes) {
  // HW_ID: CU_ID 11:8, SH_ID 12, SE_ID 15:13. XCC_ID: 3:0. HW_ID1: WGP_ID 13:10, SA_ID 16, SE_ID
  // 19:18, and 20:18 from RDNA 3 on.
  EXPECT_TRUE(covers(hipscope::unit_of_gfx9, 4, 8, 15));
  EXPECT_TRUE(covers(hipscope::xcd_of_gfx942, 20, 0, 3));
  EXPECT_TRUE(covers(hipscope::unit_of_gfx10, 23, 10, 19));
  EXPECT_TRUE(covers(hipscope::unit_of_gfx11, 23, 10, 20));
  // s_getreg's SIMM16: size - 1 in 15:11, first bit in 10:6, register in 5:0.
  constexpr hipscope::RegisterField field = {.number = 4, .first_bit = 8, .bits = 8};
  EXPECT_EQ(field.operand(), 7 << 11 | 8 << 6 | 4);
}

// CDNA 4's manual, 11.4: of 16 k the first of two loads that transpose brings 0 to 3 and 8 to 11,
// the second the others. A lane names four neighbours along n, and gets four along k of one column.
TEST(AmdManuals, LoadsThatTransposeBringAnOperandOfMfma) {
  for (const unsigned load : {0U, 1U}) {
    std::set<unsigned> all_k;
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned element = 0; element < 4; ++element) {
        const hipscope::NamedValue from = hipscope::transposed_from(lane, element);
        EXPECT_EQ(from.lane / 16, lane / 16);
        const hipscope::PlaceAlongK named = hipscope::named_by(from.lane, load);
        const mr::Place wanted = mr::MfmaFp16Wide::b_place(lane, 4 * load + element);
        EXPECT_EQ(named.k, wanted.row) << lane << ", " << element;
        EXPECT_EQ(named.column + from.value, wanted.column) << lane << ", " << element;
        all_k.insert(named.k);
      }
    }
    EXPECT_EQ(all_k, load == 0 ? (std::set<unsigned>{0, 1, 2, 3, 8, 9, 10, 11})
                               : (std::set<unsigned>{4, 5, 6, 7, 12, 13, 14, 15}));
  }
}

}  // namespace
