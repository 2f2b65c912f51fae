internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request in progress: what has been received of its answer, and the task that waits for it.
///
/// One lock guards all. The first end counts, be it an answer, a failure or a cancellation; later reports
/// of the client are ignored.
final class WebTransfer: Sendable {
  /// How much of an answer that is no page is read, so that its connection can be used again.
  private static let readBesidesPages = 64 << 10

  private struct State {
    var response: WebResponse?
    var received = 0
    var lastActivity = ContinuousClock.now
    var end: Result<WebResponse, TransferFailure>?
    var waiting: CheckedContinuation<WebResponse, any Error>?
  }

  let url: URL
  private let byteLimit: Int
  private let headByteLimit: Int
  private let state = Mutex(State())

  init(_ url: URL, byteLimit: Int, headByteLimit: Int) {
    self.url = url
    self.byteLimit = byteLimit
    self.headByteLimit = headByteLimit
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
    if response.isPage, let length = response.length, length > byteLimit {
      end(with: .failure(.tooLarge))
    }
    return !isEnded
  }

  /// Bytes of the body, decompressed; false when no more is wanted.
  func receive(_ bytes: Data) -> Bool {
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
    let (response, received) = state.withLock { ($0.response, $0.received) }
    let expected = response?.length
    switch (response, error) {
    case (let response?, nil):
      if response.isPage, let expected, received < expected {
        end(with: .failure(.truncated(received: received, expected: expected, cause: nil)))
      } else {
        end(with: .success(response))
      }
    case (let response?, let error?):
      // An answer that is no page needs its status only, however much of its body came.
      end(
        with: response.isPage
          ? .failure(
            .truncated(received: received, expected: expected, cause: error))
          : .success(response))
    case (nil, let error):
      end(with: .failure(.transport(error ?? URLError(.badServerResponse))))
    }
  }
}
