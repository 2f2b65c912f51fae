import LodestoreSystem
import Synchronization

/// Calls a closure when any process writes to a file, to announce new commits.
///
/// The watched file is the store itself. LMDB writes its pages by system calls, the meta page last,
/// and the system reports each. Writers need not do anything, no other file can be missing, and
/// programs that know nothing of observers are noticed too.
///
/// If the system reports nothing (another machine's mount, a container that does not share it, no
/// watches or descriptors left), the closure is still called at intervals. The closure must check
/// whether there is a new commit.
///
/// Uses inotify on Linux and kqueue on macOS.
package final class FileWatch: @unchecked Sendable {
  /// The interval of calls when the system reports nothing.
  private static let pollMilliseconds: Int32 = 250

  private let body: @Sendable () -> Void
  /// The time after each call in which the thread does not wait for events, in milliseconds.
  ///
  /// A write to the file wakes a thread that waits for it, which costs the writer as much as a
  /// small commit.
  private let restMilliseconds: Int32
  private let events: Int32
  /// A pipe that tells the thread to end.
  ///
  /// Without a pipe the thread notices this at its next wake-up.
  private let ends: (read: Int32, write: Int32)
  private let watched: Int32
  private let isStopping = Atomic<Bool>(false)
  private let forkCount = ForkCounter.current
  /// The watching thread; guarded by `lock`.
  private var thread: pthread_t?
  private let lock = ManualLock()
  private let threadNumber = Atomic<UInt>(0)

  /// Fails for a store in memory, which no other process can open.
  ///
  /// - Parameter restMilliseconds: The least time between two calls of the closure.
  package convenience init?(
    _ environment: Environment, restMilliseconds: Int32 = 0,
    _ body: @escaping @Sendable () -> Void
  ) {
    guard environment.options.isNamed else { return nil }
    self.init(path: environment.path, restMilliseconds: restMilliseconds, body)
  }

  init(path: String, restMilliseconds: Int32 = 0, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    self.restMilliseconds = restMilliseconds
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

  /// Begins to call the closure on a new thread; does nothing after ``stop()``.
  ///
  /// - Returns: False if no thread can be started.
  package func start() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if isStopping.load(ordering: .sequentiallyConsistent) { return true }
    thread = startedThread { [weak self] in
      while let self, self.waitOnce() {}
    }
    return thread != nil
  }

  /// Stops the calls.
  ///
  /// Afterwards no call of the closure runs. If the closure itself calls this method, its call
  /// continues.
  package func stop() {
    lock.lock()
    isStopping.store(true, ordering: .sequentiallyConsistent)
    let started = thread
    thread = nil
    lock.unlock()
    // The thread belongs to the parent of a forked process, and so does the other end of the pipe.
    guard let thread = started, forkCount == ForkCounter.current else { return }
    var byte: UInt8 = 0
    _ = write(ends.write, &byte, 1)
    if threadNumber.load(ordering: .relaxed) == currentThread() {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  /// Waits for one event; returns false when the watch has ended.
  private func waitOnce() -> Bool {
    threadNumber.store(currentThread(), ordering: .relaxed)
    wait()
    guard !isStopping.load(ordering: .sequentiallyConsistent) else { return false }
    body()
    if restMilliseconds > 0 { rest() }
    return true
  }

  /// Waits until the rest is over or the watch ends; events stay in the system's queue meanwhile.
  private func rest() {
    var end = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
    _ = poll(&end, 1, restMilliseconds)
  }

  /// Makes the system report nothing from now on; for tests.
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

  /// Waits on the calling thread until the file may have changed.
  ///
  /// Use this or ``start()``, not both.
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
