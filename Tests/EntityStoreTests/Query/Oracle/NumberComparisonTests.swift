import Foundation
import Testing

@testable import EntityStore

/// Comparisons of number expressions, at limits beyond which the store evaluates them by its
/// general code and not by compiled steps.
@Suite struct NumberComparisonTests {
  /// Expects each format to be true for the specimens with these serial numbers.
  private func expect(
    _ expected: [String: [Int]], of specimens: [Specimen],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withTemporaryStore([Specimen.self]) { store in
      try store.write { transaction in
        for (index, specimen) in specimens.enumerated() {
          var numbered = specimen
          numbered.serial = index + 1
          _ = try transaction.insert(numbered)
        }
      }
      for (format, serials) in expected {
        let found = try store.fetch(Specimen.where(format: format)).map(\.serial)
        #expect(found == serials, "\(format)", sourceLocation: sourceLocation)
        // Inside NOT and OR, a comparison is compiled as its own step.
        let others = try store.fetch(Specimen.where(format: "NOT (\(format)) OR serial < 0"))
          .map(\.serial)
        #expect(
          others == specimens.indices.map { $0 + 1 }.filter { !serials.contains($0) },
          "NOT \(format)", sourceLocation: sourceLocation)
      }
    }
  }

  private func specimens(_ changes: [(inout Specimen) -> Void]) -> [Specimen] {
    changes.map { change in
      var specimen = Specimen()
      change(&specimen)
      return specimen
    }
  }

  @Test func `Null equals null, differs from any number, and has no order`() throws {
    let records = specimens([
      { _ in }, { $0.int = 3 }, { ($0.int, $0.code) = (3, 3) }, { $0.code = 5 },
    ])
    try expect(
      [
        "int + 0 == code + 0": [1, 3], "int + 0 != code + 0": [2, 4], "int + 0 < code + 1": [3],
        "int * 2 >= code": [3], "int + code BETWEEN {6, 7}": [3],
      ], of: records)
  }

  @Test func `An integer beyond 64 bits and a division by zero use the general calculation`()
    throws
  {
    let records = specimens([
      { $0.int = .max }, { $0.int = .min }, { $0.int = 0 }, { $0.int = -7 },
    ])
    try expect(
      [
        // In expressions on Int64, 2^63 is a number and -2^63 - 1 is null.
        "int + 1 > 1": [1], "int - 1 < 0": [3, 4], "-int > 0": [2, 4], "abs:(int) > 0": [1, 2, 4],
        "10 / int == 0": [1, 2], "int / 0 == nil": [1, 2, 3, 4],
        "int / -1 > 0": [2, 4],
      ], of: records)
  }

  @Test func `Integers and fractions are compared exactly`() throws {
    let exact = 1 << 53
    let records = specimens([
      { ($0.int, $0.ratio) = (exact + 1, Double(exact)) },
      { ($0.int, $0.ratio) = (exact, Double(exact)) },
      { ($0.int, $0.ratio) = (.max, 0x1p63) },
      { ($0.int, $0.ratio) = (0, .nan) },
      { ($0.int, $0.ratio) = (.min, -.infinity) },
    ])
    try expect(
      [
        "int > ratio": [1, 5], "int == ratio": [2], "int < ratio": [3],
        "int != ratio": [1, 3, 4, 5],
        "ratio < int": [1, 5], "ratio >= int": [2, 3],
      ], of: records)
  }

  @Test func `Unsigned integers above the signed ones, floats and Booleans are numbers too`() throws
  {
    let records = specimens([
      { ($0.big, $0.int) = (.max, .max) }, { ($0.big, $0.int, $0.flag) = (1, 1, true) },
      { ($0.single, $0.ratio) = (0.1, 0.1) }, { ($0.single, $0.ratio) = (0.5, 0.5) },
    ])
    try expect(
      [
        "big > int": [1], "big == int": [2], "flag == int": [2], "single == ratio": [4],
        "single > ratio": [3], "big - 1 > 5": [1],
      ], of: records)
  }

  @Test func `The length of a text counts characters, whatever their scalars`() throws {
    let records = specimens([
      { $0.name = "abcdefghi" }, { $0.name = "e\u{301}" }, { $0.name = "a\r\nb" }, { $0.name = "" },
      { _ in }, { $0.name = "12345678\r\n" },
    ])
    try expect(
      [
        "length:(name) == 9": [1, 6], "length:(name) == 1": [2], "length:(name) == 3": [3],
        "length:(name) < 1": [4], "length:(name) == nil": [5],
        "length:(name) > length:(label)": [1, 2, 3, 6],
      ], of: records)
  }

  @Test func `A date and seconds add, and two dates have a distance`() throws {
    let start = Date(timeIntervalSinceReferenceDate: 1_000)
    let records = specimens([
      { ($0.date, $0.ratio) = (start, 60) }, { ($0.date, $0.ratio) = (start, -60) },
      { $0.ratio = 60 },
    ])
    try expect(
      [
        "date + ratio > CAST(1000, 'NSDate')": [1], "date - ratio > date": [2],
        "date - CAST(940, 'NSDate') == ratio": [1],
      ], of: records)
  }

  @Test func `decimals are between the infinities`() throws {
    let numbers = specimens([
      { $0.amount = 1 }, { $0.amount = -7 }, { $0.amount = nil }, { $0.amount = .nan },
    ])
    let infinity = "CAST('Infinity', 'double')"
    let negative = "CAST('-Infinity', 'double')"
    try expect(
      [
        "amount < \(infinity)": [1, 2], "amount <= \(infinity)": [1, 2],
        "amount > \(infinity)": [], "amount == \(infinity)": [], "amount >= \(infinity)": [],
        "amount > \(negative)": [1, 2], "amount >= \(negative)": [1, 2],
        "amount < \(negative)": [], "amount BETWEEN {\(negative), \(infinity)}": [1, 2],
        "amount BETWEEN {0, \(infinity)}": [1], "amount IN {1, \(infinity)}": [1],
      ], of: numbers)
  }
}
