internal import LodestoreBytes
internal import LodestoreFormat

/// The rule for an incoming record whose unique key already belongs to a stored record.
enum MergeRule: Sendable {
  /// The incoming record is refused.
  case fail
  /// The stored record stays unchanged.
  case ignore
  /// The stored record takes the incoming values, and keeps its values of attributes that were not
  /// given.
  case replace
  /// The stored record is removed and the incoming one inserted, unless their values are equal.
  ///
  /// The inserted record keeps the stored values of attributes that the incoming record was not
  /// given.
  case reinsert
  /// The stored record takes the values of the attributes with these numbers.
  case patch(Set<UInt32>)
  /// The stored record takes the values of the attributes that the incoming record was given.
  case patchGiven
  /// Each attribute has its own policy.
  case policy(AttributePolicies)
  /// The program's closure creates the new content from both; an error refuses the incoming record.
  case closure(@Sendable (MergeInput) throws -> RecordBytes)
}

/// A stored record and an incoming record with equal keys.
struct MergeInput {
  let core: WriteCore
  let entity: StoredEntity
  let id: UInt64
  let stored: RecordView
  /// The incoming record, in the current layout.
  var incoming: RecordView

  /// The value of an incoming link whose target does not exist yet.
  ///
  /// The id is above all possible ids, so the rule never mistakes it for a stored record.
  static let unresolvedLink = Value.integer(.max)
}

extension MergeRule {
  /// The stored record after the merge.
  enum Merged {
    case kept
    /// The record with all incoming values.
    case incoming
    case record(RecordBytes)
  }

  /// Applies the rule to two records with equal keys; throws the error that refuses the incoming
  /// one.
  ///
  /// - Parameters:
  ///   - isWhole: whether the incoming record was given all attributes.
  ///   - isGiven: returns whether it was given the attribute at a position of the layout.
  func merge(
    _ input: MergeInput, isWhole: Bool, isGiven: (_ position: Int) -> Bool
  ) throws(StoreError) -> Merged {
    let entity = input.entity
    switch self {
    case .fail:
      throw StoreError(
        .uniqueViolation, "its key already leads to \(entity.name) \(input.id)",
        entity: entity.name, recordID: input.id)
    case .ignore: return .kept
    case .replace, .reinsert: return isWhole ? .incoming : .record(try input.patched(isGiven))
    case .patch(let numbers):
      let attributes = entity.layout.attributes
      return .record(try input.patched { numbers.contains(attributes[$0].number) })
    case .patchGiven:
      return .record(try input.patched(isGiven))
    case .policy(let policies):
      return .record(try policies.merge(input, isGiven: isGiven))
    case .closure(let body):
      do {
        return .record(isWhole ? try body(input) : try input.completed(isGiven, body))
      } catch let error as StoreError {
        throw error
      } catch {
        throw StoreError(
          .unstorableValue, "cannot merge with \(entity.name) \(input.id): \(error)",
          cause: error, entity: entity.name, recordID: input.id)
      }
    }
  }
}

extension MergeInput {
  /// The values of both records, in the order of the current layout.
  func values() throws(StoreError) -> (stored: [Value], incoming: [Value]) {
    (try entity.values(of: stored, id: id), try entity.values(of: incoming, id: id))
  }

  /// The stored record with the incoming values at the positions for which `isTaken` returns true.
  func patched(_ isTaken: (_ position: Int) -> Bool) throws(StoreError) -> RecordBytes {
    var (values, incoming) = try values()
    for position in values.indices where isTaken(position) { values[position] = incoming[position] }
    return try entity.record(of: values, id: id)
  }

  /// Calls `body` with the incoming record, completed with stored values of attributes that were
  /// not given.
  func completed<R>(
    _ isGiven: (_ position: Int) -> Bool, _ body: (MergeInput) throws -> R
  ) throws -> R {
    let derived = entity.derivations?.isDerived
    let record = try patched { isGiven($0) || derived?[$0] ?? false }
    return try record.withBytes { bytes in
      var input = self
      input.incoming = try entity.view(incoming: bytes)
      return try body(input)
    }
  }
}
