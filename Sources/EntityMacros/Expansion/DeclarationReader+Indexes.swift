#if Macros
  import SwiftDiagnostics
  import SwiftSyntax
  import SwiftSyntaxBuilder

  extension DeclarationReader {
    /// The macros among the struct's members that the reader interprets.
    static let markers: Set = ["Index", "Unique", "Search", "Place", "Vector", "Expires", "Limit"]

    /// Reads one of the ``markers`` and ignores every other macro.
    mutating func read(_ macro: MacroExpansionDeclSyntax) {
      guard Self.markers.contains(macro.macroName.text) else { return }
      if let argument = macro.genericArgumentClause?.arguments.first?.argument {
        isOfEntity(Syntax(argument))
      }
      switch macro.macroName.text {
      case "Search": readSearch(of: macro)
      case "Place": readPlace(of: macro)
      case "Vector": readVector(of: macro)
      case "Expires": readExpiry(of: macro)
      case "Limit": readLimit(of: macro)
      case let name: readIndexes(of: macro, isUnique: name == "Unique")
      }
    }

    /// Reads `#Index<E>(…)` or `#Unique<E>(…)`.
    private mutating func readIndexes(of macro: MacroExpansionDeclSyntax, isUnique: Bool) {
      if macro.arguments.isEmpty { report(.noPaths(), at: macro) }
      for argument in macro.arguments {
        guard let list = argument.expression.as(ArrayExprSyntax.self) else {
          report(.notPaths(), at: argument.expression)
          continue
        }
        guard !list.elements.isEmpty else {
          report(.noPaths(), at: list, fixIts: macro.removing(argument))
          continue
        }
        let paths = readPaths(of: list, isUnique: isUnique)
        guard paths.count == list.elements.count else { continue }
        let known = isUnique ? declaration.unique : declaration.indexes
        if known.contains(where: { $0.map(\.plainText) == paths.map(\.plainText) }) {
          let names = paths.map { "'\($0.plainText)'" }.joined(separator: ", ")
          report(.repeatedIndex(names), at: list, fixIts: macro.removing(argument))
          continue
        }
        if isUnique { declaration.unique.append(paths) } else { declaration.indexes.append(paths) }
      }
    }

    /// Reads `#Search<E>([\.attribute, …])` or `#Search<E>([\.attribute: weight, …])`.
    private mutating func readSearch(of macro: MacroExpansionDeclSyntax) {
      var given: [(path: ExprSyntax, weight: ExprSyntax?)] = []
      let argument = macro.arguments.first?.expression
      if let list = argument?.as(ArrayExprSyntax.self) {
        given = list.elements.map { ($0.expression, nil) }
      } else if let list = argument?.as(DictionaryExprSyntax.self),
        case .elements(let elements) = list.content
      {
        given = elements.map { ($0.key, $0.value.trimmed) }
      }
      guard !given.isEmpty else { return report(.noPaths(), at: macro) }
      var sources: [(property: TokenSyntax, weight: ExprSyntax?)] = []
      for (path, weight) in given {
        if let property = storedProperty(of: path) { sources.append((property, weight)) }
      }
      if sources.count == given.count { declaration.searches.append(sources) }
    }

    /// Reads `#Place<E>([\.latitude, \.longitude], invalid: .leftOut)`.
    private mutating func readPlace(of macro: MacroExpansionDeclSyntax) {
      guard let list = macro.arguments.first?.expression.as(ArrayExprSyntax.self) else {
        return report(.notPaths(), at: macro)
      }
      guard list.elements.count == 2 else { return report(.notOnePlace(), at: list) }
      let properties = list.elements.compactMap { storedProperty(of: $0.expression) }
      guard properties.count == 2 else { return }
      let rest = macro.arguments.dropFirst().map(\.trimmedDescription)
      declaration.places.append((properties[0], properties[1], rest))
    }

    /// Reads `#Vector<E>(\.embedding, dimensions: 384)`.
    private mutating func readVector(of macro: MacroExpansionDeclSyntax) {
      guard let path = macro.arguments.first?.expression else {
        return report(.notPaths(), at: macro)
      }
      guard let property = storedProperty(of: path) else { return }
      declaration.vectors.append((property, macro.arguments.dropFirst().map(\.trimmedDescription)))
    }

    /// The stored property that a key path names; `nil` after an error was reported.
    private mutating func storedProperty(of path: ExprSyntax) -> TokenSyntax? {
      guard let components = path.as(KeyPathExprSyntax.self)?.components, components.count == 1,
        case .property(let property)? = components.first?.component
      else {
        report(.notPaths(), at: path)
        return nil
      }
      let name = property.declName.baseName.trimmed
      if case .stored = properties[name.plainText] { return name }
      report(
        .unknownPath(
          name.plainText, entity,
          suggestion: nearestName(to: name.plainText, among: propertyNames)), at: path)
      return nil
    }

    /// Reads `#Expires<E>([\.attribute])`.
    private mutating func readExpiry(of macro: MacroExpansionDeclSyntax) {
      guard declaration.expires == nil else { return report(.repeatedExpiry(), at: macro) }
      guard let list = macro.arguments.first?.expression.as(ArrayExprSyntax.self) else {
        return report(.notPaths(), at: macro)
      }
      guard list.elements.count == 1 else { return report(.notOneExpiry(), at: list) }
      guard let name = readPaths(of: list, isUnique: false).first else { return }
      if case .stored(let type?) = properties[name.plainText], !type.mayBeDate {
        return report(.expiryIsNoDate(name.plainText, type.trimmedDescription), at: list)
      }
      declaration.expires = name
    }

    /// Reads `#Limit<E>(count: 10_000, bytes: 1 << 26, by: [\.attribute])`.
    private mutating func readLimit(of macro: MacroExpansionDeclSyntax) {
      guard declaration.limit == nil else { return report(.repeatedLimit(), at: macro) }
      var limit = DeclaredLimit()
      for argument in macro.arguments {
        guard argument.label?.text == "by" else {
          if argument.expression.isBelowOne { report(.emptyLimit(), at: argument.expression) }
          limit.numbers.append(argument)
          continue
        }
        guard let list = argument.expression.as(ArrayExprSyntax.self) else {
          return report(.notPaths(), at: argument.expression)
        }
        guard list.elements.count == 1 else { return report(.notOneOldest(), at: list) }
        guard let name = readPaths(of: list, isUnique: true).first else { return }
        limit.oldest = name
      }
      guard !limit.numbers.isEmpty else { return report(.limitWithoutNumber(), at: macro) }
      declaration.limit = limit
    }

    /// Reports an index that names another entity.
    ///
    /// The entity itself may be written with its enclosing types.
    @discardableResult
    private mutating func isOfEntity(_ type: Syntax) -> Bool {
      let written = type.trimmedDescription
      if written == entity || written == "Self" || written.hasSuffix(".\(entity)") { return true }
      report(
        .otherEntity(written, entity), at: type,
        fixIts: [.replacing(type, with: TypeSyntax("\(structure.name.trimmed)"), .replace(entity))])
      return false
    }

    /// The properties that a list of key paths names.
    ///
    /// Properties that cannot be indexed are reported and left out.
    private mutating func readPaths(of list: ArrayExprSyntax, isUnique: Bool) -> [TokenSyntax] {
      var names: [TokenSyntax] = []
      for element in list.elements {
        guard let path = element.expression.as(KeyPathExprSyntax.self) else {
          report(.notPaths(), at: element.expression)
          continue
        }
        let isAlone = !isUnique && list.elements.count == 1
        guard let name = property(of: path, in: list, element, isAlone: isAlone) else { continue }
        if names.contains(where: { $0.plainText == name.plainText }) {
          report(
            .repeatedPath(name.plainText), at: path, fixIts: [list.removing(element)])
          continue
        }
        names.append(name)
      }
      return names
    }

    /// The one property that `path` names; `nil` after an error was reported.
    ///
    /// - Parameter isAlone: Whether the path is the only one of its index. Only then may it name an
    ///   array, which makes an index over the array's elements.
    private mutating func property(
      of path: KeyPathExprSyntax, in list: ArrayExprSyntax, _ element: ArrayElementSyntax,
      isAlone: Bool
    ) -> TokenSyntax? {
      if let root = path.root, !isOfEntity(Syntax(root)) { return nil }
      let text = path.trimmedDescription
      let isOptionalChain = path.components.contains {
        if case .optional = $0.component { true } else { false }
      }
      if isOptionalChain && path.components.count == 2, let first = path.components.first {
        let plain = KeyPathComponentListSyntax([first])
        report(
          .optionalPath(text), at: path,
          fixIts: [.replacing(path.components, with: plain, .replace("\\\(first.trimmed)"))])
        return nil
      }
      guard path.components.count == 1, let component = path.components.first else {
        report(.nestedPath(text), at: path)
        return nil
      }
      guard case .property(let property) = component.component else {
        report(.notPaths(), at: path)
        return nil
      }
      let name = property.declName.baseName.trimmed
      switch properties[name.plainText] {
      case .stored(let type):
        guard let kind = type?.unindexableKind else { return name }
        let hasElements = type?.hasElements ?? false
        if isAlone, hasElements { return name }
        report(
          hasElements
            ? .elementsWithOthers(name.plainText, kind) : .unindexable(name.plainText, kind),
          at: path, fixIts: [list.removing(element)])
      case nil where name.plainText == "id":
        report(.idPath(), at: path, fixIts: [list.removing(element)])
      case nil:
        let suggestion = nearestName(to: name.plainText, among: propertyNames)
        report(
          .unknownPath(name.plainText, entity, suggestion: suggestion), at: path,
          fixIts: suggestion.map { suggestion in
            [
              .changing(
                property.declName.baseName, to: .identifier(suggestion), .replace(suggestion))
            ]
          } ?? [list.removing(element)])
      case .some(let kind):
        report(
          .unstoredPath(name.plainText, kind.unstoredKind ?? ""), at: path,
          fixIts: [list.removing(element)])
      }
      return nil
    }

    /// Refuses `@Attribute(.unique)` on a property whose type has no order.
    mutating func checkIndexable(
      _ name: String, type: TypeSyntax?, at binding: PatternBindingSyntax
    ) {
      guard let kind = type?.unindexableKind else { return }
      report(.unindexable(name, kind), at: binding)
    }
  }

  extension ArrayExprSyntax {
    /// A fix-it that removes one key path from the list.
    fileprivate func removing(_ element: ArrayElementSyntax) -> FixIt {
      var rest = elements.filter { $0.id != element.id }
      if let last = rest.indices.last { rest[last].trailingComma = nil }
      return .replacing(elements, with: rest, .removePath)
    }
  }

  extension TypeSyntax {
    /// Whether the type can be `Date` or `Date?`.
    ///
    /// A name from outside the standard library may be an alias of it.
    fileprivate var mayBeDate: Bool {
      if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.mayBeDate }
      let others: Set = [
        "String", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
        "UInt32", "UInt64", "Double", "Float", "URL", "UUID", "Data", "Decimal",
      ]
      guard let name = self.as(IdentifierTypeSyntax.self)?.name.text else { return true }
      return !others.contains(name)
    }
  }

  extension ExprSyntax {
    /// Whether the expression is a number literal that is zero or negative.
    fileprivate var isBelowOne: Bool {
      if let negative = self.as(PrefixOperatorExprSyntax.self) {
        return negative.operator.text == "-"
          && negative.expression.is(IntegerLiteralExprSyntax.self)
      }
      guard let literal = self.as(IntegerLiteralExprSyntax.self) else { return false }
      return literal.representedLiteralValue == 0
    }
  }

  extension MacroExpansionDeclSyntax {
    /// A fix-it that removes one index from the macro; empty if it is the only index.
    fileprivate func removing(_ argument: LabeledExprSyntax) -> [FixIt] {
      guard arguments.count > 1 else { return [] }
      var rest = arguments.filter { $0.id != argument.id }
      if let last = rest.indices.last { rest[last].trailingComma = nil }
      return [.replacing(arguments, with: rest, .removeIndex)]
    }
  }
#endif
