// What people try first, refused with what to write instead. No overload of `&&`, `||` or of lines that are
// Swift's own `Bool`: with them the compiler takes seconds for faulty chains in unrelated code, or talks of
// other operators where a type is wrong.

extension ConditionBuilder {
  /// Refused: an attribute that is neither true nor false.
  @available(
    *, unavailable,
    message: "only a Bool is a condition by itself; compare this attribute with a value"
  )
  @_disfavoredOverload
  @_documentation(visibility: internal)
  public static func buildExpression<Value>(_ attribute: Attribute<E, Value>) -> Condition<E> {
    .allOf([])
  }
}
