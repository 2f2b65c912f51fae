import Foundation
import Lodestore

/// A record that depends only on its number.
protocol NumberedRecord: Entity, Sendable {
  static func numbered(_ number: Int) -> Self
  /// The record's contribution to a checksum, from the attribute that is cheapest to read.
  var checkNumber: UInt64 { get }
  /// The contribution of a stored record, read without decoding the record.
  static func checkNumber(of view: borrowing EntityView<Self>) -> UInt64
}

extension NumberedRecord {
  /// Returns a random generator for one record, independent of the generators of other records.
  static func generator(ofNumber number: Int) -> Generator {
    // The mixing of splitmix64: different numbers have different seeds, and none has the seed 0.
    var seed = (UInt64(number) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    seed = (seed ^ seed >> 30) &* 0xBF58_476D_1CE4_E5B9
    seed = (seed ^ seed >> 27) &* 0x94D0_49BB_1331_11EB
    return Generator(seed: seed ^ seed >> 31)
  }
}

/// The records with the numbers from 0, generated when they are iterated over.
struct NumberedRecords<Record: NumberedRecord>: Sequence {
  let count: Int
  /// The count and checksum of the records that all iterators have generated.
  let tally = Tally()

  /// The number of records, and the sum of their contributions to a checksum.
  final class Tally {
    fileprivate(set) var count = 0
    fileprivate(set) var sum: UInt64 = 0
  }

  struct Iterator: IteratorProtocol {
    fileprivate var number = 0
    fileprivate let count: Int
    fileprivate let tally: Tally

    mutating func next() -> Record? {
      guard number < count else { return nil }
      let record = Record.numbered(number)
      number += 1
      tally.count += 1
      tally.sum &+= record.checkNumber
      return record
    }
  }

  var underestimatedCount: Int { count }

  func makeIterator() -> Iterator { Iterator(count: count, tally: tally) }
}

extension Date {
  /// The date's contribution to a checksum.
  var checkNumber: UInt64 { timeIntervalSinceReferenceDate.bitPattern }
}
