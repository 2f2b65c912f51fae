internal import LodestoreFormat

/// An order whose names are resolved.
struct BoundOrder: Sendable {
  struct Term: Sendable {
    /// The value of a record that the term compares.
    var operand: BoundOperand
    /// The attribute that the operand is, or whose document it leads into; `nil` for a value of
    /// related records and for a computed one.
    var attribute: BoundAttribute?
    /// The steps into a document.
    var steps: [ValuePath.Step]
    var isDescending: Bool
    var isNullFirst: Bool
    var options: TextOptions
    var isOrderOfIndex: Bool
    /// The operand as plans show it.
    var text: String

    /// Whether it compares an attribute itself, so that records with one value of it are equal.
    var isPlain: Bool { attribute != nil && steps.isEmpty }

    var isRecordID: Bool { attribute?.isRecordID ?? false }

    /// Whether it compares values of documents.
    var isOfDocument: Bool { attribute?.type == .json || attribute?.type == .document }
  }

  var terms: [Term]

  init(_ terms: [SortTerm], _ binding: ConditionBinding) throws(StoreError) {
    self.terms = []
    for term in terms {
      let bound = try Term(term, binding)
      self.terms.append(bound)
      // Ids are unique: further terms change nothing.
      if bound.isRecordID { break }
    }
  }

  /// Records with equal keys are in the order of their ids, in the direction of the last term, as
  /// an index walk gives them.
  var isTieDescending: Bool { terms.last?.isDescending ?? false }

  /// Whether it is the order of the record ids.
  var isByID: Bool { terms.isEmpty || terms[0].isRecordID }

  /// Whether the entries of `access` come in this order backwards; `nil` where they do not come in
  /// it.
  func isReversed(in access: IndexAccess) -> Bool? {
    guard let match = match(access, behind: access.fixedCount), match.isWhole, access.isWalked
    else { return nil }
    return match.isDescending
  }

  /// How the beginning of this order is that of the entries of `access`; `nil` where it is not, or
  /// all is.
  func groups(in access: IndexAccess) -> QueryPlan.Groups? {
    guard access.rangeCount <= 1, let match = match(access, behind: access.fixedCount),
      !match.isWhole, match.attributeCount > access.fixedCount
    else { return nil }
    return QueryPlan.Groups(
      attributeCount: match.attributeCount, isReversed: match.isDescending,
      areByID: match.isRestByID)
  }

  /// Whether the entries within each of several ranges of `access` come in this order backwards; `nil` where
  /// they do not come in it.
  func isReversed(inEachRangeOf access: IndexAccess) -> Bool? {
    guard access.rangeCount > 1, let match = match(access, behind: access.pointCount),
      match.isWhole, access.isWalked
    else { return nil }
    return match.isDescending
  }

  /// How far the entries of an index come in this order.
  private struct IndexMatch {
    /// The attributes at the beginning of the index that the first terms order, or that have one
    /// value.
    var attributeCount: Int
    var isDescending: Bool
    /// Whether the entries come in the whole of the order, ties included.
    var isWhole: Bool
    /// Whether those with equal values of these attributes are in the order of their ids.
    var isRestByID: Bool
  }

  /// - Parameter start: how many attributes at the beginning of the index the entries do not differ
  ///   in.
  private func match(_ access: IndexAccess, behind start: Int) -> IndexMatch? {
    let attributes = access.index.description.attributes
    let fixed = attributes.prefix(access.fixedCount)
    var count = start
    var isDescending: Bool?
    var isWhole = true
    var isRestByID = true
    for term in terms {
      if let number = term.attribute?.number, term.isPlain, fixed.contains(number) { continue }
      // The entries of equal tuples are in the order of their ids.
      let isNext =
        term.isRecordID
        ? count == attributes.count
        : term.isOrderOfIndex && count < attributes.count
          && attributes[count] == term.attribute?.number
      guard isNext, isDescending ?? term.isDescending == term.isDescending else {
        isWhole = false
        isRestByID = term.isRecordID
        break
      }
      isDescending = term.isDescending
      if term.isRecordID { break }
      count += 1
    }
    // Further attributes of the index would be ordered before the id, which breaks ties.
    let direction = isDescending ?? isTieDescending
    if count < attributes.count || isTieDescending != direction { isWhole = false }
    return IndexMatch(
      attributeCount: count, isDescending: direction, isWhole: isWhole, isRestByID: isRestByID)
  }

  /// How the records of `access` are brought into this order.
  func arrangement(for access: AccessPath, request: QueryRequest) -> QueryPlan.Arrangement {
    switch access {
    case .nothing: return .natural(isReversed: false)
    case .scan, .ids, .idRange, .elements, .related, .union, .intersection:
      if isByID { return .natural(isReversed: isTieDescending && !terms.isEmpty) }
    case .index(let index):
      if let isReversed = isReversed(in: index) { return .index(isReversed: isReversed) }
      if isByID { return .natural(isReversed: isTieDescending) }
    }
    return .sort(keeping: request.wantedCount)
  }
}

extension BoundOrder.Term {
  fileprivate init(_ term: SortTerm, _ binding: ConditionBinding) throws(StoreError) {
    isDescending = term.isDescending
    isNullFirst = term.nullsFirst ?? !term.isDescending
    options = term.options
    let source = try binding.withDerivedPart(term.operand)
    text = ConditionPrinter.text(source)
    var binding = binding
    operand = try binding.operand(source.folded())
    if case .attribute(let attribute, let steps) = operand {
      if attribute.type == .document, steps.isEmpty {
        throw .badQuery("'\(attribute.name)' is a document, which has no order")
      }
      self.attribute = attribute
      self.steps = steps
      isOrderOfIndex = term.isOrderOfIndex && steps.isEmpty
      return
    }
    steps = []
    isOrderOfIndex = false
    guard OperandTypes.kind(operand) != .list else {
      throw .badQuery(
        "'\(text)' has any number of values in each \(binding.entity.name), which have no place in an "
          + "order; name one of them, as by @min, @max, @sum or @count")
    }
    guard !operand.dependsOnTime else {
      throw .badQuery(
        "'\(text)' differs from one moment to the next, so it cannot order pages or live results; "
          + "give a date in place of now()")
    }
  }
}
