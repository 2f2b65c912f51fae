#if Macros
  import SwiftSyntax

  /// A struct with `@Entity`, as far as its syntax tells.
  struct EntityDeclaration {
    /// The name in the file.
    var storedName: String
    var attributes: [StoredAttribute] = []
    var unique: [[TokenSyntax]] = []
    var indexes: [[TokenSyntax]] = []
    var relationships: [DeclaredToMany] = []
    /// The static property that holds the indexes over elements.
    var elementIndexes: TokenSyntax?
    /// The static property that holds the rules.
    var rules: TokenSyntax?
    /// The static property that says what is told in the history.
    var history: TokenSyntax?
    /// Names of attributes that are to go from the file.
    var removed: [String] = []
    /// The property with the date by which records expire.
    var expires: TokenSyntax?
    /// The limit of the records.
    var limit: DeclaredLimit?
    var hasMemberwiseInitializer = false
  }

  /// A limit of the number and the size of the records.
  struct DeclaredLimit {
    /// As written, with their labels.
    var numbers: [LabeledExprSyntax] = []
    /// The property whose least value the oldest record has.
    var oldest: TokenSyntax?
  }

  /// A property that is stored.
  struct StoredAttribute {
    /// As written, with backticks if it has them.
    var property: TokenSyntax
    /// `nil` only where there is an error.
    var type: TypeSyntax?
    /// The access written at the property, which its type need not exceed; `nil` for none.
    var access: TokenSyntax?
    var originalName: String?
    /// The value of records that are older than the attribute, which is the same in every process.
    var initial: ExprSyntax?
    /// A list, as written.
    var constraints: ExprSyntax?
    /// What makes it a relationship to one record.
    var toOne: ToOne?
    /// How the store works out the value, as written; `nil` where the program gives it.
    var derivation: ExprSyntax?

    struct ToOne {
      /// The rule for deletes, as written.
      var onDelete: ExprSyntax?
    }
  }

  /// What a name means after `\.` in an index.
  enum PropertyKind {
    case stored(TypeSyntax?)
    case transient
    case computed
    case shared
  }

  extension TokenSyntax {
    /// The identifier without backticks.
    var plainText: String {
      let text = text
      guard text.count > 2, text.hasPrefix("`"), text.hasSuffix("`") else { return text }
      return String(text.dropFirst().dropLast())
    }

    /// The identifier as a label, where only three keywords need their backticks.
    var label: String { ["inout", "let", "var"].contains(plainText) ? text : plainText }
  }

  extension VariableDeclSyntax {
    var isStatic: Bool {
      modifiers.contains {
        $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class)
      }
    }

    /// The access to the whole property, as `public` in `public private(set)`.
    var access: TokenSyntax? {
      let keywords: [Keyword] = [.public, .package, .internal, .fileprivate, .private]
      return modifiers.first { modifier in
        modifier.detail == nil && keywords.contains { modifier.name.tokenKind == .keyword($0) }
      }?.name.trimmed
    }
  }

  extension PatternBindingSyntax {
    /// Whether the property has a getter of its own; one with only observers is stored.
    var isComputed: Bool {
      switch accessorBlock?.accessors {
      case nil: false
      case .getter: true
      case .accessors(let accessors):
        !accessors.allSatisfy {
          $0.accessorSpecifier.tokenKind == .keyword(.willSet)
            || $0.accessorSpecifier.tokenKind == .keyword(.didSet)
        }
      }
    }
  }

  extension AttributeListSyntax {
    /// The attribute `@name` or `@Module.name`.
    func attribute(named name: String) -> AttributeSyntax? {
      for element in self {
        guard case .attribute(let attribute) = element else { continue }
        if attribute.plainName == name { return attribute }
      }
      return nil
    }
  }

  extension AttributeSyntax {
    /// The name without that of a module.
    var plainName: String? {
      attributeName.as(IdentifierTypeSyntax.self)?.name.text
        ?? attributeName.as(MemberTypeSyntax.self)?.name.text
    }

    /// The arguments as written; empty where there are none.
    var argumentList: LabeledExprListSyntax {
      if case .argumentList(let list) = arguments { list } else { [] }
    }

    /// The argument with a label; `nil` where there is none.
    func argument(_ label: String) -> ExprSyntax? {
      argumentList.first { $0.label?.text == label }?.expression
    }
  }

  extension ExprSyntaxProtocol {
    /// The text of a string literal without interpolation.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
  }
#endif
