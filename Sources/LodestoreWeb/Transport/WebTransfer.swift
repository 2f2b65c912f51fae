internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request in progress: what has been received of its answer, and the task that waits for it.
///
/// One lock guards all. The first end counts, be it an answer, a failure or a cancellation; later
/// reports of the client are ignored.
final class WebTransfer: Sendable {
  /// How much of an answer that is no page is read, so that its connection can be used again.
  private static let readBesidesPages = 64 << 10

  private struct State {
    var response: WebResponse?
    var received = 0
    var lastActivity = ContinuousClock.now
    /// How many bytes of the file the body is to have, by the head of the answer; nil when it does
    /// not say.
    var fileBytes: Int?
    var end: Result<WebResponse, TransferFailure>?
    var waiting: CheckedContinuation<WebResponse, any Error>?
  }

  let url: URL
  /// The most bytes of the body, decompressed.
  let byteLimit: Int
  private let headByteLimit: Int
  private let consumer: FileConsumer?
  private let state = Mutex(State())

  init(_ url: URL, byteLimit: Int, headByteLimit: Int, consumer: FileConsumer? = nil) {
    self.url = url
    self.byteLimit = consumer?.byteLimit ?? byteLimit
    self.headByteLimit = headByteLimit
    self.consumer = consumer
  }

  /// Whether the body of an answer is kept or consumed.
  private func isContent(_ response: WebResponse) -> Bool {
    consumer == nil ? response.isPage : response.isPage || response.status == 206
  }

  var isEnded: Bool { state.withLock { $0.end != nil } }
  var lastActivity: ContinuousClock.Instant { state.withLock { $0.lastActivity } }
  var received: Int { state.withLock { $0.received } }

  /// The answer; `start` is called before the wait, not when the transfer has ended already.
  func response(_ start: () -> Void) async throws -> WebResponse {
    try await withCheckedThrowingContinuation { continuation in
      let end = state.withLock { state in
        if state.end == nil { state.waiting = continuation }
        return state.end
      }
      if let end {
        continuation.resume(with: end.mapError { $0 as any Error })
      } else {
        start()
      }
    }
  }

  /// Ends the transfer, unless it has ended.
  func end(with end: Result<WebResponse, TransferFailure>) {
    let waiting = state.withLock { state -> CheckedContinuation<WebResponse, any Error>? in
      guard state.end == nil else { return nil }
      state.end = end
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: end.mapError { $0 as any Error })
  }

  // MARK: What the client reports

  /// The head of an answer; false when no more is wanted.
  ///
  /// Before the answer there may be others, of status 100 to 199.
  func receive(_ response: WebResponse) -> Bool {
    guard response.fieldBytes <= headByteLimit else {
      end(with: .failure(.headTooLarge))
      return false
    }
    state.withLock { state in
      state.response = response
      state.lastActivity = .now
    }
    if isContent(response) {
      if let length = response.length, length > byteLimit {
        end(with: .failure(.tooLarge))
      } else if let consumer {
        begin(consumer, response)
      }
    }
    return !isEnded
  }

  /// Has the consumer begin, or ends the transfer where it cannot.
  private func begin(_ consumer: FileConsumer, _ response: WebResponse) {
    do {
      let head = try consumer.head(of: response)
      state.withLock { $0.fileBytes = head.byteCount }
      try consumer.begin(head)
    } catch let failure as TransferFailure {
      end(with: .failure(failure))
    } catch {
      end(with: .failure(.consumer(error)))
    }
  }

  /// Bytes of the body, decompressed; false when no more is wanted.
  ///
  /// A consumer takes them within the call. While it does, the client reads no further bytes, so a
  /// slow consumer slows the server down.
  func receive(_ bytes: Data) -> Bool {
    guard let consumer else { return keep(bytes) }
    let (isContent, received, isOver, isEnded) = state.withLock { state in
      state.received += bytes.count
      state.lastActivity = .now
      let isContent = state.response.map(self.isContent) ?? false
      let isOver = state.received > state.fileBytes ?? .max
      return (isContent, state.received, isOver, state.end != nil)
    }
    guard !isEnded else { return false }
    guard isContent else {
      guard received > Self.readBesidesPages else { return true }
      complete(nil)
      return false
    }
    guard received <= byteLimit, !isOver else {
      end(with: .failure(.tooLarge))
      return false
    }
    do {
      try consumer.take(bytes)
    } catch {
      end(with: .failure(.consumer(error)))
    }
    noteActivity()
    return !self.isEnded
  }

  /// Keeps bytes of a page.
  private func keep(_ bytes: Data) -> Bool {
    let end = state.withLock { state -> Result<WebResponse, TransferFailure>? in
      state.received += bytes.count
      state.lastActivity = .now
      // The head is not copied: a second reference to the body would copy it with each piece.
      guard let isPage = state.response?.isPage else { return nil }
      guard isPage else {
        return state.received > Self.readBesidesPages ? state.response.map { .success($0) } : nil
      }
      guard state.received <= byteLimit else { return .failure(.tooLarge) }
      state.response?.body.append(bytes)
      return nil
    }
    if let end { self.end(with: end) }
    return !isEnded
  }

  /// A byte came that is no content, as of a compressed body.
  func noteActivity() { state.withLock { $0.lastActivity = .now } }

  /// The client has done with the request.
  func complete(_ error: URLError?) {
    let (response, received, fileBytes) = state.withLock {
      ($0.response, $0.received, $0.fileBytes)
    }
    let expected = fileBytes ?? response?.length
    switch (response, error) {
    case (let response?, nil):
      if isContent(response), let expected, received < expected {
        end(with: .failure(.truncated(received: received, expected: expected, cause: nil)))
      } else {
        end(with: .success(response))
      }
    case (let response?, let error?):
      // An answer that is no page needs its status only, however much of its body came.
      end(
        with: isContent(response)
          ? .failure(
            .truncated(received: received, expected: expected, cause: error))
          : .success(response))
    case (nil, let error):
      end(with: .failure(.transport(error ?? URLError(.badServerResponse))))
    }
  }
}
