import LodestoreSystem

/// The processors of the machine.
enum SystemProcessors {
  /// How many of them are in use; asked for once, as the system reads a file for it.
  static let count = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}

/// The memory of the machine.
package enum SystemMemory {
  /// What the machine has, in bytes; 0 where the system does not say.
  package static let byteCount = max(
    0, Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE))))
}
