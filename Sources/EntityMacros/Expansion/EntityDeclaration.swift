#if Macros
  import SwiftSyntax

  /// A struct with `@Entity`, as read from its syntax.
  struct EntityDeclaration {
    /// The entity's name in the file.
    var storedName: String
    var attributes: [StoredAttribute] = []
    var unique: [[TokenSyntax]] = []
    var indexes: [[TokenSyntax]] = []
    var relationships: [DeclaredToMany] = []
    /// The static property that declares the indexes over elements.
    var elementIndexes: TokenSyntax?
    /// The search indexes of `#Search`, each with the properties and weights of its texts.
    var searches: [[(property: TokenSyntax, weight: ExprSyntax?)]] = []
    /// The static property that declares further search indexes.
    var searchIndexes: TokenSyntax?
    /// The place indexes of `#Place`, each with its further arguments as source.
    var places: [(latitude: TokenSyntax, longitude: TokenSyntax, rest: [String])] = []
    /// The static property that declares further place indexes.
    var placeIndexes: TokenSyntax?
    /// The vector indexes of `#Vector`, each with its further arguments as source.
    var vectors: [(property: TokenSyntax, rest: [String])] = []
    /// The static property that declares further vector indexes.
    var vectorIndexes: TokenSyntax?
    /// The static property that declares the rules.
    var rules: TokenSyntax?
    /// The static property that declares which changes the history records.
    var history: TokenSyntax?
    /// Names of attributes to remove from the file.
    var removed: [String] = []
    /// The property that holds the expiry date.
    var expires: TokenSyntax?
    /// The limit of the number and size of the records.
    var limit: DeclaredLimit?
    var hasMemberwiseInitializer = false
  }

  /// A limit of the number and size of the records.
  struct DeclaredLimit {
    /// The arguments `count:` and `bytes:` of the macro as written, with their labels.
    var numbers: [LabeledExprSyntax] = []
    /// The property that orders records by age: the record with the smallest value is the oldest.
    var oldest: TokenSyntax?
  }

  /// A stored property.
  struct StoredAttribute {
    /// The name as written, with its backticks if it has them.
    var property: TokenSyntax
    /// The type; `nil` only after an error.
    var type: TypeSyntax?
    /// The access level written at the property, `nil` if none is written.
    ///
    /// The property's type may have a lower access level.
    var access: TokenSyntax?
    /// The name in the file.
    var storedName: String { name ?? property.plainText }
    /// The name in the file as written; `nil` if it is the property's name.
    var name: String?
    var originalName: String?
    /// The value of records older than the attribute.
    ///
    /// The expression has the same value in every process.
    var initial: ExprSyntax?
    /// The list of constraints as written.
    var constraints: ExprSyntax?
    /// The declaration of a relationship to one record; `nil` for other attributes.
    var toOne: ToOne?
    /// How the store calculates the value, as written; `nil` if the program sets the value.
    var derivation: ExprSyntax?

    struct ToOne {
      /// The delete rule as written.
      var onDelete: ExprSyntax?
    }
  }

  /// The kind of property that a name after `\.` in an index refers to.
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

    /// The identifier as an argument label.
    ///
    /// Only three keywords need backticks as labels.
    var label: String { ["inout", "let", "var"].contains(plainText) ? text : plainText }
  }

  extension VariableDeclSyntax {
    var isStatic: Bool {
      modifiers.contains {
        $0.name.tokenKind == .keyword(.static) || $0.name.tokenKind == .keyword(.class)
      }
    }

    /// The access level of the property's getter: `public` in `public private(set)`.
    var access: TokenSyntax? {
      let keywords: [Keyword] = [.public, .package, .internal, .fileprivate, .private]
      return modifiers.first { modifier in
        modifier.detail == nil && keywords.contains { modifier.name.tokenKind == .keyword($0) }
      }?.name.trimmed
    }
  }

  extension PatternBindingSyntax {
    /// Whether the property has a getter of its own.
    ///
    /// A property with only observers is stored.
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
    /// The name without a module's name before it.
    var plainName: String? {
      attributeName.as(IdentifierTypeSyntax.self)?.name.text
        ?? attributeName.as(MemberTypeSyntax.self)?.name.text
    }

    /// The arguments as written; empty if there are none.
    var argumentList: LabeledExprListSyntax {
      if case .argumentList(let list) = arguments { list } else { [] }
    }

    /// The argument with a label; `nil` if there is none.
    func argument(_ label: String) -> ExprSyntax? {
      argumentList.first { $0.label?.text == label }?.expression
    }
  }

  extension ExprSyntaxProtocol {
    /// The text of a string literal without interpolation.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
  }
#endif
