// NumPy arrays as arguments and results, and errors for invalid ones.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../random.h"
#include "../require.h"

namespace particletree {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns the vector's memory.
template <class T>
nb::object to_numpy(std::vector<T>&& data, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<T>>(std::move(data));
  T* pointer = owned->data();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(pointer, shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T>&& data) {
  const std::size_t size = data.size();
  return to_numpy(std::move(data), {size});
}

// A NumPy array that owns memory from malloc.
template <class T>
nb::object own_memory(void* data, std::initializer_list<std::size_t> shape) {
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(static_cast<T*>(data), shape, owner));
}

inline BitGenerator* bit_generator(nb::handle generator) {
  nb::object capsule = generator.attr("capsule");
  void* pointer = PyCapsule_GetPointer(capsule.ptr(), "BitGenerator");
  if (!pointer) throw nb::python_error();
  return static_cast<BitGenerator*>(pointer);
}

template <class Choice>
Choice choose(const std::string& name, std::initializer_list<std::pair<const char*, Choice>> choices) {
  for (const auto& [known, choice] : choices) {
    if (name == known) return choice;
  }
  throw nb::value_error(("unknown choice: " + name).c_str());
}

}  // namespace particletree
