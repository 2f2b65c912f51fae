#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension DeclarationReader {
    /// Reads the properties of one `var` or `let`.
    mutating func readProperties(of variable: VariableDeclSyntax) {
      // In `var a, b: Int` the written type also applies to the properties before it. Bindings are
      // therefore read from the last to the first.
      var sharedType: TypeSyntax?
      var types: [TypeSyntax?] = []
      for binding in variable.bindings.reversed() {
        if let annotation = binding.typeAnnotation {
          sharedType = annotation.type.trimmed
        } else if binding.initializer != nil {
          sharedType = nil
        }
        types.append(sharedType)
      }
      for (binding, type) in zip(variable.bindings, types.reversed()) {
        read(binding, type: type, of: variable)
      }
    }

    private mutating func read(
      _ binding: PatternBindingSyntax, type: TypeSyntax?, of variable: VariableDeclSyntax
    ) {
      let attribute = variable.attributes.attribute(named: "Attribute")
      let isTransient = variable.attributes.attribute(named: "Transient") != nil
      guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.trimmed else {
        // If the name is missing, the parser has already reported it.
        if !isTransient, !variable.isStatic, !binding.pattern.is(MissingPatternSyntax.self) {
          report(.tuplePattern(), at: binding.pattern)
        }
        return
      }
      if name.plainText == "id" && !variable.isStatic {
        return reportOwnID(binding, type: type, of: variable)
      }
      // The compiler would use this member for the conformance in place of the generated one, and
      // report only that the struct does not conform.
      if ["schema", "attributes"].contains(name.plainText) {
        return refuse(.ownMember(name.plainText, entity), at: binding.pattern)
      }
      let kind: PropertyKind =
        variable.isStatic
        ? .shared : binding.isComputed ? .computed : isTransient ? .transient : .stored(type)
      // A static property may have the name of a stored property. Key paths then mean the stored
      // property.
      if case .shared = kind, properties[name.plainText] != nil {
      } else {
        properties[name.plainText] = kind
      }
      if let relationship = variable.attributes.attribute(named: "Relationship"),
        let kind = kind.unstoredKind
      {
        report(.relationshipOnUnstored(name.plainText, kind), at: relationship)
      }
      if let attribute, let kind = kind.unstoredKind {
        report(
          .attributeOnUnstored(name.plainText, kind), at: attribute,
          fixIts: [.removing(attribute, from: variable, .removeAttribute)])
      }
      switch kind {
      case .shared: return readShared(name, binding, type: type, of: variable)
      case .computed: return
      case .transient: return checkTransient(name.plainText, binding, type: type, of: variable)
      case .stored: break
      }
      let attributeOptions = options(of: attribute)
      let derived = variable.attributes.attribute(named: "Derived")
      // A derived attribute has the type that its derivation produces.
      let type =
        type
        ?? (derived == nil
          ? nil : binding.initializer?.value.typeName.map { TypeSyntax(stringLiteral: $0) })
      if let derived { checkDerived(name.plainText, derived, of: variable) }
      if let constraints = attributeOptions.constraints {
        checkConstraints(name.plainText, constraints, of: variable)
      }
      guard isStorable(name.plainText, binding, type: type, of: variable) else {
        // Indexes may name this property, so its name is recorded. Nothing is generated after an
        // error.
        return declaration.attributes.append(StoredAttribute(property: name))
      }
      declaration.attributes.append(
        StoredAttribute(
          property: name, type: type, access: variable.access, name: attributeOptions.name,
          originalName: attributeOptions.originalName,
          initial: initial(name.plainText, attributeOptions.initial, binding, of: variable),
          constraints: attributeOptions.constraints?.trimmed,
          toOne: toOne(name.plainText, type: type, binding, of: variable),
          derivation: derived?.argumentList.first?.expression.trimmed))
      if attributeOptions.isUnique {
        checkIndexable(name.plainText, type: type, at: binding)
        declaration.unique.append([name])
      }
    }

    /// The attribute's initial value: the value of records older than the attribute.
    ///
    /// The value is the argument of `@Attribute(initial:)`. Without that argument it is the default
    /// value, if the default value is the same in every process.
    private mutating func initial(
      _ name: String, _ given: ExprSyntax?, _ binding: PatternBindingSyntax,
      of variable: VariableDeclSyntax
    ) -> ExprSyntax? {
      let isDerived = variable.attributes.attribute(named: "Derived") != nil
      let isRelationship = variable.attributes.attribute(named: "Relationship") != nil
      if let given {
        if isDerived || isRelationship {
          report(
            .initialOfOther(
              name, isDerived ? "derived, and the store makes its value" : "a relationship"),
            at: given)
        } else if !given.isStable {
          report(.changingInitial(name, given.trimmedDescription), at: given)
        }
        return given.trimmed
      }
      guard let value = binding.initializer?.value, !value.is(NilLiteralExprSyntax.self) else {
        return nil
      }
      if value.isStable { return value.trimmed }
      // An optional attribute needs no initial value, because it is null in older records.
      let isOptional = binding.typeAnnotation?.type.isOptional ?? false
      if !isDerived, !isRelationship, !isOptional {
        report(.defaultOfInserts(name, value.trimmedDescription), at: value)
      }
      return nil
    }

    /// Reports constraints on a derived attribute or a relationship, which cannot have constraints.
    private mutating func checkConstraints(
      _ name: String, _ constraints: ExprSyntax, of variable: VariableDeclSyntax
    ) {
      if variable.attributes.attribute(named: "Derived") != nil {
        report(.constraintsOfDerived(name), at: constraints)
      } else if variable.attributes.attribute(named: "Relationship") != nil {
        report(.constraintsOfRelationship(name), at: constraints)
      }
    }

    /// Reports each reason why a property with `@Derived` cannot be derived by the store.
    private mutating func checkDerived(
      _ name: String, _ attribute: AttributeSyntax, of variable: VariableDeclSyntax
    ) {
      if variable.attributes.attribute(named: "Relationship") != nil {
        report(.derivedRelationship(name), at: attribute)
      }
      let isHidden =
        variable.access.map { $0.tokenKind == .keyword(.private) } ?? false
        || variable.modifiers.contains { $0.detail?.detail.text == "set" }
      if variable.bindingSpecifier.tokenKind == .keyword(.var), !isHidden {
        var changed = variable
        changed.modifiers.append(
          DeclModifierSyntax(
            name: .keyword(.private), detail: DeclModifierDetailSyntax(detail: .identifier("set")),
            trailingTrivia: .space))
        report(
          .derivedSettable(name), at: variable.bindingSpecifier,
          fixIts: [.replacing(variable, with: changed, .makePrivateSet)])
      }
    }

    // MARK: Refusals

    /// Returns whether a property can be stored, and reports the reason if it cannot.
    private mutating func isStorable(
      _ name: String, _ binding: PatternBindingSyntax, type: TypeSyntax?,
      of variable: VariableDeclSyntax
    ) -> Bool {
      let count = diagnostics.count
      let addTransient = FixIt.addingTransient(to: variable)
      if !name.isStorableMemberName {
        report(.badName(name, of: "an attribute"), at: binding.pattern)
      }
      if let modifier = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
        report(
          .unstorable(name, "a lazy property may have no value yet; make it a plain 'var'"),
          at: modifier, fixIts: addTransient)
        return false
      }
      if let modifier = variable.modifiers.first(where: {
        $0.name.tokenKind == .keyword(.weak) || $0.name.tokenKind == .keyword(.unowned)
      }) {
        report(
          .unstorable(name, "a reference has no stored form; keep an id"), at: modifier,
          fixIts: addTransient)
        return false
      }
      guard let type else {
        reportMissingType(name, binding)
        return false
      }
      if let unstorable = UnstorableType.find(in: type) {
        var fixIts: [FixIt] = []
        if let replacement = unstorable.replacement, let written = binding.typeAnnotation?.type {
          fixIts.append(
            .replacing(
              written, with: replacement.with(\.trailingTrivia, written.trailingTrivia),
              .useType(replacement.trimmedDescription)))
        }
        report(
          .unstorable(name, unstorable.reason), at: node(of: binding),
          fixIts: fixIts + addTransient)
        return false
      }
      if variable.bindingSpecifier.tokenKind == .keyword(.let), binding.initializer != nil {
        let specifier = variable.bindingSpecifier
        report(
          .constant(name), at: specifier,
          fixIts: [.changing(specifier, to: .keyword(.var), .makeVar)] + addTransient)
      }
      return diagnostics.count == count
    }

    /// The binding's type as a node of the original source.
    ///
    /// The type that the caller has read may be a copy, or belong to a later name in `var a, b:
    /// Int`.
    private func node(of binding: PatternBindingSyntax) -> Syntax {
      binding.typeAnnotation.map { Syntax($0.type) } ?? Syntax(binding.pattern)
    }

    private mutating func reportOwnID(
      _ binding: PatternBindingSyntax, type: TypeSyntax?, of variable: VariableDeclSyntax
    ) {
      guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else { return }
      let written =
        type?.trimmedDescription
        ?? binding.initializer?.value.as(FunctionCallExprSyntax.self)?.calledExpression
        .trimmedDescription ?? ""
      if variable.bindings.count == 1,
        ["RecordID<\(entity)>", "RecordID<Self>", "\(entity).ID", "Self.ID", "ID"].contains(written)
      {
        let members = structure.memberBlock.members
        let others = members.filter { $0.decl.id != variable.id }
        return refuse(
          .ownRecordID(entity), at: pattern,
          fixIts: [.replacing(members, with: MemberBlockItemListSyntax(Array(others)), .removeID)])
      }
      refuse(
        .ownID(entity), at: pattern,
        fixIts: [
          .changing(pattern.identifier, to: .identifier("identifier"), .rename("identifier"))
        ])
    }

    private mutating func reportMissingType(_ name: String, _ binding: PatternBindingSyntax) {
      let inferred = binding.initializer?.value.typeName ?? "<#Type#>"
      var typed = binding
      typed.pattern.trailingTrivia = []
      typed.typeAnnotation = TypeAnnotationSyntax(
        colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("\(raw: inferred)"),
        trailingTrivia: binding.pattern.trailingTrivia)
      report(
        .missingType(name), at: binding.pattern,
        fixIts: [.replacing(binding, with: typed, .addType(inferred))])
    }

    private mutating func checkTransient(
      _ name: String, _ binding: PatternBindingSyntax, type: TypeSyntax?,
      of variable: VariableDeclSyntax
    ) {
      let isVar = variable.bindingSpecifier.tokenKind == .keyword(.var)
      guard binding.initializer == nil, !(isVar && type?.isOptional ?? false) else { return }
      // Nothing is reported if the property has another attribute, which may be a property wrapper
      // that gives the property its value.
      guard variable.attributes.count == 1 else { return }
      let value = type?.emptyValue ?? "<#value#>"
      // The fix-it keeps the comma after the property if another property follows in the
      // declaration.
      var valued = binding.trimmed
      let comma = valued.trailingComma
      valued.trailingComma = nil
      valued = valued.trimmed
      valued.initializer = InitializerClauseSyntax(
        equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space),
        value: ExprSyntax("\(raw: value)"))
      valued.trailingComma = comma
      valued.leadingTrivia = binding.leadingTrivia
      valued.trailingTrivia = binding.trailingTrivia
      report(
        .transientWithoutValue(name), at: binding.pattern,
        fixIts: [.replacing(binding, with: valued, .addDefault(value))])
    }

    // MARK: @Attribute

    private struct Options {
      var isUnique = false
      var name: String?
      var originalName: String?
      var constraints: ExprSyntax?
      var initial: ExprSyntax?
    }

    /// The name of an attribute in the file; `kind` is the noun for messages.
    private mutating func name(_ value: ExprSyntax, _ kind: String) -> String? {
      if value.is(NilLiteralExprSyntax.self) { return nil }
      guard let name = value.literalText else {
        report(.attributeNameNotLiteral(kind), at: value)
        return nil
      }
      if !name.isStorableMemberName { report(.badName(name, of: "an attribute"), at: value) }
      return name
    }

    private mutating func options(of attribute: AttributeSyntax?) -> Options {
      var options = Options()
      for argument in attribute?.argumentList ?? [] {
        let value = argument.expression
        switch argument.label?.text {
        case "constraints": options.constraints = value
        case "initial": options.initial = value
        case "name": options.name = self.name(value, "name")
        case "originalName": options.originalName = self.name(value, "original name")
        default:
          if value.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "unique" {
            options.isUnique = true
          } else {
            let unique = ExprSyntax(".unique").with(\.leadingTrivia, value.leadingTrivia)
              .with(\.trailingTrivia, value.trailingTrivia)
            report(
              .unknownOption(value.trimmedDescription), at: value,
              fixIts: [.replacing(value, with: unique, .replace(".unique"))])
          }
        }
      }
      return options
    }
  }

  extension PropertyKind {
    /// The kind of a property without storage, as in "it is static"; `nil` for a stored property.
    var unstoredKind: String? {
      switch self {
      case .stored: nil
      case .transient: "@Transient"
      case .computed: "computed"
      case .shared: "static"
      }
    }
  }

  extension ExprSyntax {
    /// The type of a literal, or of a call or member whose expression names its type.
    fileprivate var typeName: String? {
      switch self.as(ExprSyntaxEnum.self) {
      case .stringLiteralExpr: "String"
      case .integerLiteralExpr: "Int"
      case .floatLiteralExpr: "Double"
      case .booleanLiteralExpr: "Bool"
      case .prefixOperatorExpr(let prefixed): prefixed.expression.typeName
      case .functionCallExpr(let call) where call.calledExpression.isTypeName:
        call.calledExpression.trimmedDescription
      case .memberAccessExpr(let member):
        member.base.flatMap { $0.isTypeName ? $0.trimmedDescription : nil }
      default: nil
      }
    }
  }

  extension TypeSyntax {
    /// The usual empty value of the type, for a fix-it.
    fileprivate var emptyValue: String? {
      if isOptional { return "nil" }
      switch self.as(TypeSyntaxEnum.self) {
      case .arrayType: return "[]"
      case .dictionaryType: return "[:]"
      case .identifierType(let identifier):
        switch identifier.name.text {
        case "String": return "\"\""
        case "Bool": return "false"
        case "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8",
          "UInt16", "UInt32", "UInt64":
          return "0"
        case "Array", "Set": return "[]"
        case "Dictionary": return "[:]"
        default: return nil
        }
      default: return nil
      }
    }
  }
#endif
