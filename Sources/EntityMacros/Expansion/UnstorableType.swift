#if Macros
  import SwiftSyntax
  import SwiftSyntaxBuilder

  /// The reason why a type cannot be stored, judged by its syntax.
  ///
  /// The compiler checks other types through the overloads of `AttributeDefinition`.
  struct UnstorableType {
    /// The reason, as in "a tuple has no stored form".
    var reason: String
    /// A type that can be stored instead.
    var replacement: TypeSyntax?

    init(_ reason: String, replacement: TypeSyntax? = nil) {
      self.reason = reason
      self.replacement = replacement
    }

    /// Returns why `type`, or a type within an optional, array or dictionary, cannot be stored.
    ///
    /// The result is `nil` for a type that may be storable.
    static func find(in type: TypeSyntax) -> UnstorableType? {
      switch type.as(TypeSyntaxEnum.self) {
      case .tupleType(let tuple):
        if let only = tuple.elements.first, tuple.elements.count == 1 { return find(in: only.type) }
        return UnstorableType("a tuple has no stored form; make it a struct")
      case .functionType: return UnstorableType("a function has no stored form")
      case .metatypeType: return UnstorableType("a type has no stored form")
      case .someOrAnyType, .compositionType, .classRestrictionType:
        return UnstorableType("a protocol does not say which type to read back; name the type")
      case .suppressedType: return UnstorableType("it cannot be copied")
      case .attributedType(let attributed): return find(in: attributed.baseType)
      case .implicitlyUnwrappedOptionalType(let optional): return find(in: optional.wrappedType)
      case .optionalType(let optional):
        if optional.wrappedType.isOptional {
          return UnstorableType(
            "a record has one null, not two; make it optional once",
            replacement: optional.wrappedType)
        }
        return wrapping(find(in: optional.wrappedType)) { "\($0)?" }
      case .arrayType(let array): return wrapping(find(in: array.element)) { "[\($0)]" }
      case .dictionaryType(let dictionary):
        return keys(dictionary.key)
          ?? wrapping(find(in: dictionary.value)) { "[\(dictionary.key.trimmed): \($0)]" }
      case .identifierType(let identifier):
        return named(identifier.name.text, identifier.genericArgumentClause)
      case .memberType(let member)
      where member.baseType.trimmedDescription == "Swift":
        return named(member.name.text, member.genericArgumentClause)
      default: return nil
      }
    }

    private static func named(
      _ name: String, _ arguments: GenericArgumentClauseSyntax?
    ) -> UnstorableType? {
      // The type of `argument` differs between versions of swift-syntax.
      let parameters =
        arguments?.arguments.compactMap { Syntax($0.argument).as(TypeSyntax.self) } ?? []
      switch (name, parameters.count) {
      case ("Any", _), ("AnyObject", _), ("AnyHashable", _):
        return UnstorableType("\(name) does not say which type to read back; name the type")
      case ("Void", _), ("Never", _): return UnstorableType("\(name) has no values to keep")
      case ("Character", _), ("Substring", _):
        return UnstorableType("\(name) has no stored form; use String", replacement: "String")
      case ("Set", 1):
        // Equal values must have equal document bytes, because an import compares bytes to
        // recognize an unchanged record. The order of a set differs between processes.
        return UnstorableType(
          "a set has no stable order; use an array", replacement: "[\(parameters[0].trimmed)]")
      case ("Optional", 1):
        if parameters[0].isOptional {
          return UnstorableType(
            "a record has one null, not two; make it optional once", replacement: parameters[0])
        }
        return wrapping(find(in: parameters[0])) { "\($0)?" }
      case ("Array", 1): return wrapping(find(in: parameters[0])) { "[\($0)]" }
      case ("Dictionary", 2):
        return keys(parameters[0])
          ?? wrapping(find(in: parameters[1])) { "[\(parameters[0].trimmed): \($0)]" }
      default: return nil
      }
    }

    private static func keys(_ key: TypeSyntax) -> UnstorableType? {
      // `Codable` encodes dictionaries with other keys as a list of keys and values, whose order
      // differs between processes.
      ["String", "Swift.String"].contains(key.trimmedDescription)
        ? nil
        : UnstorableType(
          "a dictionary is stored by text, and its keys are \(key.trimmedDescription); use String keys"
        )
    }

    private static func wrapping(
      _ inner: UnstorableType?, _ wrap: (TypeSyntax) -> TypeSyntax
    ) -> UnstorableType? {
      inner.map { UnstorableType($0.reason, replacement: $0.replacement.map(wrap)) }
    }
  }

  extension TypeSyntax {
    var isOptional: Bool {
      if self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return true
      }
      return self.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }

    /// Whether the type is an array or JSON, judged by its syntax.
    ///
    /// An index on such an attribute has entries for the elements.
    var hasElements: Bool { ["an array", "a JSONValue"].contains(unindexableKind) }

    /// The kind of a type without an order, judged by its syntax.
    ///
    /// Such an attribute cannot be indexed.
    var unindexableKind: String? {
      switch self.as(TypeSyntaxEnum.self) {
      case .optionalType(let optional): optional.wrappedType.unindexableKind
      case .implicitlyUnwrappedOptionalType(let optional): optional.wrappedType.unindexableKind
      case .arrayType: "an array"
      case .dictionaryType: "a dictionary"
      case .identifierType(let identifier):
        switch identifier.name.text {
        case "JSONValue": "a JSONValue"
        case "Array": "an array"
        case "Dictionary": "a dictionary"
        default: nil
        }
      default: nil
      }
    }
  }
#endif
