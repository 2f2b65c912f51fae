/// A form whose answer changes the store, or asks before a change.
struct EditForm: Sendable {
  /// The name of the hidden item that stands for a described change.
  static let token = "token"

  /// A value to write.
  struct Field: Sendable {
    /// The name in the answer.
    var name: String
    var label: String
    var type: String
    var text: String
    /// Whether the text may have several lines.
    var isLong: Bool
    /// The name in the answer of the choice of null, and whether it is chosen; `nil` for a value
    /// that is never null.
    var null: (name: String, isChosen: Bool)?
    /// The reason why the value is refused.
    var fault: String?
    var hint: String?
  }

  /// Records to choose, each with an item of the answer.
  struct Choices: Sendable {
    var label: String
    var items: [(name: String, text: String, isChosen: Bool)]
  }

  /// The page that receives the answer.
  var target: EditRoute
  /// Records that a person may choose.
  var choices: Choices?
  var fields: [Field] = []
  /// Values of the answer that people do not see.
  var hidden: [(name: String, value: String)] = []
  var submit: String
  /// Whether the answer makes the change.
  var isFinal = false
  /// The page without the change.
  var cancel: Route
}

/// A change that a page offers.
struct EditLink: Sendable {
  var text: String
  var edit: EditRoute
  /// Whether the change needs no values, so that the question can follow at once.
  var isComplete: Bool
}
