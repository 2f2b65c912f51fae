package import LMDB
package import LodestoreFormat

/// One index of a stored entity, with its tree.
///
/// A class, as what it has would be counted one by one where it is copied.
package final class StoredIndex: Sendable {
  package let description: EntityDescription.Index
  package let tree: Tree
  /// `Entity.attribute+attribute`, for messages.
  package let name: String
  /// Of the entity, for messages.
  let entityName: String

  init(description: EntityDescription.Index, tree: Tree, name: String, entityName: String) {
    self.description = description
    self.tree = tree
    self.name = name
    self.entityName = entityName
  }

  package var isUnique: Bool { description.isUnique }
}

/// One entity of the catalogue, with its trees: what every read and write of its records uses.
package final class StoredEntity: Sendable {
  package let description: EntityDescription
  package let records: Tree
  package let indexes: [StoredIndex]
  /// The layout that new records are written in.
  package let layout: RecordLayout
  /// `nil` when no attribute has a constraint.
  let validator: RecordValidator?
  /// How the program's type has a part of the attributes; `nil` where it has all of them in the order of
  /// ``layout``, or where there is no type.
  let part: DeclaredPart?
  /// The layout that values of the program's type are read from: ``layout`` unless the declared
  /// attributes are elsewhere in it.
  let readLayout: RecordLayout
  /// Whether the program's type can neither be read nor written: an attribute that it declares is not
  /// there, or is stored in another way.
  let isMisfit: Bool
  private let layoutsByNumber: [UInt16: RecordLayout]

  package var name: String { description.name }
  /// The name for readers of single records.
  let label: EntityLabel
  package var number: UInt32 { description.number }

  /// - Parameter declared: by the program's type, if there is one.
  init(
    description: EntityDescription, declared: DeclaredEntity?,
    tree: (TreeName, Bool) throws -> Tree
  ) throws {
    self.description = description
    label = EntityLabel(description.name)
    layout = description.layout
    isMisfit = declared.map { !$0.fits(description) } ?? false
    part = isMisfit ? nil : declared?.part(of: description)
    readLayout = part.flatMap { $0.isPrefix ? nil : $0.layout } ?? layout
    validator = try RecordValidator(description, layout)
    layoutsByNumber = Dictionary(
      description.layouts.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    records = try tree(.records(entity: description.number), true)
    indexes = try description.indexes.map { index in
      StoredIndex(
        description: index,
        tree: try tree(.index(entity: description.number, index: index.number), false),
        name: "\(description.name).\(description.indexName(index))", entityName: description.name)
    }
  }

  @inline(__always)
  package func layout(number: UInt16) -> RecordLayout? {
    number == layout.number ? layout : layoutsByNumber[number]
  }

  /// The record's bytes as a view through their own layout.
  @inline(__always)
  package func view(
    _ bytes: UnsafeRawBufferPointer, id: UInt64
  ) throws(StoreError) -> RecordView {
    if let view = RecordView(narrow: bytes, layout: layout) { return view }
    return try otherView(bytes, id: id)
  }

  /// The same for long records, those of older layouts, and damaged ones.
  @inline(never)
  private func otherView(
    _ bytes: UnsafeRawBufferPointer, id: UInt64
  ) throws(StoreError) -> RecordView {
    do {
      let number = try RecordLayout.layoutNumber(of: bytes)
      guard let layout = layout(number: number) else {
        throw FormatError("its layout \(number) is not in the catalogue")
      }
      return try RecordView(bytes, layout: layout)
    } catch {
      throw .damagedRecord(entity: name, recordID: id, error)
    }
  }

  /// A record that was written in ``readLayout``, as a view.
  func view(
    carriedOver bytes: UnsafeRawBufferPointer, id: UInt64
  ) throws(StoreError) -> RecordView {
    do {
      return try RecordView(bytes, layout: readLayout)
    } catch {
      throw .damagedRecord(entity: name, recordID: id, error)
    }
  }

  /// A record on its way in as a view: it is of the current layout.
  @inline(__always)
  func view(incoming bytes: UnsafeRawBufferPointer) throws(StoreError) -> RecordView {
    do {
      return try RecordView(bytes, layout: layout)
    } catch {
      throw .damagedRecord(entity: name, recordID: 0, error)
    }
  }

  /// Throws when the record's bytes are not those that its checksum was made of.
  package func verifyChecksum(of view: RecordView, id: UInt64) throws(StoreError) {
    let expected = Checksum.record(id: id, body: view.content)
    guard expected == view.storedChecksum else {
      throw .damagedRecord(
        entity: name, recordID: id,
        FormatError(
          "its checksum is \(hex(view.storedChecksum)), its bytes give \(hex(expected))"))
    }
  }

  /// The values of the current layout's attributes in a record of any layout.
  package func values(of view: RecordView) throws(FormatError) -> [Value] {
    try values(of: view, in: layout)
  }

  /// The index over exactly `attributes`, in order; a unique one before another.
  package func index(over attributes: [UInt32]) -> StoredIndex? {
    let matching = indexes.filter { $0.description.attributes == attributes }
    return matching.first(where: \.isUnique) ?? matching.first
  }
}

/// What every reader of an entity's records refers to, without counting: the name as a string would be
/// counted for each record that is read.
final class EntityLabel: Sendable {
  let name: String
  /// ``ShortText/isUsable``, where readers of records find it.
  let makesShortTexts = ShortText.isUsable

  init(_ name: String) { self.name = name }
}

/// The catalogue as of one number of the schema.
///
/// Never changes; a newer one replaces it.
package final class StoredSchema: Sendable {
  package let number: SchemaNumber
  package let entities: [StoredEntity]
  /// The handles of the optional trees that the store has.
  let optionalTrees: [TreeName: Tree]
  private let byName: [String: StoredEntity]
  /// Declared entities whose attributes are no longer those of the file: their types must not read
  /// or write records, whose places they do not know.
  let misfits: Set<String>
  /// Of each declared entity, the numbers of its attributes in the order of its declaration; 0 where
  /// the file has none of the name.
  private let declaredNumbers: [String: [UInt32]]

  init(
    number: SchemaNumber, entities: [StoredEntity], declared: [DeclaredEntity] = [],
    optionalTrees: [TreeName: Tree] = [:]
  ) {
    self.number = number
    self.optionalTrees = optionalTrees
    self.entities = entities
    let byName = Dictionary(
      entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.byName = byName
    misfits = Set(entities.filter(\.isMisfit).map(\.name))
    declaredNumbers = Dictionary(
      declared.map { entity in
        let stored = byName[entity.name]?.description
        return (
          entity.name, entity.attributes.map { stored?.attribute(named: $0.name)?.number ?? 0 }
        )
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The index of `entity` over the attributes at `places` of its declaration, in this order; a unique
  /// one before another.
  func index(over places: [Int?], of entity: StoredEntity) -> StoredIndex? {
    guard let numbers = declaredNumbers[entity.name] else { return nil }
    var found: Int?
    for (place, index) in entity.indexes.enumerated() {
      guard Self.isOver(index.description.attributes, places, numbers) else { continue }
      if index.isUnique { return index }
      found = found ?? place
    }
    return found.map { entity.indexes[$0] }
  }

  private static func isOver(
    _ attributes: [UInt32], _ places: [Int?], _ numbers: [UInt32]
  ) -> Bool {
    guard attributes.count == places.count else { return false }
    for position in attributes.indices {
      guard let place = places[position], numbers.indices.contains(place),
        numbers[place] == attributes[position]
      else { return false }
    }
    return true
  }

  package func entity(named name: String) -> StoredEntity? { byName[name] }
}

/// Reads and writes the trees `lodestore` and `catalogue`.
package enum Catalogue {
  /// The trees that every store has.
  package struct Trees: Sendable {
    package var header: Tree
    package var catalogue: Tree
    package var counters: Tree
    package var buckets: Tree
    package var imports: Tree
  }

  package static func schemaNumber(
    _ trees: Trees, in transaction: Transaction
  ) throws -> SchemaNumber {
    guard
      let bytes = try HeaderField.schema.key.withBytes({ (key) throws(LMDBError) in
        try transaction.get(key, in: trees.header)
      }), bytes.count == 8
    else { throw FormatError("the header has no 8-byte field 'schema'") }
    return SchemaNumber(bytes.uint64(at: 0))
  }

  package static func descriptions(
    _ trees: Trees, in transaction: Transaction
  ) throws -> [EntityDescription] {
    let cursor = try Cursor(trees.catalogue, in: transaction)
    var descriptions: [EntityDescription] = []
    var found = try cursor.first()
    while found {
      if let number = CatalogueKey.entityNumber(cursor.key) {
        let content = try Checksum.unsealed(key: cursor.key, body: cursor.value)
        descriptions.append(
          try EntityDescription(number: number, document: Document(decoding: content)))
      }
      found = try cursor.next()
    }
    return descriptions
  }

  static func put(
    _ description: EntityDescription, _ trees: Trees, in transaction: Transaction
  ) throws {
    try require(description.features, trees, in: transaction)
    let key = CatalogueKey.entity(description.number)
    try transaction.put(
      key, Checksum.sealed(key: key, content: description.document.encoded()), in: trees.catalogue)
  }

  static func raiseSchemaNumber(_ trees: Trees, in transaction: Transaction) throws {
    let next = try schemaNumber(trees, in: transaction).next
    try transaction.put(HeaderField.schema.key, littleEndianBytes(next.rawValue), in: trees.header)
  }

  /// What the first commit of a new store holds.
  static func initialise(_ transaction: Transaction, environment: Environment, now: Double) throws {
    func tree(_ name: TreeName) throws -> Tree {
      guard
        let tree = try environment.tree(
          name.text, isCreated: true, hasIntegerKeys: false, in: transaction)
      else { throw FormatError("cannot make tree \(name.text)") }
      return tree
    }
    let header = try tree(.header)
    _ = try tree(.catalogue)
    _ = try tree(.counters)
    _ = try tree(.buckets)
    _ = try tree(.imports)
    var generator = SystemRandomNumberGenerator()
    // Version 4, variant 1 of RFC 9562.
    let uuid = UUIDBytes(
      high: generator.next() & ~0xf000 | 0x4000, low: generator.next() & ~(3 << 62) | 2 << 62)
    try transaction.put(HeaderField.format.key, FormatFeature.base.requirement.bytes, in: header)
    try transaction.put(HeaderField.uuid.key, uuid.bytes, in: header)
    try transaction.put(
      HeaderField.created.key, littleEndianBytes(now.bitPattern), in: header)
    try transaction.put(HeaderField.schema.key, littleEndianBytes(UInt64(0)), in: header)
  }
}
