import LodestoreSystem

/// Starts a thread that runs `body`.
///
/// The caller must join or detach it; `nil` if the system refuses a thread.
func startedThread(_ body: @escaping () -> Void) -> pthread_t? {
  let context = Unmanaged.passRetained(ThreadBody(run: body)).toOpaque()
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  // Closures of callers expect the stack size of a main thread; macOS gives 512 KiB and musl 128.
  pthread_attr_setstacksize(&attributes, 8 << 20)
  #if canImport(Darwin)
    // Tasks of any priority wait for the thread, and the system does not lend it their priority.
    pthread_attr_set_qos_class_np(&attributes, QOS_CLASS_USER_INITIATED, 0)
    var thread: pthread_t?
    let code = pthread_create(
      &thread, &attributes,
      { context in
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context)
    if code == 0 { return thread }
  #else
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { context in
        if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context)
    if code == 0 { return thread }
  #endif
  Unmanaged<ThreadBody>.fromOpaque(context).release()
  return nil
}

/// Runs `body` on a new thread while the caller is suspended.
///
/// Use it for long work that is done once. The threads of a store exist only while it is open.
package func runOnNewThread<R: Sendable>(
  _ body: @escaping @Sendable () throws -> R
) async throws -> R {
  try await withUnsafeThrowingContinuation { continuation in
    if let thread = OwnedThread.current {
      return thread.resume(continuation, with: Result { try body() })
    }
    let thread = startedThread { continuation.resume(with: Result { try body() }) }
    if let thread {
      pthread_detach(thread)
    } else {
      continuation.resume(throwing: LMDBError(code: EAGAIN, operation: "start a thread"))
    }
  }
}

private final class ThreadBody {
  let run: () -> Void

  init(run: @escaping () -> Void) { self.run = run }
}
