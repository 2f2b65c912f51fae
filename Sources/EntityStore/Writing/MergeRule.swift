internal import LodestoreFormat

/// The rule for an incoming record whose unique key already leads to a stored one.
enum MergeRule: Sendable {
  /// The incoming record is refused.
  case fail
  /// The stored record stays as it is.
  case ignore
  /// The stored record takes all values that the incoming one was given.
  case replace
  /// The stored record is removed and the incoming one inserted, with the stored values that it was not
  /// given, unless they have the same values.
  case renew
  /// The stored record takes the values of these attribute numbers.
  case patch(Set<UInt32>)
  /// The stored record takes the values of the attributes that the incoming one was given.
  case patchGiven
  /// Each attribute has a policy of its own.
  case policy(AttributePolicies)
  /// The program makes the new content of both; an error refuses the incoming record.
  case closure(@Sendable (MergeInput) throws -> [UInt8])
}

/// A stored record and an incoming one with the same key.
struct MergeInput {
  let core: WriteCore
  let entity: StoredEntity
  let id: UInt64
  let stored: RecordView
  /// In the current layout; its checksum is not set.
  var incoming: RecordView

  /// The value of an incoming link whose record is not there yet.
  ///
  /// The id is above those that records get, so the rule sees another record than any stored one.
  static let unresolvedLink = Value.integer(.max)
}

extension MergeRule {
  /// The stored record after the merge.
  enum Merged {
    case kept
    /// All incoming values.
    case incoming
    /// A content of the current layout, with room for its checksum.
    case content([UInt8])
  }

  /// Applies the rule to two records with one key; throws what refuses the incoming one.
  ///
  /// - Parameters:
  ///   - isWhole: whether the incoming record was given all attributes.
  ///   - isGiven: whether it was given the attribute at a position of the layout.
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
    case .replace, .renew: return isWhole ? .incoming : .content(try input.patched(isGiven))
    case .patch(let numbers):
      let attributes = entity.layout.attributes
      return .content(try input.patched { numbers.contains(attributes[$0].number) })
    case .patchGiven:
      return .content(try input.patched(isGiven))
    case .policy(let policies):
      return .content(try policies.merge(input, isGiven: isGiven))
    case .closure(let body):
      do {
        var content =
          isWhole ? try body(input) : try input.completed(isGiven) { try body($0) }
        content.append(contentsOf: repeatElement(0, count: RecordLayout.checksumSize))
        return .content(content)
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
  /// The values of both records, by the positions of the current layout.
  func values() throws(StoreError) -> (stored: [Value], incoming: [Value]) {
    do {
      return (try entity.values(of: stored), try entity.values(of: incoming))
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }

  /// The stored record with the incoming values at the positions for which `isTaken` is true.
  func patched(_ isTaken: (_ position: Int) -> Bool) throws(StoreError) -> [UInt8] {
    var (values, incoming) = try values()
    for position in values.indices where isTaken(position) { values[position] = incoming[position] }
    return try content(values)
  }

  /// Calls `body` with an incoming record that has the stored values of attributes that it was not
  /// given.
  func completed<R>(
    _ isGiven: (_ position: Int) -> Bool, _ body: (MergeInput) throws -> R
  ) throws -> R {
    let derived = entity.derivations?.isDerived
    let content = try patched { isGiven($0) || derived?[$0] ?? false }
    return try content.withBytes { bytes in
      var input = self
      input.incoming = try entity.view(incoming: bytes)
      return try body(input)
    }
  }

  /// A content of `values`, with room for its checksum.
  func content(_ values: [Value]) throws(StoreError) -> [UInt8] {
    do {
      let content = try entity.layout.content(values: values)
      return content + [UInt8](repeating: 0, count: RecordLayout.checksumSize)
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}
