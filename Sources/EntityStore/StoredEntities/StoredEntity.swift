internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// An entity of the catalogue with its trees, which every read and write of its records uses.
final class StoredEntity: Sendable {
  let description: EntityDescription
  let records: Tree
  let indexes: [StoredIndex]
  /// The indexes under construction, which have entries for only some of the records.
  let building: [StoredIndex]
  /// The computed indexes, also those under construction.
  let computedIndexes: [StoredComputedIndex]
  /// The complete indexes over elements of documents.
  let elementIndexes: [StoredComputedIndex]
  /// The complete indexes over words of texts.
  let searchIndexes: [StoredComputedIndex]
  /// The complete indexes over places.
  let placeIndexes: [StoredComputedIndex]
  /// The complete indexes over vectors.
  let vectorIndexes: [StoredComputedIndex]
  /// The layout of new records.
  let layout: RecordLayout
  /// The validator for constraints; `nil` when no attribute has a constraint, and no place
  /// index or vector index refuses values.
  let validator: RecordValidator?
  /// The encoding rules for a program's type that declares only some attributes, or another order.
  ///
  /// `nil` when the type declares all attributes in the order of ``layout``, or when there is no
  /// type.
  let part: DeclaredPart?
  /// The derived attributes; `nil` when no attribute is derived.
  let derivations: RecordDerivations?
  /// The attributes that the program's type declares, in its order.
  let declared: [DeclaredAttribute]
  /// The layout to which records are converted before the program's type decodes them.
  ///
  /// The value is ``layout`` unless the declared attributes are at other places in ``layout``.
  let decodingLayout: RecordLayout
  /// Whether values of the program's type can be neither read nor written.
  ///
  /// If true, an attribute that the type declares does not exist in the file, or has another stored
  /// type.
  let isMisfit: Bool
  private let layoutsByNumber: [UInt16: RecordLayout]

  var name: String { description.name }
  /// The names that readers of single records need.
  let label: EntityLabel
  var number: EntityNumber { description.number }

