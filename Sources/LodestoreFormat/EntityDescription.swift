/// An entity as the catalogue describes it.
///
/// See Format.md, "Catalogue".
package struct EntityDescription: Sendable {
  /// One attribute, declared or removed.
  package struct Attribute: Sendable, Hashable {
    package var number: UInt32
    package var name: String
    /// The name of the member that imports fill the attribute from; `nil` if it is the attribute's
    /// name.
    package var source: String?
    package var type: AttributeType
    package var isOptional: Bool
    /// The name of the Swift type of a document, for display only.
    package var shape: String?
    /// The outline of a document; `nil` if no program has declared an outline yet.
    package var members: DocumentOutline?
    /// The value in records whose layout lacks the attribute.
    package var initial: Value
    /// The default value of new records if it differs from ``initial``; otherwise null.
    package var changedDefault: Value?
    /// Conditions that are checked when values are written.
    package var constraints: AttributeConstraints
    /// The way in which the store calculates the values; `nil` if programs set them.
    package var derivation: DerivationDescription?
    package var isRemoved: Bool

    package init(
      number: UInt32, name: String, source: String? = nil, type: AttributeType, isOptional: Bool,
      shape: String? = nil, members: DocumentOutline? = nil, initial: Value = .null,
      constraints: AttributeConstraints = AttributeConstraints(),
      derivation: DerivationDescription? = nil, isRemoved: Bool = false
    ) {
      self.number = number
      self.name = name
      self.source = source
      self.type = type
      self.isOptional = isOptional
      self.shape = shape
      self.members = members
      self.initial = initial
      self.constraints = constraints
      self.derivation = derivation
      self.isRemoved = isRemoved
    }

    /// The value of a new record that sets no value; null if there is no default.
    package var defaultValue: Value { changedDefault ?? initial }
  }

  /// One index.
  package struct Index: Sendable, Hashable {
    package var number: UInt32
    package var attributes: [UInt32]
    package var isUnique: Bool

    package init(number: UInt32, attributes: [UInt32], isUnique: Bool) {
      self.number = number
      self.attributes = attributes
      self.isUnique = isUnique
    }
  }

  /// An index with entries that are computed from values of a record, such as the elements of an
  /// array or the words of texts.
  package struct ComputedIndex: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
      /// The elements of arrays in the documents of one attribute.
      case elements
      /// The words of texts.
      case search
      /// Places on the earth by latitude and longitude.
      case place
      /// Vectors of numbers.
      case vector
    }

    /// A value from which entries are computed.
    package struct Source: Sendable, Hashable {
      package var attribute: UInt32
      /// The member names on the way to the elements or texts in a document.
      package var path: [String]
      /// The weight of a word of the text in scores of searches.
      package var weight: UInt32

      package init(attribute: UInt32, path: [String] = [], weight: UInt32 = 1) {
        self.attribute = attribute
        self.path = path
        self.weight = weight
      }
    }

    package var number: UInt32
    package var kind: Kind
    /// The values in the order of the declaration; one for elements, latitude and longitude for
    /// places.
    package var sources: [Source]
    /// Whether records may have values that are no latitude and longitude.
    ///
    /// A place index has no entries for such records. Other records with such values are refused.
    package var admitsInvalid = false
    /// The number of components of each vector; 0 for indexes of other kinds.
    package var dimensions = 0
    /// Whether the blocks of a search index have positions in bits; new indexes have.
    package var hasPackedPostings = false
    /// Whether the index is under construction, and has the entries of some records only.
    package var isBuilding = false

    /// Whether the indexes have the same entries once both are complete.
    package func isEqual(to other: ComputedIndex) -> Bool {
      kind == other.kind && admitsInvalid == other.admitsInvalid && dimensions == other.dimensions
        && sources.elementsEqual(other.sources) {
          $0.attribute == $1.attribute && $0.weight == $1.weight
            && $0.path.map { Array($0.utf8) } == $1.path.map { Array($0.utf8) }
        }
    }

    package init(
      number: UInt32, kind: Kind, sources: [Source], admitsInvalid: Bool = false,
      dimensions: Int = 0
    ) {
      self.number = number
      self.kind = kind
      self.sources = sources
      self.admitsInvalid = admitsInvalid
      self.dimensions = dimensions
      hasPackedPostings = kind == .search
    }

    /// The attribute of the first source.
    package var attribute: UInt32 { sources.first?.attribute ?? 0 }
    /// The path of the first source.
    package var path: [String] { sources.first?.path ?? [] }

    /// The name of the index's tree.
    package func tree(of entity: EntityNumber) -> TreeName {
      switch kind {
      case .elements: .elements(entity: entity, index: number)
      case .search: .search(entity: entity, index: number)
      case .place: .place(entity: entity, index: number)
      case .vector: .vector(entity: entity, index: number)
      }
    }
  }

  /// A condition that the store checks whenever it writes a record.
  package struct Rule: Sendable, Hashable {
    package var name: String
    /// The condition as a predicate format string.
    package var condition: String

    package init(name: String, condition: String) {
      self.name = name
      self.condition = condition
    }
  }

  /// The details that the history keeps about changes of the entity's records.
  package struct History: Sendable, Hashable {
    /// Whether the history keeps each record as it was before a change or deletion.
    package var keepsImages: Bool
    /// The numbers of the attributes whose values the history keeps for deleted records, ascending.
    package var preserved: [UInt32]

    /// Whether the history keeps earlier records, or values of deleted records.
    package var keepsRecords: Bool { keepsImages || !preserved.isEmpty }

    package init(keepsImages: Bool = false, preserved: [UInt32] = []) {
      self.keepsImages = keepsImages
      self.preserved = preserved
    }
  }

  package var number: EntityNumber
  package var name: String
  package var attributes: [Attribute]
  package var layouts: [RecordLayout]
  package var currentLayout: UInt16
  package var indexes: [Index]
  /// Indexes under construction, which have entries for only some records.
  ///
  /// Their numbers differ from the numbers of ``indexes``.
  package var building: [Index] = []
  /// The computed indexes, also those under construction.
  package var computedIndexes: [ComputedIndex] = []
  /// The complete indexes over elements of documents.
  package var elementIndexes: [ComputedIndex] { complete(.elements) }
  /// The complete indexes over words of texts.
  package var searchIndexes: [ComputedIndex] { complete(.search) }
  /// The complete indexes over places.
  package var placeIndexes: [ComputedIndex] { complete(.place) }
  /// The complete indexes over vectors.
  package var vectorIndexes: [ComputedIndex] { complete(.vector) }
  /// The computed indexes under construction.
  package var buildingComputed: [ComputedIndex] { computedIndexes.filter(\.isBuilding) }

  /// The names of all indexes under construction.
  package var buildingNames: [String] {
    building.map(indexName) + buildingComputed.map(indexName)
  }

  /// Returns the index under construction that replaces a complete one; `nil` for other indexes.
  package func replacement(of index: ComputedIndex) -> ComputedIndex? {
    index.isBuilding
      ? nil : computedIndexes.first { $0.isBuilding && $0.isEqual(to: index) }
  }

  /// The computed indexes without those that replace complete ones.
  package var distinctComputedIndexes: [ComputedIndex] {
    computedIndexes.filter { index in
      !computedIndexes.contains { replacement(of: $0) == index }
    }
  }

  /// Whether an index is under construction.
  package var isBuilding: Bool {
    !building.isEmpty || computedIndexes.contains(where: \.isBuilding)
  }

  /// The computed indexes of a kind: the complete ones, then those under construction that replace
  /// none.
  package func declaredIndexes(_ kind: ComputedIndex.Kind) -> [ComputedIndex] {
    complete(kind) + distinctComputedIndexes.filter { $0.kind == kind && $0.isBuilding }
  }

  private func complete(_ kind: ComputedIndex.Kind) -> [ComputedIndex] {
    computedIndexes.filter { $0.kind == kind && !$0.isBuilding }
  }
  package var rules: [Rule]
  /// The settings of the history; `nil` if the history does not record the entity.
  package var history: History?
  /// The expiry; `nil` if records do not expire.
  package var expiry: Expiry?
  /// The limit; `nil` if number and size of the records are not limited.
  package var limit: Limit?
  package var unknownMembers = UnknownMembers()

  package init(
    number: EntityNumber, name: String, attributes: [Attribute], layouts: [RecordLayout],
    currentLayout: UInt16, indexes: [Index], rules: [Rule] = []
  ) {
    self.number = number
    self.name = name
    self.attributes = attributes
    self.layouts = layouts
    self.currentLayout = currentLayout
    self.indexes = indexes
    self.rules = rules
  }

  /// The layout of new records.
  package var layout: RecordLayout {
    // The initializer from bytes has checked that the layout exists.
    layouts.first { $0.number == currentLayout } ?? RecordLayout(number: 0, attributes: [])
  }

  /// The attributes of the current layout that are not removed, in its order.
  package var declaredAttributes: [Attribute] {
    layout.attributes.compactMap { stored in attributes.first { $0.number == stored.number } }
  }

  package func attribute(number: UInt32) -> Attribute? { attributes.first { $0.number == number } }

  package func attribute(named name: String) -> Attribute? {
    attributeIndex(named: name).map { attributes[$0] }
  }

  /// The attribute whose declared source is the member `name`.
  package func attribute(filledFrom name: String) -> Attribute? {
    attributes.first { $0.source == name && !$0.isRemoved }
  }

  /// The position of the attribute in ``attributes``.
  ///
  /// The search does not copy attributes.
  package func attributeIndex(named name: String) -> Int? {
    attributes.indices.first { attributes[$0].name == name && !attributes[$0].isRemoved }
  }

  /// The text that names an index: the entity's name, a dot, and the attributes' names joined by
  /// `+`.
  package func indexName(_ index: Index) -> String {
    index.attributes.map { attribute(number: $0)?.name ?? "\($0)" }.joined(separator: "+")
  }

  /// The text that names a computed index, such as `keywords[]`, `authors[].name`,
  /// `search(name+summary)`, `place(latitude+longitude)` or `vector(embedding)`.
  package func indexName(_ index: ComputedIndex) -> String {
    let names = index.sources.map { source in
      let name = attribute(number: source.attribute)?.name ?? "\(source.attribute)"
      return ([index.kind == .elements ? name + "[]" : name] + source.path).joined(separator: ".")
    }.joined(separator: "+")
    return switch index.kind {
    case .elements: names
    case .search: "search(\(names))"
    case .place: "place(\(names))"
    case .vector: "vector(\(names))"
    }
  }

  /// The names of the sources of a computed index, such as `name` or `authors.name`.
  package func sourceNames(_ index: ComputedIndex) -> [String] {
    index.sources.map { source in
      ([attribute(number: source.attribute)?.name ?? ""] + source.path).joined(separator: ".")
    }
  }

  /// The highest number of an attribute.
  ///
  /// This limit bounds the memory that a hostile catalogue can make a reader allocate.
  package static let highestAttributeNumber: UInt32 = 16_383

  /// The trees of the entity's records and indexes, including indexes under construction.
  package var trees: [TreeName] {
    [.records(entity: number)]
      + (indexes + building).map { .index(entity: number, index: $0.number) }
      + computedIndexes.map { $0.tree(of: number) }
  }

  /// The maximum number of bytes of an entity's or attribute's name.
  package static let longestName = 64

  /// The maximum number of bytes of a source name.
  package static let longestSource = 1_024

  /// Whether `name` is allowed for an entity or attribute.
  package static func isValidName(_ name: String) -> Bool {
    guard let first = name.utf8.first, name.utf8.count <= longestName,
      first < 0x30 || first > 0x39
    else { return false }
    return name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
        || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
  }

  /// The name of a record's id among its attributes.
  package static let nameOfID = "_id"

  /// Whether `name` is allowed for an attribute or for a side of a relationship.
  package static func isValidAttributeName(_ name: String) -> Bool {
    isValidName(name) && name != nameOfID
  }
}
