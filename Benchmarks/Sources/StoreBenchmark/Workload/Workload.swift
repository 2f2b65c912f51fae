import CRecords
import Foundation

/// The records that all sides store, and the keys that they look for.
final class Workload: Sendable {
  let pods: [Pod]
  /// The pods in another order, every second one changed.
  let upserts: [Pod]
  /// Pods that are not among the others, for single inserts.
  let singles: [Pod]
  let items: [ToDo]
  /// Places in ``pods``, at random: look-ups by key.
  let wanted: [UInt32]
  /// Names that are looked for by IN.
  let inNames: [String]
  /// Ranges of the dates, each a hundredth.
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

  /// All dates are in here, as seconds.
  static let dates = 0..<2e8

  private static func dates(_ seconds: Range<Double>) -> Range<Date> {
    Date(
      timeIntervalSinceReferenceDate: seconds.lowerBound)..<Date(
        timeIntervalSinceReferenceDate: seconds.upperBound)
  }

  /// The places of the gets in a transaction each.
  var singlePlaces: [UInt32] { Array(wanted.prefix(pods.count / 20)) }
  /// A tenth of the dates.
  let tenth = Workload.dates(1e8..<1.2e8)
  /// The places of ``inNames``, and those of one get of many.
  var inPlaces: ArraySlice<UInt32> { wanted.prefix(pods.count / 20) }
  var manyPlaces: ArraySlice<UInt32> { wanted.prefix(pods.count / 100) }

  let license = "MIT"
  let downloads: Int64 = 2_500_000
  /// A date that no pod has, so that a condition on it is work and leaves nothing out.
  let noDate = Date(timeIntervalSinceReferenceDate: 1e8 + 0.25)

  /// Hashes of the generated records; every side's answer is compared with those of other sides and
  /// with these.
  var checksums: (pods: UInt64, items: UInt64) {
    (Answer(pods).hash, Answer(items).hash)
  }
}

/// The form for sides whose dates are numbers.
extension Range<Date> {
  var seconds: Range<Double> {
    lowerBound.timeIntervalSinceReferenceDate..<upperBound.timeIntervalSinceReferenceDate
  }
}
