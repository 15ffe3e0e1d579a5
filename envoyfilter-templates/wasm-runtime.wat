;; A Proxy-Wasm module that does nothing: what a proxy loads so that V8 is there before its workers start.
(module
  (memory (export "memory") 0)
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 0)))
