// Function attributes for the compiler. Some functions are compiled for several instruction sets; the best one for the
// processor is chosen when the module is loaded.
//
// A wheel must run on any machine of its platform, so it is compiled for the oldest processors. Hot loops over small
// integers gain much from wider registers; if the compiler and the platform support a choice at run time, they are also
// compiled for x86-64-v3, which has registers of 32 bytes. Those of 64 bytes were slower: most ranges of rows are
// shorter.
#pragma once

#include <cstdlib>  // defines whether the C library is glibc, which supports the choice at load time; musl does not

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute) && !defined(__SANITIZE_ADDRESS__)
#if __has_attribute(target_clones)
#define PARTICLETREE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#endif

#ifndef PARTICLETREE_CLONES
#define PARTICLETREE_CLONES
#endif

#if defined(__GNUC__)
#define PARTICLETREE_INLINE [[gnu::always_inline]] inline
#define PARTICLETREE_RARE [[gnu::noinline]]  // keeps large, rare code out of hot functions
#define PARTICLETREE_PREFETCH(address) __builtin_prefetch(address)
#else
#define PARTICLETREE_INLINE inline
#define PARTICLETREE_RARE
#define PARTICLETREE_PREFETCH(address) static_cast<void>(address)
#endif
