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

    /// Whether it compares the attribute itself, so that records with one value of it are equal.
    var isPlain: Bool { steps.isEmpty }
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

  /// Records with equal keys are in the order of their ids, in the direction of the last term, as
  /// an index walk gives them.
  var isTieDescending: Bool { terms.last?.isDescending ?? false }

  /// Whether it is the order of the record ids.
  var isByID: Bool { terms.isEmpty || terms[0].attribute.isRecordID }

  /// Whether and how the entries of `access` come in this order.
  func access(_ access: IndexAccess) -> IndexOrder {
    guard let match = match(access, behind: access.fixedCount), match.isWhole, access.isWalked
    else {
      return .nothing
    }
    return match.isDescending ? .backwards : .forwards
  }

  /// How the beginning of this order is that of the entries of `access`; `nil` where it is not, or
  /// all is.
  func groups(in access: IndexAccess) -> QueryPlan.Groups? {
    guard access.rangeCount <= 1, let match = match(access, behind: access.fixedCount),
      !match.isWhole, match.attributeCount > access.fixedCount
    else { return nil }
    return QueryPlan.Groups(
      attributeCount: match.attributeCount, isReversed: match.isDescending)
  }

  /// Whether and how the entries within each range of `access`, which has several, come in this
  /// order.
  func merge(of access: IndexAccess) -> IndexOrder {
    guard access.rangeCount > 1, let match = match(access, behind: access.pointCount),
      match.isWhole, access.isWalked
    else { return .nothing }
    return match.isDescending ? .backwards : .forwards
  }

  /// How far the entries of an index come in this order.
  private struct IndexMatch {
    /// The attributes at the beginning of the index that the first terms order, or that have one
    /// value.
    var attributeCount: Int
    var isDescending: Bool
    /// Whether the entries come in the whole of the order, ties included.
    var isWhole: Bool
  }

  /// - Parameter start: how many attributes at the beginning of the index the entries do not differ
  ///   in.
  private func match(_ access: IndexAccess, behind start: Int) -> IndexMatch? {
    let attributes = access.index.description.attributes
    let fixed = attributes.prefix(access.fixedCount)
    var count = start
    var isDescending: Bool?
    var isWhole = true
    for term in terms {
      if fixed.contains(term.attribute.number), term.isPlain { continue }
      // The entries of equal tuples are in the order of their ids.
      let isNext =
        term.attribute.isRecordID
        ? count == attributes.count
        : term.isOrderOfIndex && count < attributes.count
          && attributes[count] == term.attribute.number
      guard isNext, isDescending ?? term.isDescending == term.isDescending else {
        isWhole = false
        break
      }
      isDescending = term.isDescending
      if term.attribute.isRecordID { break }
      count += 1
    }
    // Further attributes of the index would be ordered before the id, which breaks ties.
    let direction = isDescending ?? isTieDescending
    if count < attributes.count || isTieDescending != direction { isWhole = false }
    return IndexMatch(attributeCount: count, isDescending: direction, isWhole: isWhole)
  }

  /// How the records of `access` are brought into this order.
  func arrangement(for access: AccessPath, request: QueryRequest) -> QueryPlan.Arrangement {
    switch access {
    case .nothing: return .natural(isReversed: false)
    case .scan, .ids, .idRange, .elements, .related, .union, .intersection:
      if isByID { return .natural(isReversed: isTieDescending && !terms.isEmpty) }
    case .index(let index):
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
