import Testing

@testable import EntityStore

@Suite struct `Batches with a value that a constraint refuses` {
  private struct Rating: Entity {
    var id = RecordID<Rating>()
    var stars: Int64
    var text: String

    init(stars: Int64, text: String) {
      self.stars = stars
      self.text = text
    }

    struct Attributes: Sendable {
      var id: Attribute<Rating, RecordID<Rating>> { .recordID }
      var stars: Attribute<Rating, Int64> { .init(0) }
      var text: Attribute<Rating, String> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Rating>(
      "Rating",
      attributes: [
        .init("stars", \.stars, constraints: [.range(0...5)]), .init("text", \.text),
      ],
      indexes: [[\.stars]])

    func encode(into writer: inout RecordWriter) {
      writer.write(stars)
      writer.write(text)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      stars = try reader.read()
      text = try reader.read()
    }
  }

  /// The refused record is at the beginning, in the middle or at the end of the batch.
  ///
  /// The last records are written only when the batch ends.
  @Test(arguments: [0, 1, 2_500, 4_998, 4_999], [false, true])
  func `a refused batch changes nothing, and the transaction continues`(
    index: Int, isSequence: Bool
  ) throws {
    var ratings = (0..<5_000).map { Rating(stars: Int64($0 % 6), text: "rating \($0)") }
    ratings[index].stars = 6
    try withTemporaryStore([Rating.self]) { store in
      try store.write { transaction in
        _ = try storeError(.invalidValue) {
          if isSequence {
            try transaction.insert(ratings.lazy.map { $0 })
          } else {
            try transaction.insert(ratings)
          }
        }
        #expect(try transaction.count(Rating.all) == 0)
        #expect(try transaction.count(Rating.index(\.stars), within: .init()) == 0)
        ratings[index].stars = 5
        let ids = try transaction.insert(ratings).ids
        #expect(ids.first?.rawValue == 1 && ids.last?.rawValue == 5_000)
      }
    }
  }
}
