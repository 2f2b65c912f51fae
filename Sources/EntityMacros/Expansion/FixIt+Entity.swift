#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxMacros

  extension FixIt {
    static func replacing(
      _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ fix: EntityFix
    ) -> FixIt {
      FixIt(message: fix, changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }

    /// Replaces a token by another keyword or name.
    static func changing(_ token: TokenSyntax, to kind: TokenKind, _ fix: EntityFix) -> FixIt {
      .replacing(token, with: token.with(\.tokenKind, kind), fix)
    }

    /// Adds `@Transient` to a property.
    ///
    /// A declaration of several properties gets no fix-it, because the compiler refuses macros
    /// there.
    static func addingTransient(to variable: VariableDeclSyntax) -> [FixIt] {
      guard variable.bindings.count == 1 else { return [] }
      var attributed = variable
      attributed.leadingTrivia = []
      let attribute = AttributeSyntax(
        leadingTrivia: variable.leadingTrivia,
        attributeName: IdentifierTypeSyntax(name: .identifier("Transient")), trailingTrivia: .space)
      attributed.attributes = [.attribute(attribute)] + attributed.attributes
      return [.replacing(variable, with: attributed, .addTransient)]
    }

    static func removing(
      _ attribute: AttributeSyntax, from variable: VariableDeclSyntax, _ fix: EntityFix
    ) -> FixIt {
      var plain = variable
      plain.attributes = variable.attributes.filter { $0.id != attribute.id }
      plain.leadingTrivia = variable.leadingTrivia
      return .replacing(variable, with: plain, fix)
    }
  }

  // Diagnostics about the place where a macro is written.
  extension Diagnostic {
    /// The macro is attached to something other than a struct.
    ///
    /// The fix-it for a class or an actor changes the keyword.
    static func notAStruct(_ declaration: some DeclGroupSyntax) -> Diagnostic {
      let node = declaration.introducer
      let kind =
        switch node.tokenKind {
        case .keyword(.class): "a class"
        case .keyword(.actor): "an actor"
        case .keyword(.enum): "an enum"
        case .keyword(.protocol): "a protocol"
        default: "this"
        }
      var fixIts: [FixIt] = []
      switch node.tokenKind {
      case .keyword(.class), .keyword(.actor): fixIts = [makingStruct(of: declaration)]
      default: break
      }
      return Diagnostic(
        node: Syntax(node), message: EntityMessage.notAStruct(kind), fixIts: fixIts)
    }

    private static func makingStruct(of declaration: some DeclGroupSyntax) -> FixIt {
      let keyword = declaration.introducer
      let structKeyword = keyword.with(\.tokenKind, .keyword(.struct))
      var changes: [FixIt.Change] = []
      let modifiers = declaration.modifiers
      let kept = modifiers.filter {
        ![.keyword(.final), .keyword(.open)].contains($0.name.tokenKind)
      }
      if kept.count == modifiers.count {
        changes.append(.replace(oldNode: Syntax(keyword), newNode: Syntax(structKeyword)))
      } else {
        // The fix-it removes `final`, and keeps the white space and comments before it. `open`
        // becomes `public`.
        let isOpen = modifiers.contains { $0.name.tokenKind == .keyword(.open) }
        var rest = kept
        if isOpen {
          let access = DeclModifierSyntax(name: .keyword(.public, trailingTrivia: .space))
          rest = DeclModifierListSyntax([access] + Array(kept))
        }
        var newKeyword = structKeyword
        if rest.isEmpty {
          newKeyword.leadingTrivia = modifiers.leadingTrivia
        } else {
          rest.leadingTrivia = modifiers.leadingTrivia
        }
        changes.append(.replace(oldNode: Syntax(modifiers), newNode: Syntax(rest)))
        changes.append(.replace(oldNode: Syntax(keyword), newNode: Syntax(newKeyword)))
      }
      return FixIt(message: EntityFix.makeStruct, changes: changes)
    }

    static func outsideEntity(_ macro: String, node: Syntax) -> Diagnostic {
      Diagnostic(node: node, message: EntityMessage.outsideEntity(macro))
    }
  }
#endif
