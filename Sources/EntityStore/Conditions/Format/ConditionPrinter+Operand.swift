internal import LodestoreBytes
internal import LodestoreFormat

extension ConditionPrinter {
  static func append(_ operand: Operand, to output: inout String) {
    switch operand {
    case .value(let value): append(value, to: &output)
    case .values(let values): appendList(values, to: &output) { append($0, to: &$1) }
    case .list(let operands): appendList(operands, to: &output) { append($0, to: &$1) }
    case .path(let path): append(path, to: &output)
    case .variable(let name): output += "$\(name)"
    case .arithmetic(let sign, let left, let right) where sign.functionName != nil:
      output += "\(sign.functionName ?? ""):(\(text(left)), \(text(right)))"
    case .arithmetic(let sign, let left, let right):
      // Operators of equal precedence group from the left, and powers from the right. So at equal
      // precedence only the other side needs parentheses.
      let own = sign.precedence
      append(left, least: sign == .power ? own + 1 : own, to: &output)
      output += " \(sign.rawValue) "
      append(right, least: sign == .power ? own : own + 1, to: &output)
    case .negative(let inner):
      output += "-"
      append(inner, least: isNumber(inner) ? .max : 4, to: &output)
    case .conditional(let condition, let first, let second):
      output += "TERNARY(\(text(condition)), \(text(first)), \(text(second)))"
    case .subquery(let collection, let variable, let condition, let steps):
      output += "SUBQUERY(\(text(collection)), $\(variable), \(text(condition)))"
      append(steps, to: &output)
    case .cast(let inner, let type): output += "CAST(\(text(inner)), \"\(type.rawValue)\")"
    case .call(let function, let operands):
      let name = function == .now ? "now" : "\(function.rawValue):"
      output += "\(name)(\(operands.map { text($0) }.joined(separator: ", ")))"
    }
  }

  private static func append(_ operand: Operand, least: Int, to output: inout String) {
    let isGrouped = precedence(operand) < least
    if isGrouped { output += "(" }
    append(operand, to: &output)
    if isGrouped { output += ")" }
  }

  private static func appendList<Element>(
    _ elements: [Element], to output: inout String, _ append: (Element, inout String) -> Void
  ) {
    output += "{"
    for (index, element) in elements.enumerated() {
      output += index > 0 ? ", " : " "
      append(element, &output)
    }
    output += elements.isEmpty ? "}" : " }"
  }

  private static func precedence(_ operand: Operand) -> Int {
    switch operand {
    case .arithmetic(let sign, _, _): sign.functionName == nil ? sign.precedence : 5
    case .negative: 4
    default: 5
    }
  }

  /// Returns whether a minus sign before the operand would be parsed as part of it.
  private static func isNumber(_ operand: Operand) -> Bool {
    switch operand {
    case .value(.integer), .value(.unsigned): true
    case .value(.double(let number)): number.isFinite
    default: false
    }
  }

  // MARK: Key paths

  static func append(_ path: ValuePath, to output: inout String) {
    var steps = path.steps[...]
    switch path.root {
    case .variable(let name): output += "$\(name)"
    case .record:
      if case .member(let name) = steps.first, FormatLexer.isName(name) {
        appendName(name, to: &output)
        steps.removeFirst()
      } else {
        output += "SELF"
      }
    }
    append(Array(steps), to: &output)
  }

  private static func append(_ steps: [ValuePath.Step], to output: inout String) {
    for step in steps {
      switch step {
      case .member(let name) where FormatLexer.isName(name):
        output += "."
        appendName(name, to: &output)
      case .member(let name): output += "[\(quoted(name))]"
      case .element(let index): output += "[\(index)]"
      case .first: output += "[FIRST]"
      case .last: output += "[LAST]"
      case .size: output += "[SIZE]"
      case .aggregate(let aggregate): output += ".@\(aggregate.rawValue)"
      }
    }
  }

  private static func appendName(_ name: String, to output: inout String) {
    var copy = name
    if copy.withUTF8({ FormatKeyword(ByteView($0)) }) != nil { output += "#" }
    output += name
  }
}

extension ArithmeticOperator {
  /// The precedence of the operator in format strings: 1 for sums, 2 for products, 3 for powers.
  var precedence: Int {
    switch self {
    case .add, .subtract, .or, .exclusiveOr: 1
    case .multiply, .divide, .remainder, .and: 2
    case .power, .shiftLeft, .shiftRight: 3
    }
  }

  /// The name of the function that stands for the operator in format strings; `nil` if there is a
  /// sign for it.
  fileprivate var functionName: String? {
    switch self {
    case .exclusiveOr: "bitwiseXor:with"
    case .shiftLeft: "leftshift:by"
    case .shiftRight: "rightshift:by"
    case .add, .subtract, .multiply, .divide, .remainder, .power, .and, .or: nil
    }
  }
}
