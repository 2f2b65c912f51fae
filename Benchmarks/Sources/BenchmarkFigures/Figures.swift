import Foundation

extension Duration {
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension [Double] {
  /// The upper median; 0 without values.
  package var median: Double { sorted().part(0.5) }

  /// The value below which a share of the sorted values lies; 0 without values.
  package func part(_ share: Double) -> Double {
    isEmpty ? 0 : self[Swift.min(count - 1, Int(Double(count) * share))]
  }
}

extension Int {
  /// The number with a comma before each three digits.
  package var grouped: String {
    var digits = String(self)
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
      place -= 3
    }
    return digits
  }
}

package func percent(_ share: Double) -> String { String(format: "%.1f %%", share * 100) }
package func micros(_ seconds: Double) -> String { String(format: "%.1f us", seconds * 1e6) }
package func millis(_ seconds: Double) -> String { String(format: "%.0f ms", seconds * 1e3) }
package func megabytes(_ bytes: UInt64) -> String { String(format: "%.1f MB", Double(bytes) / 1e6) }

/// An error that ends a benchmark with a message.
package struct BenchmarkError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
