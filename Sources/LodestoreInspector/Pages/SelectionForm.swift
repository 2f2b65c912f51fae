internal import LodestoreRows

/// The form with which people select records.
struct SelectionForm: Sendable {
  /// A column to choose.
  struct Choice: Sendable {
    var name: String
    var type: String
    var isChosen: Bool
  }

  /// A field for words.
  struct SearchField: Sendable {
    var label: String
    var placeholder: String
    /// Whether the form has a choice of the search's mode.
    var hasModes = true
    /// The names of the search indexes to choose from, with their texts; empty for one index.
    var indexes: [(name: String, text: String)] = []
  }

  var selection: Selection
  /// The route of a selection on the page with the form.
  var route: @Sendable (Selection) -> Route
  /// The field for words; `nil` if no text is searched.
  var search: SearchField?
  /// Whether the form has a field for a condition.
  var hasCondition = true
  /// Whether the form has a field for a place.
  var hasPlaces = false
  /// Whether the form has a field for a record to which others are similar.
  var hasSimilar = false
  var choices: [Choice] = []
  /// The expressions whose values can be counted.
  var countable: [String] = []
  /// The number of selected records, as a sentence: "11,028 records".
  var count: String
  /// The page that has the number or the records, if this page has not.
  var wait: WaitLink?
  /// The way in which the records are found, in words, and the page of the plan.
  var plan: (text: String, route: Route)?
  /// Examples of conditions that fit the entity.
  var examples: [String] = []
  /// Comparisons that a field for conditions suggests.
  var completions: [String] = []
  /// Whether the condition has a fault.
  var isFaulty = false
  /// The place of the fault in the condition, in UTF-16 units as browsers count.
  var fault: Range<Int>?
}

/// The values of one expression with their numbers of records.
struct Facet: Sendable {
  struct Value: Sendable {
    var item: Item
    var count: Int
  }

  var expression: String
  /// The most frequent values.
  var values: [Value] = []
  /// The number of values that are not among `values`.
  var others = 0
  /// The reason why the values were not counted.
  var failure: String?
  /// Whether the time did not suffice.
  var isLate = false
  /// The page without this facet.
  var removal: Route
}
