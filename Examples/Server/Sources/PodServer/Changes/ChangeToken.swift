import Foundation
import Lodestore

extension HistoryToken {
  /// The token as the id of an event: the number of the write, and the store that it is of.
  var eventID: String { "\(number)-\(storeID.uuidString)" }

  /// The token that an event had; `nil` for a text that is none.
  init?(eventID: String) {
    let parts = eventID.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let number = UInt64(parts[0]),
      let store = UUID(uuidString: "\(parts[1])"),
      let json = try? JSONEncoder().encode(Coded(storeID: store, number: number)),
      let token = try? JSONDecoder().decode(HistoryToken.self, from: json)
    else { return nil }
    self = token
  }

  /// The members that a token is encoded as.
  private struct Coded: Encodable {
    var storeID: UUID
    var number: UInt64
  }
}
