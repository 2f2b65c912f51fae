#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  // Macros that @Entity reads from the declaration. Each of these macros expands to nothing.
  // Outside an entity, such a macro reports an error, because no macro would read it there.

  /// The macros `@Attribute`, `@Relationship`, `@Derived` and `@Transient` on a stored property.
  package protocol MarkerExpanding: PeerMacro {
    /// The macro's name as programs write it.
    static var name: String { get }
  }

  extension MarkerExpanding {
    package static func expansion(
      of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
      in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
      if !context.isInsideEntity { context.diagnose(.outsideEntity(name, node: Syntax(node))) }
      return []
    }
  }

  /// The macros `#Index<E>(…)`, `#Unique<E>(…)`, `#Expires<E>(…)` and `#Limit<E>(…)`.
  package protocol IndexExpanding: DeclarationMacro {}

  extension IndexExpanding {
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
    /// The declaration may also be a class, because @Entity itself reports that it should be a
    /// struct.
    fileprivate var isInsideEntity: Bool {
      guard
        let declaration = lexicalContext.first?.asProtocol((any WithAttributesSyntax).self)
      else { return false }
      return declaration.attributes.attribute(named: "Entity") != nil
    }
  }
#endif
