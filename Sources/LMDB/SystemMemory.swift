import LodestoreSystem

/// The processors of the machine.
enum SystemProcessors {
  /// The number of processors in use.
  ///
  /// The number is requested once, because the system reads a file for it.
  static let count = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}

/// The memory of the machine.
package enum SystemMemory {
  /// The machine's memory in bytes; 0 if the system does not report it.
  package static let byteCount = max(
    0, Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))))
}
