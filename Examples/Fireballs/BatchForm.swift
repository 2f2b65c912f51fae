import Lodestore

/// The ways to insert many fireballs at once.
///
/// Each way is one write. If the store already has a fireball of the same time, that record is
/// updated.
package enum BatchForm: String, CaseIterable, Sendable {
  case entities = "arrays of entities"
  case dictionaries = "dictionaries"
  case closure = "a closure that fills one after the other"

  /// Inserts `fireballs` in the form of this case.
  @discardableResult
  package func insert(
    _ fireballs: [Fireball], into store: Store
  ) throws -> InsertResult<Fireball> {
    try store.write { tx in
      switch self {
      case .entities:
        return try tx.insert(fireballs, onConflict: .replace)
      case .dictionaries:
        return try tx.insert(
          Fireball.self, dictionaries: fireballs.lazy.map(\.values), onConflict: .replace)
      case .closure:
        var rest = fireballs.makeIterator()
        return try tx.insert(Fireball.self, onConflict: .replace) {
          (draft: inout RecordDraft<Fireball>) in
          guard let fireball = rest.next() else { return true }
          draft.dateTimeStamp = fireball.dateTimeStamp
          draft.radiatedEnergy = fireball.radiatedEnergy
          draft.impactEnergy = fireball.impactEnergy
          draft.latitude = fireball.latitude
          draft.longitude = fireball.longitude
          draft.altitude = fireball.altitude
          draft.velocity = fireball.velocity
          return false
        }
      }
    }
  }
}

extension Fireball {
  /// The values of the known attributes, by attribute name.
  var values: [String: any AttributeValue] {
    var values: [String: any AttributeValue] = [
      "dateTimeStamp": dateTimeStamp, "radiatedEnergy": radiatedEnergy,
      "impactEnergy": impactEnergy,
    ]
    values["latitude"] = latitude
    values["longitude"] = longitude
    values["altitude"] = altitude
    values["velocity"] = velocity
    return values
  }
}

extension Fireball {
  /// For measurements, returns `fireballs` repeated until there are `count` of them.
  ///
  /// The times of each repetition are one second later than the times of the previous repetition.
  package static func repeated(_ fireballs: [Fireball], to count: Int) -> [Fireball] {
    (0..<(fireballs.isEmpty ? 0 : count)).map { number in
      var fireball = fireballs[number % fireballs.count]
      fireball.id = .unassigned
      fireball.dateTimeStamp.addTimeInterval(Double(number / fireballs.count))
      return fireball
    }
  }
}
