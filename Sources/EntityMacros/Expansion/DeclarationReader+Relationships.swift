#if Macros
  import SwiftSyntax

  /// A static property that is a to-many relationship.
  struct DeclaredToMany {
    var property: TokenSyntax
    /// The written type, such as `ToMany<Group, Person>`.
    var type: TypeSyntax
    /// The access level written at the property; `nil` if none is written.
    var access: TokenSyntax?
  }

  extension DeclarationReader {
    /// Reads a static property if its written type, or the call that makes it, is `ToMany`.
    mutating func readShared(
      _ name: TokenSyntax, _ binding: PatternBindingSyntax, type: TypeSyntax?,
      of variable: VariableDeclSyntax
    ) {
      let made = binding.initializer?.value.as(FunctionCallExprSyntax.self)?.calledExpression
      let spelling = type?.trimmedDescription ?? made?.trimmedDescription ?? ""
      switch name.plainText {
      case "rules": declaration.rules = name
      case "history" where spelling.hasPrefix("HistoryPolicy"): declaration.history = name
      case "elementIndexes": declaration.elementIndexes = name
      case "searchIndexes": declaration.searchIndexes = name
      case "placeIndexes": declaration.placeIndexes = name
      case "vectorIndexes": declaration.vectorIndexes = name
      default: break
      }
      guard spelling.isToMany else { return }
      guard variable.bindingSpecifier.tokenKind == .keyword(.let) else {
        return report(.computedRelationship(name.plainText), at: variable.bindingSpecifier)
      }
      if !name.plainText.isStorableMemberName {
        report(.badName(name.plainText, of: "a relationship"), at: binding.pattern)
      }
      declaration.relationships.append(
        DeclaredToMany(
          property: name, type: TypeSyntax(stringLiteral: spelling), access: variable.access))
    }

    /// The relationship that `@Relationship` declares, with its delete rule as written; `nil`
    /// without the macro.
    mutating func toOne(
      _ name: String, type: TypeSyntax?, _ binding: PatternBindingSyntax,
      of variable: VariableDeclSyntax
    ) -> StoredAttribute.ToOne? {
      guard let attribute = variable.attributes.attribute(named: "Relationship") else { return nil }
      if let type, !type.namesRecordID {
        report(.relationshipHoldsNoID(name, type.trimmedDescription), at: attribute)
      }
      return StoredAttribute.ToOne(onDelete: attribute.argument("onDelete")?.trimmed)
    }
  }

  extension String {
    /// Whether the type is written as `ToMany<…>` or `EntityStore.ToMany<…>`.
    fileprivate var isToMany: Bool {
      guard let bracket = firstIndex(of: "<") else { return false }
      return self[..<bracket].split(separator: ".").last == "ToMany"
    }
  }

  extension TypeSyntax {
    /// Whether the type is written as a record id: `Person.ID`, `RecordID<Person>`, or an optional
    /// of these.
    fileprivate var namesRecordID: Bool {
      switch self.as(TypeSyntaxEnum.self) {
      case .optionalType(let optional): optional.wrappedType.namesRecordID
      case .memberType(let member): ["ID", "RecordID"].contains(member.name.text)
      case .identifierType(let identifier): ["RecordID", "ID"].contains(identifier.name.text)
      default: false
      }
    }
  }
#endif
