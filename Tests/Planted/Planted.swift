#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whether the planted bug of this number is switched on; `tools/plant` puts this file into each
/// module.
func isPlanted(_ number: Int) -> Bool { number == plantedNumber }

private let plantedNumber =
  getenv("LODESTORE_PLANT").flatMap { Int(String(cString: $0)) } ?? 0
