internal import LodestoreEssentials
internal import LodestoreFormat

extension PredicateExpressions.Value: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let value = value
    return Compiled { _ in value }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand { .constant(value) }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    switch value {
    case let value as Bool: PredicateText("\(value)")
    default: PredicateText("…")
    }
  }
}

extension PredicateExpressions.NilLiteral: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    Compiled { _ in nil }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    .constant(Output.none as Any)
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText { PredicateText("nil") }
}

extension PredicateExpressions.Variable: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    switch scope.binding(of: key) {
    case .record?:
      if let code = Compiled<E, E>(run: { $0.entity }) as? Compiled<E, Output> { return code }
    case .slot(let slot)?: return Compiled { try $0.value(of: slot, as: Output.self) }
    case .unwrapped(let node)?:
      if let code = try scope.compile(erased: node, as: Output?.self) {
        let failure = scope.failure(.nilUnwrapped, node)
        return Compiled { frame in
          guard let value = try code.run(&frame) else { throw failure }
          return value
        }
      }
    case nil: break
    }
    throw .unboundVariable(entity: E.schema.name)
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    switch scope.binding(of: key) {
    case .record?: .record
    case .unwrapped(let node)?:
      switch scope.operand(node) {
      case .attribute(let attribute): .attribute(attribute)
      case .constant(let value as Output): .constant(value)
      default: .opaque
      }
    default: .opaque
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    switch scope.binding(of: key) {
    case .record?: PredicateText("$0")
    case .slot(let slot)?: PredicateText("$\(slot + 1)")
    case .unwrapped(let node)?: scope.text(node)
    case nil: PredicateText("$?")
    }
  }
}

extension PredicateExpressions.KeyPath: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    let path = keyPath as Swift.KeyPath<Root.Output, Output>
    if case .record = scope.operand(root), let path = path as? Swift.KeyPath<E, Output> {
      return Compiled { $0.entity[keyPath: path] }
    }
    let root = try scope.compile(root)
    return Compiled { try root.run(&$0)[keyPath: path] }
  }

  func operand<E: Entity>(in scope: PredicateScope<E>) -> PredicateOperand {
    switch scope.operand(root) {
    case .record: scope.property(keyPath)
    case .property(let outer): outer.appending(path: keyPath).map { scope.property($0) } ?? .opaque
    case .attribute(let attribute): member(of: attribute, in: scope)
    case .constant(let value as Root.Output): .constant(value[keyPath: keyPath])
    case .constant, .defaulted, .opaque: .opaque
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    let name: String
    if case .attribute(let attribute) = scope.operand(self) {
      name =
        attribute.isRawValue
        ? "rawValue" : attribute.name == PredicateAttribute.idName ? "id" : attribute.name
    } else {
      name =
        switch kind {
        case .collectionCount: "count"
        case .collectionIsEmpty: "isEmpty"
        case .collectionFirst: "first"
        case .bidirectionalCollectionLast: "last"
        default: keyPath.lastName ?? "<\(Output.self)>"
        }
    }
    return scope.text(root).followed(by: ".\(name)")
  }

  /// Returns the operand for a key path that continues after an attribute, such as
  /// `$0.kind.rawValue`.
  private func member<E: Entity>(
    of attribute: PredicateAttribute, in scope: PredicateScope<E>
  ) -> PredicateOperand {
    if let type = Root.Output.self as? any NumberedID.Type, keyPath == type.numberPath {
      return .attribute(attribute.rawValue)
    }
    if attribute.isScalar, let type = Root.Output.self as? any CaseIterable.Type,
      isRawValue(ofAll: type)
    {
      return .attribute(attribute.rawValue)
    }
    return attribute.keyPath.appending(path: keyPath).map { scope.property($0) } ?? .opaque
  }

  /// Returns whether the path leads from each case of an enumeration to its raw value.
  ///
  /// Comparing key paths would not suffice, since each enumeration has another key path for
  /// `rawValue`.
  private func isRawValue<Cases: CaseIterable>(ofAll type: Cases.Type) -> Bool {
    func rawValue<R: RawRepresentable>(of value: R) -> Any { value.rawValue }
    func isEqual<T: Equatable>(_ a: T, _ b: Any) -> Bool { b as? T == a }
    guard Output.self is any ScalarComparedAsStored.Type, !Cases.allCases.isEmpty else {
      return false
    }
    return Cases.allCases.allSatisfy { element in
      guard let root = element as? Root.Output, let raw = element as? any RawRepresentable,
        Mirror(reflecting: element).displayStyle == .enum,
        let value = root[keyPath: keyPath] as? any Equatable
      else { return false }
      return isEqual(value, rawValue(of: raw))
    }
  }
}

extension PredicateScope {
  /// Returns the operand for a path from the record.
  fileprivate func property(_ path: AnyKeyPath) -> PredicateOperand {
    if let attribute = attributes[path] { return .attribute(attribute) }
    // A path written for the concrete type is not equal to one written for the generic `E`.
    if path is KeyPath<E, RecordID<E>>, path == \E.id || path.debugDescription == "\\\(E.self).id" {
      return .attribute(
        PredicateAttribute(name: PredicateAttribute.idName, type: .uint64, keyPath: path))
    }
    return .property(path)
  }
}

extension PredicateAttribute {
  /// The attribute with its raw value, which is stored for a case of an enumeration or for an id.
  fileprivate var rawValue: PredicateAttribute {
    var attribute = self
    attribute.isRawValue = true
    return attribute
  }
}

/// The type of the id of a record of any entity.
private protocol NumberedID {
  static var numberPath: AnyKeyPath { get }
}

extension RecordID: NumberedID {
  fileprivate static var numberPath: AnyKeyPath { \Self.rawValue }
}

extension AnyKeyPath {
  /// The name of the last property, which is known for stored properties only.
  fileprivate var lastName: String? {
    guard let name = debugDescription.split(separator: ".").last,
      name.utf8.allSatisfy({ $0 >= 0x80 || $0 == UInt8(ascii: "_") || isLetterOrDigit($0) })
    else { return nil }
    return String(name)
  }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
  Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
}
