#if Macros
  import SwiftSyntax

  extension StructDeclSyntax {
    /// The access modifier that the witnesses of a conformance need, with a space after it.
    ///
    /// The result is the access of the struct, limited by the access of the enclosing types. A
    /// struct without a modifier inside an extension has the extension's access. The result is
    /// empty for a private struct, whose members are as visible as the struct itself. The access of
    /// an extended type is unknown and does not limit the result.
    ///
    /// - Parameter context: The declarations around the struct, innermost first.
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

  /// Access levels in ascending order.
  ///
  /// A private declaration within a type counts as `fileprivate`.
  private enum Access: Comparable {
    case `fileprivate`, `internal`, package, `public`
  }

  extension DeclModifierListSyntax {
    /// The written access level; `nil` if none is written.
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

    fileprivate var access: Access? { asProtocol((any WithModifiersSyntax).self)?.modifiers.access }

    /// The access level that an extension gives to members without a modifier; `nil` for other
    /// declarations.
    fileprivate var accessOfExtension: Access? { self.is(ExtensionDeclSyntax.self) ? access : nil }
  }

  extension Collection<Syntax> {
    /// The innermost type around the struct that is private within another declaration.
    ///
    /// Extensions cannot see such a type. A private type at file level is visible in the whole
    /// file.
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
