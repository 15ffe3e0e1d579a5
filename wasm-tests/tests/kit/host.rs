//! Proves the host: what a guest gets and leaves behind is what Envoy would hand over and keep.

use std::time::Duration;

use wasm_host::{
    Action, HostError, Limits, Module, Proxy, Randomness, RequestHead, ResponseHead, Vm, VmOptions, wire,
};

fn probe() -> Module {
    Module::load(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guests/probe.wat")).expect("the probe compiles")
}

fn configured(proxy: &Proxy, options: VmOptions) -> Vm {
    let vm = Vm::start_in(&probe(), proxy, options).expect("the probe starts");
    assert!(vm.configure("yes").expect("no trap"), "the probe accepts this configuration");
    vm
}

fn vm() -> Vm {
    configured(&Proxy::new(), VmOptions::default())
}

#[test]
fn pairs_travel_as_count_then_lengths_then_texts_with_nul() {
    let head = RequestHead::get("/").header("Cookie", "a=1").header("cookie", [0xff, 0x00, 0xfe]);
    let exchange = vm().request(head).expect("no trap");
    let expected = [
        b"\x06\0\0\0".as_slice(),
        b"\x0a\0\0\0\x0c\0\0\0\x05\0\0\0\x01\0\0\0\x07\0\0\0\x03\0\0\0",
        b"\x07\0\0\0\x05\0\0\0\x06\0\0\0\x03\0\0\0\x06\0\0\0\x03\0\0\0",
        b":authority\0shop.example\0:path\0/\0:method\0GET\0:scheme\0https\0",
        b"cookie\0a=1\0cookie\0\xff\0\xfe\0",
    ]
    .concat();
    assert_eq!(exchange.filter_state("pairs"), Some(expected));
}

#[test]
fn pairs_survive_encoding_and_cut_bytes_are_refused() {
    let pairs = vec![(b"a".to_vec(), b"1".to_vec()), (b"b".to_vec(), Vec::new()), (Vec::new(), vec![0, 255])];
    let bytes = wire::encode_pairs(pairs.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
    assert_eq!(wire::decode_pairs(&bytes), Some(pairs));
    for length in 0..bytes.len() {
        assert_eq!(wire::decode_pairs(&bytes[..length]), None, "cut to {length} bytes");
    }
    assert_eq!(wire::decode_pairs(&[0xff; 16]), None, "a count that no bytes can hold");
}

#[test]
fn the_single_getter_sees_the_first_line_only() {
    let head = RequestHead::get("/").header("cookie", "a=1").header("cookie", "b=2");
    let exchange = vm().request(head).expect("no trap");
    assert_eq!(exchange.filter_state("cookie"), Some(b"a=1".to_vec()));
    assert_eq!(vm().request(RequestHead::get("/")).expect("no trap").filter_state("cookie"), None);
}

#[test]
fn response_headers_before_the_response_have_no_pairs() {
    let exchange = vm().request(RequestHead::get("/")).expect("no trap");
    assert_eq!(exchange.filter_state("status"), Some(vec![0]));
}

#[test]
fn headers_are_added_replaced_and_removed_like_in_envoy() {
    let head = RequestHead::get("/").header("X-Gone", "1").header("x-gone", "2");
    let mut exchange = vm().request(head).expect("no trap");
    assert_eq!(exchange.action(), Action::Continue);
    assert_eq!(exchange.headers().texts("X-Added"), ["one"]);
    assert_eq!(exchange.headers().get("x-gone"), None);

    let head = ResponseHead::status(200).header("cookie", "a").header("date", "today").header("cookie", "b");
    let headers = exchange.respond(head).expect("no trap");
    let lines: Vec<_> = headers.pairs().map(|(name, value)| [name, value].join(&b'=')).collect();
    assert_eq!(lines, [b":status=200".as_slice(), b"date=today", b"cookie=one"]);

    let ended = exchange.end().expect("no trap");
    assert_eq!(ended.request.get("x-swapped"), None, "headers cannot be changed while they are logged");
    assert!(ended.filter_state.contains_key("wasm.pairs"), "{:?}", ended.filter_state);
}

#[test]
fn a_second_line_of_a_single_valued_header_is_joined_with_a_comma() {
    let head =
        RequestHead::get("/").header("x-forwarded-for", "192.0.2.1").header("x-forwarded-for", "192.0.2.2");
    let exchange = vm().request(head).expect("no trap");
    assert_eq!(exchange.headers().texts("x-forwarded-for"), ["192.0.2.1,192.0.2.2"]);
}

#[test]
fn the_header_size_is_the_sum_of_names_and_values() {
    let exchange = vm().request(RequestHead::get("/").header("a", "bc")).expect("no trap");
    // Taken before the probe adds its own line.
    assert_eq!(exchange.filter_state("size"), Some(53_u32.to_le_bytes().to_vec()));
}

#[test]
fn a_property_path_is_joined_with_nul() {
    let head = RequestHead::get("/").property(&["source", "address"], "192.0.2.1:80");
    assert_eq!(vm().request(head).expect("no trap").filter_state("address"), Some(b"192.0.2.1:80".to_vec()));
}

#[test]
fn a_refused_configuration_leaves_the_old_root_serving() {
    let vm = vm();
    let first = vm.serving();
    assert!(!vm.configure("no").expect("no trap"), "{:?}", vm.logs());
    assert_eq!(vm.serving(), first);
    assert_eq!(vm.roots().len(), 2);
    let logged: Vec<_> = vm.logs().into_iter().map(|line| line.message).collect();
    assert_eq!(logged, ["yes", "no"], "each root reads its own configuration");
}

#[test]
fn a_tick_reaches_every_root_and_no_root_that_was_retired() {
    let vm = vm();
    assert!(vm.configure("yes again").expect("no trap"), "{:?}", vm.logs());
    let ticks = || vm.logs().iter().filter(|line| line.message == "tick").count();
    vm.tick().expect("no trap");
    assert_eq!(ticks(), 2);
    vm.retire(vm.roots()[0]).expect("no trap");
    vm.tick().expect("no trap");
    assert_eq!(ticks(), 3);
}

#[test]
fn a_counter_grows_and_refuses_to_shrink() {
    let vm = vm();
    for _ in 0..3 {
        vm.request(RequestHead::get("/")).expect("no trap");
    }
    assert_eq!(vm.proxy().metric("visits"), Some(3));
    assert_eq!(vm.proxy().metric("unknown"), None);
}

#[test]
fn vms_of_one_proxy_share_metrics_and_data_and_others_do_not() {
    let proxy = Proxy::new();
    for _ in 0..2 {
        let vm = configured(&proxy, VmOptions::default());
        let mut exchange = vm.request(RequestHead::get("/")).expect("no trap");
        exchange.respond(ResponseHead::status(200)).expect("no trap");
    }
    assert_eq!(proxy.metric("visits"), Some(2));
    // Written twice; the second VM saw the number of the first write.
    assert_eq!(proxy.shared_data("visits"), Some(1_u32.to_le_bytes().to_vec()));
    assert_eq!(Proxy::new().shared_data("visits"), None);
}

#[test]
fn randomness_repeats_with_the_seed_and_can_be_unavailable() {
    let bytes = |randomness| {
        let vm = configured(&Proxy::new(), VmOptions { randomness, ..VmOptions::default() });
        vm.request(RequestHead::get("/")).expect("no trap").filter_state("random")
    };
    assert_eq!(bytes(Randomness::Seeded(7)), bytes(Randomness::Seeded(7)));
    assert_ne!(bytes(Randomness::Seeded(7)), bytes(Randomness::Seeded(8)));
    assert_eq!(bytes(Randomness::Unavailable), Some(vec![0; 8]));
}

#[test]
fn a_trap_is_an_error_and_the_vm_stays_dead() {
    let vm = vm();
    let error = vm.request(RequestHead::get("/").header("x-trap", "1")).err().expect("the guest traps");
    assert!(matches!(error, HostError::Trap { entry: "proxy_on_request_headers", .. }), "{error}");
    assert!(error.to_string().contains("unreachable"), "{error}");
    assert!(vm.is_dead());
    let error = vm.request(RequestHead::get("/")).err();
    assert!(matches!(error, Some(HostError::Dead)), "{error:?}");
}

#[test]
fn an_endless_loop_ends_when_its_fuel_does() {
    let limits = Limits { fuel_per_entry: 1_000_000, ..Limits::default() };
    let vm = configured(&Proxy::new(), VmOptions { limits, ..VmOptions::default() });
    let error = vm.request(RequestHead::get("/").header("x-loop", "1")).err().expect("the guest is stopped");
    assert!(error.to_string().contains("more than 1000000 instructions"), "{error}");
}

#[test]
fn a_guest_gets_no_more_memory_than_it_may_have() {
    assert_eq!(vm().memory_bytes(), 65_536);
    let limits = Limits { memory_bytes: 65_535, ..Limits::default() };
    let refused = Vm::start_in(&probe(), &Proxy::new(), VmOptions { limits, ..VmOptions::default() });
    let error = refused.err();
    assert!(matches!(error, Some(HostError::Instantiate(_))), "{error:?}");
}

#[test]
fn an_import_that_the_host_lacks_traps_with_its_name() {
    let error = vm().request(RequestHead::get("/").header("x-call", "1")).err().expect("no such import");
    assert!(error.to_string().contains("proxy_http_call"), "{error}");
}

#[test]
fn the_fuel_of_the_same_request_is_the_same() {
    let fuel = || vm().request(RequestHead::get("/")).expect("no trap").end().expect("no trap").fuel;
    assert_ne!(fuel().request, 0);
    assert_eq!(fuel(), fuel());
}

#[test]
fn exchanges_may_overlap() {
    let vm = vm();
    let mut first = vm.request(RequestHead::get("/first")).expect("no trap");
    let second = vm.request(RequestHead::get("/second")).expect("no trap");
    first.respond(ResponseHead::status(200)).expect("no trap");
    assert_eq!(first.headers().text(":path").as_deref(), Some("/first"));
    assert_eq!(second.headers().text(":path").as_deref(), Some("/second"));
}

#[test]
fn the_clock_moves_only_when_told() {
    let proxy = Proxy::new();
    let before = proxy.now();
    proxy.advance(Duration::from_mins(1));
    assert_eq!(proxy.now(), before + 60_000_000_000);
}

#[test]
fn a_module_without_the_abi_is_refused_by_name() {
    let module = Module::from_bytes(b"(module (memory (export \"memory\") 1))").expect("compiles");
    let error = Vm::start(&module).err().expect("no abi");
    assert!(error.to_string().contains("proxy_abi_version_0_2_1"), "{error}");
    assert!(error.to_string().contains("it exports: memory"), "{error}");
}
