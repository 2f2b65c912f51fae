// Deprecated names of version 0.1.0 of the library.

extension Condition {
  /// The former form of the function `allOf(_:)`.
  @available(*, deprecated, message: "use the function allOf(_:), which also takes an array")
  public static func allOf(_ conditions: [Condition]) -> Condition { all(of: conditions) }

  /// The former form of the function `anyOf(_:)`.
  @available(*, deprecated, message: "use the function anyOf(_:), which also takes an array")
  public static func anyOf(_ conditions: [Condition]) -> Condition { any(of: conditions) }
}
