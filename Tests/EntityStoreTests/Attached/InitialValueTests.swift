import Foundation
import Testing

@testable import EntityStore

/// The entity before it got a grade.
private struct PlainPiece: Entity {
  var id = RecordID<PlainPiece>()
  var code: String

  static let schema = EntitySchema<PlainPiece>(
    "Piece", attributes: [.init("code", \.code)], unique: [[\.code]])

  init(_ code: String) { self.code = code }

  init(from reader: inout RecordReader) throws(StoreError) { code = try reader.read() }

  func encode(into writer: inout RecordWriter) { writer.write(code) }
}

private protocol PieceGrade: Sendable { static var initial: Int { get } }

private enum LowGrade: PieceGrade { static let initial = 1 }
private enum HighGrade: PieceGrade { static let initial = 2 }

/// The entity with a grade, whose initial value is that of `G`.
private struct GradedPiece<G: PieceGrade>: Entity {
  var id = RecordID<GradedPiece>()
  var code: String
  var grade: Int

  struct Attributes: Sendable {
    var code: Attribute<GradedPiece, String> { .init(0) }
    var grade: Attribute<GradedPiece, Int> { .init(1) }
  }

  static var attributes: Attributes { Attributes() }

  static var schema: EntitySchema<GradedPiece> {
    EntitySchema(
      "Piece", attributes: [.init("code", \.code), .init("grade", \.grade, initial: G.initial)],
      unique: [[\.code]])
  }

  init(from reader: inout RecordReader) throws(StoreError) {
    code = try reader.read()
    grade = try reader.read()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(code)
    writer.write(grade)
  }
}

/// Records with equal bytes have different values if their files have different initial values.
@Suite struct `Initial values of two generations` {
  private func generation<G: PieceGrade>(
    _ folder: borrowing TemporaryFolder, _: G.Type
  ) throws -> Store {
    let path = "\(folder.path)/\(G.initial).lodestore"
    let plain = try Store(at: path, entities: [PlainPiece.self])
    try plain.insert(PlainPiece("a"))
    plain.close()
    try Store(at: path, entities: [GradedPiece<G>.self]).close()
    return try Store(at: path, entities: [GradedPiece<LowGrade>.self])
  }

  @Test func `initial values of two generations are distinguished`() async throws {
    let folder = try TemporaryFolder()
    let low = try generation(folder, LowGrade.self)
    let high = try generation(folder, HighGrade.self)
    let reference = try Reference<GradedPiece<LowGrade>>(
      try #require(try await low.fetch(GradedPiece<LowGrade>.all).first))
    let found = try [low, high, low].map { store in
      try store.core.read { core in
        let target = try #require(try core.targets([reference])[0])
        return (grade: target.value.grade, stamp: target.stamp)
      }
    }
    #expect(found.map(\.grade) == [1, 2, 1])
    #expect(found[0].stamp != found[1].stamp && found[0].stamp == found[2].stamp)

    let (stores, arrivals) = AsyncStream<Store>.makeStream()
    let record = Turner(stores.updates(of: RecordID<GradedPiece<LowGrade>>(rawValue: 1)))
    arrivals.yield(low)
    #expect(try await within { try await record.next() }??.grade == 1)
    arrivals.yield(high)
    #expect(try await within { try await record.next() }??.grade == 2)
    arrivals.finish()
  }
}
