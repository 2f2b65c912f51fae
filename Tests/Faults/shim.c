// A library that is preloaded into a process. It makes the N-th call of one kind fail, or records
// the changes to the files of one folder. It needs Linux with glibc; the tests build it.
//
// A test program asks dlsym for the functions below, whose names begin with "faults_". For any
// other program, such as kvdump, LODESTORE_FAULT names the failing call from the start of the
// program on, as "KIND N ERRNO GOOD": "write 3 5 0" fails the third write once with EIO.
// LODESTORE_FAULT_FOLDER is the folder. With LODESTORE_FAULT_REPORT the count is written to that
// file when the program ends.
//
// Only calls on files of the folder are counted. Of mmap, the allocations and pthread_create, only
// calls by liblmdb are counted, because the runtime of Swift ends a program that gets no memory.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (next == NULL) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define CALLER __builtin_return_address(0)

// MARK: Counted calls

static char folder[PATH_MAX];
static size_t folder_length;
static uintptr_t engine_start, engine_end;

static int find_engine(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  (void)context;
  if (info->dlpi_name == NULL || strstr(info->dlpi_name, "liblmdb") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
    if (engine_start == 0 || start < engine_start) engine_start = start;
    if (end > engine_end) engine_end = end;
  }
  return 1;
}

static void set_folder(const char *path) {
  if (realpath(path, folder) == NULL) folder[0] = 0;
  folder_length = strlen(folder);
  if (engine_end == 0) dl_iterate_phdr(find_engine, NULL);
}

static int is_engine(const void *caller) {
  return (uintptr_t)caller >= engine_start && (uintptr_t)caller < engine_end;
}

// The name in the folder: "" for the folder itself, NULL for a path outside it.
static const char *name_of(const char *path) {
  if (folder_length == 0 || path == NULL || strncmp(path, folder, folder_length) != 0) return NULL;
  if (path[folder_length] == 0) return "";
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static const char *name_of_file(int file, char *buffer) {
  if (folder_length == 0 || file < 0) return NULL;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
  if (length <= 0) return NULL;
  buffer[length] = 0;
  return name_of(buffer);
}

static int is_own(int file) {
  char buffer[PATH_MAX];
  return name_of_file(file, buffer) != NULL;
}

// MARK: Failing

static char failing[16];
static atomic_int is_armed;
static atomic_long seen, hits;
static long failing_number;
static int failing_error, fails_for_good;

// Returns whether this call must fail, and then sets errno.
static int fails(const char *kind) {
  if (!atomic_load(&is_armed) || strcmp(kind, failing) != 0) return 0;
  long number = atomic_fetch_add(&seen, 1) + 1;
  if (number != failing_number && !(fails_for_good && number > failing_number)) return 0;
  atomic_fetch_add(&hits, 1);
  errno = failing_error;
  return 1;
}

static int is_failing(const char *kind) {
  return atomic_load(&is_armed) && strcmp(kind, failing) == 0;
}

// Arms the fault from now on; a number of 0 counts without failing.
void faults_arm(const char *path, const char *kind, long number, int error, int for_good) {
  set_folder(path);
  snprintf(failing, sizeof failing, "%s", kind);
  failing_number = number > 0 ? number : LONG_MAX;
  failing_error = error;
  fails_for_good = for_good;
  atomic_store(&seen, 0);
  atomic_store(&hits, 0);
  atomic_store(&is_armed, 1);
}

void faults_disarm(void) { atomic_store(&is_armed, 0); }
long faults_count(void) { return atomic_load(&seen); }
long faults_hits(void) { return atomic_load(&hits); }

__attribute__((constructor)) static void start(void) {
  const char *plan = getenv("LODESTORE_FAULT"), *path = getenv("LODESTORE_FAULT_FOLDER");
  char kind[16];
  long number;
  int error, for_good;
  if (plan == NULL || path == NULL) return;
  if (sscanf(plan, "%15s %ld %d %d", kind, &number, &error, &for_good) != 4) return;
  faults_arm(path, kind, number, error, for_good);
}

__attribute__((destructor)) static void finish(void) {
  const char *path = getenv("LODESTORE_FAULT_REPORT");
  if (path == NULL) return;
  char text[64];
  int length = snprintf(text, sizeof text, "%ld %ld\n", faults_count(), faults_hits());
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, length);
  syscall(SYS_close, file);
}

// MARK: Recording

enum operation {
  WRITTEN = 1, WRITTEN_DURABLY, TRUNCATED, SYNCED, CREATED, LINKED, RENAMED, UNLINKED, SYNCED_FOLDER, MARKED, FAILED_TO_SYNC,
  FAILED_TO_WRITE
};

// The head of a record, little-endian as the machines that this runs on; its payload follows.
struct head {
  uint32_t operation, length;
  uint64_t inode, number;
};

static int recording = -1;
static pthread_mutex_t recording_lock = PTHREAD_MUTEX_INITIALIZER;

