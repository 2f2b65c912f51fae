import LodestoreSystem
import Synchronization

/// Calls a closure when a file is written to, by any process: the doorbell of commits.
///
/// The file is that of the store itself. LMDB writes its pages by system calls, the meta page last, and the
/// system tells of each: nothing has to be rung by the writer, there is no other file that may be missing,
/// and programs that know nothing of observers are noticed, too. Where the system tells nothing (another
/// machine's mount, a container that does not share it, no watches or descriptors left) the closure is called
/// now and then all the same; the closure finds out whether there is a new commit.
///
/// inotify on Linux, kqueue on macOS.
package final class FileWatch: @unchecked Sendable {
  /// How often the closure is called when nothing is told.
  private static let pollMilliseconds: Int32 = 250

  private let body: @Sendable () -> Void
  private let events: Int32
  /// Written to when the thread is to end, which finds out on its own where there is no pipe.
  private let ends: (read: Int32, write: Int32)
  private let watched: Int32
  private let isStopping = Atomic<Bool>(false)
  private let forkCount = ForkCounter.current
  /// Guarded by `lock`.
  private var thread: pthread_t?
  private let lock = HeldLock()
  private let threadNumber = Atomic<UInt>(0)

  /// `nil` for a store in memory, which no other process can open.
  package convenience init?(_ environment: Environment, _ body: @escaping @Sendable () -> Void) {
    guard environment.options.isNamed else { return nil }
    self.init(path: environment.path, body)
  }

  init(path: String, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    var pair: [Int32] = [-1, -1]
    if pipe(&pair) == 0 { for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
    ends = (pair[0], pair[1])
    #if canImport(Darwin)
      watched = open(path, O_EVTONLY | O_CLOEXEC)
      events = kqueue()
      var change = kevent(
        ident: UInt(max(0, watched)), filter: Int16(EVFILT_VNODE),
        flags: UInt16(EV_ADD | EV_CLEAR), fflags: UInt32(NOTE_WRITE), data: 0, udata: nil)
      if watched >= 0, events >= 0 { _ = kevent(events, &change, 1, nil, 0, nil) }
    #else
      events = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      watched = events < 0 ? -1 : inotify_add_watch(events, path, UInt32(IN_MODIFY))
    #endif
  }

  deinit {
    stop()
    if ends.read >= 0 {
      close(ends.read)
      close(ends.write)
    }
    if events >= 0 { close(events) }
    #if canImport(Darwin)
      if watched >= 0 { close(watched) }
    #endif
  }

  /// Begins to call the closure, on a thread of its own; does nothing after ``stop()``.
  ///
  /// - Returns: false when no thread can be started.
  package func start() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if isStopping.load(ordering: .sequentiallyConsistent) { return true }
    thread = startedThread { [weak self] in
      while let self, self.waitOnce() {}
    }
    return thread != nil
  }

  /// No call of the closure begins any more, and none runs, unless it is that which calls this.
  package func stop() {
    lock.lock()
    isStopping.store(true, ordering: .sequentiallyConsistent)
    let started = thread
    thread = nil
    lock.unlock()
    // The thread of a forked process is the parent's, and so is the other end of the pipe.
    guard let thread = started, forkCount == ForkCounter.current else { return }
    var byte: UInt8 = 0
    _ = write(ends.write, &byte, 1)
    if threadNumber.load(ordering: .relaxed) == currentThread() {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  /// False when it is over.
  private func waitOnce() -> Bool {
    threadNumber.store(currentThread(), ordering: .relaxed)
    wait()
    guard !isStopping.load(ordering: .sequentiallyConsistent) else { return false }
    body()
    return true
  }

  /// The system tells nothing from now on, as where it cannot; for tests.
  package func silence() {
    #if canImport(Darwin)
      var change = kevent(
        ident: UInt(max(0, watched)), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_DELETE),
        fflags: 0, data: 0, udata: nil)
      _ = kevent(events, &change, 1, nil, 0, nil)
    #else
      _ = inotify_rm_watch(events, watched)
    #endif
  }

  /// Waits on the calling thread until the file may have changed; instead of ``start()``.
  package func wait() {
    var descriptors = [
      pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
      pollfd(fd: events, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&descriptors, watched < 0 ? 1 : 2, Self.pollMilliseconds)
    if descriptors[1].revents != 0 { drain() }
  }

  private func drain() {
    #if canImport(Darwin)
      var event = kevent()
      var none = timespec()
      _ = kevent(events, nil, 0, &event, 1, &none)
    #else
      withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 8) { buffer in
        while read(events, buffer.baseAddress, buffer.count) == buffer.count {}
      }
    #endif
  }
}
