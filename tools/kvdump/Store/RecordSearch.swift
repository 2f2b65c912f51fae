import EntityStore
import LMDB
import LodestoreFormat

/// Finds the records whose attributes have given values, by the best index there is.
struct RecordSearch {
  /// What the values are looked up in.
  enum Way {
    case id(UInt64)
    /// An index that begins with the attributes, in its own order, and their values.
    case index(StoredIndex, [Value])
    case scan
  }

  let way: Way
  private let entity: StoredEntity
  private let wanted: [(attribute: EntityDescription.Attribute, value: Value)]

  /// Reads the values as the schema says.
  ///
  /// `_id`, and `id` where no attribute has that name, is the record's id.
  init(_ matches: [AttributeMatch], in entity: StoredEntity, store path: String) throws {
    self.entity = entity
    var wanted: [(attribute: EntityDescription.Attribute, value: Value)] = []
    var id: UInt64?
    for match in matches {
      let isID =
        match.attribute == RecordColumns.idName
        || match.attribute == "id" && entity.description.attribute(named: "id") == nil
      if isID {
        guard let number = UInt64(match.value) else {
          throw CommandFailure.badValue(
            match.value, of: match.attribute, expectation: "the number of a record")
        }
        id = number
      } else {
        let attribute = try entity.attribute(match.attribute, store: path)
        wanted.append((attribute, try TypedValue.value(match.value, of: attribute)))
      }
    }
    self.wanted = wanted
    if let id {
      way = .id(id)
    } else {
      way = Self.index(for: wanted, in: entity).map { .index($0.0, $0.1) } ?? .scan
    }
  }

  /// A unique index over the attributes, then any over them, then one that begins with them.
  private static func index(
    for wanted: [(attribute: EntityDescription.Attribute, value: Value)], in entity: StoredEntity
  ) -> (StoredIndex, [Value])? {
    let numbers = Set(wanted.map(\.attribute.number))
    guard numbers.count == wanted.count else { return nil }
    func rank(_ index: StoredIndex) -> Int {
      (index.description.attributes.count - numbers.count) * 2 + (index.isUnique ? 0 : 1)
    }
    let fitting = entity.indexes.filter {
      Set($0.description.attributes.prefix(numbers.count)) == numbers
    }
    guard let index = fitting.min(by: { rank($0) < rank($1) }) else { return nil }
    let values = index.description.attributes.prefix(numbers.count).compactMap { number in
      wanted.first { $0.attribute.number == number }?.value
    }
    return (index, values)
  }

  /// Visits the records in the order of the index or of their ids, until `body` returns false.
  func forEach(
    in core: TransactionCore, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    switch way {
    case .id(let id):
      guard let bytes = try core.record(id, of: entity), try isMatch(bytes, id) else { return }
      _ = try body(id, bytes)
    case .scan:
      let cursor = try Cursor(entity.records, in: core.transaction)
      var found = try cursor.first()
      while found {
        let id = cursor.integerKey
        if try isMatch(cursor.value, id), try !body(id, cursor.value) { return }
        found = try cursor.next()
      }
    case .index(let index, let values):
      var failure: (any Error)?
      try core.walk(
        index, of: entity, lower: .included(values), upper: .included(values), isReversed: false
      ) { (id) throws(StoreError) in
        do {
          guard let bytes = try core.record(id, of: entity) else {
            throw CommandFailure.indexOfNothing(index.name, entity.name, id)
          }
          return try body(id, bytes)
        } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
    }
  }

  private func isMatch(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws -> Bool {
    if wanted.isEmpty { return true }
    let view = try entity.view(bytes, id: id)
    try entity.verifyChecksum(of: view, id: id)
    do {
      for (attribute, value) in wanted {
        let place = view.layout.placeIndex(ofAttribute: attribute.number)
        let stored = try place.map { try view.value(at: view.layout.places[$0]) }
        guard stored ?? attribute.initial == value else { return false }
      }
      return true
    } catch {
      throw CommandFailure.damagedRecord(entity.name, id, reason: "\(error)")
    }
  }
}
