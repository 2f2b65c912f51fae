internal import LodestoreBytes
internal import LodestoreFormat

extension StoredEntity {
  /// Whether records of this entity and of `other`, of another store, have equal values where they
  /// have equal bytes.
  func hasLayouts(of other: StoredEntity) -> Bool {
    description.layouts.allSatisfy { mine in
      guard let theirs = other.layout(number: mine.number) else { return true }
      return words(of: mine) == other.words(of: theirs)
    }
  }

  /// A hash of what the values of records in `layout` depend on besides their bytes.
  func stamp(of layout: RecordLayout) -> UInt32 {
    var checksum = Checksum()
    for word in words(of: layout) {
      var word = word + "\n"
      word.withUTF8 { checksum.combine(ByteView($0)) }
    }
    return checksum.value
  }

  /// The attributes that a layout has, then the initial values of those that the program declares
  /// and the layout lacks.
  private func words(of layout: RecordLayout) -> [String] {
    let stored = layout.attributes.map { attribute in
      let name = description.attribute(number: attribute.number)?.name ?? ""
      return "\(name) \(attribute.type.name) \(attribute.isOptional)"
    }
    let initial = declared.compactMap { description.attribute(number: $0.number) }
      .filter { layout.slotIndex(ofAttribute: $0.number) == nil }
      .map { "\($0.name) = \($0.initial)" }
    return stored + initial.sorted()
  }
}
