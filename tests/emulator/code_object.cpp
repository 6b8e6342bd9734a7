#include "code_object.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "reports.h"

namespace emulator {
namespace {

constexpr std::size_t page = 4096;
constexpr std::uint32_t metadata_note = 32;  // NT_AMDGPU_METADATA
constexpr std::uint32_t absolute_64 = 3;     // R_AMDGPU_ABS64
constexpr std::uint32_t relative_64 = 13;    // R_AMDGPU_RELATIVE64

// The parts of the ELF file, by name of the format's own header.
class Elf {
 public:
  Elf(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
    header_ = at<Elf64_Ehdr>(0);
    for (unsigned index = 0; index < header_.e_phnum; ++index) {
      segments.push_back(
          at<Elf64_Phdr>(header_.e_phoff + std::size_t{index} * header_.e_phentsize));
    }
    for (unsigned index = 0; index < header_.e_shnum; ++index) {
      sections.push_back(
          at<Elf64_Shdr>(header_.e_shoff + std::size_t{index} * header_.e_shentsize));
    }
  }

  template <typename Value>
  Value at(std::size_t offset) const {
    if (offset + sizeof(Value) > size_) {
      throw Stopped("the code object is cut short");
    }
    Value value;
    std::memcpy(&value, data_ + offset, sizeof value);
    return value;
  }
  const std::uint8_t* data() const { return data_; }
  const char* text(std::size_t offset) const {
    return reinterpret_cast<const char*>(data_ + offset);
  }

  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  Elf64_Ehdr header_ = {};
};

void lay_out(const Elf& elf, CodeObject& object, Memory& memory) {
  std::size_t top = 0;
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type == PT_LOAD) {
      top = std::max<std::size_t>(top, segment.p_vaddr + segment.p_memsz);
    }
  }
  const std::size_t size = (top + 3 * page) / page * page;
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    throw Stopped("there is no memory for the code object");
  }
  object.base = static_cast<std::uint8_t*>(base);
  memory.allow(reinterpret_cast<Qword>(base), size);
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type == PT_LOAD) {
      std::memcpy(object.base + segment.p_vaddr, elf.data() + segment.p_offset, segment.p_filesz);
    }
  }
}

void relocate(const Elf& elf, const Elf64_Shdr& section, CodeObject& object) {
  for (std::size_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Rela)) {
    const auto entry = elf.at<Elf64_Rela>(section.sh_offset + offset);
    Qword value = reinterpret_cast<Qword>(object.base) + as_bits(std::int64_t{entry.r_addend});
    if (ELF64_R_TYPE(entry.r_info) == absolute_64) {
      const Elf64_Shdr& symbols = elf.sections.at(section.sh_link);
      value += elf.at<Elf64_Sym>(symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym))
                   .st_value;
    } else if (ELF64_R_TYPE(entry.r_info) != relative_64) {
      throw Stopped("the code object has a relocation that is not known");
    }
    std::memcpy(object.base + entry.r_offset, &value, sizeof value);
  }
}

void read_sections(const Elf& elf, CodeObject& object) {
  for (const Elf64_Shdr& section : elf.sections) {
    if (section.sh_type == SHT_RELA) {
      relocate(elf, section, object);
    } else if (section.sh_type == SHT_DYNSYM) {
      const std::size_t names = elf.sections.at(section.sh_link).sh_offset;
      for (std::size_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Sym)) {
        const auto symbol = elf.at<Elf64_Sym>(section.sh_offset + offset);
        object.symbols[elf.text(names + symbol.st_name)] = {symbol.st_value, symbol.st_size};
      }
    }
  }
}

std::size_t rounded_up_to_4(std::size_t size) { return (size + 3) / 4 * 4; }

nlohmann::json metadata_of(const Elf& elf) {
  for (const Elf64_Phdr& segment : elf.segments) {
    std::size_t offset = segment.p_offset;
    while (segment.p_type == PT_NOTE && offset < segment.p_offset + segment.p_filesz) {
      const auto note = elf.at<Elf64_Nhdr>(offset);
      const std::size_t content = offset + sizeof note + rounded_up_to_4(note.n_namesz);
      if (note.n_type == metadata_note) {
        return nlohmann::json::from_msgpack(elf.data() + content,
                                            elf.data() + content + note.n_descsz);
      }
      offset = content + rounded_up_to_4(note.n_descsz);
    }
  }
  throw Stopped("the code object has no metadata");
}

// Offsets in the kernel descriptor, in bytes.
constexpr std::size_t entry_offset = 16;
constexpr std::size_t resources_1_offset = 48;
constexpr std::size_t resources_2_offset = 52;
constexpr std::size_t properties_offset = 56;

template <typename Value>
void read_descriptor(const std::uint8_t* descriptor, std::size_t offset, Value& value) {
  std::memcpy(&value, descriptor + offset, sizeof value);
}

