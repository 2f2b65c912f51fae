import Foundation
import LodestoreFormat

@testable import EntityStore

extension FuzzTarget {
  private static let viewedStore = Specimen.makeStore()

  /// A record of a store: decoding and viewing it, alone and in a query, and writing it.
  static let view = FuzzTarget("view", longestInput: 1_024) {
    try viewedStore.core.read { core in
      let entity = try core.entity(named: "Specimen")
      return try (1...3).compactMap { try core.record($0, of: entity).map { Array($0) } }
    }
  } run: { bytes in
    let id = RecordID<Specimen>(rawValue: 1)
    try viewedStore.core.write { core in
      try core.writing.put(
        littleEndianBytes(id.rawValue), Array(bytes), in: try core.entity(named: "Specimen").records
      )
    }
    try viewedStore.read { snapshot in
      let decoded = try? snapshot.fetch(id)
      let viewed = try? snapshot.withView(id) { try number(of: $0) }
      if decoded != nil { require(viewed != nil, "what can be decoded cannot be viewed") }
      _ = try? snapshot.count(Specimen.where(format: "text == 'abc' AND number > 3"))
      _ = try? snapshot.fetch(Specimen.where { $0.weight < 4 }.sorted(by: \.note.ascending))
      _ = try? snapshot.fetch(Specimen.all.sorted(by: \.text.descending).limit(2))
    }
    // The transaction is rolled back.
    struct Enough: Error {}
    try? viewedStore.write { tx in
      _ = try? tx.modify(id) { $0.number &+= 1 }
      throw Enough()
    }
    try? viewedStore.write { tx in
      _ = try? tx.delete(id)
      throw Enough()
    }
  }

  private static func number(of view: borrowing EntityView<Specimen>) throws -> Int {
    var sum = view.number &+ Int(view.small) &+ (view.isLive ? 1 : 0)
    if view.weight.isNaN { sum &+= 1 }
    sum &+= view.text.string.utf8.count &+ (view.text == "abc" ? 1 : 0)
    sum &+= view.text.hasPrefix("a") ? 1 : 0
    if let note = view.note { sum &+= note.string.utf8.count }
    sum &+= view.seen > Date(timeIntervalSinceReferenceDate: 0) ? 1 : 0
    sum &+= view.data.count
    _ = try view.decoded()
    return sum
  }
}
