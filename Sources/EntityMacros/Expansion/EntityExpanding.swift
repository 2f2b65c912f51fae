#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder
  import SwiftSyntaxMacros

  /// The macro `@Entity`: gives a struct its `id`, its schema and its coding.
  ///
  /// The type is a protocol, because the compiler looks for a macro's type in the plug-in's own
  /// module, where a type conforms to it. Each role is expanded on its own and sees the whole
  /// declaration. Only the extension role reports diagnostics, so none appears twice.
  package protocol EntityExpanding: MemberMacro, ExtensionMacro {}

  extension EntityExpanding {
    package static func expansion(
      of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
      conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      guard let declaration = declaration.as(StructDeclSyntax.self) else { return [] }
      // The extension role refuses a property named `id`. A second `id` from this expansion would
      // add "invalid redeclaration" to that error.
      guard !declaration.declaresID else { return [] }
      let access = declaration.memberAccess(in: context.lexicalContext)
      // The property's type is written explicitly, because the compiler does not let other files
      // see a type that it inferred within an expansion.
      return [
        """
        /// The identity in the store; unassigned before the value is inserted.
        \(raw: access)var id = RecordID<\(declaration.name.trimmed)>()
        """,
        """
        \(raw: access)typealias ID = RecordID<\(declaration.name.trimmed)>
        """,
      ] + typesOfNested(declaration, in: context)
    }

    /// For a struct inside another declaration, a member that names the types of its attributes.
    ///
    /// The extension cannot see declarations next to the nested struct; a member of the struct can.
    private static func typesOfNested(
      _ structure: StructDeclSyntax, in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
      guard !context.lexicalContext.isEmpty else { return [] }
      var reader = DeclarationReader(structure)
      reader.readMembers()
      guard !reader.isRefused else { return [] }
      let expansion = EntityExpansion(
        type: structure.name.trimmedDescription,
        access: structure.memberAccess(in: context.lexicalContext), addsConformance: false)
      return [DeclSyntax(stringLiteral: expansion.types(of: reader.declaration))]
    }

    package static func expansion(
      of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
      providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
      in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
      guard let structure = declaration.as(StructDeclSyntax.self) else {
        context.diagnose(.notAStruct(declaration))
        return []
      }
      var reader = DeclarationReader(structure)
      reader.readName(of: node)
      reader.readNesting(context.lexicalContext)
      reader.readMembers()
      reader.readRemoved(of: node)
      for diagnostic in reader.diagnostics { context.diagnose(diagnostic) }
      guard reader.canConform else { return [] }
      let expansion = EntityExpansion(
        type: type.trimmedDescription, access: structure.memberAccess(in: context.lexicalContext),
        addsConformance: !protocols.isEmpty, isNested: !context.lexicalContext.isEmpty)
      // After an error the conformance is empty, so that uses of the entity are not reported as
      // errors too.
      let source =
        reader.isRefused ? expansion.placeholder : expansion.source(of: reader.declaration)
      return [DeclSyntax(stringLiteral: source).as(ExtensionDeclSyntax.self)].compactMap(\.self)
    }
  }

  extension StructDeclSyntax {
    /// Whether a property of each value, stored or not, is called `id`.
    var declaresID: Bool {
      memberBlock.members.contains { member in
        guard let variable = member.decl.as(VariableDeclSyntax.self), !variable.isStatic else {
          return false
        }
        return variable.bindings.contains {
          $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.plainText == "id"
        }
      }
    }
  }
#endif
