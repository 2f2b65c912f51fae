#if Macros
  import SwiftSyntax

  extension ExprSyntax {
    /// Whether a default value can also be the attribute's initial value, which the file keeps for
    /// all records older than the attribute.
    ///
    /// The expression must have the same value in every process. The following expressions do:
    ///
    /// - literals, and collections of stable values
    /// - static members (`.active`, `Settings.standard`), by convention; `now` is the known
    ///   exception
    /// - calls whose arguments are stable (`Decimal(5)`)
    ///
    /// A call without arguments is not accepted, because it often makes a new value each time
    /// (`Date()`, `UUID()`). Operators, closures and interpolated text are not accepted either: the
    /// expression is copied into the schema, and may mean something else there.
    var isStable: Bool {
      switch self.as(ExprSyntaxEnum.self) {
      case .booleanLiteralExpr, .integerLiteralExpr, .floatLiteralExpr: true
      case .stringLiteralExpr: literalText != nil
      case .prefixOperatorExpr(let prefixed):
        prefixed.operator.text == "-" && prefixed.expression.isStable
      case .arrayExpr(let array): array.elements.allSatisfy { $0.expression.isStable }
      case .dictionaryExpr(let dictionary):
        switch dictionary.content {
        case .colon: true
        case .elements(let elements): elements.allSatisfy { $0.key.isStable && $0.value.isStable }
        }
      case .memberAccessExpr(let member):
        member.declName.argumentNames == nil && member.declName.baseName.text != "now"
          && (member.base?.isTypeName ?? true)
      case .functionCallExpr(let call):
        !call.arguments.isEmpty && call.trailingClosure == nil
          && call.additionalTrailingClosures.isEmpty && call.calledExpression.isCallee
          && call.arguments.allSatisfy {
            $0.expression.isStable && !($0.label?.text.hasSuffix("Now") ?? false)
          }
      case .tupleExpr(let tuple):
        tuple.elements.count == 1 && tuple.elements.allSatisfy { $0.expression.isStable }
      default: false
      }
    }

    /// Whether the expression names a type before a member: `Kind`, `Film.Kind`, `[Kind]`.
    var isTypeName: Bool {
      if let reference = self.as(DeclReferenceExprSyntax.self) {
        return reference.baseName.plainText.first?.isUppercase ?? false
      }
      guard let member = self.as(MemberAccessExprSyntax.self) else { return false }
      return member.declName.baseName.plainText.first?.isUppercase ?? false
        && member.base?.isTypeName ?? false
    }

    /// Whether a call of the expression makes a value: `Decimal`, `.init`, `.case`, `Kind.case`.
    private var isCallee: Bool {
      if isTypeName { return true }
      guard let member = self.as(MemberAccessExprSyntax.self) else { return false }
      return member.base?.isTypeName ?? true
    }
  }
#endif
