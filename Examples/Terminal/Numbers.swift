extension BinaryInteger {
  /// The number with commas between thousands, independent of the locale.
  public var grouped: String {
    let digits = String(magnitude)
    var text = ""
    for (place, digit) in digits.reversed().enumerated() {
      if place > 0 && place.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (self < 0 ? "-" : "") + String(text.reversed())
  }
}

extension Duration {
  /// The duration in seconds, with fractions.
  public var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  /// The time in one or two units: `0.4 ms`, `12 ms`, `1.3 s`, `2 min 5 s`, `3 h 20 min`.
  public var short: String {
    let seconds = seconds
    let whole = Int(seconds.rounded())
    switch seconds {
    case ..<0.01: return "\(tenths(seconds * 1_000)) ms"
    case ..<1: return "\(Int((seconds * 1_000).rounded())) ms"
    case ..<60: return "\(tenths(seconds)) s"
    case ..<3_600: return "\(whole / 60) min \(whole % 60) s"
    default: return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
    }
  }

  private func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