static void record(int operation, uint64_t inode, uint64_t number, const struct iovec *parts, int count,
                   size_t length) {
  struct head head = {operation, (uint32_t)length, inode, number};
  pthread_mutex_lock(&recording_lock);
  if (recording >= 0) {
    syscall(SYS_write, recording, &head, sizeof head);
    for (int i = 0; i < count && length > 0; i++) {
      size_t size = parts[i].iov_len < length ? parts[i].iov_len : length;
      if (size > 0) syscall(SYS_write, recording, parts[i].iov_base, size);
      length -= size;
    }
  }
  pthread_mutex_unlock(&recording_lock);
}

static void record_name(int operation, uint64_t inode, const char *name) {
  struct iovec part = {(void *)name, strlen(name)};
  record(operation, inode, 0, &part, 1, part.iov_len);
}

void faults_record(const char *path, const char *log) {
  set_folder(path);
  recording = (int)syscall(SYS_openat, AT_FDCWD, log, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
}

// Adds a mark to the log: an acknowledgement in the program's own words.
void faults_mark(uint64_t number, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  record(MARKED, 0, number, &part, 1, length);
}

void faults_stop(void) {
  if (recording >= 0) syscall(SYS_close, recording);
  recording = -1;
}

static uint64_t inode_of(int file) {
  struct stat status;
  return fstat(file, &status) == 0 ? status.st_ino : 0;
}

static uint64_t inode_at(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 ? status.st_ino : 0;
}

static void record_write(int file, const struct iovec *parts, int count, ssize_t written, off_t offset) {
  if (recording < 0 || written <= 0) return;
  int code = errno;
  if (is_own(file)) {
    int flags = fcntl(file, F_GETFL);
    record(flags & O_DSYNC ? WRITTEN_DURABLY : WRITTEN, inode_of(file), offset, parts, count, written);
  }
  errno = code;
}

// MARK: Writes

// The number of bytes that a write passes on; half of them if the call is to be cut short.
static size_t shortened(size_t length) {
  return length > 1 && fails("short") ? length / 2 : length;
}

static off_t position(int file) {
  return recording >= 0 ? lseek(file, 0, SEEK_CUR) : 0;
}

ssize_t write(int file, const void *bytes, size_t length) {
  NEXT(write);
  if (is_failing("write") && is_own(file) && fails("write")) return -1;
  if (is_failing("short") && is_own(file)) length = shortened(length);
  off_t offset = position(file);
  struct iovec part = {(void *)bytes, length};
  ssize_t written = next(file, bytes, length);
  record_write(file, &part, 1, written, offset);
  return written;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
  NEXT(pwrite);
  if (is_failing("write") && is_own(file) && fails("write")) {
    int code = errno;
    // In a synchronous write only the sync fails. The system has the bytes, and they may be on the
    // disk.
    if (recording >= 0 && fcntl(file, F_GETFL) & O_DSYNC) {
      struct iovec part = {(void *)bytes, length};
      if (next(file, bytes, length, offset) == (ssize_t)length)
        record(FAILED_TO_WRITE, inode_of(file), offset, &part, 1, length);
    }
    errno = code;
    return -1;
  }
  if (is_failing("short") && is_own(file)) length = shortened(length);
  struct iovec part = {(void *)bytes, length};
  ssize_t written = next(file, bytes, length, offset);
  record_write(file, &part, 1, written, offset);
  return written;
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
  return pwrite(file, bytes, length, offset);
}

// Writes only half of the parts, or half of the only part, if the call is to be cut short.
static ssize_t write_parts(int file, const struct iovec *parts, int count, off_t offset, int has_offset) {
  struct iovec part;
  if (is_failing("write") && is_own(file) && fails("write")) return -1;
  if (is_failing("short") && is_own(file) && fails("short")) {
    part = parts[0];
    if (count > 1) {
      count /= 2;
    } else {
      part.iov_len /= 2;
      parts = &part;
    }
  }
  if (!has_offset) offset = position(file);
  ssize_t written = has_offset ? syscall(SYS_pwritev, file, parts, count, (long)offset, 0L)
                               : syscall(SYS_writev, file, parts, count);
  record_write(file, parts, count, written, offset);
  return written;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  return write_parts(file, parts, count, 0, 0);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
  return write_parts(file, parts, count, offset, 1);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
  return write_parts(file, parts, count, offset, 1);
}

int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  if (is_failing("truncate") && is_own(file) && fails("truncate")) return -1;
  int result = next(file, size);
  if (result == 0 && recording >= 0 && is_own(file)) record(TRUNCATED, inode_of(file), size, NULL, 0, 0);
  return result;
}

int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

// MARK: Reads

ssize_t read(int file, void *bytes, size_t length) {
  NEXT(read);
  if (is_failing("read") && is_own(file) && fails("read")) return -1;
  return next(file, bytes, length);
}

ssize_t pread(int file, void *bytes, size_t length, off_t offset) {
  NEXT(pread);
  if (is_failing("read") && is_own(file) && fails("read")) return -1;
  return next(file, bytes, length, offset);
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t offset) {
  return pread(file, bytes, length, offset);
}

// MARK: Syncs

