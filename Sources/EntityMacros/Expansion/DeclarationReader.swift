#if Macros
  import SwiftDiagnostics
  import SwiftSyntax

  /// Reads a struct with `@Entity` and collects diagnostics about its declaration.
  struct DeclarationReader {
    let structure: StructDeclSyntax
    var declaration: EntityDeclaration
    private(set) var diagnostics: [Diagnostic] = []
    /// Whether the macro can generate a conformance, at least an empty one.
    ///
    /// After most errors an empty conformance is generated. The compiler then does not report each
    /// use of the struct as an entity as a further error.
    private(set) var canConform = true
    /// Every property by its plain name, to resolve key paths.
    var properties: [String: PropertyKind] = [:]
    /// The stored properties' names in the order of the declaration, so that suggestions do not
    /// depend on hashing.
    var propertyNames: [String] { declaration.attributes.map(\.property.plainText) }

    init(_ structure: StructDeclSyntax) {
      self.structure = structure
      declaration = EntityDeclaration(
        storedName: structure.name.plainText,
        hasMemberwiseInitializer: structure.hasMemberwiseInitializer)
    }

    var entity: String { structure.name.plainText }

    /// Whether an error was reported.
    ///
    /// Notes do not count.
    var isRefused: Bool { diagnostics.contains { $0.diagMessage.severity == .error } }

    mutating func report(
      _ message: EntityMessage, at node: some SyntaxProtocol, fixIts: [FixIt] = []
    ) {
      diagnostics.append(Diagnostic(node: Syntax(node), message: message, fixIts: fixIts))
    }

    /// Reports a fault that prevents even an empty conformance.
    mutating func refuse(
      _ message: EntityMessage, at node: some SyntaxProtocol, fixIts: [FixIt] = []
    ) {
      canConform = false
      report(message, at: node, fixIts: fixIts)
    }

    // MARK: The struct

    /// Takes the name from `@Entity(name:)`, or else from the struct.
    mutating func readName(of attribute: AttributeSyntax) {
      var node = Syntax(structure.name)
      if let written = attribute.argument("name"), !written.is(NilLiteralExprSyntax.self) {
        node = Syntax(written)
        guard let name = written.literalText else {
          return report(.entityNameNotLiteral(), at: written)
        }
        declaration.storedName = name
      }
      if !declaration.storedName.isStorableName {
        report(.badName(declaration.storedName, of: "an entity"), at: node)
      }
    }

    /// Takes the names from `@Entity(removed:)`.
    ///
    /// Call this after reading the members, because a removed name must not be a member.
    mutating func readRemoved(of attribute: AttributeSyntax) {
      for argument in attribute.argumentList.drop(while: { $0.label?.text != "removed" }) {
        guard let name = argument.expression.literalText else {
          report(.removedNameNotLiteral(), at: argument.expression)
          continue
        }
        if !name.isStorableName {
          report(.badName(name, of: "a removed attribute"), at: argument.expression)
        } else if declaration.attributes.contains(where: { $0.storedName == name }) {
          report(.removedIsDeclared(name), at: argument.expression)
        }
        declaration.removed.append(name)
      }
    }

    /// Refuses a generic struct, and a struct that the generated extension cannot name, for example
    /// in a function.
    mutating func readNesting(_ lexicalContext: [Syntax]) {
      if let clause = structure.genericParameterClause {
        var plain = structure
        plain.genericParameterClause = nil
        plain.genericWhereClause = nil
        plain.name.trailingTrivia = clause.trailingTrivia
        refuse(
          .generic(entity), at: clause,
          fixIts: [.replacing(structure, with: plain, .removeGenerics)])
      }
      let isInsideGeneric = lexicalContext.contains {
        $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil
      }
      if isInsideGeneric { refuse(.insideGeneric(entity), at: structure.name) }
      if let outer = lexicalContext.privateType {
        refuse(.insidePrivate(entity, outer), at: structure.name)
      }
      if !lexicalContext.isEmpty,
        let modifier = structure.modifiers.first(where: { $0.name.tokenKind == .keyword(.private) })
      {
        refuse(
          .privateNested(entity), at: modifier,
          fixIts: [.changing(modifier.name, to: .keyword(.fileprivate), .makeFileprivate)])
      }
    }

    // MARK: The members

    mutating func readMembers() {
      for member in structure.memberBlock.members {
        if let variable = member.decl.as(VariableDeclSyntax.self) {
          readProperties(of: variable)
        } else if let condition = member.decl.as(IfConfigDeclSyntax.self) {
          readCondition(condition)
        }
      }
      // Macros such as `#Index` are read after all properties, because an index may be written
      // above the properties that it names.
      for member in structure.memberBlock.members {
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) { read(macro) }
      }
    }

    /// Refuses stored properties and indexes within `#if`.
    ///
    /// Other members are allowed within `#if`.
    private mutating func readCondition(_ condition: IfConfigDeclSyntax) {
      for clause in condition.clauses {
        guard case .decls(let members) = clause.elements else { continue }
        for member in members {
          if let variable = member.decl.as(VariableDeclSyntax.self) {
            let isStored =
              !variable.isStatic && variable.attributes.attribute(named: "Transient") == nil
              && variable.bindings.contains { !$0.isComputed }
            if isStored { report(.conditional("a stored property"), at: variable) }
          } else if let macro = member.decl.as(MacroExpansionDeclSyntax.self),
            DeclarationReader.markers.contains(macro.macroName.text)
          {
            report(.conditional("#\(macro.macroName.text)"), at: macro)
          } else if let inner = member.decl.as(IfConfigDeclSyntax.self) {
            readCondition(inner)
          }
        }
      }
    }
  }

  extension String {
    /// Whether the name is an ASCII identifier that the file can hold (Format.md, "Catalogue").
    var isStorableName: Bool {
      guard let first = utf8.first, utf8.count <= 64, !(0x30...0x39).contains(first) else {
        return false
      }
      return utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
          || (0x61...0x7a).contains(byte) || byte == 0x5f
      }
    }

    /// Whether an attribute or a relationship can have the name.
    ///
    /// The name `_id` is taken by the record's id.
    var isStorableMemberName: Bool { isStorableName && self != "_id" }
  }
#endif
