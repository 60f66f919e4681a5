//! A provider that refuses, breaks off, stalls or answers nonsense: how the client classifies each,
//! and what the caller is told.

use serde_json::json;
use test_kit::closed_port::ClosedPort;
use tokio::net::TcpListener;

use super::stub::{Reply, Stub, answer};
use super::*;

const UNAVAILABLE: &str = "Service unavailable";

async fn failure_of(reply: Reply) -> Failure {
    let (client, _stub) = against(reply).await;
    create(&client, &pix(), None).await.unwrap_err()
}

async fn failure_of_status(status: u16, body: &str) -> Failure {
    failure_of(Reply::Bytes(answer(status, "", body.as_bytes()))).await
}

/// The failure of a call whose answer is late. On a busy machine the timeout may end before the
/// call has arrived; then it is repeated with a longer one.
async fn failure_in_time(reply: impl Fn() -> Reply) -> Failure {
    for milliseconds in [150, 1_500, 15_000, 60_000] {
        let stub = Stub::start(vec![reply()]).await;
        let client = patient_for(Duration::from_millis(milliseconds), &stub.url());
        let failure = create(&client, &pix(), None).await.unwrap_err();
        if !stub.calls().is_empty() {
            return failure;
        }
    }
    panic!("no call arrives within a minute");
}

#[tokio::test]
async fn a_refused_connection_is_known_to_have_done_nothing() {
    let closed_port = ClosedPort::new();
    let failure = create(
        &client(&format!("http://{}", closed_port.address)),
        &pix(),
        None,
    )
    .await
    .unwrap_err();
    assert!(matches!(failure, Failure::NotSent(_)), "{failure:?}");
    assert!(!failure.is_unknown() && !failure.is_final());
    assert_eq!(response_to(&failure), (503, UNAVAILABLE.into()));
}

#[tokio::test]
async fn a_failed_tls_handshake_is_known_to_have_done_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = client(&format!("https://{address}"));
    let closing = async { drop(listener.accept().await.unwrap()) };
    let request = pix();
    let (failure, ()) = tokio::join!(create(&client, &request, None), closing);
    let failure = failure.unwrap_err();
    assert!(matches!(failure, Failure::NotSent(_)), "{failure:?}");
    assert_eq!(response_to(&failure), (503, UNAVAILABLE.into()));
}

