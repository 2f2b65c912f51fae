import Foundation
import Lodestore

/// A small record with one index: a to-do item.
@Entity
struct ToDo: Sendable {
  #Index<ToDo>([\.createdAt])

  var title: String
  var createdAt: Date
  var isDone: Bool
}

extension ToDo {
  private static let verbs = ["Buy", "Call", "Write to", "Look for", "Repair", "Return"]

  static func generate(_ count: Int) -> [ToDo] {
    var generator = Generator(seed: 0xD1B5_4A32_D192_ED03)
    return (0..<count).map { ToDo(number: $0, from: &generator) }
  }

  fileprivate init(number: Int, from generator: inout Generator) {
    self.init(
      title: "\(Self.verbs[Int(generator.next(below: 6))]) \(number % 9_973)",
      createdAt: Date(
        timeIntervalSinceReferenceDate: Double(generator.next(below: 800_000_000)) / 2),
      isDone: generator.next(below: 3) == 0)
  }
}

extension ToDo: NumberedRecord {
  static func numbered(_ number: Int) -> ToDo {
    var generator = generator(ofNumber: number)
    return ToDo(number: number, from: &generator)
  }

  var checkNumber: UInt64 { createdAt.checkNumber }

  static func checkNumber(of view: borrowing EntityView<ToDo>) -> UInt64 {
    view.createdAt.checkNumber
  }
}
