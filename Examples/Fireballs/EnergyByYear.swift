import Foundation
import Lodestore

/// The impact energy of all fireballs of each year, in kilotons of TNT.
package struct EnergyByYear: Sendable {
  /// The sum of a year.
  package struct Bar: Sendable, Equatable {
    package var year: Int
    package var energy: Double
    package var count: Int
    /// The energy of the strongest fireball of the year.
    package var strongest: Double
  }

  /// All years from the first to the last, including years without a fireball.
  package private(set) var bars: [Bar] = []

  /// Reads two attributes of each fireball directly in the file, without decoding the record.
  package init(_ fireballs: FireballStore) throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    var years: [Int: Bar] = [:]
    try fireballs.store.read { snapshot in
      try snapshot.forEachView(Fireball.all) { fireball in
        let year = calendar.component(.year, from: fireball.dateTimeStamp)
        let energy = fireball.impactEnergy
        var bar = years[year] ?? Bar(year: year, energy: 0, count: 0, strongest: 0)
        bar.energy += energy
        bar.count += 1
        bar.strongest = max(bar.strongest, energy)
        years[year] = bar
      }
    }
    guard let first = years.keys.min(), let last = years.keys.max() else { return }
    bars = (first...last).map {
      years[$0] ?? Bar(year: $0, energy: 0, count: 0, strongest: 0)
    }
  }

  /// The exponents of the axis: powers of ten below and above all energies.
  var decades: ClosedRange<Int> {
    let energies = bars.map(\.energy).filter { $0 > 0 }
    guard let least = energies.min(), let greatest = energies.max() else { return 0...1 }
    let low = Int(log10(least).rounded(.down))
    return low...max(Int(log10(greatest).rounded(.up)), low + 1)
  }

  /// Returns the position of an energy on the axis, from 0 to 1.
  func height(_ energy: Double) -> Double {
    guard energy > 0 else { return 0 }
    let (low, high) = (Double(decades.lowerBound), Double(decades.upperBound))
    return (log10(energy) - low) / (high - low)
  }
}
