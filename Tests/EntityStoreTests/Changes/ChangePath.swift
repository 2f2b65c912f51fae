import Foundation

@testable import EntityStore

/// The ways to change stored records.
enum ChangePath: String, CaseIterable {
  case update, updateOfKey, delete
  case slotsInPlace, indexedSlots, uniqueSlots, texts, slotsByIDs, textsByIDs, expressions
  case deleteIDs, deleteWhere, deleteLimited, deleteSorted, deleteReturning, deleteAll
  case insertReplacing, insertPatching, insertMerging, insertIgnoring
  case manyReplacing, manyPatching, manyMerging, manyIgnoring, manyEqual, partsPatching
  case importing, importingPatches, importingEqual, renewing, mirroring
  case updateInChunks, deleteInChunks, insertInChunks
  case buildingIndexes

  typealias Item = Ware<SecondWare>

  /// Whether the path copies values of the stored record into a new record, or reads each value.
  var carriesOver: Bool {
    switch self {
    case .indexedSlots, .uniqueSlots, .texts, .textsByIDs, .expressions, .insertPatching,
      .insertMerging, .manyPatching, .manyMerging, .partsPatching, .importingPatches,
      .updateInChunks:
      true
    default: false
    }
  }

  /// Whether the path removes the stored record but leaves most other records.
  var removesSome: Bool {
    switch self {
    case .delete, .deleteIDs, .renewing: true
    default: false
    }
  }

  /// Whether the path leaves the stored record unchanged, and so need not read it.
  var keeps: Bool { self == .insertIgnoring || self == .manyIgnoring }

  /// Changes record `id` and others, in one transaction unless the path needs several.
  func run(in store: Store, _ id: UInt64) async throws {
    switch self {
    case .importing, .importingPatches, .importingEqual, .renewing, .mirroring:
      try await runImport(in: store, id)
    case .updateInChunks:
      _ = try await store.update(Item.all, inChunksOf: 100) { $0.text = "other" }
    case .deleteInChunks: _ = try await store.delete(Item.all, inChunksOf: 100)
    case .insertInChunks:
      _ = try await store.insert(
        incoming(id), onConflict: .replace, inChunksOf: 100)
    case .buildingIndexes: break
    default: try runTransaction(in: store, id)
    }
  }

  private func runTransaction(in store: Store, _ id: UInt64) throws {
    try store.write { transaction in
      _ = try transaction.insert(Item(name: "extra", number: 500))
      try change(&transaction, id)
    }
  }

  /// The incoming values of record `id` and its two neighbours: equal to the stored ones, or with
  /// another text.
  private func incoming(_ id: UInt64) -> [Item] {
    let isEqual = self == .manyEqual || self == .importingEqual || self == .mirroring
    return [id - 1, id, id + 1].map { .new($0, text: isEqual ? nil : "incoming") }
  }

  private func change(_ transaction: inout WriteTransaction, _ id: UInt64) throws {
    switch self {
    case .update, .updateOfKey:
      var item = Item.stored(id)
      item.text = "changed"
      if self == .updateOfKey { (item.number, item.name) = (100, "another") }
      try transaction.update(item)
    case .slotsInPlace, .indexedSlots, .uniqueSlots, .texts, .slotsByIDs, .textsByIDs,
      .expressions:
      try updateMany(&transaction)
    case .insertReplacing, .insertPatching, .insertMerging, .insertIgnoring:
      _ = try transaction.insert(.new(id, text: "incoming"), onConflict: conflict)
    case .manyReplacing, .manyPatching, .manyMerging, .manyIgnoring, .manyEqual:
      try transaction.insert(incoming(id), onConflict: conflict)
    case .partsPatching:
      let rows = incoming(id).map { ["name": $0.name, "text": "part"] }
      _ = try transaction.insert(Item.self, dictionaries: rows, onConflict: .patch())
    default: try remove(&transaction, id)
    }
  }

  private func updateMany(_ transaction: inout WriteTransaction) throws {
    switch self {
    case .slotsInPlace: try transaction.update(Item.all) { $0.price = 2.5 }
    case .indexedSlots: try transaction.update(Item.all) { $0.level.add(1) }
    case .uniqueSlots: try transaction.update(Item.all) { $0.number.add(1) }
    case .texts: try transaction.update(Item.all) { $0.text = "other" }
    case .slotsByIDs: try transaction.update(Item.all.limit(100)) { $0.price = 2.5 }
    case .textsByIDs: try transaction.update(Item.all.limit(100)) { $0.text = "other" }
    default:
      try transaction.update(Item.all) { $0.set(\.price, format: "number * 2.5 + level") }
    }
  }

  private var conflict: MergePolicy<Item> {
    switch self {
    case .insertReplacing, .manyReplacing, .manyEqual: .replace
    case .insertPatching, .manyPatching: .patch([\.text])
    case .insertIgnoring, .manyIgnoring: .ignore
    default:
      .merge { stored, incoming in
        var merged = stored
        merged.text = incoming.text
        return merged
      }
    }
  }

  private func remove(_ transaction: inout WriteTransaction, _ id: UInt64) throws {
    switch self {
    case .delete: try transaction.delete(RecordID<Item>(rawValue: id))
    case .deleteIDs:
      try transaction.delete([id - 1, id, id + 1].map { RecordID<Item>(rawValue: $0) })
    case .deleteWhere: try transaction.delete(Item.where { $0.number >= 0 })
    case .deleteLimited: try transaction.delete(Item.all.limit(100))
    case .deleteSorted:
      try transaction.delete(Item.all.sorted(by: \.price.ascending).limit(100))
    case .deleteReturning: _ = try transaction.deleteReturning(Item.all)
    default: try transaction.delete(Item.all)
    }
  }

  private func runImport(in store: Store, _ id: UInt64) async throws {
    var options = ImportOptions()
    options.rejectLimit = 0
    let wares = incoming(id).filter { self != .mirroring || $0.number != Int(id) }
    let records = wares.map { ware in
      #"{"level":3,"name":"\#(ware.name)","number":\#(ware.number),"price":1.5,"#
        + #""text":"\#(ware.text ?? "")"}"#
    }
    let page = Data("[\(records.joined(separator: ","))]".utf8)
    let pages = AsyncStream { continuation in
      continuation.yield(page)
      continuation.finish()
    }
    _ = try await Importer(
      into: store, Item.self, matching: .unique(\.name), strategy: strategy,
      onConflict: self == .importingPatches ? .patch() : .replace, options: options
    ).run(pages, renaming: [:])
  }

  private var strategy: ImportStrategy {
    switch self {
    case .renewing: .replaceMatching
    case .mirroring: .mirror
    default: .upsert
    }
  }
}
