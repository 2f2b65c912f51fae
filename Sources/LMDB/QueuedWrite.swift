import Synchronization

/// A write that waits for the writer's thread and may share its transaction.
protocol GroupMember: SharedJob {
  /// Claims the write for the writer's thread; returns false if its caller was cancelled.
  func claim() -> Bool

  /// Whether the task that requested the write has been cancelled, before or after the claim. Any
  /// thread may call it.
  var isCancelled: Bool { get }

  /// Runs the closure of the write. Each further call runs it again.
  func run(in transaction: WritingTransaction) throws

  /// Resumes the caller of a claimed write with `error` or with the result of the last run.
  func finish(_ error: (any Error)?)
}

/// An asynchronous write, from the request to its end.
///
/// `state` decides between the writer's thread, which claims the write, and a cancelled task, which
/// withdraws it. Whoever succeeds resumes the caller. `caller` is set before other threads can see
/// it. `body` and `result` belong to the writer's thread once claimed.
final class QueuedWrite<R: Sendable>: GroupMember, @unchecked Sendable {
  private enum State: UInt8, AtomicRepresentable {
    case made, waiting, claimed, over, cancelled
  }

  private let environment: Environment
  private let state = Atomic<State>(.made)
  private let cancellation = Atomic(false)
  private var caller: UnsafeContinuation<R, any Error>?
  private var body: ((WritingTransaction) throws -> R)?
  private var result: R?

  init(_ environment: Environment, _ body: @escaping (WritingTransaction) throws -> R) {
    self.environment = environment
    self.body = body
  }

  // MARK: The caller's side

  /// Requests a turn.
  ///
  /// `caller` is resumed in any case.
  func enqueue(_ caller: UnsafeContinuation<R, any Error>) {
    self.caller = caller
    guard advance(from: .made, to: .waiting) else {
      return caller.resume(throwing: CancellationError())
    }
    switch environment.writer.enqueue(.shared(self)) {
    case .refused:
      guard claim() else { return }
      finish(environment.writer.refusal)
    case .now: WorkerThreads.watch { state.load(ordering: .acquiring) == .over }
    case .later: break
    }
  }

  /// Withdraws the write; does nothing once it was claimed.
  func cancel() {
    cancellation.store(true, ordering: .releasing)
    if advance(from: .made, to: .cancelled) { return }
    if advance(from: .waiting, to: .cancelled) { resume(.failure(CancellationError())) }
  }

  // MARK: The writer's side

  func lead() { environment.commitTogether(self) }

  func claim() -> Bool { advance(from: .waiting, to: .claimed) }

  var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

  func run(in transaction: WritingTransaction) throws {
    environment.writeSide.runningWrite = self
    defer { environment.writeSide.runningWrite = nil }
    result = try body?(transaction)
  }

  func finish(_ error: (any Error)?) {
    if let error {
      resume(.failure(error))
    } else if let result {
      resume(.success(result))
    }
    state.store(.over, ordering: .releasing)
  }

  /// Releases the closure and its references before it resumes the caller, so that they do not
  /// outlive the call.
  private func resume(_ outcome: Result<R, any Error>) {
    let caller = caller
    body = nil
    result = nil
    if let thread = OwnedThread.current, let caller {
      thread.resume(caller, with: outcome)
    } else {
      caller?.resume(with: outcome)
    }
  }

  private func advance(from old: State, to new: State) -> Bool {
    state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
  }
}
