#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  // What @Entity reads from the declaration. These expand to nothing, and only refuse to stand where
  // nobody would read them.

  /// `@Attribute(…)` on a stored property.
  package struct AttributeMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity {
        context.diagnose(.outsideEntity("@Attribute", node: Syntax(node)))
      }
      return []
    }
  }

  /// `@Relationship(…)` on a stored property.
  package struct RelationshipMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity {
        context.diagnose(.outsideEntity("@Relationship", node: Syntax(node)))
      }
      return []
    }
  }

  /// `@Derived(…)` on a stored property.
  package struct DerivedMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity {
        context.diagnose(.outsideEntity("@Derived", node: Syntax(node)))
      }
      return []
    }
  }

  /// `@Transient` on a stored property.
  package struct TransientMacro: PeerMacro {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity {
        context.diagnose(.outsideEntity("@Transient", node: Syntax(node)))
      }
      return []
    }
  }

  /// `#Index<E>(…)` and `#Unique<E>(…)`.
  package struct IndexMacro: DeclarationMacro {
    package static func expansion(
      of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity {
        context.diagnose(.outsideEntity("#\(node.macroName.text)", node: Syntax(node)))
      }
      return []
    }
  }

  extension MacroExpansionContext {
    /// Whether the innermost declaration around the macro has `@Entity`.
    ///
    /// A class counts: @Entity itself says that it should be a struct.
    fileprivate var isInsideEntity: Bool {
      guard
        let declaration = lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
      else { return false }
      return declaration.attributes.attribute(named: "Entity") != nil
    }
  }
#endif
