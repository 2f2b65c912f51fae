import LodestoreFormat
import Testing

@testable import LodestoreReplicas

@Suite("The watch of a lease")
struct LeaseWatchTests {
  private let start = ContinuousClock.now

  private func lease(_ until: Double, milliseconds: UInt64? = 90_000) -> [UInt8] {
    Lease(holder: "m", epoch: 1, until: until, milliseconds: milliseconds).bytes
  }

  /// Looks every five seconds from a second to another one; returns the last answer.
  private func look(
    _ watch: inout LeaseWatch, _ lease: [UInt8]?, slot: UInt64 = 7, from first: Int, to last: Int
  ) -> Duration? {
    var remaining: Duration?
    for second in stride(from: first, through: last, by: 5) {
      remaining = watch.look(lease, slot: slot, at: start + .seconds(second))
    }
    return remaining
  }

  @Test func `a writer has ended when its lease was not renewed for the duration`() {
    var watch = LeaseWatch(assuming: nil)
    // The holder's clock is ten years off, which does not matter.
    #expect(look(&watch, lease(-315_360_000), from: 0, to: 85) == .seconds(5))
    #expect(watch.look(lease(-315_360_000), slot: 7, at: start + .seconds(90)) == .zero)
  }

  @Test func `each renewal and each entry begins the wait anew`() {
    var watch = LeaseWatch(assuming: nil)
    _ = look(&watch, lease(1), from: 0, to: 60)
    #expect(look(&watch, lease(2), from: 65, to: 150) == .seconds(5))
    #expect(look(&watch, lease(2), slot: 8, from: 155, to: 240) == .seconds(5))
    #expect(look(&watch, lease(2), slot: 8, from: 245, to: 245) == .zero)
  }

  @Test func `a lease that was given back ends after its duration`() {
    var watch = LeaseWatch(assuming: nil)
    _ = look(&watch, lease(1), from: 0, to: 10)
    #expect(look(&watch, nil, from: 15, to: 100) == .seconds(5))
    #expect(look(&watch, nil, from: 105, to: 105) == .zero)
  }

  @Test func `nothing is known before the first lease, unless a duration is assumed`() {
    var watch = LeaseWatch(assuming: nil)
    #expect(look(&watch, nil, from: 0, to: 1_000) == nil)
    // A lease of an earlier version has no duration.
    #expect(look(&watch, lease(1, milliseconds: nil), from: 1_005, to: 2_000) == nil)
    var other = LeaseWatch(assuming: .seconds(60))
    #expect(look(&other, nil, from: 0, to: 60) == .zero)
  }

  @Test func `a failure and a long pause give the writer the whole duration again`() {
    var watch = LeaseWatch(assuming: nil)
    _ = look(&watch, lease(1), from: 0, to: 85)
    watch.fail()
    #expect(look(&watch, lease(1), from: 90, to: 90) == .seconds(90))
    // The storage and the writer may have slept as long as this process.
    #expect(look(&watch, lease(1), from: 1_000, to: 1_000) == .seconds(90))
  }

  @Test func `a short lease is read often`() {
    var watch = LeaseWatch(assuming: nil)
    #expect(watch.interval(atMost: .seconds(5)) == .seconds(5))
    _ = watch.look(lease(1, milliseconds: 600), slot: 1, at: start)
    #expect(watch.interval(atMost: .seconds(5)) == .milliseconds(100))
  }
}
