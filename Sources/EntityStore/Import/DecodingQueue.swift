/// A function that decodes a page of a source into records of the entity.
typealias PageDecoding<Element> = (
  _ page: Element, _ number: Int, StoredEntity
) throws -> DecodedPage

/// Decodes pages concurrently and returns them in order.
///
/// Only one task may use a queue.
final class DecodingQueue<Element: Sendable> {
  private let workers: [Worker]
  private var running: [Task<DecodedPage, any Error>] = []
  private var appended = 0
  /// Whether decoding a page failed; no page after it is returned.
  private(set) var hasFailed = false

  init(count: Int, _ decoder: @escaping @Sendable () -> PageDecoding<Element>) {
    workers = (0..<max(1, count)).map { _ in Worker(decoder) }
  }

  var isFull: Bool { running.count >= workers.count }

  func append(_ element: Element, number: Int, digest: UInt32, _ entity: StoredEntity) {
    let worker = workers[appended % workers.count]
    appended += 1
    running.append(Task { try await worker.decode(element, number, digest, entity) })
  }

  /// Waits until the next page is decoded and returns it; nil when no page is left.
  func next() async throws -> DecodedPage? {
    guard !running.isEmpty, !hasFailed else { return nil }
    do {
      return try await running.removeFirst().value
    } catch {
      hasFailed = true
      throw error
    }
  }

  func cancel() { for task in running { task.cancel() } }

  /// Decodes one page at a time, because a decoder keeps state from page to page.
  private actor Worker {
    private let body: PageDecoding<Element>

    init(_ decoder: @Sendable () -> PageDecoding<Element>) { body = decoder() }

    func decode(
      _ element: Element, _ number: Int, _ digest: UInt32, _ entity: StoredEntity
    ) throws -> DecodedPage {
      try Task.checkCancellation()
      let start = ContinuousClock.now
      var page = try body(element, number, entity)
      page.digest = digest
      page.decodingSeconds = (ContinuousClock.now - start).inSeconds
      return page
    }
  }
}
