extension ConditionTree {
  /// Returns a copy of the condition in which the paths that began at `old` begin at `new`.
  ///
  /// - Parameter back: the name by which a record at `old` leads to the record that the other paths
  ///   begin at, for the error message.
  /// - Throws: ``StoreError/Code/invalidQuery`` if a path begins elsewhere than at `old` or at the
  ///   variable of an inner SUBQUERY, or if the condition contains a closure.
  func rerooted(
    from old: ValuePath.Root, to new: ValuePath.Root, back: String? = nil
  ) throws(StoreError) -> ConditionTree {
    try PathChange.rerooting(from: old, to: new, back: back).changed(self)
  }

  /// Returns the condition with the record's members renamed.
  ///
  /// - Parameter names: the new names, by the old ones.
  /// - Throws: ``StoreError/Code/invalidQuery`` if the condition contains a closure.
  func renamingMembers(_ names: [String: String]) throws(StoreError) -> ConditionTree {
    try PathChange { (path, _) in
      guard path.root == .record, case .member(let name)? = path.steps.first,
        let new = names[name]
      else { return path }
      return ValuePath(path.root, [.member(new)] + path.steps.dropFirst())
    }.changed(self)
  }

  /// The first names of all paths that begin at the record.
  var memberNames: Set<String> {
    switch self {
    case .constant, .closure: []
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.memberNames) }
    case .not(let part): part.memberNames
    case .comparison(let comparison):
      comparison.left.memberNames.union(comparison.right.memberNames)
    }
  }

  /// The number of nested levels of SUBQUERYs.
  var subqueryDepth: Int {
    switch self {
    case .constant, .closure: 0
    case .all(let parts), .any(let parts): parts.map(\.subqueryDepth).max() ?? 0
    case .not(let part): part.subqueryDepth
    case .comparison(let comparison):
      max(comparison.left.subqueryDepth, comparison.right.subqueryDepth)
    }
  }
}

extension Operand {
  /// Returns the operand with its paths beginning at `root` and passing through `steps` first.
  func moved(to root: ValuePath.Root, behind steps: [ValuePath.Step]) throws(StoreError) -> Operand
  {
    try PathChange.rerooting(from: .record, to: root, back: nil, prefix: steps).changed(self)
  }

  fileprivate var memberNames: Set<String> {
    switch self {
    case .value, .values, .variable: []
    case .path(let path):
      if path.root == .record, case .member(let name)? = path.steps.first { [name] } else { [] }
    case .list(let operands), .call(_, let operands):
      operands.reduce(into: []) { $0.formUnion($1.memberNames) }
    case .arithmetic(_, let left, let right): left.memberNames.union(right.memberNames)
    case .negative(let inner), .cast(let inner, _): inner.memberNames
    case .conditional(let test, let yes, let no):
      test.memberNames.union(yes.memberNames).union(no.memberNames)
    case .subquery(let collection, _, let test, _): collection.memberNames.union(test.memberNames)
    }
  }

  fileprivate var subqueryDepth: Int {
    switch self {
    case .value, .values, .path, .variable: 0
    case .list(let operands), .call(_, let operands): operands.map(\.subqueryDepth).max() ?? 0
    case .arithmetic(_, let left, let right): max(left.subqueryDepth, right.subqueryDepth)
    case .negative(let inner), .cast(let inner, _): inner.subqueryDepth
    case .conditional(let test, let yes, let no):
      max(test.subqueryDepth, yes.subqueryDepth, no.subqueryDepth)
    case .subquery(let collection, _, let test, _):
      max(collection.subqueryDepth, 1 + test.subqueryDepth)
    }
  }
}

/// Rewrites the paths of a condition.
private struct PathChange {
  /// Returns the replacement for a path, given the variables of the SUBQUERYs around it.
  let change: (ValuePath, Set<String>) throws(StoreError) -> ValuePath
  private var variables: Set<String> = []

  init(_ change: @escaping (ValuePath, Set<String>) throws(StoreError) -> ValuePath) {
    self.change = change
  }

  /// Returns the change that gives paths another root.
  ///
  /// - Parameters:
  ///   - back: the relationship that leads from a record at `old` to the record that other paths
  ///     begin at, for the error message.
  ///   - prefix: the steps inserted before those of each path.
  static func rerooting(
    from old: ValuePath.Root, to new: ValuePath.Root, back: String?, prefix: [ValuePath.Step] = []
  ) -> PathChange {
    PathChange { (path, variables) throws(StoreError) in
      if path.root == old { return ValuePath(new, prefix + path.steps) }
      if case .variable(let name) = path.root, variables.contains(name) { return path }
      let hint: String
      if let back, case .record = path.root, case .variable = old {
        let steps = path.steps.isEmpty ? [.member(ValuePath.recordIDName)] : path.steps
        let way = ValuePath(old, [.member(back)] + steps)
        hint = "write \(ConditionPrinter.text(.path(way)))"
      } else {
        hint = "inside of a condition on related records only they can be named"
      }
      throw .badQuery(
        "'\(ConditionPrinter.text(.path(path)))' is of another record than the related one; \(hint)"
      )
    }
  }

  func changed(_ tree: ConditionTree) throws(StoreError) -> ConditionTree {
    switch tree {
    case .constant: return tree
    case .all(let parts): return .all(try changed(parts))
    case .any(let parts): return .any(try changed(parts))
    case .not(let part): return .not(try changed(part))
    case .comparison(var comparison):
      comparison.left = try changed(comparison.left)
      comparison.right = try changed(comparison.right)
      return .comparison(comparison)
    case .closure(let closure):
      throw .badQuery(
        "'\(closure.text)' is evaluated on the decoded record, which related records are not")
    }
  }

  private func changed(_ parts: [ConditionTree]) throws(StoreError) -> [ConditionTree] {
    try parts.map { (part) throws(StoreError) in try changed(part) }
  }

  private func changed(_ operands: [Operand]) throws(StoreError) -> [Operand] {
    try operands.map { (operand) throws(StoreError) in try changed(operand) }
  }

  func changed(_ operand: Operand) throws(StoreError) -> Operand {
    switch operand {
    case .value, .values, .variable: return operand
    case .list(let operands): return .list(try changed(operands))
    case .path(let path): return .path(try change(path, variables))
    case .arithmetic(let sign, let left, let right):
      return .arithmetic(sign, try changed(left), try changed(right))
    case .negative(let inner): return .negative(try changed(inner))
    case .conditional(let test, let yes, let no):
      return .conditional(try changed(test), try changed(yes), try changed(no))
    case .subquery(let collection, let variable, let test, let steps):
      var inner = self
      inner.variables.insert(variable)
      return .subquery(
        try changed(collection), variable: variable, try inner.changed(test), steps)
    case .cast(let inner, let type): return .cast(try changed(inner), type)
    case .call(let function, let operands): return .call(function, try changed(operands))
    }
  }
}