#[tokio::test]
async fn a_stalled_tls_handshake_is_known_to_have_done_nothing() {
    // The kernel accepts the connection, and nobody reads from it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let failure = create(&impatient_client(&url), &pix(), None)
        .await
        .unwrap_err();
    assert!(matches!(failure, Failure::NotSent(_)), "{failure:?}");
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_known_to_have_done_nothing() {
    let failure = create(&client("http://provider.invalid"), &pix(), None)
        .await
        .unwrap_err();
    assert!(matches!(failure, Failure::NotSent(_)), "{failure:?}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_leaves_the_outcome_unknown() {
    let whole = json_answer(201, &pix_answer());
    let half = whole[..whole.len() / 2].to_vec();
    for reply in [Reply::Reset, Reply::Last(Vec::new()), Reply::Last(half)] {
        let failure = failure_of(reply).await;
        assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
        assert!(failure.is_unknown());
        assert_eq!(response_to(&failure), (503, UNAVAILABLE.into()));
    }
}

#[tokio::test]
async fn a_reset_of_a_reused_connection_leaves_the_outcome_unknown() {
    let stub = Stub::start(vec![Reply::json(201, &pix_answer()), Reply::Reset]).await;
    let client = client(&stub.url());
    create(&client, &pix(), None).await.unwrap();
    let failure = create(&client, &pix(), None).await.unwrap_err();
    assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
    assert_eq!(
        stub.calls()
            .iter()
            .map(|call| call.connection)
            .collect::<Vec<_>>(),
        [0, 0]
    );
}

#[tokio::test]
async fn a_connection_closed_between_calls_is_replaced() {
    let closing = answer(
        201,
        "connection: close\r\n",
        pix_answer().to_string().as_bytes(),
    );
    let stub = Stub::start(vec![Reply::Last(closing), Reply::json(201, &pix_answer())]).await;
    let client = client(&stub.url());
    for _ in 0..2 {
        create(&client, &pix(), None).await.unwrap();
    }
    assert_eq!(
        stub.calls()
            .iter()
            .map(|call| call.connection)
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

#[tokio::test]
async fn the_time_covers_the_whole_answer() {
    let whole = json_answer(201, &pix_answer());
    let half = whole[..whole.len() / 2].to_vec();
    let endless = b"HTTP/1.1 201 Created\r\ncontent-length: 1000000000\r\n\r\n".to_vec();
    for told_before in [Vec::new(), b"HTTP/1.1 2".to_vec(), half, endless] {
        let failure = failure_in_time(|| Reply::Stall(told_before.clone())).await;
        assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
        assert_eq!(response_to(&failure), (503, UNAVAILABLE.into()));
    }
}

#[tokio::test]
async fn a_slow_drip_does_not_stretch_the_time() {
    let failure = failure_in_time(|| Reply::Drip(b'\n')).await;
    assert!(failure.is_unknown(), "{failure:?}");
}

#[tokio::test]
async fn the_time_covers_connecting() {
    // A listener whose queue is full answers no handshake; 100 of them fill it on every kernel.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let waiting: Vec<_> = (0..100)
        .map(|_| tokio::spawn(tokio::net::TcpStream::connect(address)))
        .collect();
    let mut failure = create(
        &impatient_client(&format!("http://{address}")),
        &pix(),
        None,
    )
    .await
    .unwrap_err();
    while !matches!(failure, Failure::NotSent(_)) {
        failure = create(
            &impatient_client(&format!("http://{address}")),
            &pix(),
            None,
        )
        .await
        .unwrap_err();
    }
    assert_eq!(response_to(&failure), (503, UNAVAILABLE.into()));
    drop(waiting);
}

#[tokio::test]
async fn an_answer_that_is_no_http_cannot_be_read() {
    let failure = failure_of(Reply::Last(b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec())).await;
    assert!(
        matches!(failure, Failure::Unreadable { status: None, .. }),
        "{failure:?}"
    );
    assert!(failure.is_unknown(), "it may have charged all the same");
    assert_eq!(
        response_to(&failure),
        (502, "API Error: unreadable answer".into())
    );
}

#[tokio::test]
async fn an_answer_that_is_no_payment_cannot_be_read() {
    for body in [
        "",
        "<html>",
        "{",
        "[]",
        "{}",
        "{\"id\":1}",
        "null",
        "\u{feff}{}",
    ] {
        let failure = failure_of_status(201, body).await;
        assert!(
            matches!(
                failure,
                Failure::Unreadable {
                    status: Some(201),
                    ..
                }
            ),
            "{body}: {failure:?}"
        );
        assert!(failure.is_unknown() && !failure.is_final());
        assert_eq!(
            response_to(&failure),
            (502, "API Error: 201 unreadable answer".into())
        );
    }
}

#[tokio::test]
async fn an_answer_longer_than_a_mebibyte_is_not_read() {
    let long = format!("{{\"filler\":\"{}\"}}", "x".repeat(1 << 20));
    let failure = failure_of_status(201, &long).await;
    assert!(matches!(failure, Failure::Unreadable { .. }), "{failure:?}");
    let failure = failure_of_status(500, &long).await;
    assert_eq!(response_to(&failure).0, 502);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Stub::start(Vec::new()).await;
    let location = format!("location: {}/v1/payments\r\n", elsewhere.url());
    for status in [301, 302, 303, 307, 308] {
        let failure = failure_of(Reply::Bytes(answer(status, &location, b""))).await;
        assert_eq!(response_to(&failure), (502, format!("API Error: {status}")));
    }
    assert!(elsewhere.calls().is_empty());
}

#[tokio::test]
async fn the_providers_401_and_400_have_texts_of_their_own() {
    let failure = failure_of_status(
        401,
        r#"{"code":"unauthorized","message":"invalid access token"}"#,
    )
    .await;
    assert_eq!(response_to(&failure), (502, "Erro PROVIDER 401".into()));
    assert!(
        !failure.is_final() && !failure.is_unknown(),
        "the operator puts the token right, and the attempt goes on"
    );
    let failure = failure_of_status(
        400,
        r#"{"message":"Invalid transaction_amount","cause":[{"code":4037}]}"#,
    )
    .await;
    assert_eq!(response_to(&failure), (502, "Erro PROVIDER 400".into()));
    assert!(failure.is_final());
}

#[tokio::test]
async fn any_other_error_is_told_with_its_status_and_short_message() {
    let cases = [
        (
            403,
            r#"{"status":403,"code":"PA_UNAUTHORIZED_RESULT_FROM_POLICIES","message":"denied"}"#,
            "API Error: 403 denied",
        ),
        (
            404,
            r#"{"message":"Payment not found","cause":[{"code":2000}]}"#,
            "API Error: 404 Payment not found",
        ),
        (
            423,
            r#"{"message":"resource is locked"}"#,
            "API Error: 423 resource is locked",
        ),
        (429, "", "API Error: 429"),
        (500, "<html>oops</html>", "API Error: 500"),
        (
            500,
            r#"{"message":"card 5031 4332 1540 6351 failed"}"#,
            "API Error: 500 card **** failed",
        ),
        (503, r#"{"message":"a\r\nb"}"#, "API Error: 503 a  b"),
    ];
    for (status, body, detail) in cases {
        assert_eq!(
            response_to(&failure_of_status(status, body).await),
            (502, detail.into())
        );
    }
    assert!(failure_of_status(404, "").await.is_not_found());
}

#[tokio::test]
async fn errors_after_which_the_provider_may_have_charged_are_unknown() {
    for (status, is_unknown) in [
        (400, false),
        (401, false),
        (404, false),
        (409, true),
        (423, true),
        (424, true),
        (429, false),
        (500, true),
        (502, true),
        (504, true),
    ] {
        let failure = failure_of_status(status, "{}").await;
        assert_eq!(failure.is_unknown(), is_unknown, "{status}");
        assert_eq!(failure.is_final(), status == 400, "{status}");
    }
}

#[tokio::test]
async fn the_time_that_the_provider_asks_to_wait_is_passed_on() {
    let failure = failure_of(Reply::Bytes(answer(429, "retry-after: 17\r\n", b"{}"))).await;
    assert_eq!(failure.retry_after(), Some(Duration::from_secs(17)));
    let failure = failure_of(Reply::Bytes(answer(429, "retry-after: soon\r\n", b"{}"))).await;
    assert_eq!(failure.retry_after(), None);
}

#[tokio::test]
async fn a_used_up_card_token_is_recognised() {
    let used = r#"{"message":"Card token was used, please generate new","cause":[{"code":3003}]}"#;
    assert!(failure_of_status(400, used).await.is_spent_card_token());
    assert!(
        failure_of_status(400, r#"{"message":"m","cause":[{"code":"2006"}]}"#)
            .await
            .is_spent_card_token()
    );
    assert!(
        !failure_of_status(400, r#"{"message":"m","cause":[{"code":4037}]}"#)
            .await
            .is_spent_card_token()
    );
    assert!(!failure_of_status(500, used).await.is_spent_card_token());
}

#[tokio::test]
async fn no_failure_shows_card_data_or_the_access_token() {
    let echo = "number 5031433215406351 code 123 of 11/2030 with Bearer TEST-token";
    let echo = json!({ "message": echo }).to_string();
    let mut texts = Vec::new();
    for reply in [
        Reply::Reset,
        Reply::Bytes(answer(500, "", echo.as_bytes())),
        Reply::Last(b"5031433215406351".to_vec()),
    ] {
        let (client, _stub) = against(reply).await;
        let request = card();
        let checkout::request::Method::Card(card) = &request.method else {
            panic!("a card was sent")
        };
        let failure = client
            .create_card_token(card, &request, KEY)
            .await
            .unwrap_err();
        texts.push(format!("{failure} {failure:?} {}", response_to(&failure).1));
    }
    texts.push(format!(
        "{:?}",
        config("http://127.0.0.1:1", Duration::ZERO)
    ));
    for text in texts {
        for secret in ["5031433215406351", "123", "11/", "2030", "TEST-token"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
