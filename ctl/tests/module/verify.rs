//! Files, and what web servers send.

use crate::{ModuleFixture, digest};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

#[test]
fn a_file_is_compared_by_digest_and_size() {
    let fixture = ModuleFixture::new();
    let module = fixture.module();
    let expected = format!("{} ({} bytes)", digest(&module), module.len());
    fixture
        .run("verify module-of-the-tool.wasm")
        .expect(0, &[&format!("module-of-the-tool.wasm: the module of this tool, {expected}")]);
    fixture.write("other", "\0asm");
    let other = "sha256:cd5d4935a48c0672cb06407bb443bc0087aff947c6b864bac886982c73b3027f (4 bytes)";
    let both = format!("  expected {expected}\n  found    {other}\n");
    fixture.run("verify other").expect(1, &["other: another module than that of this tool", &both]);
    fixture.write("archive", "\u{1f}");
    fixture.run("verify archive").expect(1, &["it is no WebAssembly module; archives are not unpacked"]);
    fixture.run("verify missing").expect(2, &["cannot read missing"]);
}

#[test]
fn an_image_is_compared_by_its_digest_and_by_other_tools() {
    for image in
        ["oci://registry.example.com/canary/filter:1.0", "docker://registry.example.com/canary/filter"]
    {
        let refused = format!(
            "expected a file or an address of HTTP, found the image {image}\n  hint: compare the digest"
        );
        ModuleFixture::new().run(&format!("verify {image}")).expect(2, &[&refused, "skopeo inspect"]);
    }
}

/// A web server until the process ends, with this module and with faults.
fn serve(module: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that disconnects is not an error of the server.
            let _ = respond(&mut stream.unwrap(), &module);
        }
    });
    address
}

fn respond(stream: &mut TcpStream, module: &[u8]) -> std::io::Result<()> {
    let head: Vec<String> = BufReader::new(&mut *stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let redirect = |to: &str| format!("307 Temporary Redirect\r\nlocation: {to}");
    let (status, length, body) = match path {
        "/module" | "/module?signature=x" => ("200 OK".to_owned(), module.len(), module),
        "/moved" => (redirect("/module?signature=x"), 0, &[][..]),
        "/circle" => (redirect("/circle"), 0, &[][..]),
        "/other" => ("200 OK".to_owned(), 4, &b"\0asm"[..]),
        "/half" => ("200 OK".to_owned(), module.len(), &module[..module.len() / 2]),
        "/endless" => ("200 OK".to_owned(), 10_000_000_000, module),
        _ => ("404 Not Found".to_owned(), 0, &[][..]),
    };
    write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")?;
    stream.write_all(body)?;
    if path != "/endless" {
        return Ok(());
    }
    loop {
        stream.write_all(&[b' '; 8_192])?;
    }
}

#[test]
fn a_file_of_a_web_server_is_compared_over_redirects_and_within_limits() {
    let fixture = ModuleFixture::new();
    let address = serve(fixture.module());
    for (path, code, expected) in [
        ("/module", 0, "the module of this tool"),
        ("/moved", 0, "the module of this tool"),
        ("/other", 1, "another module than that of this tool"),
        ("/circle", 2, "expected at most 5 redirects, found more"),
        ("/half", 2, "end of file"),
        ("/endless", 2, "expected a body of at most 16777216 bytes, found a larger one"),
        ("/none?signature=x", 2, "/none: expected 200, found 404"),
    ] {
        let ran = fixture.run(&format!("verify http://{address}{path}"));
        ran.expect(code, &[expected]);
        assert!(code < 2 || ran.stdout.is_empty(), "{path}: {ran:?}");
    }
    let with_password = fixture.run(&format!("verify http://user:secret@{address}/module"));
    with_password.expect(2, &["expected an address without a user"]);
    assert!(!with_password.stderr.contains("secret"), "{with_password:?}");
}

#[test]
fn a_web_server_that_is_not_there_is_an_error_with_a_hint() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let missing = format!("error: no whole response from http://{address}/module");
    let parts = [missing.as_str(), "Connection refused", "hint: is the address right?"];
    ModuleFixture::new().run(&format!("verify http://{address}/module")).expect(2, &parts);
}
