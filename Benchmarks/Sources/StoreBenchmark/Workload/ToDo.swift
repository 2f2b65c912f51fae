import Foundation
import Lodestore

/// A small record with one index.
@Entity
struct ToDo: Sendable {
  #Index<ToDo>([\.createdAt])

  var title: String
  var createdAt: Date
  var isDone: Bool
}

extension ToDo {
  static func generate(_ count: Int) -> [ToDo] {
    var generator = Generator(seed: 0xD1B5_4A32_D192_ED03)
    let verbs = ["Buy", "Call", "Write to", "Look for", "Repair", "Return"]
    return (0..<count).map { i in
      ToDo(
        title: "\(verbs[Int(generator.next(below: 6))]) \(i % 9_973)",
        createdAt: Date(
          timeIntervalSinceReferenceDate: Double(generator.next(below: 800_000_000)) / 2),
        isDone: generator.next(below: 3) == 0)
    }
  }
}
