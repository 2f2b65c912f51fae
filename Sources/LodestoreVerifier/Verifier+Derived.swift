import LMDB
import LodestoreBytes
import LodestoreFormat
internal import LodestorePages

extension Verifier {
  /// Checks the derived attributes of an entity against Format.md, "Derived attributes".
  ///
  /// Functions of programs and times are not checked.
  func verifyDerived(of entity: EntityDescription) throws {
    let derived = entity.declaredAttributes.filter { $0.derivation != nil }
    guard !derived.isEmpty,
      let tree = trees[TreeName.records(entity: entity.number).text]
    else { return }
    let layouts = entity.layoutsByNumber
    do throws(FormatError) {
      try entity.checkDerivations(entities, relationships)
    } catch {
      // An unreadable relationship was already reported.
      guard !findings.kept.contains(where: { $0.code == .catalogue }) else { return }
      add(.catalogue, error.rule, tree: TreeName.catalogue.text, subject: entity.name, error.reason)
      return
    }
    let sources = derived.compactMap { attribute in
      attribute.derivation.map {
        DerivedSource(
          attribute: attribute, derivation: $0, related: related(by: $0, of: entity))
      }
    }
    report.conditional += derived.filter { $0.derivation?.condition != nil }
      .map { "\(entity.name).\($0.name)" }
    try walk(tree) { key, body in
      // A malformed record was already reported.
      guard key.count == 8, let view = layouts.view(of: body) else { return }
      let id = key.uint64(at: 0)
      for source in sources {
        guard let stored = try? view.value(of: source.attribute),
          let detail = try fault(of: stored, from: source, in: view, id: id, entity)
        else { continue }
        add(
          .derivedValue, tree: tree.name, subject: "\(entity.name).\(source.attribute.name)",
          record: id, detail)
      }
    }
  }

  /// A derived attribute with the content that it is derived from.
  private struct DerivedSource {
    let attribute: EntityDescription.Attribute
    let derivation: DerivationDescription
    let related: Related?
  }

  /// The trees and descriptions through which a derivation reads the related records.
  private struct Related {
    /// The ids of related records, by the id of the record with the attribute; `nil` for a copy.
    var links: Tree?
    var isUnique = false
    var records: Tree
    var layouts: [UInt16: RecordLayout]
    var source: EntityDescription.Attribute?
    /// For a copy, the attribute that holds the related record's id.
    var holder: EntityDescription.Attribute?
  }

  private func related(
    by derivation: DerivationDescription, of entity: EntityDescription
  ) -> Related? {
    guard let side = derivation.side,
      let relationship = relationships.first(where: { $0.number == derivation.relationship }),
      let target = entities.first(where: { $0.number == relationship[side.opposite].entity }),
      let records = trees[TreeName.records(entity: target.number).text]
    else { return nil }
    var related = Related(
      records: records, layouts: target.layoutsByNumber,
      source: derivation.source.flatMap { target.attribute(number: $0) })
    if derivation.kind == .copy {
      related.holder = relationship.attribute.flatMap { entity.attribute(number: $0) }
      return related
    }
    if let holder = relationship.attribute {
      guard let index = target.indexes.first(where: { $0.attributes == [holder] }) else {
        return nil
      }
      related.isUnique = index.isUnique
      related.links = trees[TreeName.index(entity: target.number, index: index.number).text]
    } else {
      related.links = trees[TreeName.links(relationship: relationship.number, side: side).text]
    }
    return related.links == nil ? nil : related
  }

  /// The fault of a stored value; `nil` if it is right.
  private func fault(
    of stored: Value, from derived: DerivedSource, in view: RecordView, id: UInt64,
    _ entity: EntityDescription
  ) throws -> String? {
    let (attribute, derivation) = (derived.attribute, derived.derivation)
    if derivation.kind.mapping != nil || derivation.part != nil || derivation.path != nil {
      guard let source = derivation.source.flatMap({ entity.attribute(number: $0) }),
        let value = try? view.value(of: source)
      else { return nil }
      if stored.isSame(as: Self.derived(attribute, derivation, from: value)) { return nil }
      return "is not \(Self.words(for: derivation)) of '\(source.name)'"
    }
    guard let related = derived.related, derivation.condition == nil else { return nil }
    var aggregate = DerivedAggregate(derivation.kind, type: attribute.type)
    for other in try ids(id, view, related) {
      guard let body = try transaction.get(other, in: related.records) else { continue }
      guard let view = related.layouts.view(of: body) else { return nil }
      let value: Value
      do throws(FormatError) {
        value =
          try related.source.map { (source) throws(FormatError) in
            try view.value(of: source)
          } ?? .null
      } catch {
        // The fault of the other record was already reported.
        return nil
      }
      try aggregate.add(value)
    }
    guard let expected = aggregate.result else { return "does not fit its type" }
    if aggregate.admits(stored, for: expected) { return nil }
    return "is not the \(derivation.kind.rawValue) of the records that it leads to"
  }

  /// Derives a value from another value of the same record.
  private static func derived(
    _ attribute: EntityDescription.Attribute, _ derivation: DerivationDescription,
    from value: Value
  ) -> Value {
    if let mapping = derivation.kind.mapping {
      if case .string(let text) = value { return .string(mapping.mapped(text)) }
      return .null
    }
    if let part = derivation.part { return part.value(of: value) }
    guard let path = derivation.path, case .document(let bytes) = value else { return .null }
    return bytes._withBytes { bytes in
      try? DocumentMember.value(at: path, of: bytes, as: attribute.type)
    } ?? .null
  }

  private static func words(for derivation: DerivationDescription) -> String {
    if derivation.kind.mapping != nil { return "the \(derivation.kind.rawValue) form" }
    if let part = derivation.part { return "the \(part.part.rawValue)" }
    return "what is at '\((derivation.path ?? []).joined(separator: "."))'"
  }

  /// The ids of the records related to record `id`.
  private func ids(_ id: UInt64, _ view: RecordView, _ related: Related) throws -> [UInt64] {
    if let holder = related.holder {
      // A malformed value was already reported with the record.
      guard case .integer(let target)? = try? view.value(of: holder) else { return [] }
      return [UInt64(bitPattern: target)]
    }
    guard let links = related.links else { return [] }
    var prefix = KeyEncoder()
    prefix.append(id)
    let length = prefix.count
    var ids: [UInt64] = []
    let cursor = try Cursor(links, in: transaction)
    var found = try cursor.seek(atOrAfter: prefix.bytes)
    while found {
      let key = cursor.key
      guard key.count >= length, key.prefix(length).elementsEqual(prefix.bytes) else { break }
      if related.isUnique {
        if cursor.value.count == 8 { ids.append(cursor.value.uint64(at: 0)) }
      } else if let other = KeyDecoder.recordIDSuffix(key) {
        ids.append(other)
      }
      found = try cursor.next()
    }
    return ids
  }
}
