import CRecords
import Foundation

/// The records that all sides store, and the keys that they look up.
final class Workload: Sendable {
  let pods: [Pod]
  /// The pods in another order; every second pod is changed.
  let upserts: [Pod]
  /// Further pods for single inserts.
  let singles: [Pod]
  let items: [ToDo]
  /// Random positions in ``pods``, for look-ups by key.
  let wanted: [UInt32]
  /// The names in the conditions with IN.
  let inNames: [String]
  /// Ranges of dates; each has a hundredth of the records.
  let ranges: [Range<Date>]

  /// The records for the sides in C.
  let rawPods: RawRecords<raw_pod>
  let rawUpserts: RawRecords<raw_pod>
  let rawSingles: RawRecords<raw_pod>
  let rawItems: RawRecords<raw_item>

  init(count: Int) {
    let singleCount = min(20_000, count / 10)
    let all = Pod.generate(count + singleCount).map(\.copied)
    pods = Array(all[..<count])
    singles = Array(all[count...])
    items = ToDo.generate(count)
    var generator = Generator(seed: 42)
    wanted = (0..<count / 5).map { _ in UInt32(generator.next(below: UInt64(count))) }
    inNames = wanted.prefix(count / 20).map { [pods] in pods[Int($0)].name }
    let width = Self.dates.upperBound / 100
    ranges = (0..<100).map { _ in
      let from = Double(generator.next(below: UInt64(Self.dates.upperBound - width)))
      return Self.dates(from..<from + width)
    }
    var changed = pods.enumerated().map { $0.offset % 2 == 0 ? $0.element : $0.element.later }
    changed.shuffle(with: &generator)
    upserts = changed.map(\.copied)
    rawPods = RawRecords(pods)
    rawUpserts = RawRecords(upserts)
    rawSingles = RawRecords(singles)
    rawItems = RawRecords(items)
  }

  /// The range of all dates, in seconds since 2001.
  static let dates = 0..<2e8

  private static func dates(_ seconds: Range<Double>) -> Range<Date> {
    Date(
      timeIntervalSinceReferenceDate: seconds.lowerBound)..<Date(
        timeIntervalSinceReferenceDate: seconds.upperBound)
  }

  /// The positions of the pods that are read in separate transactions.
  var singlePlaces: [UInt32] { Array(wanted.prefix(pods.count / 20)) }
  /// A range with a tenth of all dates.
  let tenth = Workload.dates(1e8..<1.2e8)
  /// The positions of ``inNames``.
  ///
  /// ``manyPlaces`` are the positions for one get of many keys.
  var inPlaces: ArraySlice<UInt32> { wanted.prefix(pods.count / 20) }
  var manyPlaces: ArraySlice<UInt32> { wanted.prefix(pods.count / 100) }

  let license = "MIT"
  let downloads: Int64 = 2_500_000
  /// A date that no pod has.
  ///
  /// A condition that excludes it must be evaluated, but leaves out no pod.
  let noDate = Date(timeIntervalSinceReferenceDate: 1e8 + 0.25)

  /// Hashes of the generated records.
  ///
  /// Every side's answer is compared with these hashes and with the answers of other sides.
  var checksums: (pods: UInt64, items: UInt64) {
    (Answer(pods).hash, Answer(items).hash)
  }
}

/// The range in seconds since 2001, for sides that store dates as numbers.
extension Range<Date> {
  var seconds: Range<Double> {
    lowerBound.timeIntervalSinceReferenceDate..<upperBound.timeIntervalSinceReferenceDate
  }
}
