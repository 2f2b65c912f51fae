#if Macros
  import SwiftSyntax

  /// The source of the conformance of one struct.
  struct EntityExpansion {
    /// The struct's name, with those of the types around it.
    var type: String
    /// `public ` or the like, or nothing.
    var access: String
    /// False where the struct itself says that it conforms.
    var addsConformance: Bool

    private var header: String { "extension \(type)\(addsConformance ? ": Entity" : "") {" }

    func source(of declaration: EntityDeclaration) -> String {
      let definitions = declaration.attributes.map { "      \(definition(of: $0))," }
      let writes = declaration.attributes.map { "    writer.write(self.\($0.property.text))" }
      var arguments = ["    \"\(declaration.storedName)\""]
      arguments.append(
        definitions.isEmpty
          ? "    attributes: []"
          : (["    attributes: ["] + definitions + ["    ]"]).joined(separator: "\n"))
      if !declaration.unique.isEmpty {
        arguments.append("    unique: \(list(declaration.unique))")
      }
      if !declaration.indexes.isEmpty {
        arguments.append("    indexes: \(list(declaration.indexes))")
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
          }\(attributePlaces(of: declaration))
        }
        """
    }

    /// How a record becomes a value: in one call of the memberwise initializer, if there is one.
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

    /// What views find the attributes by.
    ///
    /// A private property has none: a name for it that is as
    /// private would be of no use, and a less private one may show a private type.
    private func attributePlaces(of declaration: EntityDeclaration) -> String {
      let constants = declaration.attributes.enumerated().compactMap { ordinal, attribute in
        attribute.type.flatMap { type in
          attribute.access?.tokenKind == .keyword(.private)
            ? nil
            : "    \(attribute.access.map { "\($0.text) " } ?? "")let \(attribute.property.text)"
              + " = AttributePlace<\(spelled(type))>(\(ordinal))"
        }
      }
      if constants.isEmpty { return "" }
      return """


          \(access)struct AttributePlaces: Sendable {
        \(constants.joined(separator: "\n"))
          }

          \(access)static var attributePlaces: AttributePlaces {
            AttributePlaces()
          }
        """
    }

    /// A type as it is written between angle brackets in another type.
    private func spelled(_ type: TypeSyntax) -> String {
      if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return spelled(optional.wrappedType) + "?"
      }
      return type.tokens(viewMode: .sourceAccurate).map { token in
        token.tokenKind == .keyword(.Self)
          ? "\(token.leadingTrivia)\(self.type)\(token.trailingTrivia)" : token.description
      }.joined()
    }

    /// A conformance that only keeps the compiler from repeating errors that were already reported.
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
      var arguments = "\"\(attribute.property.plainText)\", \\.\(attribute.property.text)"
      if let originalName = attribute.originalName {
        arguments += ", originalName: \"\(originalName)\""
      }
      if let initial = attribute.initial {
        arguments += ", initial: \(initial.trimmedDescription)"
      }
      if let constraints = attribute.constraints {
        arguments += ", constraints: \(constraints.trimmedDescription)"
      }
      return ".init(\(arguments))"
    }

    private func list(_ indexes: [[TokenSyntax]]) -> String {
      let lists = indexes.map { paths in
        "[\(paths.map { "\\.\($0.text)" }.joined(separator: ", "))]"
      }
      return "[\(lists.joined(separator: ", "))]"
    }
  }
#endif
