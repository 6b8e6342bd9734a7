// See hipscope/libraries/collectives.h.
#include "hipscope/libraries/collectives.h"

#include "hipscope/libraries/wanted.h"

// What CMake has found: `library::name`, `library::Communicators`.
#include HIPSCOPE_COLLECTIVES_LIBRARY

namespace hipscope::vendor {

struct Collectives::Implementation {
  library::Communicators communicators;
};

Collectives::Collectives(const std::vector<int>& devices)
    : implementation_(new Implementation{library::Communicators(devices)}) {}

Collectives::~Collectives() = default;

void Collectives::enqueue(Collective operation, const std::vector<Party>& parties,
                          std::size_t count) {
  implementation_->communicators.enqueue(operation, parties, count);
}

std::string collectives_library() { return libraries_are_wanted() ? library::name() : ""; }

}  // namespace hipscope::vendor
