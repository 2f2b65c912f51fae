// The module that programs import. This module exports the store and, with the package trait
// `Macros` (on by default), the macros that declare entities. Code without macros can import
// `EntityStore` alone.
@_exported public import EntityStore
