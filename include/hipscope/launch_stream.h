// The stream that work goes to which names none. Plain C++: libraries are called from there too.
#pragma once

namespace hipscope {

/// A hipStream_t: null, the default stream, or that of the graph that is being recorded
/// (MeasureOptions::graph).
inline void* launch_stream = nullptr;

}  // namespace hipscope
