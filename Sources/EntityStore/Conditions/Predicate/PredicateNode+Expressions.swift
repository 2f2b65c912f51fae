internal import LodestoreEssentials

extension PredicateExpressions.ExpressionEvaluate: PredicateNode {
  func compile<E: Entity>(in scope: PredicateScope<E>) throws(StoreError) -> Compiled<E, Output> {
    guard case .constant(let inner as Transformation.Output) = scope.operand(expression) else {
      return scope.foreign(self)
    }
    var innerScope = scope
    var arguments: [(slot: Int, value: (inout PredicateFrame<E>) throws -> Any)] = []
    for (variable, argument) in repeat (each inner.variable, each input) {
      let code = try scope.compile(argument)
      let binding = innerScope.binding(variable)
      innerScope = binding.scope
      arguments.append((binding.slot, { try code.run(&$0) }))
    }
    guard let code = try innerScope.compile(erased: inner.expression, as: Output.self) else {
      throw .unusableExpression(text(in: scope).string, entity: E.schema.name)
    }
    return Compiled { [arguments] frame in
      // An argument may itself use the slots of variables, so all arguments are evaluated before
      // the first slot is set.
      var values: [Any] = []
      for argument in arguments { values.append(try argument.value(&frame)) }
      for (argument, value) in zip(arguments, values) { frame.bind(value, to: argument.slot) }
      return try code.run(&frame)
    }
  }

  func text<E: Entity>(in scope: PredicateScope<E>) -> PredicateText {
    var arguments: [String] = []
    for argument in repeat each input { arguments.append(scope.text(argument).string) }
    return scope.text(expression).followed(by: ".evaluate(\(arguments.joined(separator: ", ")))")
  }
}