// Returns whether the result of a sync is decided here: it fails, or, while calls are recorded,
// succeeds without a real sync. Otherwise the caller makes the sync.
static int is_sync_settled(int file, int *result) {
  char buffer[PATH_MAX];
  if (recording < 0 && !is_failing("sync")) return 0;
  const char *name = name_of_file(file, buffer);
  *result = name != NULL && fails("sync") ? -1 : 0;
  int code = errno;
  if (recording >= 0 && name != NULL) {
    int done = name[0] == 0 ? SYNCED_FOLDER : SYNCED;
    record(*result == 0 ? done : FAILED_TO_SYNC, inode_of(file), 0, NULL, 0, 0);
  }
  errno = code;
  return recording >= 0 || *result != 0;
}

int fdatasync(int file) {
  NEXT(fdatasync);
  int result;
  return is_sync_settled(file, &result) ? result : next(file);
}

int fsync(int file) {
  NEXT(fsync);
  int result;
  return is_sync_settled(file, &result) ? result : next(file);
}

int msync(void *start, size_t length, int flags) {
  NEXT(msync);
  if (is_failing("msync") && is_engine(CALLER) && fails("msync")) return -1;
  return next(start, length, flags);
}

// MARK: Maps, memory, threads, locks

void *mmap(void *start, size_t length, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  if (is_failing("mmap") && (is_engine(CALLER) || is_own(file)) && fails("mmap")) return MAP_FAILED;
  return next(start, length, protection, flags, file, offset);
}

void *mmap64(void *start, size_t length, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  if (is_failing("mmap") && (is_engine(CALLER) || is_own(file)) && fails("mmap")) return MAP_FAILED;
  return next(start, length, protection, flags, file, offset);
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

#define FAILS_TO_ALLOCATE (is_failing("malloc") && is_engine(CALLER) && fails("malloc"))

void *malloc(size_t size) { return FAILS_TO_ALLOCATE ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return FAILS_TO_ALLOCATE ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return FAILS_TO_ALLOCATE ? NULL : __libc_realloc(old, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  if (FAILS_TO_ALLOCATE) return ENOMEM;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *result = memory;
  return 0;
}

#undef strdup
char *strdup(const char *text) {
  if (FAILS_TO_ALLOCATE) return NULL;
  char *copy = __libc_malloc(strlen(text) + 1);
  return copy == NULL ? NULL : strcpy(copy, text);
}

// Calls of all modules count, not only those of the engine, because the store starts threads
// itself.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *context) {
  NEXT(pthread_create);
  if (is_failing("thread") && fails("thread")) return failing_error;
  return next(thread, attributes, body, context);
}

int fcntl(int file, int command, ...) {
  NEXT(fcntl);
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;
  if (locks && is_failing("lock") && is_own(file) && fails("lock")) return -1;
  return next(file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  return fcntl(file, command, argument);
}

// MARK: Names

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  const char *name = name_of(path);
  if (name != NULL && fails("open")) return -1;
  int is_new = recording >= 0 && name != NULL && name[0] != 0 && flags & O_CREAT && inode_at(path) == 0;
  int file = (int)syscall(SYS_openat, directory, path, flags, mode);
  if (file < 0 || recording < 0 || name == NULL || name[0] == 0) return file;
  if (is_new) record_name(CREATED, inode_of(file), name);
  else if (flags & O_TRUNC) record(TRUNCATED, inode_of(file), 0, NULL, 0, 0);
  return file;
}

#define OPEN(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  OPEN(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  OPEN(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char *path, int flags, ...) {
  OPEN(flags);
  return open_at(directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) {
  OPEN(flags);
  return open_at(directory, path, flags, mode);
}

// If `link` is to fail, this call is refused as on a file system that lacks it, so that the caller
// uses links.
int renameat2(int from_directory, const char *old, int directory, const char *path, unsigned flags) {
  const char *from = name_of(old), *to = name_of(path);
  if (to != NULL && flags != 0 && is_failing("link")) {
    errno = EINVAL;
    return -1;
  }
  if ((from != NULL || to != NULL) && fails("rename")) return -1;
  int result = (int)syscall(SYS_renameat2, from_directory, old, directory, path, flags);
  if (result == 0 && recording >= 0 && from != NULL && to != NULL) {
    struct iovec parts[] = {{(void *)from, strlen(from) + 1}, {(void *)to, strlen(to)}};
    record(RENAMED, inode_at(path), 0, parts, 2, parts[0].iov_len + parts[1].iov_len);
  }
  return result;
}

int rename(const char *old, const char *path) { return renameat2(AT_FDCWD, old, AT_FDCWD, path, 0); }

int link(const char *old, const char *path) {
  NEXT(link);
  const char *to = name_of(path);
  if (to != NULL && fails("link")) return -1;
  int result = next(old, path);
  if (result == 0 && recording >= 0 && to != NULL) record_name(LINKED, inode_at(path), to);
  return result;
}

int unlink(const char *path) {
  NEXT(unlink);
  const char *name = name_of(path);
  if (name != NULL && fails("unlink")) return -1;
  uint64_t inode = recording >= 0 && name != NULL ? inode_at(path) : 0;
  int result = next(path);
  if (result == 0 && recording >= 0 && name != NULL) record_name(UNLINKED, inode, name);
  return result;
}
