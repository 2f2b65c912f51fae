/// The lowest live slot, and the number of the record that says so.
package struct Floor: Hashable, Sendable {
  /// The number of the record, or 0 before the first collection.
  package var number: UInt64
  /// Slots below this one are never used again.
  package var slot: UInt64

  package static let none = Floor(number: 0, slot: 0)

  package init(number: UInt64, slot: UInt64) {
    self.number = number
    self.slot = slot
  }
}

/// Finds the newest record of the floor.
///
/// Starts at the record after the known one. Steps double while records exist, and then the range
/// is halved. Usually one request with the answer 404 is enough. The result is no older than the
/// first request of the search.
struct FloorSearch: Sendable {
  /// The newest record that was read.
  private(set) var floor: Floor
  /// A number whose record was absent during this search.
  private var absent: UInt64?
  private var step: UInt64 = 1
  private(set) var fault: PackError?

  init(known: Floor) { floor = known }

  /// The record whose number was asked for last.
  var name: ReplicaName { .floor(number: number) }

  private var number: UInt64 {
    guard let absent else { return floor.number + step }
    return floor.number + (absent - floor.number) / 2
  }

  /// Whether ``floor`` or ``fault`` is the result.
  var isFinished: Bool {
    if fault != nil { return true }
    guard let absent else { return false }
    return absent == floor.number + 1
  }

  /// Takes the answer to a request for ``name``, and ignores an unclear one.
  mutating func receive(_ outcome: StorageOutcome) {
    switch outcome {
    case .absent: absent = number
    case .object(let bytes): take(bytes)
    default: break
    }
  }

  private mutating func take(_ bytes: [UInt8]) {
    let record: FloorRecord
    do throws(PackError) {
      record = try FloorRecord(reading: bytes, named: name.text)
    } catch { return fault = error }
    guard record.slot > floor.slot else {
      return fault = .damaged(
        "'\(name.text)'", "its slot \(record.slot) is not above \(floor.slot) of an earlier record")
    }
    floor = Floor(number: number, slot: record.slot)
    if absent == nil { step *= 2 }
  }
}
