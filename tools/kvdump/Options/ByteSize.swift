import ArgumentParser

/// A number of bytes as typed: `500000`, `500K`, `20M`, `4G`, in powers of 1,024.
package struct ByteSize: ExpressibleByArgument, Equatable, Sendable {
  package let bytes: Int

  package init?(argument: String) {
    let units: [String: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    let unit = units[argument.suffix(1).uppercased()]
    let digits = unit == nil ? argument[...] : argument.dropLast()
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
      number > 0
    else { return nil }
    let (bytes, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
    guard !overflows else { return nil }
    self.bytes = bytes
  }
}
