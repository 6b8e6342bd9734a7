// The vendor's compiler for use at run time (AMD: HIPRTC, NVIDIA: NVRTC) and the loader of what it
// makes. Both are looked up by name, so that the program also starts where they are not installed.
// Both vendors' functions have the same parameters.
#pragma once

#include <dlfcn.h>
#include <hipscope/hipscope.h>

#include <cstddef>
#include <string>
#include <vector>

namespace host_costs {

class RunTimeCompiler {
 public:
  explicit RunTimeCompiler([[maybe_unused]] const std::string& architecture) {
#if defined(HIPSCOPE_BACKEND_HOST)
    missing_ = "the host backend has no compiler";
#else
#if defined(HIPSCOPE_BACKEND_AMD)
    // Of HIP 5 the compiler is in the runtime's own library.
    const bool is_in_runtime = dlsym(RTLD_DEFAULT, "hiprtcCompileProgram") != nullptr;
    void* const compiler =
        is_in_runtime ? RTLD_DEFAULT : open("libhiprtc.so." + std::to_string(HIP_VERSION_MAJOR));
    void* const loader = RTLD_DEFAULT;
    const std::string prefix = "hiprtc";
    const std::string code = "hiprtcGetCode";
    const std::string module = "hipModule";
    const std::string launch = "hipModuleLaunchKernel";
#else
    void* const compiler = open("libnvrtc.so." + std::to_string(CUDART_VERSION / 1000));
    void* const loader = open("libcuda.so.1");
    const std::string prefix = "nvrtc";
    const std::string code = "nvrtcGetCUBIN";
    const std::string module = "cuModule";
    const std::string launch = "cuLaunchKernel";
    option_ = "--gpu-architecture=" + architecture;
#endif
    find(compiler, prefix + "CreateProgram", create_);
    find(compiler, prefix + "CompileProgram", compile_);
    find(compiler, code + "Size", code_size_);
    find(compiler, code, code_);
    find(compiler, prefix + "DestroyProgram", destroy_);
    find(loader, module + "LoadData", load_);
    find(loader, module + "GetFunction", function_);
    find(loader, module + "Unload", unload_);
    find(loader, launch, launch_);
#endif
  }

  // What was not found; empty: it is all there.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  // The code of a kernel that stores `number`. Throws DeviceError, as all that follow.
  [[nodiscard]] std::vector<char> compile(unsigned number) const {
    const std::string source =
        "extern \"C\" __global__ void store(unsigned* word) { *word = " + std::to_string(number) +
        "u; }";
    const char* option = option_.c_str();
    void* program = nullptr;
    std::size_t bytes = 0;
    check_call(create_(&program, source.c_str(), "store.hip", 0, nullptr, nullptr), "create");
    check_call(compile_(program, option_.empty() ? 0 : 1, &option), "compile");
    check_call(code_size_(program, &bytes), "size");
    std::vector<char> code(bytes);
    check_call(code_(program, code.data()), "code");
    check_call(destroy_(&program), "destroy");
    return code;
  }

  [[nodiscard]] void* load(const std::vector<char>& code) const {
    void* module = nullptr;
    check_call(load_(&module, code.data()), "load");
    return module;
  }
  [[nodiscard]] void* function(void* module) const {
    void* function = nullptr;
    check_call(function_(&function, module, "store"), "function");
    return function;
  }
  void launch(void* function, unsigned* word) const {
    void* arguments[] = {&word};
    check_call(launch_(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), "launch");
  }
  void unload(void* module) const { check_call(unload_(module), "unload"); }

 private:
  static void check_call(int error, const std::string& what) {
    if (error != 0) {
      throw hipscope::DeviceError("a kernel at run time: error " + std::to_string(error) + " at " +
                                  what);
    }
  }

  void* open(const std::string& library) {
    void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    missing_ = opened == nullptr && missing_.empty() ? "there is no " + library : missing_;
    return opened;
  }

  template <typename Function>
  void find(void* library, const std::string& name, Function*& function) {
    if (missing_.empty()) {
      function = reinterpret_cast<Function*>(dlsym(library, name.c_str()));
      missing_ = function == nullptr ? "there is no " + name : "";
    }
  }

  std::string missing_;
  std::string option_;
  int (*create_)(void**, const char*, const char*, int, const char**, const char**) = nullptr;
  int (*compile_)(void*, int, const char**) = nullptr;
  int (*code_size_)(void*, std::size_t*) = nullptr;
  int (*code_)(void*, char*) = nullptr;
  int (*destroy_)(void**) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                 void**, void**) = nullptr;
};

}  // namespace host_costs
