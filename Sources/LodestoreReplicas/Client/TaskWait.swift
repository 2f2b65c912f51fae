extension Task {
  /// Waits for the end of this task, or for the cancellation of the calling task.
  ///
  /// `value` alone ignores the cancellation of the caller. A caller would then wait for as long as
  /// the storage is away, for work that another caller has begun.
  ///
  /// - Throws: `CancellationError` if the calling task is cancelled first.
  func waitForEnd(on clock: ReplicaClock) async throws {
    let (ends, end) = AsyncStream<Void>.makeStream()
    Task<Void, Never>.detached(executorPreference: clock.executor) {
      _ = await self.result
      end.finish()
    }
    for await _ in ends {}
    try Task<Never, Never>.checkCancellation()
  }
}
