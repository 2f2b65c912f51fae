import CRecords
import Foundation

/// The found or changed records of an operation.
///
/// The run ends with an error if sides differ.
struct Answer: Equatable {
  var count: Int
  /// A hash of the records in their order, or of a sum over them; 0 if the operation only counts.
  var hash: UInt64

  init(count: Int, hash: UInt64 = 0) {
    self.count = count
    self.hash = hash
  }
}

/// The hash that `raw_hash_answer` in `CRecords` calculates for the same records.
private struct RecordHash {
  private(set) var value: UInt64 = 0

  mutating func add(_ text: String) {
    var text = text
    value = text.withUTF8 { raw_hash_bytes(value, $0.baseAddress, $0.count) }
  }

  mutating func add(_ number: UInt64) { value = raw_hash_number(value, number) }

  mutating func add(_ date: Date) { add(date.timeIntervalSinceReferenceDate.bitPattern) }
}

/// The fields of a pod, implemented by each side's type for pods.
protocol PodFields {
  var name: String { get }
  var version: String { get }
  var homepage: String? { get }
  var license: String { get }
  var summary: String { get }
  var downloads: Int64 { get }
  var updatedAt: Date { get }
  var deprecated: Bool { get }
}

protocol ItemFields {
  var title: String { get }
  var createdAt: Date { get }
  var isDone: Bool { get }
}

extension Pod: PodFields {}
extension ToDo: ItemFields {}

extension Answer {
  init(_ pods: [some PodFields]) {
    var hash = RecordHash()
    for pod in pods {
      hash.add(pod.name)
      hash.add(pod.version)
      hash.add(pod.homepage ?? "")
      hash.add(pod.license)
      hash.add(pod.summary)
      hash.add(UInt64(bitPattern: pod.downloads))
      hash.add(pod.updatedAt)
      hash.add(pod.deprecated ? 1 : 0)
    }
    self.init(count: pods.count, hash: hash.value)
  }

  init(_ items: [some ItemFields]) {
    var hash = RecordHash()
    for item in items {
      hash.add(item.title)
      hash.add(item.createdAt)
      hash.add(item.isDone ? 1 : 0)
    }
    self.init(count: items.count, hash: hash.value)
  }
}
