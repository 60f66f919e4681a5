//! The server of llama-cpp-python from its package registry, with a model of random weights.

use test_kit::process::Start;
use tokio::task::block_in_place;

use super::clients;
use crate::inventory::{Caller, inventory, run_with, succeeds};

#[tokio::test(flavor = "multi_thread")]
async fn the_server_of_llama_cpp_python_is_asked_in_the_format_that_it_knows_and_its_answer_is_checked()
 {
    let clients = clients();
    block_in_place(|| clients.python(["tiny_model.py", "tiny.gguf"]));
    let server = ["-m", "llama_cpp.server", "--model", "tiny.gguf"];
    let size = ["--port", "0", "--n_ctx", "16384"];
    let server = clients.serve([&server[..], &size].concat());
    let listens = |line: &str| line.contains("Uvicorn running on ");
    let line = server.line(listens, "the server's address").await;
    let address = line.split(' ').find(|word| word.starts_with("http://"));

    let mut service = inventory().ready().await;
    let product = Caller::ana(&service).await.a_product(2).await;
    service.stop().await;
    let data = service.into_data();
    let analyse = Start::new(["inventory", "analyses", "run", &product.to_string()])
        .data(data.path())
        .env("BALCAO_LLM_BASE_URL", format!("{}/v1", address.unwrap()))
        .env("BALCAO_LLM_MODEL", "tiny");
    let said = succeeds(&run_with(analyse));

    // A model of random weights writes no valid analysis.
    assert!(said.contains("text by: formula"), "{said}");
    assert!(said.contains("model's part: unusable"), "{said}");
    for (status, description) in [("500", "a refusal"), ("200", "an answer")] {
        let answered = format!("\"POST /v1/chat/completions HTTP/1.1\" {status}");
        server
            .line(|line| line.contains(&answered), description)
            .await;
    }
}
