// One import for a program: the store, and with the package trait `Macros` (on unless it is switched
// off) the macros that declare entities. Code that needs no macro can import `EntityStore` alone.
@_exported public import EntityStore
