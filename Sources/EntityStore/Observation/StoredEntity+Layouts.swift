internal import LodestoreBytes
internal import LodestoreFormat

extension StoredEntity {
  /// Returns whether equal bytes mean equal values in records of this entity and of `other`.
  ///
  /// `other` may belong to another store.
  func hasLayouts(of other: StoredEntity) -> Bool {
    description.layouts.allSatisfy { mine in
      guard let theirs = other.layout(number: mine.number) else { return true }
      return words(of: mine) == other.words(of: theirs)
    }
  }

  /// A hash of all facts besides its bytes that determine the values of a record in `layout`.
  func stamp(of layout: RecordLayout) -> UInt32 {
    var checksum = Checksum()
    for word in words(of: layout) {
      var word = word + "\n"
      word.withUTF8 { checksum.combine(ByteView($0)) }
    }
    return checksum.value
  }

  /// Describes the attributes of a layout, and the initial values of declared attributes that it
  /// lacks.
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
