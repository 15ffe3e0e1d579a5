;; A guest that traps on every request with the header `x-crash` and leaves all others alone.
(module
  (import "env" "proxy_get_header_map_value" (func $value (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  ;; 0..8: where the host writes address and length. 16..: the header's name. 8192..: the one buffer there is.
  (data (i32.const 16) "x-crash")
  (func (export "malloc") (param i32) (result i32) (i32.const 8192))
  (func (export "proxy_abi_version_0_2_1"))
  (func (export "proxy_on_context_create") (param i32 i32))
  (func (export "proxy_on_vm_start") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_configure") (param i32 i32) (result i32) (i32.const 1))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (if (i32.eqz (call $value (i32.const 0) (i32.const 16) (i32.const 7) (i32.const 0) (i32.const 4))) (then
      (if (i32.load (i32.const 4)) (then unreachable))))
    (i32.const 0)))
