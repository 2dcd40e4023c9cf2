/* A shim for LD_PRELOAD that makes one call fail that writes: the FAULT_AT-th (from 1) of write, fsync, rename,
 * ftruncate and open-for-writing on files below FAULT_UNDER, with the error FAULT_ERROR (default ENOSPC); with
 * FAULT_COUNT=FILE it fails nothing and writes how many such calls there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long g_calls;

static int is_below(const char* path) {
  const char* under = getenv("FAULT_UNDER");
  return under && path && strstr(path, under) != NULL;
}

static int is_file_below(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* 1: this call is to fail; errno is set. */
static int fails(void) {
  const long call = atomic_fetch_add(&g_calls, 1) + 1;
  const char* at = getenv("FAULT_AT");
  if (!at || atol(at) != call) return 0;
  const char* error = getenv("FAULT_ERROR");
  errno = error ? atoi(error) : ENOSPC;
  return 1;
}

__attribute__((destructor)) static void tell(void) {
  const char* file = getenv("FAULT_COUNT");
  if (!file) return;
  FILE* out = fopen(file, "w");
  if (!out) return;
  fprintf(out, "%ld\n", (long)g_calls);
  fclose(out);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static ssize_t (*real)(int, const void*, size_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  if (is_file_below(descriptor) && fails()) return -1;
  return real(descriptor, data, size);
}

int fsync(int descriptor) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  if (is_file_below(descriptor) && fails()) return -1;
  return real(descriptor);
}

int syncfs(int descriptor) {
  static int (*real)(int);
  if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "syncfs");
  if (is_file_below(descriptor) && fails()) return -1;
  return real(descriptor);
}

int ftruncate(int descriptor, off_t size) {
  static int (*real)(int, off_t);
  if (!real) real = (int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate");
  if (is_file_below(descriptor) && fails()) return -1;
  return real(descriptor, size);
}

int rename(const char* from, const char* to) {
  static int (*real)(const char*, const char*);
  if (!real) real = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  if (is_below(to) && fails()) return -1;
  return real(from, to);
}

int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  if (!real) real = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  if ((flags & (O_WRONLY | O_RDWR)) && is_below(path) && fails()) return -1;
  return real(path, flags, mode);
}
