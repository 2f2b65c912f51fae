#if Macros
  import SwiftDiagnostics
  import SwiftSyntax

  /// Reads a struct with `@Entity`, and collects what is wrong with it.
  struct DeclarationReader {
    let structure: StructDeclSyntax
    var declaration: EntityDeclaration
    private(set) var diagnostics: [Diagnostic] = []
    /// Whether a conformance can be written at all, if only to keep other errors away.
    private(set) var canConform = true
    /// Every property by its plain name: what a key path may mean.
    var properties: [String: PropertyKind] = [:]
    /// In the order of the declaration, for suggestions that do not depend on hashing.
    var storedNames: [String] { declaration.attributes.map(\.property.plainText) }

    init(_ structure: StructDeclSyntax) {
      self.structure = structure
      declaration = EntityDeclaration(
        storedName: structure.name.plainText,
        hasMemberwiseInitializer: structure.hasMemberwiseInitializer)
    }

    var entity: String { structure.name.plainText }

    /// Whether something is wrong with the declaration; notes are not.
    var isRefused: Bool { diagnostics.contains { $0.diagMessage.severity == .error } }

    mutating func report(
      _ message: EntityMessage, at node: some SyntaxProtocol, fixIts: [FixIt] = []
    ) {
      diagnostics.append(Diagnostic(node: Syntax(node), message: message, fixIts: fixIts))
    }

    /// Reports a fault that no conformance can be written for.
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

    /// Takes the names from `@Entity(removed:)`; after the members, which they must not be.
    mutating func readRemoved(of attribute: AttributeSyntax) {
      for argument in attribute.argumentList.drop(while: { $0.label?.text != "removed" }) {
        guard let name = argument.expression.literalText else {
          report(.removedNameNotLiteral(), at: argument.expression)
          continue
        }
        if !name.isStorableName {
          report(.badName(name, of: "a removed attribute"), at: argument.expression)
        } else if storedNames.contains(name) {
          report(.removedIsDeclared(name), at: argument.expression)
        }
        declaration.removed.append(name)
      }
    }

    /// Refuses what is generic, and what an extension cannot see.
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
        let modifier = structure.modifiers.first(where: {
          $0.name.tokenKind == .keyword(.private)
        })
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
      // An index may stand above the properties it names.
      for member in structure.memberBlock.members {
        if let macro = member.decl.as(MacroExpansionDeclSyntax.self) { read(macro) }
      }
    }

    /// Refuses stored properties and indexes in `#if`; other members may be there.
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

    /// The same for an attribute or a relationship, beside which the record's id has a name.
    var isStorableMemberName: Bool { isStorableName && self != "_id" }
  }
#endif
