//! What is stored of a payment: the specification's resources and their relations.

use crate::payments::{
    app::shop_on_both_engines,
    requests::{boleto, card, pix},
};

shop_on_both_engines!(
    a_payment_generates_a_transaction_that_refers_to_it,
    async |shop| {
        let ids = [
            shop.pay(&pix()).await.id(),
            shop.pay(&boleto()).await.id(),
            shop.pay(&card("APRO")).await.id(),
        ];
        let transactions = async |conn: &mut db::Conn| {
            conn.all(
            "SELECT t.id, p.provider_id, t.qr_code IS NOT NULL, t.external_resource_url IS NOT NULL
             FROM transactions t JOIN payments p ON p.id = t.payment_id ORDER BY t.id",
            &[],
            |row| Ok((row.get::<i64>(0)?, row.get::<String>(1)?, row.get::<bool>(2)?, row.get::<bool>(3)?)),
        )
        .await
        };
        let found = shop.db.read::<_, db::Error, _>(transactions).await.unwrap();
        let rows: Vec<_> = found
            .iter()
            .map(|(_, payment, pix, boleto)| (payment, *pix, *boleto))
            .collect();
        assert_eq!(rows[..2], [(&ids[0], true, false), (&ids[1], false, true)]);
        assert!(
            rows[2..]
                .iter()
                .all(|(payment, pix, boleto)| **payment == ids[2] && !pix && !boleto)
        );
        assert!(
            found.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "each has an id of its own"
        );
    }
);
