/// The English names of months and days in dates as text.
package enum DateNames {
  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]
  private static let days = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]

  /// Takes the name of a month, ignoring case, and returns its number from 1.
  package static func month(_ rest: inout ArraySlice<UInt8>, isLong: Bool) -> Int? {
    take(months, &rest, isLong: isLong).map { $0 + 1 }
  }

  /// Takes the name of a day of the week and returns its number, 0 for Sunday.
  package static func day(_ rest: inout ArraySlice<UInt8>, isLong: Bool) -> Int? {
    take(days, &rest, isLong: isLong)
  }

  /// Takes `AM` or `PM` and returns whether it was `PM`.
  package static func half(_ rest: inout ArraySlice<UInt8>) -> Bool? {
    take(["AM", "PM"], &rest, isLong: true).map { $0 == 1 }
  }

  /// The day of the week of a day since 1970-01-01, which was a Thursday.
  ///
  /// Sunday is 0.
  package static func dayOfWeek(_ day: Int) -> Int { ((day % 7) + 11) % 7 }

  private static func take(
    _ names: [String], _ rest: inout ArraySlice<UInt8>, isLong: Bool
  ) -> Int? {
    let found = names.firstIndex { name in
      let name = isLong ? name.utf8.prefix(name.utf8.count) : name.utf8.prefix(3)
      // Setting this bit turns an ASCII capital letter into a small one, so the comparison ignores
      // case.
      return rest.prefix(name.count).elementsEqual(name) { $0 | 0x20 == $1 | 0x20 }
    }
    guard let found else { return nil }
    rest.removeFirst(isLong ? names[found].utf8.count : 3)
    return found
  }
}
