internal import EntityStore

/// The body of a request for a change: the items of a form, or a JSON object.
enum ChangeInput: Sendable {
  case form([String: String])
  case json(JSONNode)

  init(_ request: Request) throws(ChangeRefusal) {
    switch request.bodyForm {
    case .json:
      guard let root = try? JSONDocument.parsing(request.body).root, root.kind == .object else {
        throw ChangeRefusal(400, "The body is not one JSON object.")
      }
      self = .json(root)
    case .form, nil:
      var items: [String: String] = [:]
      for item in request.body.split(separator: UInt8(ascii: "&")) {
        let sides = item.split(
          separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = PercentText.decoded(sides[0], plusIsSpace: true),
          let value = PercentText.decoded(sides.dropFirst().first ?? [], plusIsSpace: true)
        else { throw ChangeRefusal(400, "The form is not valid; its text must be UTF-8.") }
        // Browsers send each line end as CR and LF.
        items[name] = value.withUnixLineEnds
      }
      self = .form(items)
    }
  }

  /// A text of the form, or of the object.
  func text(_ name: String) -> String? {
    switch self {
    case .form(let items): items[name]
    case .json(let object): object[name]?.string
    }
  }
}

extension String {
  var withUnixLineEnds: String {
    var text = ""
    for scalar in unicodeScalars where scalar != "\r" { text.unicodeScalars.append(scalar) }
    return text
  }
}

/// The reason why a change is not made or not asked for.
struct ChangeRefusal: Error, Sendable {
  var status: Int
  /// A sentence.
  var message: String
  /// The reasons at attributes, as clauses.
  var faults: [(attribute: String, reason: String)] = []
  /// A table with the state when the question was asked, and the present state.
  var states: Table?
  /// The change that was confirmed and is refused now.
  var origin: EditRoute?

  init(_ status: Int, _ message: String) {
    self.status = status
    self.message = message
  }

  /// The refusal of values that do not fit their attributes.
  init(
    _ faults: [(attribute: String, reason: String)],
    message: String = "Some values cannot be stored."
  ) {
    self.init(422, message)
    self.faults = faults
  }

  /// The refusal by the store.
  ///
  /// - Parameter entity: the one whose attributes have a place for reasons.
  init(_ error: StoreError, entity: String?) {
    self.init(Self.status(of: error), "\(error.message).")
    guard error.entity == nil || error.entity == entity else { return }
    for violation in error.violations where violation.entity == entity {
      if let attribute = violation.attribute { faults.append((attribute, violation.rule)) }
    }
    if faults.isEmpty, let attribute = error.attribute {
      faults = [(attribute, error.message)]
    } else if faults.isEmpty, error.code == .uniqueViolation, let index = error.index,
      let dot = index.firstIndex(of: ".")
    {
      let other = error.recordID.map { "record \($0)" } ?? "another record"
      faults = index[index.index(after: dot)...].split(separator: "+").map {
        (String($0), "\(other) has this value already")
      }
    }
  }

  private static func status(of error: StoreError) -> Int {
    switch error.code {
    case .uniqueViolation, .invalidValue, .unstorableValue, .deleteDenied, .missingTarget,
      .cannotUndo, .conditionFailed, .endlessChanges:
      422
    case .noSuchRecord, .expiredHistory: 404
    case .invalidQuery: 400
    case .busy, .cancelled: 503
    case .readOnly, .sealed, .notPermitted: 403
    default: 500
    }
  }
}
