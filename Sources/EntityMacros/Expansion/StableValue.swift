#if Macros
  import SwiftSyntax

  extension ExprSyntax {
    /// Whether the default value of a property can also be the attribute's initial value, which
    /// the file keeps for all records that are older than the attribute.
    ///
    /// That takes an expression with one value in every process. Literals have it, and collections
    /// of such values. Static members (`.active`, `Settings.standard`) have it by convention; `now` is
    /// the known exception. So do calls with arguments that have it (`Decimal(5)`); a call
    /// without arguments often makes something new each time (`Date()`, `UUID()`), and is not
    /// taken. Neither are operators, closures and interpolated text, because the expression is
    /// written once more where other names are in scope.
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

    /// `Kind`, `Film.Kind`, `[Kind]`… before a member.
    var isTypeName: Bool {
      if let reference = self.as(DeclReferenceExprSyntax.self) {
        return reference.baseName.plainText.first?.isUppercase ?? false
      }
      guard let member = self.as(MemberAccessExprSyntax.self) else { return false }
      return member.declName.baseName.plainText.first?.isUppercase ?? false
        && member.base?.isTypeName ?? false
    }

    /// `Decimal`, `.init`, `.case`, `Kind.case`: what makes a value of a type.
    private var isCallee: Bool {
      if isTypeName { return true }
      guard let member = self.as(MemberAccessExprSyntax.self) else { return false }
      return member.base?.isTypeName ?? true
    }
  }
#endif
