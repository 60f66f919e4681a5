//! The client with the sandbox, which behaves as the provider's documents say.

use checkout::provider::RefundAnswer;
use checkout::request::Method;
use db::Money;
use sandbox::ListeningSandbox;
use test_kit::sandbox::SandboxClient;

use super::*;

/// A sandbox, a client of it, and keys that are fresh for each call.
struct Provider {
    client: Client,
    random: Random,
    sandbox: ListeningSandbox,
}

impl Provider {
    async fn start() -> Self {
        let clock = Clock::fixed(now());
        let sandbox = sandbox::start(sandbox::Config::default(), clock, Random::seeded(1)).unwrap();
        let sandbox = sandbox.listen("127.0.0.1:0").await.unwrap();
        Self {
            client: client(&sandbox.url()),
            random: Random::seeded(2),
            sandbox,
        }
    }

    async fn fail_payment(&self, fault: &str) {
        let sandbox = SandboxClient::new(self.sandbox.url());
        sandbox.fail_payment(fault).await;
    }

    fn fresh_key(&self) -> Uuid {
        self.random.uuid()
    }

    async fn token(&self, request: &PaymentRequest) -> CardToken {
        let Method::Card(card) = &request.method else {
            panic!("a card was sent")
        };
        self.client
            .create_card_token(card, request, self.fresh_key())
            .await
            .unwrap()
    }

    async fn pay(
        &self,
        request: &PaymentRequest,
        token: Option<&CardToken>,
        key: Uuid,
    ) -> Result<ProviderPayment, Failure> {
        let payment = NewPayment {
            request,
            token,
            external_reference: REFERENCE,
            notification_url: None,
            boleto_method: "bolbradesco",
            date_of_expiration: None,
        };
        self.client.create_payment(&payment, key).await
    }
}

#[tokio::test]
async fn a_card_is_tokenised_charged_and_given_back() {
    let provider = Provider::start().await;
    let request = card();
    let token = provider.token(&request).await;
    let paid = provider
        .pay(&request, Some(&token), provider.fresh_key())
        .await
        .unwrap();
    assert_eq!(
        (paid.status.as_str(), paid.status_detail.as_str()),
        ("approved", "accredited")
    );
    assert_eq!(
        (paid.amount, paid.payment_method_id.as_deref()),
        (Money::from_cents(10_050), Some("master"))
    );
    assert!(paid.date_approved.is_some());

    let part = provider
        .client
        .refund(&paid.id, Money::from_cents(50), provider.fresh_key())
        .await
        .unwrap();
    let RefundAnswer::Made(part) = part else {
        panic!("a first refund is told")
    };
    assert_eq!(part.amount, Some(Money::from_cents(50)));
    let read = provider.client.read(&paid.id).await.unwrap();
    assert_eq!(
        (read.status.as_str(), read.status_detail.as_str()),
        ("approved", "partially_refunded")
    );
    assert_eq!(read.refunded, Money::from_cents(50));
    provider
        .client
        .refund(&paid.id, Money::from_cents(10_000), provider.fresh_key())
        .await
        .unwrap();
    let read = provider.client.read(&paid.id).await.unwrap();
    assert_eq!(
        (read.status.as_str(), read.refunded),
        ("refunded", Money::from_cents(10_050))
    );
    assert_eq!(provider.client.refunds(&paid.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_repeated_key_gives_the_same_payment_and_the_same_refund() {
    let provider = Provider::start().await;
    let request = card();
    let token = provider.token(&request).await;
    let key = provider.fresh_key();
    let first = provider.pay(&request, Some(&token), key).await.unwrap();
    let again = provider.pay(&request, Some(&token), key).await.unwrap();
    assert_eq!(first, again);
    let key = provider.fresh_key();
    let all = first.amount;
    provider.client.refund(&first.id, all, key).await.unwrap();
    assert_eq!(
        provider.client.refund(&first.id, all, key).await.unwrap(),
        RefundAnswer::AlreadyMade
    );
    let read = provider.client.read(&first.id);
    let read = read.await.unwrap();
    assert_eq!((read.status.as_str(), read.refunded), ("refunded", all));
}

#[tokio::test]
async fn a_token_serves_once() {
    let provider = Provider::start().await;
    let request = card();
    let token = provider.token(&request).await;
    provider
        .pay(&request, Some(&token), provider.fresh_key())
        .await
        .unwrap();
    let failure = provider
        .pay(&request, Some(&token), provider.fresh_key())
        .await
        .unwrap_err();
    assert!(failure.is_spent_card_token(), "{failure:?}");
    assert_eq!(response_to(&failure), (502, "Erro PROVIDER 400".into()));
}

#[tokio::test]
async fn a_pix_and_a_boleto_bring_what_is_needed_to_pay() {
    let provider = Provider::start().await;
    let paid = provider
        .pay(&pix(), None, provider.fresh_key())
        .await
        .unwrap();
    assert_eq!(
        (paid.status.as_str(), paid.payment_method_id.as_deref()),
        ("pending", Some("pix"))
    );
    let code = paid.artefacts;
    assert!(code.qr_code.is_some() && code.qr_code_base64.is_some() && code.ticket_url.is_some());
    assert!(code.date_of_expiration.is_some());
    let slip = provider
        .pay(&boleto(), None, provider.fresh_key())
        .await
        .unwrap();
    assert_eq!(
        (slip.status.as_str(), slip.payment_method_id.as_deref()),
        ("pending", Some("bolbradesco"))
    );
    let slip = slip.artefacts;
    assert!(
        slip.external_resource_url.is_some()
            && slip.digitable_line.is_some()
            && slip.barcode.is_some()
    );
}

#[tokio::test]
async fn a_pending_payment_is_cancelled_once() {
    let provider = Provider::start().await;
    let pending = provider
        .pay(&pix(), None, provider.fresh_key())
        .await
        .unwrap();
    let cancelled = provider.client.cancel(&pending.id).await.unwrap();
    assert_eq!(
        (cancelled.status.as_str(), cancelled.status_detail.as_str()),
        ("cancelled", "by_collector")
    );
    let failure = provider.client.cancel(&pending.id).await.unwrap_err();
    assert_eq!(response_to(&failure), (502, "Erro PROVIDER 400".into()));
}

#[tokio::test]
async fn an_unknown_payment_is_not_found() {
    let provider = Provider::start().await;
    let failure = provider.client.read("1").await.unwrap_err();
    assert!(failure.is_not_found(), "{failure:?}");
}

#[tokio::test]
async fn a_payment_whose_answer_was_lost_is_found_by_its_reference() {
    let provider = Provider::start().await;
    provider.fail_payment("drop after").await;
    let key = provider.fresh_key();
    let request = pix();
    let failure = provider.pay(&request, None, key).await.unwrap_err();
    assert!(matches!(failure, Failure::Unknown(_)), "{failure:?}");
    let found = provider.client.find_by_reference(REFERENCE).await.unwrap();
    assert_eq!(found.len(), 1);
    let again = provider.pay(&request, None, key).await.unwrap();
    assert_eq!(
        again.id, found[0].id,
        "the same key brings the same payment"
    );
}

#[tokio::test]
async fn faults_on_demand_are_told_apart() {
    let provider = Provider::start().await;
    for (fault, expected) in [
        ("status 500", 502),
        ("status 429", 502),
        ("drop before", 503),
        ("truncate", 503),
        ("garbage", 502),
    ] {
        provider.fail_payment(fault).await;
        let failure = provider
            .pay(&pix(), None, provider.fresh_key())
            .await
            .unwrap_err();
        assert_eq!(response_to(&failure).0, expected, "{fault}: {failure:?}");
    }
}
