internal import LodestoreFormat

/// An order whose attributes are resolved.
struct BoundOrder: Sendable {
  struct Term: Sendable {
    var attribute: BoundAttribute
    /// Into a document.
    var steps: [ValuePath.Step]
    var isDescending: Bool
    var isNullFirst: Bool
    var options: TextOptions
    var isOrderOfIndex: Bool
  }

  /// How an index gives an order.
  enum IndexOrder {
    case nothing
    case forwards, backwards
  }

  var terms: [Term]

  init(_ terms: [SortTerm], _ binding: ConditionBinding) throws(StoreError) {
    self.terms = []
    for term in terms {
      let attribute = try binding.attribute(of: term.path)
      let steps = Array(term.path.steps.dropFirst())
      guard attribute.type == .json || attribute.type == .document || steps.isEmpty else {
        throw .nothingInside(
          attribute.name, attribute.type.name, entity: binding.entity.name, position: nil)
      }
      if attribute.type == .document, steps.isEmpty {
        throw .badQuery("'\(attribute.name)' is a document, which has no order")
      }
      if !steps.isEmpty { _ = try binding.type(at: term.path) }
      self.terms.append(
        Term(
          attribute: attribute, steps: steps, isDescending: term.isDescending,
          isNullFirst: term.nullsFirst ?? !term.isDescending, options: term.options,
          isOrderOfIndex: term.isOrderOfIndex && steps.isEmpty))
      // Ids are unique: further terms change nothing.
      if attribute.isRecordID { break }
    }
  }

  /// Records with equal keys are in the order of their ids, in the direction of the last term, as an index
  /// walk gives them.
  var isTieDescending: Bool { terms.last?.isDescending ?? false }

  /// Whether it is the order of the record ids.
  var isByID: Bool { terms.isEmpty || terms[0].attribute.isRecordID }

  /// Whether and how the entries of `access` come in this order.
  func access(_ access: IndexAccess) -> IndexOrder {
    guard access.rangeCount <= 1, !terms.isEmpty else { return .nothing }
    var attributes = access.index.description.attributes[...]
    let fixed = Set(attributes.prefix(access.fixedCount))
    attributes = attributes.dropFirst(access.fixedCount)
    var isDescending: Bool?
    for term in terms {
      if term.attribute.isRecordID {
        // The entries of equal tuples are in the order of their ids.
        guard attributes.isEmpty, isDescending ?? term.isDescending == term.isDescending else {
          return .nothing
        }
        isDescending = term.isDescending
        break
      }
      if fixed.contains(term.attribute.number) { continue }
      guard term.isOrderOfIndex, attributes.first == term.attribute.number,
        isDescending ?? term.isDescending == term.isDescending
      else { return .nothing }
      isDescending = term.isDescending
      attributes = attributes.dropFirst()
    }
    // Further attributes of the index would be ordered before the id, which breaks ties.
    guard attributes.isEmpty else { return .nothing }
    if isDescending == nil { isDescending = isTieDescending }
    guard isTieDescending == isDescending else { return .nothing }
    return isDescending == true ? .backwards : .forwards
  }

  /// How the records of `access` are brought into this order.
  func arrangement(for access: AccessPath, request: QueryRequest) -> QueryPlan.Arrangement {
    switch access {
    case .nothing: return .natural(isReversed: false)
    case .scan, .ids, .idRange, .elements, .related, .union, .intersection:
      if isByID { return .natural(isReversed: isTieDescending && !terms.isEmpty) }
    case .index(let index):
      if terms.isEmpty { return .natural(isReversed: false) }
      switch self.access(index) {
      case .forwards: return .index(isReversed: false)
      case .backwards: return .index(isReversed: true)
      case .nothing:
        if isByID { return .natural(isReversed: isTieDescending) }
      }
    }
    return .sort(keeping: request.wantedCount)
  }
}
