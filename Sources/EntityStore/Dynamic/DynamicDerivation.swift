package import LodestoreFormat

/// A description of a derived attribute.
package struct DynamicDerivation: Sendable {
  /// The name of the attribute.
  package var attribute: String
  package var kind: DerivationDescription.Kind
  /// The derivation in words, as in `sum of pages over books where isLost == NO`.
  package var text: String
}

extension DynamicSnapshot {
  /// The derived attributes of `entity`, in the order of the layout.
  package func derivations(of entity: DynamicEntity) -> [DynamicDerivation] {
    let related = core.schema.derived.filter { $0.owner === entity.stored }
    return entity.description.declaredAttributes.compactMap { attribute in
      guard let derivation = attribute.derivation else { return nil }
      var text = derivation.kind.rawValue
      if let found = related.first(where: { $0.number == attribute.number }) {
        if let source = found.source { text += " of \(source.name)" }
        text += " over \(found.end.name ?? found.end.label)"
        if let condition = found.condition { text += " where \(condition)" }
      } else if let source = derivation.source.flatMap({
        entity.description.attribute(number: $0)
      }) {
        if let part = derivation.part {
          text = "\(part.part.rawValue) of \(source.name)"
          if part.offset != 0 { text += " at \(ZoneRules.text(ofOffset: part.offset))" }
        } else {
          text =
            derivation.path.map { "\(([source.name] + $0).joined(separator: "."))" }
            ?? "\(text) form of \(source.name)"
        }
      } else if let version = derivation.version {
        text += " of a program, version \(version)"
      } else {
        text = "time when it was \(text)"
      }
      return DynamicDerivation(attribute: attribute.name, kind: derivation.kind, text: text)
    }
  }
}
