use db::{Conn, Db, Engine, Error, Money, Query, Timestamp, fold};
use proptest::{
    collection::vec,
    prelude::any,
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::schema::db_on_both_engines;

/// Generated values, equal in each run and on each engine.
fn generated<T>(strategy: &impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect()
}

/// Amounts of all sizes up to the largest, and some that a float cannot represent.
fn amounts() -> impl Strategy<Value = Money> {
    let special = [
        "0",
        "0.01",
        "0.10",
        "90071992547409.93",
        "99999999999999999999.99",
        "99999999999999999999.98",
        "12345678901234567890.12",
        "12345678901234567890.13",
    ];
    let special = special.map(|text| Money::parse(text).unwrap());
    let any_size = (0..=Money::MAX.cents(), 0..70_u32)
        .prop_map(|(cents, shift)| Money::from_cents(cents >> shift));
    proptest::prop_oneof![any_size, proptest::sample::select(special.to_vec())]
}

async fn store(db: &Db, prices: &[Money]) {
    let prices = prices.to_vec();
    db.write(async move |tx| {
        tx.execute("DELETE FROM product", &[]).await?;
        for (number, price) in (0_i64..).zip(&prices) {
            tx.execute(
                "INSERT INTO product (title, quantity, price) VALUES ($1, $2, $3)",
                &[&number.to_string(), &number, price],
            )
            .await?;
        }
        Ok::<_, Error>(())
    })
    .await
    .unwrap();
}

async fn prices(
    conn: &mut Conn,
    sql: &'static str,
    params: &[&dyn db::Param],
) -> Result<Vec<Money>, Error> {
    conn.all(sql, params, |row| row.get(0)).await
}

db_on_both_engines!(
    money_is_stored_ordered_filtered_and_summed_exactly,
    async |db| {
        for (list, low, high) in generated(&(vec(amounts(), 0..30), amounts(), amounts()), 40) {
            store(&db, &list).await;
            let (low, high) = (low.min(high), low.max(high));
            let (stored, filtered, sum, revenue) = db
            .read(async move |conn| {
                let all = "SELECT price FROM product ORDER BY price, id";
                let between = "SELECT price FROM product WHERE price >= $1 AND price <= $2 ORDER BY price DESC";
                let sum = "SELECT money_sum(price) FROM product";
                let revenue = "SELECT money_sum(money_times(price, quantity)) FROM product";
                Ok::<_, Error>((
                    prices(conn, all, &[]).await?,
                    prices(conn, between, &[&low, &high]).await?,
                    conn.one(sum, &[], |row| row.get::<Money>(0)).await?,
                    conn.one(revenue, &[], |row| row.get::<Money>(0)).await?,
                ))
            })
            .await
            .unwrap();
            let total = |amounts: &mut dyn Iterator<Item = Money>| {
                amounts.fold(Money::ZERO, |sum, amount| sum.checked_add(amount).unwrap())
            };
            assert_eq!(sum, total(&mut list.iter().copied()));
            let products = list.iter().zip(0_i64..);
            assert_eq!(
                revenue,
                total(&mut products.map(|(price, quantity)| price.checked_mul(quantity).unwrap()))
            );
            let mut expected = list.clone();
            expected.sort();
            assert_eq!(stored, expected);
            expected.retain(|price| low <= *price && *price <= high);
            expected.reverse();
            assert_eq!(filtered, expected);
        }
    }
);

db_on_both_engines!(
    a_bound_outside_of_a_columns_range_filters_all_the_same,
    async |db| {
        store(&db, &[Money::ZERO, Money::MAX]).await;
        let beyond = Money::MAX.checked_add(Money::from_cents(1)).unwrap();
        let below = Money::from_cents(-1);
        let counts: [i64; 4] = db
            .read(async move |conn| {
                let at_least = "SELECT count(*) FROM product WHERE price >= $1";
                let at_most = "SELECT count(*) FROM product WHERE price <= $1";
                Ok::<_, Error>([
                    conn.one(at_least, &[&below], |row| row.get(0)).await?,
                    conn.one(at_most, &[&below], |row| row.get(0)).await?,
                    conn.one(at_least, &[&beyond], |row| row.get(0)).await?,
                    conn.one(at_most, &[&beyond], |row| row.get(0)).await?,
                ])
            })
            .await
            .unwrap();
        assert_eq!(counts, [2, 0, 0, 2]);
        for price in [below, beyond] {
            let refused: Result<u64, Error> = db
                .write(async move |tx| {
                    let sql = "INSERT INTO product (title, quantity, price) VALUES ('x', 1, $1)";
                    tx.execute(sql, &[&price]).await
                })
                .await;
            assert!(refused.is_err(), "{price}");
        }
    }
);

db_on_both_engines!(what_is_no_exact_amount_is_an_error, async |db| {
    let sources: &[&'static str] = match db.engine() {
        Engine::Sqlite => &["SELECT 1.5", "SELECT '1.5'", "SELECT 2"],
        Engine::Postgres => &[
            "SELECT CAST('NaN' AS NUMERIC)",
            "SELECT 1.005",
            "SELECT CAST('Infinity' AS NUMERIC)",
            "SELECT CAST(2 AS BIGINT)",
            "SELECT CAST(1.5 AS DOUBLE PRECISION)",
        ],
    };
    for &sql in sources {
        let read: Result<Money, Error> = db
            .read(async move |conn| conn.one(sql, &[], |row| row.get(0)).await)
            .await;
        assert!(read.is_err(), "{sql}: {read:?}");
    }
});

db_on_both_engines!(points_in_time_come_back_and_compare_exactly, async |db| {
    // The years 1 to 9999.
    let micros = -62_135_596_800_000_000..=253_402_300_799_999_999_i64;
    let mut times: Vec<Timestamp> = generated(&micros, 200)
        .into_iter()
        .map(Timestamp::from_micros)
        .collect();
    times.push(Timestamp::from_micros(0));
    times.push(Timestamp::from_micros(-1));
    let inserted = times.clone();
    let read: Vec<Timestamp> = db
        .write(async move |tx| {
            for (number, time) in inserted.iter().enumerate() {
                let sql = "INSERT INTO product (title, quantity, made_at) VALUES ($1, 1, $2)";
                tx.execute(sql, &[&number.to_string(), time]).await?;
            }
            let sql = "SELECT made_at FROM product WHERE made_at >= $1 ORDER BY made_at";
            tx.all(sql, &[&Timestamp::from_micros(0)], |row| row.get(0))
                .await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
    times.retain(|time| time.micros() >= 0);
    times.sort();
    assert_eq!(read, times);
});

type Everything = (String, Option<String>, Option<bool>, Option<Vec<u8>>);

db_on_both_engines!(text_truth_and_bytes_come_back_as_they_went_in, async |db| {
    let text = "[^\\x00]{0,30}";
    let strategy = (
        text,
        proptest::option::of(text),
        any::<Option<bool>>(),
        any::<Option<Vec<u8>>>(),
    );
    for (number, values) in (0_i64..).zip(generated(&strategy, 60)) {
        let expected = values.clone();
        let read: Everything = db
            .write(async move |tx| {
                let (title, brand, active, picture) = &values;
                let sql = "INSERT INTO product (id, title, brand, quantity, active, picture)
                           VALUES ($1, $2, $3, 1, $4, $5)";
                let done = tx
                    .execute(sql, &[&number, title, brand, active, picture])
                    .await?;
                assert_eq!(done, 1);
                let sql = "SELECT title, brand, active, picture FROM product WHERE id = $1";
                let read =
                    |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
                let found = tx.one(sql, &[&number], read).await?;
                tx.execute("DELETE FROM product", &[]).await?;
                Ok::<_, Error>(found)
            })
            .await
            .unwrap();
        assert_eq!(read, expected);
    }
});

db_on_both_engines!(parameters_may_repeat_and_come_in_any_order, async |db| {
    let row: (String, i64, String, bool) = db
        .write(async |tx| {
            let sql = "INSERT INTO product (quantity, title, brand, active) VALUES ($2, $1, $1, $3)
                       RETURNING title, quantity, brand, active";
            let read = |row: &db::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            tx.one(sql, &[&"Rice", &7, &true], read).await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
    assert_eq!(row, ("Rice".to_owned(), 7, "Rice".to_owned(), true));
    let optional_filter = async |sku: Option<String>| {
        db.read(async move |conn| {
            let sql = "SELECT count(*) FROM product WHERE ($1 IS NULL OR brand = $1)";
            conn.one(sql, &[&sku], |row| row.get::<i64>(0)).await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap()
    };
    assert_eq!(optional_filter(None).await, 1);
    assert_eq!(optional_filter(Some("none".to_owned())).await, 0);
});

db_on_both_engines!(folded_text_is_searched_and_ordered_alike, async |db| {
    let names = [
        "Água",
        "agua tônica",
        "AÇÚCAR",
        "acucar mascavo",
        "Café",
        "CAFÉ coado",
        "Pão de queijo",
        "ﬁlé",
        "Zebra",
        "zebrã",
    ];
    let found: Vec<String> = db
        .write(async move |tx| {
            for name in names {
                let sql = "INSERT INTO product (brand, title, quantity) VALUES ($1, $2, 1)";
                tx.execute(sql, &[&name, &fold(name)]).await?;
            }
            let sql = "SELECT brand FROM product WHERE title LIKE $1 ORDER BY title, id";
            tx.all(sql, &[&format!("%{}%", fold("ÁÇ"))], |row| {
                row.get::<String>(0)
            })
            .await?;
            tx.all("SELECT brand FROM product ORDER BY title, id", &[], |row| {
                row.get(0)
            })
            .await
        })
        .await
        .map_err(|error: Error| error)
        .unwrap();
    let mut expected = names;
    expected.sort_by_key(|name| fold(name));
    assert_eq!(found, expected);
});

db_on_both_engines!(
    a_statement_put_together_finds_what_its_values_say,
    async |db| {
        store(
            &db,
            &[Money::from_cents(100), Money::from_cents(250), Money::MAX],
        )
        .await;
        let count = async |least: Option<Money>, title: Option<&'static str>| {
            db.read(async move |conn| {
                let mut query = Query::new("SELECT count(*) FROM product WHERE TRUE");
                if let Some(least) = least {
                    query.push(" AND price >= ").bind(least);
                }
                query
                    .push(" AND (")
                    .bind(title)
                    .push(" IS NULL OR title = ")
                    .bind(title)
                    .push(")");
                conn.one_of(&query, |row| row.get::<i64>(0)).await
            })
            .await
            .map_err(|error: Error| error)
            .unwrap()
        };
        assert_eq!(count(None, Some("1")).await, 1);
        assert_eq!(count(Some(Money::from_cents(101)), Some("1")).await, 1);
        assert_eq!(count(Some(Money::MAX), Some("1")).await, 0);
        assert_eq!(count(Some(Money::MAX), Some("2")).await, 1);
    }
);

db_on_both_engines!(
    an_inserted_row_answers_its_id_and_one_that_was_not_inserted_is_an_error,
    async |db| {
        let insert = async |title: &'static str| {
            db.write(async move |tx| {
                let mut query =
                    Query::new("INSERT INTO product (quantity, title, sku) VALUES (3, ");
                query.bind(title).push(", 'one') ON CONFLICT DO NOTHING");
                tx.insert_one(query).await
            })
            .await
        };
        let id = insert("coffee").await.unwrap();
        let titled: String = db
            .read(async move |conn| {
                let sql = "SELECT title FROM product WHERE id = $1";
                conn.one(sql, &[&id], |row| row.get(0)).await
            })
            .await
            .unwrap();
        assert_eq!(titled, "coffee");
        // The last inserted id belongs to another product, and must not be returned.
        insert("tea").await.unwrap_err();
        db.close().await;
    }
);
