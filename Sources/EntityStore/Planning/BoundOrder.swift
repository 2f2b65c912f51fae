internal import LodestoreFormat

/// An order with resolved names.
struct BoundOrder: Sendable {
  struct Term: Sendable {
    /// The value of a record that the term compares.
    var operand: BoundOperand
    /// The attribute whose value the operand is, or in whose document the operand is.
    ///
    /// The attribute is `nil` for a value of related records and for a computed value.
    var attribute: BoundAttribute?
    /// The steps into the attribute's document.
    var steps: [ValuePath.Step]
    var isDescending: Bool
    var isNullFirst: Bool
    var options: TextOptions
    var isOrderOfIndex: Bool
    /// The operand's text, for plans.
    var text: String

    /// Whether the term compares an attribute itself, so that records with the same value are equal
    /// in it.
    var isPlain: Bool { attribute != nil && steps.isEmpty }

    /// Whether the term compares scores of a search.
    var isScore: Bool { if case .score = operand { true } else { false } }

    /// Whether the term compares distances from a place or vector.
    var isDistance: Bool { if case .distance = operand { true } else { false } }

    var isRecordID: Bool { attribute?.isRecordID ?? false }

    /// Whether the term compares values in documents.
    var isOfDocument: Bool { attribute?.type == .json || attribute?.type == .document }
  }

  var terms: [Term]

  init(_ terms: [SortTerm], _ binding: ConditionBinding) throws(StoreError) {
    self.terms = []
    for term in terms {
      let bound = try Term(term, binding)
      self.terms.append(bound)
      // Ids are unique, so further terms change nothing.
      if bound.isRecordID { break }
    }
  }

  /// Whether records with equal keys are ordered by descending id, the direction of the last term.
  ///
  /// An index walk gives the same order.
  ///
  /// Records with equal scores are in the order of ids.
  var isTieDescending: Bool { terms.last.map { $0.isDescending && !$0.isScore } ?? false }

  /// Whether the order is by descending scores alone.
  var isScore: Bool { terms.count == 1 && terms[0].isScore && terms[0].isDescending }

  /// Whether the order is by ascending distances alone.
  var isDistance: Bool { terms.count == 1 && terms[0].isDistance && !terms[0].isDescending }

  /// The estimated time to calculate the scores of a record from its texts, in nanoseconds.
  var scoringCost: Double {
    terms.reduce(0) { cost, term in
      if case .score(let search) = term.operand { cost + search.checkingCost } else { cost }
    }
  }

  /// Whether the order is by record ids alone.
  var isByID: Bool { terms.isEmpty || terms[0].isRecordID }

  /// Returns whether the entries of `access` must be walked backwards to be in this order.
  ///
  /// Returns `nil` if neither direction gives this order.
  func isReversed(in access: IndexAccess) -> Bool? {
    guard let match = match(access, behind: access.fixedCount), match.isWhole, access.isWalked
    else { return nil }
    return match.isDescending
  }

  /// Returns the groups of entries that have equal values in the first terms of this order.
  ///
  /// Returns `nil` if the entries of `access` are not ordered by the first terms, or are ordered by
  /// all terms.
  func groups(in access: IndexAccess) -> QueryPlan.Groups? {
    guard access.rangeCount <= 1, let match = match(access, behind: access.fixedCount),
      !match.isWhole, match.attributeCount > access.fixedCount
    else { return nil }
    return QueryPlan.Groups(
      attributeCount: match.attributeCount, isReversed: match.isDescending,
      areByID: match.isTieBrokenByID)
  }

  /// Returns whether each of several ranges must be walked backwards for its entries to be in this
  /// order.
  ///
  /// Returns `nil` if neither direction gives this order, or if there is only one range.
  func isReversed(inEachRangeOf access: IndexAccess) -> Bool? {
    guard access.rangeCount > 1, let match = match(access, behind: access.pointCount),
      match.isWhole, access.isWalked
    else { return nil }
    return match.isDescending
  }

  /// The extent to which the entries of an index are in this order.
  private struct IndexMatch {
    /// The number of leading attributes of the index that are ordered by the first terms, or have
    /// one value.
    var attributeCount: Int
    var isDescending: Bool
    /// Whether the entries are in the whole order, including ties.
    var isWhole: Bool
    /// Whether entries with equal values in the first ``attributeCount`` attributes only need to be
    /// ordered by id.
    var isTieBrokenByID: Bool
  }

  /// Compares this order with the order of entries.
  ///
  /// - Parameter start: the number of leading attributes of the index that have one value in all
  ///   entries.
  private func match(_ access: IndexAccess, behind start: Int) -> IndexMatch? {
    let attributes = access.index.description.attributes
    let fixed = attributes.prefix(access.fixedCount)
    var count = start
    var isDescending: Bool?
    var isWhole = true
    var isTieBrokenByID = true
    for term in terms {
      if let number = term.attribute?.number, term.isPlain, fixed.contains(number) { continue }
      // Entries with equal tuples are in the order of their ids.
      let isNext =
        term.isRecordID
        ? count == attributes.count
        : term.isOrderOfIndex && count < attributes.count
          && attributes[count] == term.attribute?.number
      guard isNext, isDescending ?? term.isDescending == term.isDescending else {
        isWhole = false
        isTieBrokenByID = term.isRecordID
        break
      }
      isDescending = term.isDescending
      if term.isRecordID { break }
      count += 1
    }
    // Entries are ordered by the remaining attributes of the index before the id, but ties must be
    // ordered by the id.
    let direction = isDescending ?? isTieDescending
    if count < attributes.count || isTieDescending != direction { isWhole = false }
    return IndexMatch(
      attributeCount: count, isDescending: direction, isWhole: isWhole,
      isTieBrokenByID: isTieBrokenByID)
  }

  /// Returns how the records found by `access` are brought into this order.
  func arrangement(for access: AccessPath, request: QueryRequest) -> QueryPlan.Arrangement {
    switch access {
    case .nothing: return .natural(isReversed: false)
    case .search where isScore && request.after == nil: return .ranked
    case .place(let access)
    where isDistance && access.place.isNear && request.wantedCount != nil:
      return .ranked
    case .vectors where isDistance && request.wantedCount != nil && request.after == nil:
      return .ranked
    case .scan, .ids, .idRange, .elements, .related, .search, .place, .vectors, .union,
      .intersection:
      if isByID { return .natural(isReversed: isTieDescending && !terms.isEmpty) }
    case .index(let index):
      if let isReversed = isReversed(in: index) { return .index(isReversed: isReversed) }
      if isByID { return .natural(isReversed: isTieDescending) }
    }
    return .sort(keeping: request.wantedCount)
  }
}

extension BoundOrder {
  /// The entities and relationships that the order depends on, apart from the records that it
  /// sorts.
  var region: ObservedRegion {
    terms.reduce(into: ObservedRegion()) { $0.formUnion($1.operand.region) }
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
