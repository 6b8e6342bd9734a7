// The stream of work that names none. Plain C++, since library calls need it too.
#pragma once

namespace hipscope {

/// A hipStream_t: null, the default stream, or that of the graph that is being recorded
/// (MeasureOptions::graph).
inline void* launch_stream = nullptr;

}  // namespace hipscope
