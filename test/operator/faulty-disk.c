/*
 * Preloaded into a server: system calls on some files fail with a chosen error. The directory COFFER_FAULTS holds one file for each call
 * that fails, such as `fsync`, with a line `<errno> <part of the path>`.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int strikes(const char *call, int descriptor) {
  const char *directory = getenv("COFFER_FAULTS");
  char name[1024], rule[1024], path[4096];
  if (directory == NULL) return 0;
  int before = errno;
  snprintf(name, sizeof name, "%s/%s", directory, call);
  int file = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY);
  ssize_t length = file < 0 ? -1 : syscall(SYS_read, file, rule, sizeof rule - 1);
  if (file >= 0) syscall(SYS_close, file);
  errno = before;
  if (length <= 0) return 0;
  rule[length] = 0;
  char *part = NULL;
  int code = (int)strtol(rule, &part, 10);
  while (*part == ' ') part += 1;
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  length = readlink(name, path, sizeof path - 1);
  errno = before;
  if (length <= 0) return 0;
  path[length] = 0;
  if (strstr(path, part) == NULL) return 0;
  errno = code;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int descriptor) { return strikes("fsync", descriptor) ? -1 : NEXT(fsync)(descriptor); }
int fdatasync(int descriptor) { return strikes("fsync", descriptor) ? -1 : NEXT(fdatasync)(descriptor); }
ssize_t pread(int descriptor, void *into, size_t count, off_t at) {
  return strikes("read", descriptor) ? -1 : NEXT(pread)(descriptor, into, count, at);
}
ssize_t pread64(int descriptor, void *into, size_t count, off64_t at) {
  return strikes("read", descriptor) ? -1 : NEXT(pread64)(descriptor, into, count, at);
}
ssize_t pwrite(int descriptor, const void *from, size_t count, off_t at) {
  return strikes("write", descriptor) ? -1 : NEXT(pwrite)(descriptor, from, count, at);
}
ssize_t pwrite64(int descriptor, const void *from, size_t count, off64_t at) {
  return strikes("write", descriptor) ? -1 : NEXT(pwrite64)(descriptor, from, count, at);
}