Kernel kernel_of(const nlohmann::json& metadata, const CodeObject& object) {
  Kernel kernel;
  kernel.name = metadata.at(".name");
  kernel.argument_bytes = metadata.at(".kernarg_segment_size");
  kernel.lds = metadata.at(".group_segment_fixed_size");
  kernel.scratch = metadata.at(".private_segment_fixed_size");
  kernel.vgprs = metadata.at(".vgpr_count");
  kernel.agprs = metadata.value(".agpr_count", 0U);
  kernel.largest_block = metadata.at(".max_flat_workgroup_size");
  kernel.has_dynamic_stack = metadata.value(".uses_dynamic_stack", false);
  if (metadata.contains(".args")) {
    for (const auto& argument : metadata.at(".args")) {
      kernel.arguments.push_back(
          {argument.at(".offset"), argument.at(".size"), argument.at(".value_kind")});
    }
  }
  const Qword address = object.symbols.at(metadata.at(".symbol").get<std::string>()).value;
  const std::uint8_t* descriptor = object.base + address;
  read_descriptor(descriptor, entry_offset, kernel.entry);
  kernel.entry += address;
  read_descriptor(descriptor, resources_1_offset, kernel.resources_1);
  read_descriptor(descriptor, resources_2_offset, kernel.resources_2);
  read_descriptor(descriptor, properties_offset, kernel.properties);
  return kernel;
}

void do_nothing(Wave& /*wave*/, const Instruction& /*instruction*/) {}

bool begins_with(const std::string& text, std::string_view wanted) {
  return text.size() >= wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), text.begin(), [](char one, char other) {
           return one == other || (one == '_' && other == ' ');
         });
}

// To see whether the emulator and the checks notice: the option drop=KERNEL:INSTRUCTION:N.
void drop_instruction(const Options& options, CodeObject& object) {
  for (const auto& [name, kernel] : object.kernels) {
    const auto symbol = object.symbols.find(name);
    if (name.find(options.drop_kernel) == std::string::npos || symbol == object.symbols.end()) {
      continue;
    }
    int count = 0;
    const auto [begin, size] = symbol->second;
    for (Instruction& instruction : object.program) {
      if (instruction.address < begin || instruction.address >= begin + size ||
          !begins_with(instruction.text, options.drop_instruction)) {
        continue;
      }
      if (count++ == options.drop_index) {
        std::fprintf(stderr, "emulator: dropped %s in %s\n", instruction.text.c_str(),
                     name.c_str());
        instruction.run = do_nothing;
        instruction.unit = Unit::control;
        instruction.sources = 0;
        instruction.destination = {};
        instruction.second_destination = {};
      }
    }
    std::fprintf(stderr, "emulator: %d to drop in %s\n", count, name.c_str());
  }
}

}  // namespace

void CodeObject::set_program(std::string_view disassembly) {
  program = decode(disassembly);
  at.clear();
  for (std::size_t index = 0; index < program.size(); ++index) {
    at[program[index].address] = static_cast<int>(index);
  }
}

int CodeObject::index_at(Qword address) const {
  const auto found = at.find(address - reinterpret_cast<Qword>(base));
  return found == at.end() ? -1 : found->second;
}

std::string disassemble(const std::uint8_t* elf, std::size_t size, const std::string& target) {
  std::array<char, 32> name = {"/tmp/hipscope-emulator.XXXXXX"};
  const int file = mkstemp(name.data());
  if (file < 0) {
    throw Stopped("there is no room in /tmp for the code object");
  }
  const bool is_written = write(file, elf, size) == static_cast<ssize_t>(size);
  close(file);
  std::string text;
  const std::string command =
      std::string(HIPSCOPE_LLVM_OBJDUMP " -d --mcpu=") + target + " " + name.data();
  std::FILE* pipe = is_written ? popen(command.c_str(), "r") : nullptr;
  if (pipe != nullptr) {
    std::array<char, 65536> buffer;
    std::size_t count = 0;
    while ((count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
      text.append(buffer.data(), count);
    }
  }
  const bool is_good = pipe != nullptr && pclose(pipe) == 0;
  unlink(name.data());
  if (!is_good) {
    throw Stopped("the code object was not disassembled by " HIPSCOPE_LLVM_OBJDUMP);
  }
  return text;
}

CodeObject load_code_object(const std::uint8_t* data, std::size_t size, const Options& options,
                            Memory& memory) {
  const Elf elf(data, size);
  CodeObject object;
  object.target = options.target;
  lay_out(elf, object, memory);
  read_sections(elf, object);
  const nlohmann::json metadata = metadata_of(elf);
  for (const auto& kernel : metadata.at("amdhsa.kernels")) {
    object.kernels[kernel.at(".name")] = kernel_of(kernel, object);
  }
  object.set_program(disassemble(data, size, options.target));
  if (!options.drop_kernel.empty()) {
    drop_instruction(options, object);
  }
  return object;
}

}  // namespace emulator
