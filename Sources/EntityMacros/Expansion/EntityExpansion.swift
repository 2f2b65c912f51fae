#if Macros
  import SwiftSyntax

  /// The source of the conformance of one struct.
  struct EntityExpansion {
    /// The struct's full name, with the names of its enclosing types.
    var type: String
    /// The access modifier of the generated members with a space after it, such as `public `, or an
    /// empty string.
    var access: String
    /// Whether the extension declares the conformance; false if the struct already does.
    var addsConformance: Bool
    /// Whether the struct is inside another declaration.
    ///
    /// The extension then names property types through ``types(of:)``.
    var isNested = false

    private static let typesName = "_AttributeTypes"

    private var header: String {
      "nonisolated extension \(type)\(addsConformance ? ": Entity" : "") {"
    }

    func source(of declaration: EntityDeclaration) -> String {
      let definitions = declaration.attributes.map { "      \(definition(of: $0))," }
      let writes = declaration.attributes.filter { $0.derivation == nil }.map {
        "    writer.write(self.\($0.property.text))"
      }
      var arguments = ["    \"\(declaration.storedName)\""]
      arguments.append(
        definitions.isEmpty
          ? "    attributes: []"
          : (["    attributes: ["] + definitions + ["    ]"]).joined(separator: "\n"))
      if !declaration.unique.isEmpty { arguments.append("    unique: \(list(declaration.unique))") }
      if !declaration.indexes.isEmpty {
        arguments.append("    indexes: \(list(declaration.indexes))")
      }
      if let indexes = declaration.elementIndexes {
        arguments.append("    elementIndexes: \(type).\(indexes.text)")
      }
      let searches = searchIndexes(of: declaration)
      if !searches.isEmpty {
        arguments.append("    searchIndexes: \(searches.joined(separator: " + "))")
      }
      let places = placeIndexes(of: declaration)
      if !places.isEmpty {
        arguments.append("    placeIndexes: \(places.joined(separator: " + "))")
      }
      let vectors = vectorIndexes(of: declaration)
      if !vectors.isEmpty {
        arguments.append("    vectorIndexes: \(vectors.joined(separator: " + "))")
      }
      if !declaration.relationships.isEmpty {
        let names = declaration.relationships.map {
          ".init(\"\($0.property.plainText)\", \(type).\($0.property.text))"
        }
        arguments.append("    relationships: [\(names.joined(separator: ", "))]")
      }
      if let rules = declaration.rules { arguments.append("    rules: \(type).\(rules.text)") }
      if let history = declaration.history {
        arguments.append("    history: \(type).\(history.text)")
      }
      if let expires = declaration.expires {
        arguments.append("    expires: \(list([[expires]]).dropFirst().dropLast())")
      }
      if let limit = declaration.limit {
        let parts =
          limit.numbers.map { "\($0.label?.text ?? ""): \($0.expression.trimmedDescription)" }
          + (limit.oldest.map { ["by: \(list([[$0]]).dropFirst().dropLast())"] } ?? [])
        arguments.append("    limit: EntityLimit(\(parts.joined(separator: ", ")))")
      }
      if !declaration.removed.isEmpty {
        let names = declaration.removed.map { "\"\($0)\"" }.joined(separator: ", ")
        arguments.append("    removed: [\(names)]")
      }
      return """
        \(header)
          \(access)static let schema = EntitySchema<\(type)>(
        \(arguments.joined(separator: ",\n")))

        \(decoding(of: declaration))

          \(access)func encode(into writer: inout RecordWriter) {
        \(writes.joined(separator: "\n"))
          }\(attributes(of: declaration))\(keys(of: declaration))
        }
        """
    }

    /// A member of a nested struct that has an alias for each property's type.
    func types(of declaration: EntityDeclaration) -> String {
      var lines = declaration.attributes.compactMap { attribute -> String? in
        guard let (access, type) = named(attribute) else { return nil }
        return "  \(access)typealias \(attribute.property.text) = \(type)"
      }
      for relationship in declaration.relationships
      where relationship.access?.tokenKind != .keyword(.private) {
        let access = relationship.access.map { "\($0.text) " } ?? ""
        lines.append(
          "  \(access)typealias \(relationship.property.text) = \(spelled(relationship.type))")
      }
      return """
        \(access)enum \(Self.typesName) {
        \(lines.joined(separator: "\n"))
        }
        """
    }

    /// The code that turns a record into a value.
    ///
    /// The code is one call of the memberwise initializer, if the struct has one.
    private func decoding(of declaration: EntityDeclaration) -> String {
      guard declaration.hasMemberwiseInitializer else {
        let reads = declaration.attributes.map {
          "    self.\($0.property.text) = try reader.read()"
        }
        return """
            \(access)init(from reader: inout RecordReader) throws(StoreError) {
          \(reads.joined(separator: "\n"))
            }
          """
      }
      let values =
        declaration.attributes.map { "      \($0.property.label): try reader.read()" }
        + ["      id: reader.id()"]
      return """
          \(access)static func read(from reader: inout RecordReader) throws(StoreError) -> \(type) {
            \(type)(
        \(values.joined(separator: ",\n")))
          }

          \(access)init(from reader: inout RecordReader) throws(StoreError) {
            self = try Self.read(from: &reader)
          }
        """
    }

    /// The names of the attributes that conditions, orders, projections, updates and views use.
    ///
    /// Private properties are left out. A private member could not be used outside the struct, and
    /// a more visible member could expose a private type.
    private func attributes(of declaration: EntityDeclaration) -> String {
      var lines = [
        "    \(access)var id: Attribute<\(type), RecordID<\(type)>> {\n      .recordID\n    }"
      ]
      for (ordinal, attribute) in declaration.attributes.enumerated() {
        guard let (access, spelling) = named(attribute) else { continue }
        let head = "    \(access)var \(attribute.property.text): Attribute<\(type), \(spelling)>"
        // A derived attribute gets a setter without effect. Its key path is then writable, so an
        // update's closure selects the overload that refuses assignments.
        lines.append(
          attribute.derivation == nil
            ? "\(head) {\n      .init(\(ordinal))\n    }"
            : "\(head) {\n      get { .init(\(ordinal)) }\n      set {}\n    }")
      }
      for relationship in declaration.relationships
      where relationship.access?.tokenKind != .keyword(.private) {
        let access = relationship.access.map { "\($0.text) " } ?? ""
        lines.append(
          "    \(access)var \(relationship.property.text): "
            + "\(spelled(relationship.type, of: relationship.property)) {\n"
            + "      \(type).\(relationship.property.text)\n    }")
      }
      if !searchIndexes(of: declaration).isEmpty {
        lines.append(
          """
              /// Whether the texts of a search index have the words of `text`.
              ///
              /// `sources` names the texts of one of several search indexes.
              \(access)func search(
                _ text: String, _ mode: SearchMode = .allWords, in sources: [String] = []
              ) -> Condition<\(type)> {
                .search(text, mode, in: sources)
              }
          """)
      }
      if !placeIndexes(of: declaration).isEmpty {
        lines.append(
          """
              /// Whether the record's place is in an area.
              \(access)func isWithin(_ box: BoundingBox) -> Condition<\(type)> { .within(box) }
              /// Whether the record's place is at most some meters away from a place.
              \(access)func isNear(
                _ place: Coordinate, meters: Double? = nil
              ) -> Condition<\(type)> {
                .near(place, meters: meters)
              }
          """)
      }
      if !vectorIndexes(of: declaration).isEmpty {
        lines.append(
          """
              /// Whether the record has a vector, for an order by the distance from another.
              \(access)func isNear(
                _ vector: Vector, by measure: VectorMeasure, candidates: Int? = nil
              ) -> Condition<\(type)> {
                .near(vector, by: measure, candidates: candidates)
              }
          """)
      }
      return """


          \(access)struct Attributes: Sendable {
        \(lines.joined(separator: "\n"))
          }

          \(access)static var attributes: Attributes {
            Attributes()
          }
        """
    }

    /// Writes a function for each unique index that makes the key of a record.
    private func keys(of declaration: EntityDeclaration) -> String {
      declaration.unique.compactMap { index -> String? in
        let found = index.map { name in
          declaration.attributes.first { $0.property.plainText == name.plainText }
        }
        var parts: [(name: String, access: String, type: String)] = []
        for attribute in found {
          guard let attribute, let (access, spelling) = named(attribute) else { return nil }
          parts.append((attribute.property.text, access, spelling))
        }
        // If an attribute of the index is less visible than the struct, the function is only
        // internal.
        let isInternal = access != "fileprivate " && parts.contains { $0.access != access }
        let parameters = parts.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
        let values = parts.enumerated().map { position, part in
          "\(position == 0 ? "EntityKey(_of: " : "._and(")Self.attributes.\(part.name), \(part.name))"
        }
        return """


            \(isInternal ? "" : access)static func key(\(parameters)) -> EntityKey<\(type)> {
              \(values.joined(separator: "\n      "))
            }
          """
      }.joined()
    }

    /// The access level and the type with which the expansion names an attribute; `nil` for a
    /// private attribute.
    private func named(_ attribute: StoredAttribute) -> (access: String, type: String)? {
      guard let type = attribute.type, attribute.access?.tokenKind != .keyword(.private) else {
        return nil
      }
      return (attribute.access.map { "\($0.text) " } ?? "", spelled(type, of: attribute.property))
    }

    /// The type of a property, spelled so that the extension can name it.
    private func spelled(_ type: TypeSyntax, of property: TokenSyntax) -> String {
      isNested ? "\(self.type).\(Self.typesName).\(property.text)" : spelled(type)
    }

    /// A type as it is spelled between the angle brackets of another type.
    private func spelled(_ type: TypeSyntax) -> String {
      if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return spelled(optional.wrappedType) + "?"
      }
      return type.tokens(viewMode: .sourceAccurate).map { token in
        token.tokenKind == .keyword(.Self)
          ? "\(token.leadingTrivia)\(self.type)\(token.trailingTrivia)" : token.description
      }.joined()
    }

    /// An empty conformance, so that the compiler does not repeat errors that the macro already
    /// reported.
    var placeholder: String {
      """
      \(header)
        \(access)static var schema: EntitySchema<\(type)> { fatalError() }
        \(access)init(from reader: inout RecordReader) throws(StoreError) { fatalError() }
        \(access)func encode(into writer: inout RecordWriter) { fatalError() }
      }
      """
    }

    private func definition(of attribute: StoredAttribute) -> String {
      var arguments = "\"\(attribute.storedName)\", \\.\(attribute.property.text)"
      if let derivation = attribute.derivation { arguments += ", \(derivation.trimmedDescription)" }
      if let originalName = attribute.originalName {
        arguments += ", originalName: \"\(originalName)\""
      }
      if let toOne = attribute.toOne {
        if let rule = toOne.onDelete { arguments += ", onDelete: \(rule.trimmedDescription)" }
        return ".toOne(\(arguments))"
      }
      if attribute.derivation != nil { return ".derived(\(arguments))" }
      if attribute.initial != nil { arguments += ", initial: \(initial(of: attribute))" }
      if let constraints = attribute.constraints {
        arguments += ", constraints: \(constraints.trimmedDescription)"
      }
      return ".init(\(arguments))"
    }

    /// The initial value, spelled for the schema.
    ///
    /// For a nested struct the value's type is left out where it is the property's own type,
    /// because the extension may not see that type.
    private func initial(of attribute: StoredAttribute) -> String {
      let text = attribute.initial?.trimmedDescription ?? ""
      guard isNested, let type = attribute.type else { return text }
      let name = (type.as(OptionalTypeSyntax.self)?.wrappedType ?? type).trimmedDescription
      if text.hasPrefix("\(name).") { return String(text.dropFirst(name.count)) }
      if text.hasPrefix("\(name)(") { return ".init\(text.dropFirst(name.count))" }
      return text
    }

    /// The search indexes of the macro and of the static property, as arrays.
    private func searchIndexes(of declaration: EntityDeclaration) -> [String] {
      let made = declaration.searches.map { sources in
        let texts = sources.map { source in
          ".init(\\.\(source.property.text)\(source.weight.map { ", weight: \($0)" } ?? ""))"
        }
        return "SearchIndex(\(texts.joined(separator: ", ")))"
      }
      return (made.isEmpty ? [] : ["[\(made.joined(separator: ", "))]"])
        + (declaration.searchIndexes.map { ["\(type).\($0.text)"] } ?? [])
    }

    /// The place indexes of the macro and of the static property, as arrays.
    private func placeIndexes(of declaration: EntityDeclaration) -> [String] {
      let made = declaration.places.map { place in
        let sources = [place.latitude, place.longitude].map { ".init(\\.\($0.text))" }
        return "PlaceIndex(\((sources + place.rest).joined(separator: ", ")))"
      }
      return (made.isEmpty ? [] : ["[\(made.joined(separator: ", "))]"])
        + (declaration.placeIndexes.map { ["\(type).\($0.text)"] } ?? [])
    }

    /// The vector indexes of the macro and of the static property, as arrays.
    private func vectorIndexes(of declaration: EntityDeclaration) -> [String] {
      let made = declaration.vectors.map { vector in
        "VectorIndex(\((["\\.\(vector.property.text)"] + vector.rest).joined(separator: ", ")))"
      }
      return (made.isEmpty ? [] : ["[\(made.joined(separator: ", "))]"])
        + (declaration.vectorIndexes.map { ["\(type).\($0.text)"] } ?? [])
    }

    private func list(_ indexes: [[TokenSyntax]]) -> String {
      let lists = indexes.map { paths in
        "[\(paths.map { "\\.\($0.text)" }.joined(separator: ", "))]"
      }
      return "[\(lists.joined(separator: ", "))]"
    }
  }
#endif
