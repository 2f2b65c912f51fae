/// Numbers in the form for people.
package enum NumberText {
  /// Returns the digits in groups of three: `11028` as "11,028".
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude).utf8)
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }

  /// Returns the number with its noun: "1 entry", "11,028 entries".
  package static func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  /// A number of bytes in binary units with about three significant digits: "512 B", "9.1 MiB".
  package static func byteCount(_ bytes: Int) -> String {
    guard bytes.magnitude >= 1024 else { return "\(bytes) B" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var size = Double(bytes.magnitude) / 1024
    var unit = 0
    // 1023.95 would be rounded up to "1024", which is 1 of the next unit.
    while size >= 1023.5, unit < units.count - 1 {
      size /= 1024
      unit += 1
    }
    return (bytes < 0 ? "-" : "") + shortDecimal(size) + " " + units[unit]
  }

  /// A share between 0 and 1 as "71 %", with a decimal below ten per cent.
  package static func share(_ share: Double) -> String {
    guard share.isFinite else { return "–" }
    let percent = share * 100
    return (percent >= 9.95 ? wholeNumber(percent) : tenths(percent)) + " %"
  }

  private static func shortDecimal(_ number: Double) -> String {
    number >= 99.95 ? wholeNumber(number) : tenths(number)
  }

  private static func wholeNumber(_ number: Double) -> String {
    Int(exactly: number.rounded()).map(String.init) ?? "\(number)"
  }

  private static func tenths(_ number: Double) -> String {
    guard let scaled = Int(exactly: (number * 10).rounded()) else { return "\(number)" }
    let (whole, tenth) = scaled.quotientAndRemainder(dividingBy: 10)
    return tenth == 0 ? "\(whole)" : "\(whole).\(tenth.magnitude)"
  }
}
