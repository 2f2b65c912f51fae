import CRecords
import Foundation

/// The records as the sides in C need them, with all texts in one block of memory.
///
/// Safe to share between threads, because nothing is written after `init`.
final class RawRecords<Record>: Sendable {
  nonisolated(unsafe) let records: UnsafeMutableBufferPointer<Record>
  nonisolated(unsafe) private let texts: UnsafeMutablePointer<CChar>

  var base: UnsafePointer<Record> { UnsafePointer(records.baseAddress ?? .allocate(capacity: 1)) }
  var count: Int { records.count }

  fileprivate init<E>(
    _ entities: [E], textBytes: (E) -> Int, _ record: (E, inout TextBlock) -> Record
  ) {
    texts = .allocate(capacity: entities.reduce(1) { $0 + textBytes($1) })
    records = .allocate(capacity: max(1, entities.count))
    var block = TextBlock(next: texts)
    for (i, entity) in entities.enumerated() {
      records.initializeElement(at: i, to: record(entity, &block))
    }
  }

  deinit {
    records.deallocate()
    texts.deallocate()
  }
}

/// The memory block of the texts, and the address for the next text.
private struct TextBlock {
  var next: UnsafeMutablePointer<CChar>

  mutating func place(_ text: String) -> raw_text {
    let start = next
    for byte in text.utf8 {
      next.pointee = CChar(bitPattern: byte)
      next += 1
    }
    return raw_text(bytes: start, length: UInt32(text.utf8.count))
  }
}

extension RawRecords<raw_pod> {
  convenience init(_ pods: [Pod]) {
    self.init(pods) { pod in
      pod.name.utf8.count + pod.version.utf8.count + (pod.homepage?.utf8.count ?? 0)
        + pod.license.utf8.count + pod.summary.utf8.count
    } _: { pod, block in
      raw_pod(
        name: block.place(pod.name), version: block.place(pod.version),
        homepage: block.place(pod.homepage ?? ""), license: block.place(pod.license),
        summary: block.place(pod.summary), downloads: pod.downloads,
        updated_at: pod.updatedAt.timeIntervalSinceReferenceDate,
        deprecated: pod.deprecated ? 1 : 0)
    }
  }
}

extension RawRecords<raw_item> {
  convenience init(_ items: [ToDo]) {
    self.init(items) {
      $0.title.utf8.count
    } _: { item, block in
      raw_item(
        title: block.place(item.title),
        created_at: item.createdAt.timeIntervalSinceReferenceDate, is_done: item.isDone ? 1 : 0)
    }
  }
}
