internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request in progress: the received part of its answer, and the task that waits for it.
///
/// One lock guards everything. The first end counts, whether answer, failure or cancellation. Later
/// reports of the client are ignored.
final class WebTransfer: Sendable {
  /// The maximum number of body bytes that are read from an answer that is not a page.
  ///
  /// Its connection can be reused only if the body was read to its end.
  private static let readBesidesPages = 64 << 10

  private struct State {
    var response: WebResponse?
    var received = 0
    var lastActivity = ContinuousClock.now
    /// The number of bytes of the file's body that the head announces; `nil` if the head announces
    /// no number.
    var fileBytes: Int?
    var end: Result<WebResponse, TransferFailure>?
    var waiting: CheckedContinuation<WebResponse, any Error>?
  }

  let url: URL
  /// The maximum number of bytes of the body after decompression.
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

  /// Whether the body of an answer is content: a page, or a file or part of one for a consumer.
  private func isContent(_ response: WebResponse) -> Bool {
    consumer == nil ? response.isPage : response.isPage || response.status == 206
  }

  var isEnded: Bool { state.withLock { $0.end != nil } }
  var lastActivity: ContinuousClock.Instant { state.withLock { $0.lastActivity } }
  var received: Int { state.withLock { $0.received } }

  /// Waits for the answer.
  ///
  /// `start` is called before the wait, unless the transfer has already ended.
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

  /// Ends the transfer with this result, unless it has already ended.
  func end(with end: Result<WebResponse, TransferFailure>) {
    let waiting = state.withLock { state -> CheckedContinuation<WebResponse, any Error>? in
      guard state.end == nil else { return nil }
      state.end = end
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(with: end.mapError { $0 as any Error })
  }

  // MARK: Reports of the client

  /// Receives the head of an answer; returns false if no more is wanted.
  ///
  /// Heads with status 100 to 199 may come before the head of the answer.
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
      if let length = response.length, length > byteLimit, consumer?.hasBody != false {
        end(with: .failure(.tooLarge))
      } else if let consumer {
        begin(consumer, response)
      }
    }
    return !isEnded
  }

  /// Lets the consumer begin, or ends the transfer if the consumer throws.
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

  /// Receives decompressed bytes of the body; returns false if no more are wanted.
  ///
  /// A consumer processes them within the call. The client reads no further bytes meanwhile, so a
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
      if consumer.keepsOtherBodies {
        state.withLock { $0.response?.body.append(bytes.prefix(Self.readBesidesPages)) }
      }
      guard received > Self.readBesidesPages else { return true }
      complete(nil)
      return false
    }
    guard received <= byteLimit, !isOver else {
      end(with: .failure(.tooLarge))
      return false
    }
    do { try consumer.take(bytes) } catch { end(with: .failure(.consumer(error))) }
    noteActivity()
    return !self.isEnded
  }

  /// Appends bytes of a page.
  private func keep(_ bytes: Data) -> Bool {
    let end = state.withLock { state -> Result<WebResponse, TransferFailure>? in
      state.received += bytes.count
      state.lastActivity = .now
      // Do not copy the head: a second reference to the body would copy it with each piece.
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

  /// Notes that bytes arrived, so that the idle timeout starts again, even if they yield no content
  /// yet, as in a compressed body.
  func noteActivity() { state.withLock { $0.lastActivity = .now } }

  /// Notes that the client has finished the request.
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
      // An answer that is not a page needs only its status, whatever part of its body arrived.
      end(
        with: isContent(response)
          ? .failure(
            .truncated(received: received, expected: expected, cause: error))
          : .success(response))
    case (nil, let error): end(with: .failure(.transport(error ?? URLError(.badServerResponse))))
    }
  }
}
