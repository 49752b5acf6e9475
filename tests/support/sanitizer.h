// tests/support/sanitizer.h -- SS_HAS_ASAN: 1 if gcc or clang builds with its address sanitizer, 0 otherwise.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SS_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SS_HAS_ASAN 1
#endif
#endif
#ifndef SS_HAS_ASAN
#define SS_HAS_ASAN 0
#endif