  init(
    description: EntityDescription, part: DeclaredPart?, decodingLayout: RecordLayout? = nil,
    declared: [DeclaredAttribute], functions: [UInt32: RecordDerivations.Function]? = [:],
    isMisfit: Bool, tree: (TreeName) throws -> Tree
  ) throws {
    self.description = description
    self.part = part
    self.declared = declared
    self.isMisfit = isMisfit
    layout = description.layout
    self.decodingLayout = decodingLayout ?? layout
    label = EntityLabel(
      description.name,
      zip(self.decodingLayout.slots, self.decodingLayout.attributes).compactMap { slot, attribute in
        description.attribute(number: attribute.number).map { (slot, $0.name) }
      })
    derivations = RecordDerivations(description, functions: functions)
    validator = try RecordValidator(description, layout)
    layoutsByNumber = Dictionary(
      description.layouts.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    records = try tree(.records(entity: description.number))
    func stored(_ index: EntityDescription.Index) throws -> StoredIndex {
      StoredIndex(
        description: index, tree: try tree(.index(entity: description.number, index: index.number)),
        name: "\(description.name).\(description.indexName(index))", entityName: description.name)
    }
    indexes = try description.indexes.map(stored)
    building = try description.building.map(stored)
    computedIndexes = try description.computedIndexes.map { index in
      StoredComputedIndex(
        index, of: description, tree: try tree(index.tree(of: description.number)))
    }
    let complete = computedIndexes.filter { !$0.isBuilding }
    elementIndexes = complete.filter { $0.description.kind == .elements }
    searchIndexes = complete.filter { $0.description.kind == .search }
    placeIndexes = complete.filter { $0.description.kind == .place }
    vectorIndexes = complete.filter { $0.description.kind == .vector }
  }

  /// The computed indexes of a kind, also those under construction.
  func computedIndexes(_ kind: EntityDescription.ComputedIndex.Kind) -> [StoredComputedIndex] {
    computedIndexes.filter { $0.description.kind == kind }
  }

  /// Whether an index is under construction.
  var isBuilding: Bool { !building.isEmpty || computedIndexes.contains(where: \.isBuilding) }

  @inline(__always)
  func layout(number: UInt16) -> RecordLayout? {
    number == layout.number ? layout : layoutsByNumber[number]
  }

  /// A view of the record's bytes in their own layout.
  @inline(__always)
  func view(_ bytes: ByteView, id: UInt64) throws(StoreError) -> RecordView {
    if let view = RecordView(narrow: bytes, layout: layout) { return view }
    return try otherView(bytes, id: id)
  }

  /// A view of the record's bytes; verifies the checksum when `verifies` is true.
  @inline(__always)
  func view(
    _ bytes: ByteView, id: UInt64, verifying verifies: Bool
  ) throws(StoreError) -> RecordView {
    let view = try view(bytes, id: id)
    if verifies { try verifyChecksum(of: view, id: id) }
    return view
  }

  /// A view of a long record, of one with an older layout, or of a damaged one.
  @inline(never)
  private func otherView(_ bytes: ByteView, id: UInt64) throws(StoreError) -> RecordView {
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

  /// A view of a record that was converted to ``decodingLayout``.
  func view(carriedOver bytes: ByteView, id: UInt64) throws(StoreError) -> RecordView {
    try view(bytes, id: id, in: decodingLayout)
  }

  /// A view of a record that is to be written, in the current layout.
  @inline(__always)
  func view(incoming bytes: ByteView) throws(StoreError) -> RecordView {
    try view(bytes, id: 0, in: layout)
  }

  @inline(__always)
  private func view(
    _ bytes: ByteView, id: UInt64, in layout: RecordLayout
  ) throws(StoreError) -> RecordView {
    do {
      return try RecordView(bytes, layout: layout)
    } catch {
      throw .damagedRecord(entity: name, recordID: id, error)
    }
  }

  /// Throws when the record's checksum does not match its bytes.
  func verifyChecksum(of view: RecordView, id: UInt64) throws(StoreError) {
    let expected = Checksum.record(id: id, body: view.content)
    guard expected == view.storedChecksum else {
      throw .damagedRecord(
        entity: name, recordID: id,
        FormatError(
          "its checksum is \(hex(view.storedChecksum)), its bytes give \(hex(expected))"))
    }
  }

  /// The values of a record of any layout, for the attributes of `layout` or of the current layout.
  func values(of view: RecordView, in layout: RecordLayout? = nil) throws(FormatError) -> [Value] {
    let layout = layout ?? self.layout
    var values: [Value] = []
    values.reserveCapacity(layout.attributes.count)
    for attribute in layout.attributes {
      if let index = view.layout.slotIndex(ofAttribute: attribute.number) {
        values.append(try view.value(at: view.layout.slots[index]))
      } else {
        values.append(description.attribute(number: attribute.number)?.initial ?? .null)
      }
    }
    return values
  }

  /// The index on `count` attributes; a unique index is preferred.
  ///
  /// - Parameter ordinal: returns the attribute's index in the declaration for a position in the
  ///   index.
  @inline(__always)
  func index(count: Int, _ ordinal: (Int) -> Int?) -> StoredIndex? {
    var found: StoredIndex?
    for index in indexes {
      let attributes = index.description.attributes
      guard attributes.count == count,
        attributes.indices.allSatisfy({ position in
          guard let ordinal = ordinal(position), declared.indices.contains(ordinal) else {
            return false
          }
          return declared[ordinal].number == attributes[position]
        })
      else { continue }
      if index.isUnique { return index }
      found = found ?? index
    }
    return found
  }

  /// The index on exactly `attributes`, in this order; a unique index is preferred.
  func index(over attributes: [UInt32]) -> StoredIndex? {
    let matching = indexes.filter { $0.description.attributes == attributes }
    return matching.first(where: \.isUnique) ?? matching.first
  }
}

/// An attribute as declared by the program's type.
struct DeclaredAttribute: Sendable {
  /// The attribute's number in the file; 0 when the file has no attribute of this name.
  let number: UInt32
  /// The `Codable` type of its values, if they are documents.
  let documentType: (any (Decodable & Sendable).Type)?
}

/// The names that every reader of an entity's records needs for its errors.
///
/// The type is a class, because a reader holds it without reference counting. The references of a
/// string would be counted for each record.
final class EntityLabel: Sendable {
  let name: String
  /// A copy of ``ShortText/isUsable``, so that readers of records access no global.
  let makesShortTexts = ShortText.isUsable
  /// The names of fixed-width attributes, by the offset in the record at which their slot ends.
  private let fixed: [Int: String]
  /// The names of variable attributes, by their ordinal.
  private let variable: [Int: String]

  /// - Parameter attributes: the slots of the layout from which values are read, with the
  ///   attributes' names.
  init(_ name: String, _ attributes: [(slot: RecordLayout.Slot, name: String)] = []) {
    self.name = name
    var fixed: [Int: String] = [:]
    var variable: [Int: String] = [:]
    for (slot, name) in attributes {
      if slot.type.isVariable {
        variable[Int(slot.position)] = name
      } else {
        fixed[Int(slot.position) + slot.type.slotSize] = name
      }
    }
    self.fixed = fixed
    self.variable = variable
  }

  /// The name of the fixed-width attribute whose value ends at `offset` of a record.
  func attribute(endingAt offset: Int) -> String? { fixed[offset] }

  /// The name of the variable attribute with this ordinal.
  func attribute(variable ordinal: Int) -> String? { variable[ordinal] }
}
