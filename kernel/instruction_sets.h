// How the compiler is to treat a function. Some exist once for every common instruction set; the processor's own is chosen
// when the module is loaded.
//
// A wheel must run on any machine of its kind, so it is compiled for the oldest. Hot loops over small integers gain much
// from wider registers; where the compiler and the platform can choose at run time, they are compiled for those as well:
// for x86-64-v3, which has registers of 32 bytes. Those of 64 bytes were slower: most stretches of rows are shorter.
#pragma once

#include <cstdlib>  // tells whether the C library is glibc, which can choose while it loads; musl cannot

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
#define PARTICLETREE_RARE [[gnu::noinline]]  // large, and not to be in the way of what is usual
#define PARTICLETREE_PREFETCH(address) __builtin_prefetch(address)
#else
#define PARTICLETREE_INLINE inline
#define PARTICLETREE_RARE
#define PARTICLETREE_PREFETCH(address) static_cast<void>(address)
#endif
