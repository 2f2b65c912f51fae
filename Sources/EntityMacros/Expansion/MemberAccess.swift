#if Macros
  import SwiftSyntax

  extension StructDeclSyntax {
    /// The access that the witnesses of a conformance need, with a space after it.
    ///
    /// That of the struct, but no more than that of the types around it; a struct that says nothing in an
    /// extension has the extension's. Nothing for a private struct: its members are as visible as the
    /// struct is. Of a type that is extended nothing is known.
    ///
    /// - Parameter context: what is around the struct, from the inside to the outside.
    func memberAccess(in context: [Syntax]) -> String {
      let own = modifiers.access ?? context.first.flatMap(\.accessOfExtension) ?? .internal
      var access = own
      for (position, outer) in context.enumerated() where outer.isType {
        let around = context.dropFirst(position + 1).first
        access = min(access, outer.access ?? around.flatMap(\.accessOfExtension) ?? .internal)
      }
      switch access {
      case .fileprivate: return own == .fileprivate ? "" : "fileprivate "
      case .internal: return ""
      case .package: return "package "
      case .public: return "public "
      }
    }
  }

  /// Who may see a declaration; a private one in a type is seen as one that is private to the file.
  private enum Access: Comparable {
    case `fileprivate`, `internal`, package, `public`
  }

  extension DeclModifierListSyntax {
    /// `nil` where none is said.
    fileprivate var access: Access? {
      for modifier in self where modifier.detail == nil {
        switch modifier.name.tokenKind {
        case .keyword(.public), .keyword(.open): return .public
        case .keyword(.package): return .package
        case .keyword(.internal): return .internal
        case .keyword(.fileprivate), .keyword(.private): return .fileprivate
        default: continue
        }
      }
      return nil
    }
  }

  extension Syntax {
    fileprivate var isType: Bool {
      asProtocol((any DeclGroupSyntax).self) != nil && !self.is(ExtensionDeclSyntax.self)
    }

    fileprivate var access: Access? {
      asProtocol((any WithModifiersSyntax).self)?.modifiers.access
    }

    /// What declarations have that say nothing; `nil` where this is no extension that says it.
    fileprivate var accessOfExtension: Access? { self.is(ExtensionDeclSyntax.self) ? access : nil }
  }

  extension Collection<Syntax> {
    /// The innermost type around a declaration that is private within another one.
    ///
    /// Extensions do not see it. At the end of a file a private type is seen in all of the file.
    var privateType: String? {
      for outer in dropLast() where !outer.is(ExtensionDeclSyntax.self) {
        let modifiers = outer.asProtocol((any WithModifiersSyntax).self)?.modifiers ?? []
        let isPrivate = modifiers.contains {
          $0.name.tokenKind == .keyword(.private) && $0.detail == nil
        }
        if isPrivate, let name = outer.asProtocol((any NamedDeclSyntax).self)?.name.trimmed {
          return name.text
        }
      }
      return nil
    }
  }
#endif
